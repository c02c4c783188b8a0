package guard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"
)

const whole = `
[repeat]
tools = { shell = { block = 2, abort = 4 } }
other = { block = 3, abort = 9 }

[tool_budgets]
todowrite = { max = 1, on_exceed = "steer", message = "Commit." }
run_query = { max = 3, on_exceed = "block" }

[read_first]
require = true
dedup = true
edit = ["patch"]

[dedup]
tools = { run_query = ["q"], todowrite = [] }
wait_ms = 50

[redact]
patterns = ["sk-\\w+"]

[[truncate]]
max = 10
keep = "both"

[[truncate]]
tools = ["shell"]
max = 4

[output_budget]
max = 100

[thinking_decay]
budget = 8192
after_turn = 5
floor = 1024

[[once]]
on = "prompt.submit"
note = "Be brief."
`

func TestLoadMakesEveryGuard(t *testing.T) {
	hooks, err := guard.Load("guards.toml", []byte(whole))
	require.NoError(t, err)
	reg, err := pawl.New(pawl.Options{}, hooks...)
	require.NoError(t, err)
	var order []string
	where := map[string]string{}
	for h := range reg.Hooks() {
		if h.Effects != 0 {
			order = append(order, h.Name)
		}
		where[h.Name] = h.Origin.String()
	}
	require.Equal(t, strings.Fields("once thinking-decay repeat budget read-first read-first-dedup dedup redact redact-failed truncate truncate-2 output-budget"), order)
	require.Equal(t, "config:guards.toml:26:3", where["truncate-2"])
	require.Equal(t, "config:guards.toml:6:2", where["budget"])

	b := &bench{t: t, reg: reg}
	require.Equal(t, []string{"Be brief."}, b.fire(pawl.Event{Trigger: pawl.PromptSubmit, Session: "s"}).Decision().Notes)
	require.Equal(t, pawl.Pass, b.before("shell", `{}`).Verdict)
	require.Equal(t, pawl.Refuse, b.before("shell", `{}`).Verdict)
	_, ran := b.run(call("run_query", `{"q":1,"x":1}`), `"rows"`)
	require.True(t, ran)
	_, ran = b.run(call("run_query", `{"q":1,"x":2}`), `"rows"`)
	require.False(t, ran, "equal by q alone")
	b.before("todowrite", `{"a":1}`)
	require.Equal(t, []string{"Commit."}, b.before("todowrite", `{"a":2}`).Decision().Notes)
	after := pawl.Event{Trigger: pawl.ToolAfter, Tool: "other", Output: json.RawMessage(`"sk-aaaa is x"`)}
	require.Equal(t, `"<reda\n…(5 bytes truncated from middle)…\n is x"`, string(b.fire(after).Event().Output))
	require.JSONEq(t, `{"thinking_budget":1024}`, string(b.fire(pawl.Event{Trigger: pawl.TurnBefore, Step: 6}).Event().Input))
}

func TestAConfigReadsTheSameInEveryLanguage(t *testing.T) {
	var fromTOML, fromJSON guard.Config
	require.NoError(t, toml.NewDecoder(strings.NewReader(whole)).DisallowUnknownFields().Decode(&fromTOML))
	text, err := json.Marshal(fromTOML)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &fromJSON))
	require.Equal(t, fromTOML, fromJSON)

	loaded := map[string][]string{}
	zon := `.{ .repeat = .{ .tools = .{ .shell = .{ .block = 2, .abort = 4 } } }, .truncate = .{ .{ .max = 10, .keep = .both } } }`
	for file, data := range map[string]string{"g.toml": whole, "g.json": string(text), "g.zon": zon} {
		hooks, err := guard.Load(file, []byte(data))
		require.NoError(t, err, file)
		for _, h := range hooks {
			loaded[file] = append(loaded[file], h.Name)
		}
	}
	require.Equal(t, loaded["g.toml"], loaded["g.json"])
	require.Contains(t, loaded["g.zon"], "truncate")
	hooks, err := guard.FromConfig(fromTOML)
	require.NoError(t, err)
	require.Len(t, hooks, len(loaded["g.toml"]))
}

