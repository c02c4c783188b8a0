package guard_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func after(output string) pawl.Event {
	return pawl.Event{Trigger: pawl.ToolAfter, Session: "s", Tool: "shell", Output: json.RawMessage(output)}
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct{ name, keep, output, want string }{
		{"the head", guard.KeepHead, `"abcdefgh"`, `"abcd\n…(4 bytes truncated from tail)…"`},
		{"the tail", guard.KeepTail, `"abcdefgh"`, `"…(4 bytes truncated from head)…\nefgh"`},
		{"the tail by default", "", `"abcdefgh"`, `"…(4 bytes truncated from head)…\nefgh"`},
		{"both ends", guard.KeepBoth, `"abcdefgh"`, `"ab\n…(4 bytes truncated from middle)…\ngh"`},
		{"what fits", guard.KeepBoth, `"abcd"`, `"abcd"`},
		{"no character in half", guard.KeepHead, `"aéé€"`, `"aé\n…(5 bytes truncated from tail)…"`},
		{"no character in half at the tail", guard.KeepTail, `"€€é"`, `"…(6 bytes truncated from head)…\né"`},
		{"texts within a result", guard.KeepHead, `{"content":[{"type":"text","text":"abcdefgh"}],"n":1.50}`,
			`{"content":[{"type":"text","text":"abcd\n…(4 bytes truncated from tail)…"}],"n":1.50}`},
		{"names of members", guard.KeepHead, `{"a long name":1}`, `{"a long name":1}`},
		{"what is no text", guard.KeepHead, `9007199254740993`, `9007199254740993`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, one(&guard.Truncate{Max: 4, Keep: c.keep}))
			require.Equal(t, c.want, string(b.fire(after(c.output)).Event().Output))
		})
	}
}

func TestTruncatePropertyKeepsWholeCharactersAndCounts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text")
		g := &guard.Truncate{Max: rapid.IntRange(1, 20).Draw(rt, "max"), Keep: rapid.SampledFrom([]string{guard.KeepHead, guard.KeepTail, guard.KeepBoth}).Draw(rt, "keep")}
		in, err := json.Marshal(text)
		require.NoError(rt, err)
		var got string
		require.NoError(rt, json.Unmarshal(newBench(t, one(g)).fire(after(string(in))).Event().Output, &got))
		require.Equal(rt, strings.Contains(text, "\uFFFD"), strings.Contains(text+got, "\uFFFD"), "no half character")
		if len(text) <= g.Max {
			require.Equal(rt, text, got)
			return
		}
		i := strings.LastIndex(got, "…(")
		if g.Keep != guard.KeepHead {
			i = strings.Index(got, "…(")
		}
		var cut int
		_, err = fmt.Sscanf(got[i:], "…(%d bytes", &cut)
		require.NoError(rt, err)
		require.GreaterOrEqual(rt, cut, len(text)-g.Max)
		require.Less(rt, cut, len(text)-g.Max+2*utf8.UTFMax)
	})
}

func TestRedact(t *testing.T) {
	for _, c := range []struct {
		name, output, want string
		guard              guard.Redact
	}{
		{"assignments", `"API_KEY=abc x\npassword = hunter2"`, `"API_KEY=<redacted> x\npassword=<redacted>"`, guard.Redact{}},
		{"a longer name", `"export GITHUB_TOKEN=ghp_1 && ls"`, `"export GITHUB_TOKEN=<redacted> && ls"`, guard.Redact{}},
		{"texts within a result", `{"env":["TOKEN=x"],"n":9007199254740993}`, `{"env":["TOKEN=<redacted>"],"n":9007199254740993}`, guard.Redact{}},
		{"what is escaped", `"\u0054OKEN=x"`, `"TOKEN=<redacted>"`, guard.Redact{}},
		{"patterns of one's own", `"sk-abc <b>"`, `"<redacted> <b>"`, guard.Redact{Patterns: []string{`sk-\w+`}}},
		{"with text of one's own", `"id 17"`, `"id #"`, guard.Redact{Patterns: []string{`\d+`}, With: "#"}},
		{"nothing else", `"tokens are fine"`, `"tokens are fine"`, guard.Redact{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, on := range []pawl.Trigger{pawl.ToolAfter, pawl.ToolFailed} {
				ev := after(c.output)
				ev.Trigger = on
				g := c.guard
				require.Equal(t, c.want, string(newBench(t, one(&g)).fire(ev).Event().Output), on)
			}
		})
	}
}

// A redactor that could not read a result publishes nothing of it.
func TestAResultThatCannotBeReadIsWithheld(t *testing.T) {
	for name, g := range map[string]guard.Guard{"redact": &guard.Redact{}, "truncate": &guard.Truncate{Max: 1}} {
		t.Run(name, func(t *testing.T) {
			out := newBench(t, one(g)).fire(after(`TOKEN=x`))
			require.Equal(t, pawl.Refuse, out.Verdict)
			require.Empty(t, out.Event().Output)
		})
	}
}

