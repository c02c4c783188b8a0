package native_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect/native"
)

// A scripted gate: it runs nothing, remembers what it was asked and answers the same to all.
type scripted struct {
	asked []pawl.Command
	res   pawl.Result
	err   error
}

func (g *scripted) Run(_ context.Context, cmd pawl.Command) (pawl.Result, error) {
	g.asked = append(g.asked, cmd)
	return g.res, g.err
}

// fired dispatches an event over the one hook of a file.
func fired(t *testing.T, gate *scripted, keys string, ev *pawl.Event) pawl.Outcome {
	t.Helper()
	file, issues := native.Load("f.toml", []byte("[[hooks]]\nname = \"check\"\nrun = [\"./check\", \"-x\"]\n"+keys), native.Options{})
	require.Len(t, file.Hooks, 1, "%v", issues)
	reg, err := pawl.New(pawl.Options{Gate: gate}, file.Hooks...)
	require.NoError(t, err)
	out, err := reg.Dispatch(t.Context(), ev)
	require.NoError(t, err)
	return out
}

func call(tool string, aliases ...string) *pawl.Event {
	return &pawl.Event{
		Trigger: pawl.ToolBefore, Call: "c1", Tool: tool, Aliases: aliases, Action: "call." + tool,
		Input: json.RawMessage(`{"text":"MODEL"}`),
	}
}

// H13, H14, H17, from the page's own example.
func TestAHookIsToldWhatItAskedForAndNothingElse(t *testing.T) {
	gate := &scripted{}
	fired(t, gate, "on = \"tool.before\"\ntool = \"write_file\"\ninputs = [\"tool\", \"action\", \"session\"]\noutput = \"refuse\"", call("write_file"))
	require.Len(t, gate.asked, 1)
	require.Equal(t, []string{"./check", "-x", "--tool", "write_file", "--action", "call.write_file"}, gate.asked[0].Args)
	require.Equal(t, "hook:check:c1", gate.asked[0].ID)
	require.Empty(t, gate.asked[0].Stdin)
	require.False(t, gate.asked[0].Inherit)
}

// H10. M07: inputs give the canonical name, whichever name matched.
func TestToolMatchesItsNameOrAnAlias(t *testing.T) {
	for name, c := range map[string]struct {
		keys string
		ev   *pawl.Event
		runs bool
	}{
		"its name":             {`tool = "Write"`, call("Write"), true},
		"an alias":             {`tool = "Write"`, call("apply_patch", "Write", "Edit"), true},
		"another tool":         {`tool = "Write"`, call("WriteAll"), false},
		"no tool is every":     {``, call("request_action"), true},
		"a pattern":            {`match = "^mcp__"`, call("mcp__a__b"), true},
		"a pattern elsewhere":  {`match = "^mcp__"`, call("Bash"), false},
		"both must":            {"tool = \"Bash\"\nmatch = \"^B\"\nif = \"Bash(git *)\"", call("Write"), false},
		"an unreadable rule":   {`if = "Bash(git *)"`, call("Bash"), true},
		"a rule about another": {`if = "Bash(git *)"`, call("Write"), false},
	} {
		t.Run(name, func(t *testing.T) {
			gate := &scripted{}
			fired(t, gate, "on = \"tool.before\"\ninputs = [\"tool\"]\n"+c.keys, c.ev)
			require.Equal(t, c.runs, len(gate.asked) == 1)
			if c.runs {
				require.Equal(t, []string{"./check", "-x", "--tool", c.ev.Tool}, gate.asked[0].Args)
			}
		})
	}
}

