//go:build unix

package gate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
	"github.com/pawl-hooks/pawl/journal"
)

// A secret that a hook's program prints, in any of JSON's spellings, and that its event holds, is nowhere
// behind the redactor: not in the log's file, the reason, the notes, the output or the records.
func TestASecretIsInNothingThatADispatchLeaves(t *testing.T) {
	const secret = `pä"ss\wörd/7`
	spelled := `p\u00e4\"ss\\w\u00f6rd\/7`
	for name, filter := range map[string]bool{"with the streams filtered": true, "by the registry alone": false} {
		t.Run(name, func(t *testing.T) {
			red := &gate.Redactor{Declared: []string{secret}}
			path := filepath.Join(t.TempDir(), "pawl.log")
			log, err := journal.Open(path, journal.Options{})
			require.NoError(t, err)
			exec := gate.Exec{}
			if filter {
				exec.Redact = red.Filter
			}
			chain := gate.Chain(gate.Record{Log: log, Redact: red.Bytes}.Wrap, (&gate.Policy{}).Wrap)(exec)
			says := pawl.HandlerFunc(func(ctx context.Context, ev *pawl.Event, g pawl.Gate) (pawl.Decision, error) {
				res, err := g.Run(ctx, pawl.Command{Args: []string{"sh", "-c", `printf '%s\n' "$1" "$2"; printf '%s' "$1" >&2`, "sh", secret, spelled}})
				text := string(res.Stdout)
				return pawl.Decision{Verdict: pawl.Refuse, Reason: text, Notes: []string{text}, Warnings: []string{string(res.Stderr)}}, err
			})
			replaces := pawl.HandlerFunc(func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
				return pawl.Decision{Output: json.RawMessage(`{"stdout":"` + spelled + `","n":[1,"` + spelled + `"]}`)}, nil
			})
			r, err := pawl.New(pawl.Options{Gate: chain, Log: log, Redact: red.Bytes},
				pawl.Hook{Name: "says", On: pawl.ToolBefore, Effects: pawl.MayRefuse | pawl.MayNote, Handler: says},
				pawl.Hook{Name: "replaces", On: pawl.ToolAfter, Effects: pawl.MayReplace, Handler: replaces})
			require.NoError(t, err)

			var left strings.Builder
			for _, ev := range []pawl.Event{{Trigger: pawl.ToolBefore, Tool: "Bash", Call: "c1"}, {Trigger: pawl.ToolAfter, Tool: "Bash", Call: "c1", Output: json.RawMessage(`"x"`)}} {
				out, err := r.Dispatch(t.Context(), &ev)
				require.NoError(t, err)
				dec := out.Decision()
				fmt.Fprintln(&left, dec.Reason, dec.Notes, dec.Warnings, string(dec.Output), string(out.Event().Output))
				if dec.Output != nil {
					require.True(t, json.Valid(dec.Output), string(dec.Output))
				}
				for _, run := range out.Runs() {
					line, err := json.Marshal(&run)
					require.NoError(t, err)
					left.Write(line)
				}
			}
			require.NoError(t, log.Close())
			file, err := os.ReadFile(path)
			require.NoError(t, err)
			left.Write(file)
			require.Contains(t, left.String(), "[redacted value]")
			for _, part := range []string{secret, spelled, `ss\w`, `rd/7`, `rd\/7`, "u00f6rd", "wörd"} {
				require.NotContains(t, left.String(), part)
			}
		})
	}
}