// Whatever order they are given in, secrets go before texts are cut: a cut could hide one from the pattern.
func TestRedactStandsBeforeTruncate(t *testing.T) {
	b := newBench(t, []guard.Guard{&guard.Truncate{Max: 16, Keep: guard.KeepTail}, &guard.Redact{}})
	require.Equal(t, `"…(6 bytes truncated from head)…\nEN=<redacted> yy"`, string(b.fire(after(`"xx TOKEN=0123456789 yy"`)).Event().Output))
}

func TestOutputBudgetNudgesOnceATurn(t *testing.T) {
	b := newBench(t, []guard.Guard{&guard.OutputBudget{Max: 100}, &guard.Truncate{Max: 10}})
	nudged := func(turn string, bytes int, more func(*pawl.Event)) bool {
		ev := with(after(`"x"`), func(ev *pawl.Event) { ev.Turn, ev.OutputBytes = turn, bytes })
		if more != nil {
			more(&ev)
		}
		return len(b.fire(ev).Decision().Notes) > 0
	}
	require.False(t, nudged("1", 60, nil))
	require.False(t, nudged("1", 40, nil))
	require.True(t, nudged("1", 1, nil))
	require.False(t, nudged("1", 500, nil), "once a turn")
	require.False(t, nudged("2", 100, nil), "each turn anew")
	require.False(t, nudged("2", 100, func(ev *pawl.Event) { ev.Agent.ID = "kid" }), "each agent by itself")
	require.True(t, nudged("2", 1, nil))
	long := func(ev *pawl.Event) { ev.Output = json.RawMessage(`"` + strings.Repeat("x", 200) + `"`) }
	require.False(t, nudged("3", 0, long), "a runtime that does not count is taken by what is delivered")
	require.True(t, nudged("4", 101, long), "before any hook cut it")
}

func TestThinkingDecay(t *testing.T) {
	for _, c := range []struct {
		name        string
		step        int
		input, want string
		guard       guard.ThinkingDecay
	}{
		{"turn 1 has it all", 1, `{}`, `{"thinking_budget":8192}`, guard.ThinkingDecay{}},
		{"turn 5 has it all", 5, `{"a":1}`, `{"a":1,"thinking_budget":8192}`, guard.ThinkingDecay{}},
		{"turn 6 has the floor", 6, `{"thinking_budget":8192}`, `{"thinking_budget":1024}`, guard.ThinkingDecay{}},
		{"turn 60 has the floor", 60, `{"thinking_budget":8192}`, `{"thinking_budget":1024}`, guard.ThinkingDecay{}},
		{"no options at all", 6, ``, `{"thinking_budget":1024}`, guard.ThinkingDecay{}},
		{"a lower one stays", 6, `{"thinking_budget":100}`, `{"thinking_budget":100}`, guard.ThinkingDecay{}},
		{"a member within", 6, `{"thinking":{"budget_tokens":9000,"type":"enabled"},"id":9007199254740993}`,
			`{"id":9007199254740993,"thinking":{"budget_tokens":1024,"type":"enabled"}}`, guard.ThinkingDecay{Field: "thinking.budget_tokens"}},
		{"the runtime's own start", 2, `{"thinking_budget":7}`, `{"thinking_budget":7}`, guard.ThinkingDecay{Budget: -1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := c.guard
			g.AfterTurn, g.Floor = 5, 1024
			if g.Budget == 0 {
				g.Budget = 8192
			}
			g.Budget = max(g.Budget, 0)
			ev := pawl.Event{Trigger: pawl.TurnBefore, Session: "s", Step: c.step}
			if c.input != "" {
				ev.Input = json.RawMessage(c.input)
			}
			out := newBench(t, one(&g)).fire(ev)
			require.Equal(t, pawl.Pass, out.Verdict)
			require.Equal(t, c.want, string(out.Event().Input))
		})
	}
}

func TestThinkingDecayRefusesOptionsItCannotRead(t *testing.T) {
	for _, input := range []string{`[]`, `{"thinking_budget":"lots"}`, `{"thinking_budget":1,"thinking_budget":2}`} {
		out := newBench(t, one(&guard.ThinkingDecay{AfterTurn: 1})).fire(pawl.Event{Trigger: pawl.TurnBefore, Step: 2, Input: json.RawMessage(input)})
		require.Equal(t, pawl.Refuse, out.Verdict, input)
	}
}

func TestTextGuardFaults(t *testing.T) {
	_, err := guard.Hooks(
		&guard.ThinkingDecay{Budget: 10, Floor: 20},
		&guard.OutputBudget{},
		&guard.Truncate{Keep: "middle"},
		&guard.Redact{Patterns: []string{`(?=x)`, `x*`}},
	)
	require.EqualError(t, err, "guard thinking-decay: after_turn is 0, want at least 1: turns are counted from 1\n"+
		"guard thinking-decay: floor is 20, above the budget of 10\n"+
		"guard redact: patterns[0]: error parsing regexp: invalid or unsupported Perl syntax: `(?=`\n"+
		"guard redact: patterns[1]: \"x*\" matches the empty text\n"+
		"guard truncate: max is 0, want at least 1 byte\n"+
		"guard truncate: keep is \"middle\", want \"head\", \"tail\" or \"both\"\n"+
		"guard output-budget: max is 0, want at least 1 byte")
}