// H6, H7, H8, H9, H12, H15: what each output does with each end of the program.
func TestWhatAnOutputDoes(t *testing.T) {
	refused := &pawl.RefusedError{Action: "exec.path.x"}
	missing := &pawl.Failure{Cause: pawl.CauseStart, Err: errors.New("not found")}
	start := &pawl.Event{Trigger: pawl.SessionStart}
	after := call("Bash")
	after.Trigger, after.Output = pawl.ToolAfter, json.RawMessage(`"out"`)
	for name, c := range map[string]struct {
		keys    string
		ev      *pawl.Event
		gate    scripted
		verdict pawl.Verdict
		says    string // within the reason or the note
	}{
		"refuse, exit 1":              {`output = "refuse"`, call("x"), scripted{res: pawl.Result{Code: 1, Stdout: []byte("2 failed")}}, pawl.Refuse, "hook check refused: 2 failed"},
		"refuse, exit 0":              {`output = "refuse"`, call("x"), scripted{res: pawl.Result{Stdout: []byte("ok")}}, pawl.Pass, ""},
		"refuse, policy refuses":      {`output = "refuse"`, call("x"), scripted{err: refused}, pawl.Refuse, "check"},
		"refuse, missing":             {`output = "refuse"`, call("x"), scripted{err: missing}, pawl.Refuse, "check"},
		"refuse, missing, fail open":  {"output = \"refuse\"\nfail_open = true", call("x"), scripted{err: missing}, pawl.Pass, ""},
		"refuse, shadow":              {"output = \"refuse\"\nshadow = true", call("x"), scripted{res: pawl.Result{Code: 1}}, pawl.Pass, ""},
		"refuse at session.start":     {`output = "refuse"`, start, scripted{res: pawl.Result{Code: 1}}, pawl.Refuse, "check"},
		"ignore, exit 1":              {`output = "ignore"`, call("x"), scripted{res: pawl.Result{Code: 1}}, pawl.Pass, ""},
		"ignore, policy refuses":      {`output = "ignore"`, call("x"), scripted{err: refused}, pawl.Pass, ""},
		"note, exit 0":                {`output = "note"`, after, scripted{res: pawl.Result{Stdout: []byte(" found\n")}}, pawl.Pass, "found"},
		"note, exit 1":                {`output = "note"`, call("x"), scripted{res: pawl.Result{Code: 1, Stdout: []byte("found")}}, pawl.Pass, "found"},
		"note, missing":               {`output = "note"`, call("x"), scripted{err: missing}, pawl.Pass, ""},
		"json, refuse":                {"wire = \"json\"\noutput = \"refuse\"", call("x"), scripted{res: pawl.Result{Stdout: []byte(`{"verdict":"refuse","reason":"no"}`)}}, pawl.Refuse, "no"},
		"json, ask":                   {"wire = \"json\"\noutput = \"refuse\"", call("x"), scripted{res: pawl.Result{Stdout: []byte(`{"verdict":"ask"}`)}}, pawl.Ask, "check"},
		"json, halt":                  {"wire = \"json\"\noutput = \"refuse\"", start, scripted{res: pawl.Result{Stdout: []byte(`{"verdict":"halt"}`)}}, pawl.Halt, "check"},
		"json, beyond note":           {"wire = \"json\"\noutput = \"note\"", call("x"), scripted{res: pawl.Result{Stdout: []byte(`{"verdict":"refuse"}`)}}, pawl.Pass, ""},
		"json, nothing said":          {"wire = \"json\"\noutput = \"refuse\"", call("x"), scripted{}, pawl.Pass, ""},
		"json, unreadable":            {"wire = \"json\"\noutput = \"refuse\"", call("x"), scripted{res: pawl.Result{Stdout: []byte("hello")}}, pawl.Refuse, "check"},
		"json, exit 1":                {"wire = \"json\"\noutput = \"refuse\"", call("x"), scripted{res: pawl.Result{Code: 1}}, pawl.Refuse, "check"},
		"json, allow is no answer":    {"wire = \"json\"\noutput = \"refuse\"", call("x"), scripted{res: pawl.Result{Stdout: []byte(`{"verdict":"allow"}`)}}, pawl.Refuse, "check"},
		"json, a rewrite not granted": {"wire = \"json\"\noutput = \"refuse\"", call("x"), scripted{res: pawl.Result{Stdout: []byte(`{"input":{}}`)}}, pawl.Refuse, "check"},
	} {
		t.Run(name, func(t *testing.T) {
			c.keys += "\non = \"" + string(c.ev.Trigger) + "\"\n"
			out := fired(t, &c.gate, c.keys, c.ev)
			require.Equal(t, c.verdict, out.Verdict)
			d := out.Decision()
			said := d.Reason
			for _, n := range d.Notes {
				said += n
			}
			require.Contains(t, said, c.says)
			if c.says == "" {
				require.Empty(t, said)
			}
		})
	}
}

