package journal_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
	"github.com/pawl-hooks/pawl/journal"
)

func TestShowWritesALineARecord(t *testing.T) {
	forged := "x\n{\"kind\":\"hook.run\",\"outcome\":\"ran\"}\x1b[2J\u2028"
	tests := map[string]struct {
		rec  pawl.Record
		want string
	}{
		"a hook's program":     {&gate.ToolCall{ID: "hook:tests-pass:c:1", Tool: "hook", Arguments: []string{"zig", "build", "a b", ""}}, `hook tests-pass: zig build 'a b' ''`},
		"an agent's":           {&gate.ToolCall{ID: "c1", Tool: "Bash", Arguments: []string{"git", "push"}}, `$ git push`},
		"a result":             {&gate.ToolResult{Output: "exit status: 1\noutput"}, `  exit status: 1 (6 bytes)`},
		"a cut result":         {&gate.ToolResult{Output: "exit status: 0\nout", Truncated: true}, `  exit status: 0 (3 bytes, cut)`},
		"a result with a note": {&gate.ToolResult{Output: "refused by policy"}, `  refused by policy`},
		"a hook's result":      {&gate.ToolResult{ID: "hook:tests-pass:c:1", Output: "exit status: 1\noutput"}, `  hook tests-pass: exit status: 1 (6 bytes)`},
		"a hook's question":    {&gate.ApprovalRequest{Call: "hook:h:c1", Action: "exec.path.jq", Decision: gate.Ask}, `  hook h: approval of exec.path.jq: asked (ask)`},
		"a hook's answer":      {&gate.ApprovalResponse{Call: "hook:h:c1", Action: "exec.path.jq", Outcome: gate.NobodyToAsk}, `  hook h: approval of exec.path.jq: nobody_to_ask`},
		"a question":           {&gate.ApprovalRequest{Action: "exec.path.jq", Decision: gate.Ask}, `  approval of exec.path.jq: asked (ask)`},
		"an answer":            {&gate.ApprovalResponse{Action: "exec.path.jq", Outcome: gate.ApprovedByUser, Session: true, By: "ann"}, `  approval of exec.path.jq: approved_by_user for the session by ann`},
		"a run that passed":    {run(1), `12:00:01 hook hook-1 on tool.before Bash: ran (1ms)`},
		"a run that refused": {&pawl.Run{Name: "h", Trigger: pawl.ToolBefore, Tool: "Bash", Outcome: pawl.Ran, Errored: true, Refused: true, Verdict: pawl.Refuse, Code: 1, Reason: "3 tests\nfailed", Elapsed: 1200 * time.Millisecond},
			`hook h on tool.before Bash: ran, exit 1, refused: 3 tests\nfailed (1.2s)`},
		"a run that failed open": {&pawl.Run{Name: "h", Trigger: pawl.TurnStop, Outcome: pawl.CouldNotRun, Cause: pawl.CauseStart, PassedOpen: true}, `hook h on turn.stop: could_not_run, failed: start, passed open`},
		"a shadow":               {&pawl.Run{Name: "h", Trigger: pawl.TurnStop, Outcome: pawl.Ran, Shadow: true, Verdict: pawl.Refuse}, `hook h on turn.stop: ran, shadow, would refuse`},
		"an unknown kind":        {&custom{"my.kind", "t"}, `my.kind {"kind":"my.kind","text":"t"}`},
		"a forged line": {&pawl.Run{Name: forged, Trigger: "t", Outcome: pawl.Ran}, // G03
			`hook x\n{"kind":"hook.run","outcome":"ran"}\x1b[2J\u2028 on t: ran`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pawl.log")
			l := open(t, path, journal.Options{})
			require.NoError(t, l.Append(t.Context(), tc.rec))
			var out bytes.Buffer
			require.NoError(t, journal.Show(&out, journal.ReadFile(path)))
			require.Equal(t, tc.want+"\n", out.String())
		})
	}
}

func TestShowReadsAnyAgentsCalls(t *testing.T) {
	in := `{"kind":"tool.call","call_id":"hook:h:x","tool":"run_command","arguments":"{\"command\":\"zig build\"}"}
{"kind":"tool.call","call_id":"c","tool":"write_file","arguments":{"path":"a"}}
{"kind":"tool.call","call_id":"c","tool":"Bash","arguments":{"command":"ls -l"}}
no record
{"kind":7}
{"a":1}
{"kind":"hook.run","verdict":"maybe"}
{"kind":"torn`
	var out bytes.Buffer
	require.NoError(t, journal.Show(&out, journal.Read(strings.NewReader(in))))
	lines := strings.Split(out.String(), "\n")
	require.Equal(t, []string{"hook h: zig build", `$ write_file {"path":"a"}`, "$ ls -l"}, lines[:3])
	require.Contains(t, lines[3], "? line 4: not a JSON object")
	require.Contains(t, lines[4], "? line 5: ")
	require.Contains(t, lines[5], `? line 6: a record without "kind"`)
	require.Equal(t, `hook.run {"kind":"hook.run","verdict":"maybe"}`, lines[6])
	require.Contains(t, lines[7], "? line 8")
	require.Error(t, journal.Show(&out, journal.ReadFile(filepath.Join(t.TempDir(), "none"))))
}

func TestFanoutHandsToAllWhateverFails(t *testing.T) {
	var got []string
	to := func(name string, err error) pawl.Log {
		return pawl.LogFunc(func(_ context.Context, recs ...pawl.Record) error {
			got = append(got, name)
			return err
		})
	}
	full := errors.New("full")
	require.ErrorIs(t, journal.Fanout(to("a", nil), nil, to("b", full), to("c", nil)).Append(t.Context(), run(0)), full)
	require.Equal(t, []string{"a", "b", "c"}, got)
	require.NoError(t, journal.Fanout().Append(t.Context(), run(0)))
}

type badHandler struct{ slog.Handler }

func (badHandler) Handle(context.Context, slog.Record) error { return errors.New("no disk") }

func TestSlogTakesRecords(t *testing.T) {
	var out bytes.Buffer
	log := journal.Slog(slog.NewTextHandler(&out, nil))
	failed := run(2)
	failed.Cause, failed.Code = pawl.CauseExit, 3
	require.NoError(t, log.Append(t.Context(), run(1), failed, &custom{"my.kind", "a b"}))
	lines := strings.Split(out.String(), "\n")
	require.Equal(t, `time=2026-01-02T12:00:01.000Z level=INFO msg=hook.run name=hook-1 trigger=tool.before tool=Bash action="" outcome=ran errored=false refused=false elapsed_ms=1`, lines[0])
	require.Contains(t, lines[1], "level=WARN msg=hook.run name=hook-2")
	require.Contains(t, lines[1], "cause=exit code=3")
	require.Contains(t, lines[2], `msg=my.kind text="a b"`)
	require.Error(t, journal.Slog(badHandler{slog.NewTextHandler(&out, nil)}).Append(t.Context(), run(1)))
	quiet := slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelError})
	out.Reset()
	require.NoError(t, journal.Slog(quiet).Append(t.Context(), run(1)))
	require.Empty(t, out.String())
}
