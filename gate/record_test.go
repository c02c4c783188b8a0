package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

// lines marshals what is appended to it, one line a record. Appends take turns.
type lines struct {
	mu   sync.Mutex
	text []string
	fail string // the kind that cannot be written
	ctx  error  // of the context of the last append
}

func (l *lines) Append(ctx context.Context, recs ...pawl.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, rec := range recs {
		if rec.Kind() == l.fail {
			return errors.New("disk full")
		}
		b, err := json.Marshal(rec)
		if err != nil {
			return err
		}
		l.text = append(l.text, string(b))
	}
	l.ctx = ctx.Err()
	return nil
}

func answering(res pawl.Result, err error) pawl.GateFunc {
	return func(context.Context, pawl.Command) (pawl.Result, error) { return res, err }
}

func TestACommandIsRecordedBeforeAndAfter(t *testing.T) {
	refusal := &pawl.RefusedError{Action: "exec.path.zig"}
	for name, c := range map[string]struct {
		res  pawl.Result
		err  error
		want string
	}{
		"ran":        {pawl.Result{Stdout: []byte("a\n"), Stderr: []byte("b<&")}, nil, `"output":"exit status: 0\na\nb<&","is_error":false,"truncated":false}`},
		"failed":     {pawl.Result{Code: 3, Stdout: []byte("a"), Cut: 1}, nil, `"output":"exit status: 3\na","is_error":true,"truncated":true}`},
		"killed":     {pawl.Result{Code: -1, Signal: "killed"}, nil, `"output":"killed by signal: killed\n","is_error":true,"truncated":false}`},
		"refused":    {pawl.Result{}, refusal, `"output":"refused by policy: exec.path.zig","is_error":true,"truncated":false}`},
		"cut rune":   {pawl.Result{Stdout: []byte("aé")[:2], Stderr: []byte("b"), Cut: 1}, nil, `"output":"exit status: 0\nab","is_error":false,"truncated":true}`},
		"not text":   {pawl.Result{Stdout: []byte("a\xff\xfe")}, nil, `"output":"exit status: 0\n3 bytes that are not UTF-8","is_error":false,"truncated":false}`},
		"long":       {pawl.Result{Stdout: []byte(strings.Repeat("é", 40<<10))}, nil, `é","is_error":false,"truncated":true}`},
		"not a cut":  {pawl.Result{Stdout: []byte(strings.Repeat("x", 64<<10))}, nil, `x","is_error":false,"truncated":false}`},
		"has secret": {pawl.Result{Stdout: []byte("s3cret-s3cret")}, nil, `"output":"exit status: 0\n[redacted credential]","is_error":false,"truncated":false}`},
	} {
		log := new(lines)
		redactor := &gate.Redactor{Held: []string{"s3cret-s3cret"}}
		g := gate.Record{Log: log, Redact: redactor.Bytes}.Wrap(answering(c.res, c.err))
		res, err := g.Run(t.Context(), pawl.Command{ID: "hook:fmt:c1", Args: []string{"zig", "s3cret-s3cret", "a\nb"}})
		require.Equal(t, c.err, err, name)
		require.Equal(t, c.res, res, name)
		require.Len(t, log.text, 2)
		require.Equal(t, `{"kind":"tool.call","id":"hook:fmt:c1","tool":"hook","arguments":["zig","[redacted credential]","a\nb"]}`, log.text[0])
		require.True(t, strings.HasPrefix(log.text[1], `{"kind":"tool.result","id":"hook:fmt:c1","output":`), log.text[1])
		got := strings.ReplaceAll(strings.ReplaceAll(log.text[1], `\u003c`, "<"), `\u0026`, "&") // json.Marshal's own habit
		require.True(t, strings.HasSuffix(got, c.want), "%s: %.300s", name, got)
	}
}

func TestWhatCannotBeRecordedDoesNotCount(t *testing.T) {
	for _, kind := range []string{"tool.call", "tool.result"} {
		started := false
		g := gate.Record{Log: &lines{fail: kind}}.Wrap(pawl.GateFunc(func(context.Context, pawl.Command) (pawl.Result, error) {
			started = true
			return pawl.Result{}, nil
		}))
		_, err := g.Run(t.Context(), pawl.Command{Args: []string{"x"}})
		var failure *pawl.Failure
		require.ErrorAs(t, err, &failure)
		require.Equal(t, pawl.CauseLog, failure.Cause)
		require.ErrorContains(t, err, kind+" not recorded: disk full")
		require.Equal(t, kind == "tool.result", started)
	}
}

func TestAResultIsRecordedAfterItsContextEnded(t *testing.T) {
	log := new(lines)
	ctx, cancel := context.WithCancel(t.Context())
	g := gate.Record{Log: log}.Wrap(pawl.GateFunc(func(context.Context, pawl.Command) (pawl.Result, error) {
		cancel()
		return pawl.Result{Code: -1, Signal: "terminated"}, nil
	}))
	_, err := g.Run(ctx, pawl.Command{Args: []string{"x"}})
	require.NoError(t, err)
	require.Len(t, log.text, 2)
	require.NoError(t, log.ctx)
}

// G03
func TestARecordIsOneLineWithoutControlCharacters(t *testing.T) {
	nasty := "a\n{\"kind\":\"hook.run\"}\r\x1b[2J\x00\x7f\u0085\u009b31m\u2028é\xff"
	for _, rec := range []pawl.Record{
		&gate.ToolCall{ID: nasty, Tool: nasty, Arguments: []string{nasty}},
		&gate.ToolResult{ID: nasty, Output: nasty},
	} {
		b, err := json.Marshal(rec)
		require.NoError(t, err)
		require.NotContains(t, string(b), "\u2028")
		require.False(t, strings.ContainsFunc(string(b), unicode.IsControl), "%q", b)
		var back map[string]any
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, strings.ToValidUTF8(nasty, "\ufffd"), back["id"])
	}
}

func TestAChainStandsOutermostFirst(t *testing.T) {
	var order []string
	mark := func(name string) gate.Middleware {
		return func(next pawl.Gate) pawl.Gate {
			return pawl.GateFunc(func(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
				order = append(order, name)
				return next.Run(ctx, cmd)
			})
		}
	}
	g := gate.Chain(mark("record"), nil, mark("policy"), mark("sandbox"))(answering(pawl.Result{Code: 7}, nil))
	res, err := g.Run(t.Context(), pawl.Command{})
	require.NoError(t, err)
	require.Equal(t, 7, res.Code)
	require.Equal(t, []string{"record", "policy", "sandbox"}, order)
}