func TestARewriteIsGrantedByItsKey(t *testing.T) {
	gate := &scripted{res: pawl.Result{Stdout: []byte(`{"input":{"text":"new"}}`)}}
	out := fired(t, gate, "on = \"tool.before\"\nwire = \"json\"\nrewrite = true\n", call("x"))
	require.Equal(t, pawl.Pass, out.Verdict)
	require.JSONEq(t, `{"text":"new"}`, string(out.Event().Input))
	require.Contains(t, string(gate.asked[0].Stdin), `"trigger":"tool.before"`)
	require.Equal(t, 8<<20, gate.asked[0].Limit)

	gate = &scripted{res: pawl.Result{Stdout: []byte(`{"output":"[hidden]"}`)}}
	after := call("x")
	after.Trigger, after.Output = pawl.ToolAfter, json.RawMessage(`"secret"`)
	out = fired(t, gate, "on = \"tool.after\"\nwire = \"json\"\nreplace = true\n", after)
	require.Equal(t, `"[hidden]"`, string(out.Event().Output))
}

// A rewrite that cannot be applied refuses, fail_open or not: the hook said that the original must not stand.
func TestARewriteThatCannotBeAppliedRefusesUnderFailOpen(t *testing.T) {
	for name, res := range map[string]pawl.Result{
		"a repeated key":   {Stdout: []byte(`{"KEY":{"a":2,"a":3}}`)},
		"no UTF-8":         {Stdout: []byte("{\"KEY\":{\"a\":\"\xff\"}}")},
		"it breaks off":    {Stdout: []byte(`{"KEY":{"a":2`)},
		"cut by the limit": {Stdout: []byte(`{"KEY":{"a":"xxxxxxxxxxxx`), Cut: 100},
		"an unknown key":   {Stdout: []byte(`{"KEY":{"a":2},"foo":1}`)},
		"exit code 1":      {Stdout: []byte(`{"KEY":{"a":2}}`), Code: 1},
	} {
		for key, on := range map[string]pawl.Trigger{"input": pawl.ToolBefore, "output": pawl.ToolAfter} {
			t.Run(key+": "+name, func(t *testing.T) {
				may := map[string]string{"input": "rewrite", "output": "replace"}[key]
				res := res
				res.Stdout = bytes.ReplaceAll(res.Stdout, []byte("KEY"), []byte(key))
				ev := call("write_file")
				ev.Trigger, ev.Output = on, json.RawMessage(`"secret"`)
				keys := "on = \"" + string(on) + "\"\nwire = \"json\"\nfail_open = true\n"
				out := fired(t, &scripted{res: res}, keys+may+" = true", ev)
				require.Equal(t, pawl.Refuse, out.Verdict)
				require.False(t, out.Runs()[0].PassedOpen)

				out = fired(t, &scripted{res: res}, keys, ev)
				require.Equal(t, pawl.Pass, out.Verdict, "one that may not change it is a failure like any other")
			})
		}
	}
}

// The program said that the original must not run, and what it wants in its place is no input of the tool.
func TestARewriteIntoAnotherKindOfJSONRefusesEvenUnderFailOpen(t *testing.T) {
	for _, keys := range []string{"", "\nfail_open = true", "\nkeep = true"} {
		keys = "on = \"tool.before\"\nwire = \"json\"\nrewrite = true" + keys
		gate := &scripted{res: pawl.Result{Stdout: []byte(`{"input":"ls"}`)}}
		out := fired(t, gate, keys, call("Bash"))
		require.Equal(t, pawl.Refuse, out.Verdict)
		require.Equal(t, pawl.CauseOutput, out.Runs()[0].Cause)
		require.Contains(t, out.Decision().Reason, "it makes a string of an input that is an object")
		require.Nil(t, out.Decision().Input)

		gate.res.Stdout = []byte(`{"input":{"text":"other"}}`)
		require.JSONEq(t, `{"text":"other"}`, string(fired(t, gate, keys, call("Bash")).Event().Input))
	}
}