func TestNoGuardsAreNoHooks(t *testing.T) {
	hooks, err := guard.FromConfig(guard.Config{})
	require.NoError(t, err)
	require.Empty(t, hooks)
	hooks, err = guard.Load("g.json", []byte(`{}`))
	require.NoError(t, err)
	require.Empty(t, hooks)
}

func TestLoadFaults(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"an unknown key", "g.toml", "[repeats]", "g.toml:1:2: unknown key \"repeats\" (did you mean `repeat`?)"},
		{"a budget of nothing", "g.toml", "[tool_budgets]\nq = { max = 0, on_exceed = \"block\" }", "g.toml:2:13: `max` is out of range: 0 (write a number from 1 to 2147483647)"},
		{"a missing word", "g.toml", "[tool_budgets]\nq = { max = 1 }", "g.toml:2:5: `on_exceed` is missing"},
		{"a wrong word", "g.toml", "[tool_budgets]\nq = { max = 1, on_exceed = \"blok\" }", "g.toml:2:28: unknown `on_exceed` \"blok\" (did you mean `block`?)"},
		{"thresholds the wrong way round", "g.json", `{"repeat":{"other":{"block":4,"abort":4}}}`, "g.json:1:39: `abort` is 4, not above `block`, 4 (the run ends after some calls were refused)"},
		{"a first call that repeats", "g.json", `{"repeat":{"other":{"block":1,"abort":4}}}`, "g.json:1:29: `block` is out of range: 1 (write a number from 2 to 2147483647)"},
		{"a guard that does nothing", "g.json", `{"read_first":{"require":false}}`, "g.json:1:15: `read_first` would do nothing (write `require = true`, `dedup = true` or both)"},
		{"a pattern of another language", "g.json", `{"redact":{"patterns":["ok","(?=x)"]}}`, "g.json:1:29: `patterns[1]`: error parsing regexp: invalid or unsupported Perl syntax: `(?=` (patterns are Go's, without lookaround)"},
		{"a floor above the budget", "g.json", `{"thinking_decay":{"budget":1,"after_turn":1,"floor":2}}`, "g.json:1:54: `floor` is 2, above `budget`, 1"},
		{"a note that says nothing", "g.json", `{"once":[{"on":"prompt.submit","note":""}]}`, "g.json:1:39: `note` is empty"},
		{"all faults at once", "g.toml", "[output_budget]\nmax = -1\n[dedup]\nkeep = 0", "g.toml:2:7: `max` is out of range: -1 (write a number from 1 to 2147483647)\ng.toml:3:2: `tools` is missing\ng.toml:4:8: `keep` is out of range: 0 (write a number from 1 to 2147483647)"},
		{"a list where one is meant", "g.json", `{"output_budget":[{"max":1}]}`, "g.json:1:18: `output_budget`: expected a table, found a list (write keys, each with a value)"},
		{"a file of no known language", "g.yaml", `x`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			hooks, err := guard.Load(c.file, []byte(c.text))
			require.Error(t, err)
			require.Nil(t, hooks)
			if c.want != "" {
				require.Equal(t, c.want, err.Error())
			}
		})
	}
}

// A trigger that does not exist, or cannot note, is a fault of the registry, at the place in the file.
func TestATriggerThatCannotNoteIsAFaultWithItsPlace(t *testing.T) {
	hooks, err := guard.Load("g.toml", []byte("[[once]]\non = \"turn.after\"\nnote = \"x\""))
	require.NoError(t, err)
	_, err = pawl.New(pawl.Options{}, hooks...)
	require.ErrorContains(t, err, `config:g.toml:1:3: hook "once": turn.after cannot note`)
}
