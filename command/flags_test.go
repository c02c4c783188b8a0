package command_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
)

func TestExited(t *testing.T) {
	require.NoError(t, command.Exited(pawl.Result{}))
	require.Equal(t, pawl.CauseExit, cause(t, command.Exited(pawl.Result{Code: 3})))
	require.Equal(t, pawl.CauseSignal, cause(t, command.Exited(pawl.Result{Code: -1, Signal: "killed"})))
}

// H13, H5.
func TestInputsAreArgumentsInTheOrderWritten(t *testing.T) {
	ev := &pawl.Event{Trigger: pawl.ToolBefore, Tool: "write_file", Action: "call.write_file", Session: "s; rm -rf `x` \"'"}
	for name, c := range map[string]struct {
		inputs []string
		ev     *pawl.Event
		want   []string
	}{
		"none":                       {nil, ev, nil},
		"the page's example":         {[]string{"tool", "action"}, ev, []string{"--tool", "write_file", "--action", "call.write_file"}},
		"turned round":               {[]string{"action", "tool"}, ev, []string{"--action", "call.write_file", "--tool", "write_file"}},
		"one literal word":           {[]string{"session"}, ev, []string{"--session", ev.Session}},
		"an empty one leaves no gap": {[]string{"tool", "trigger", "action"}, &pawl.Event{Trigger: pawl.SessionStart}, []string{"--trigger", "session.start"}},
	} {
		t.Run(name, func(t *testing.T) {
			msg, err := command.Flags{Inputs: c.inputs}.Encode(c.ev)
			require.NoError(t, err)
			require.Equal(t, command.Message{Args: c.want}, msg)
		})
	}
	_, err := command.Flags{Inputs: []string{"input"}}.Encode(ev)
	require.ErrorContains(t, err, `unknown input "input"`)
}

// H14: what the model wrote reaches the program in no form.
func TestTheCallsArgumentsAreNeverTold(t *testing.T) {
	ev := &pawl.Event{
		Trigger: pawl.ToolBefore, Tool: "t", Action: "a", Session: "s",
		Input: json.RawMessage(`"MODEL"`), Output: json.RawMessage(`"MODEL"`), Prompt: "MODEL", LastMessage: "MODEL",
		Extra: map[string]json.RawMessage{"x": json.RawMessage(`"MODEL"`)},
	}
	gate := &keeps{}
	p := command.Program{Args: []string{"x"}, Codec: command.Flags{Inputs: []string{"trigger", "tool", "action", "session"}}}
	_, err := p.Handle(t.Context(), ev, gate)
	require.NoError(t, err)
	b, err := json.Marshal(gate.asked)
	require.NoError(t, err)
	require.NotContains(t, string(b), "MODEL")
	require.Empty(t, gate.asked[0].Stdin)
}

func TestTheOutputSaysWhatTheEndMeans(t *testing.T) {
	out := func(code int, stdout, stderr string) pawl.Result {
		return pawl.Result{Code: code, Stdout: []byte(stdout), Stderr: []byte(stderr)}
	}
	for name, c := range map[string]struct {
		output command.Output
		res    pawl.Result
		want   pawl.Decision
	}{
		"ignore, exit 0":            {command.OutputIgnore, out(0, "text", ""), pawl.Decision{}},
		"no output is ignore":       {"", out(0, "text", ""), pawl.Decision{}},
		"ignore, exit 1 is told":    {command.OutputIgnore, out(1, "text", " why\n"), pawl.Decision{Errored: true, Warnings: []string{"hook x: exit code 1: why"}}},
		"ignore, a silent exit 130": {"", out(130, "", ""), pawl.Decision{Errored: true, Warnings: []string{"hook x: exit code 130"}}},
		"refuse, exit 0 passes":     {command.OutputRefuse, out(0, `{"decision":"block"}`, "no"), pawl.Decision{}},
		"refuse, exit 1":            {command.OutputRefuse, out(1, " out\n", "\nerr "), pawl.Decision{Verdict: pawl.Refuse, Reason: "hook x refused: out\nerr", Errored: true}},
		"refuse, stderr alone":      {command.OutputRefuse, out(2, "\n", "err"), pawl.Decision{Verdict: pawl.Refuse, Reason: "hook x refused: err", Errored: true}},
		"refuse, a silent exit":     {command.OutputRefuse, out(255, "", ""), pawl.Decision{Verdict: pawl.Refuse, Reason: "hook x refused: exit code 255, and it printed nothing", Errored: true}},
		"note, exit 0":              {command.OutputNote, out(0, " found\n", "noise"), pawl.Decision{Notes: []string{"found"}}},
		"note, exit 1":              {command.OutputNote, out(1, "found", ""), pawl.Decision{Notes: []string{"found"}, Errored: true}},
		"note, nothing printed":     {command.OutputNote, out(0, " \n\t", "noise"), pawl.Decision{}},
		"no valid UTF-8":            {command.OutputNote, out(0, "a\xffb", ""), pawl.Decision{Notes: []string{"a\uFFFDb"}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := command.Program{Name: "x", Args: []string{"x"}, Codec: command.Flags{Output: c.output}}
			d, err := p.Handle(t.Context(), &pawl.Event{}, &keeps{res: c.res})
			require.NoError(t, err)
			require.Equal(t, c.want, d)
		})
	}
	_, err := command.Flags{Output: "permit"}.Decode(nil, pawl.Result{})
	require.ErrorContains(t, err, `unknown output "permit"`)
}

func TestASignalIsNoAnswerWhateverTheOutput(t *testing.T) {
	for _, output := range []command.Output{command.OutputIgnore, command.OutputRefuse, command.OutputNote} {
		d, err := command.Flags{Output: output}.Decode(nil, pawl.Result{Code: -1, Signal: "segmentation fault", Stdout: []byte("x")})
		require.Equal(t, pawl.CauseSignal, cause(t, err))
		require.ErrorContains(t, err, "segmentation fault")
		require.Zero(t, d)
	}
}

func TestALongRefusalKeepsItsHeadAndItsTail(t *testing.T) {
	long := "FIRST " + strings.Repeat("é", 20_000) + " LAST"
	d, err := command.Flags{Output: command.OutputRefuse}.Decode(nil, pawl.Result{Code: 1, Stdout: []byte(long), Stderr: []byte("END")})
	require.NoError(t, err)
	require.LessOrEqual(t, len(d.Reason), 8<<10)
	require.Greater(t, len(d.Reason), 8<<10-100)
	require.True(t, strings.HasPrefix(d.Reason, "FIRST é"))
	require.True(t, strings.HasSuffix(d.Reason, "é LAST\nEND"))
	require.True(t, utf8.ValidString(d.Reason))
	require.NotContains(t, d.Reason, "\uFFFD")
	require.Contains(t, d.Reason, "bytes left out]")
}

// O11: a character that the limit cut in half is left out, and the text is an answer all the same.
func TestCutTextIsAnAnswer(t *testing.T) {
	text := bytes.Repeat([]byte("日"), 10)
	for cut := range 4 {
		d, err := command.Flags{Output: command.OutputNote}.Decode(nil, pawl.Result{Stdout: text[:len(text)-cut], Cut: 5})
		require.NoError(t, err)
		whole := 10
		if cut > 0 {
			whole = 9
		}
		require.Equal(t, []string{strings.Repeat("日", whole)}, d.Notes)
	}
}
