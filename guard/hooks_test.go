package guard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
	"github.com/pawl-hooks/pawl/pawltest"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func every(t *testing.T) []guard.Guard {
	t.Helper()
	hint := pawl.Hook{Name: "hint", On: pawl.ToolBefore, Effects: pawl.MayNote, Handler: pawl.HandlerFunc(
		func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
			return pawl.Decision{Notes: []string{"hint"}}, nil
		})}
	return []guard.Guard{
		&guard.Once{Hook: hint}, &guard.ThinkingDecay{AfterTurn: 5}, &guard.OutputBudget{Max: 100}, &guard.Truncate{Max: 50},
		&guard.Redact{}, dedup("query"), &guard.ReadFirst{Require: true, Dedup: true}, budget(5, guard.Block),
		&guard.Repeat{Other: guard.Threshold{Block: 20, Abort: 40}}, &guard.Counter{},
	}
}

func TestEveryHandlerKeepsTheContract(t *testing.T) {
	hooks, err := guard.Hooks(every(t)...)
	require.NoError(t, err)
	dir := project(t)
	for i, h := range hooks {
		t.Run(h.Name, func(t *testing.T) {
			edit, read, query := file(dir, "edit", "src/x"), file(dir, "read_file", "src/x"), call("query", `{"a":1}`)
			for _, ev := range []*pawl.Event{&edit, &read, &query} {
				ev.Trigger, ev.Output, ev.Step = h.On, json.RawMessage(`"TOKEN=abc "`), 9
			}
			require.NoError(t, pawltest.TestHandler(pawltest.HandlerKit{
				New: func() pawl.Handler {
					again, err := guard.Hooks(every(t)...)
					require.NoError(t, err)
					return again[i].Handler
				},
				Events: []*pawl.Event{&edit, &read, &query}, Effects: h.Effects,
			}))
		})
	}
}

func TestGuardsStandInTheOrderThatIsDocumented(t *testing.T) {
	hooks, err := guard.Hooks(every(t)...)
	require.NoError(t, err)
	var before, after []string
	for _, h := range hooks {
		switch {
		case h.On == pawl.ToolBefore && h.Effects&^pawl.MayNote != 0:
			before = append(before, h.Name)
		case h.On == pawl.ToolAfter && h.Effects != 0:
			after = append(after, h.Name)
		}
	}
	require.Equal(t, []string{"repeat", "budget", "read-first", "read-first-dedup", "dedup"}, before)
	require.Equal(t, []string{"redact", "truncate", "output-budget"}, after)
}

// gate before guard, and guard before budget: the first that refused speaks.
func TestTheFirstThatRefusedSpeaks(t *testing.T) {
	b := newBench(t, []guard.Guard{budget(1, guard.Block), &guard.Repeat{Tools: map[string]guard.Threshold{"query": {2, 9}}}})
	b.before("query", `{}`)
	require.Contains(t, b.before("query", `{}`).Decision().Reason, "in a row", "both refuse it")
	b = newBench(t, []guard.Guard{budget(1, guard.Block)}, refuse("gate", "query"))
	require.Equal(t, "no", b.before("query", `{}`).Decision().Reason)
}

// A replay answers a call and does not hide a loop: the repeat guard still ends it.
func TestAReplayCannotHideALoop(t *testing.T) {
	b := newBench(t, []guard.Guard{dedup("shell"), &guard.Repeat{}, &guard.Budget{Tools: map[string]guard.Limit{"shell": {Max: 1, OnExceed: guard.Block}}}})
	_, ran := b.run(call("shell", `{}`), `"rows"`)
	require.True(t, ran)
	for i := 2; i < 8; i++ {
		out := b.before("shell", `{}`)
		if i < 4 {
			require.Equal(t, pawl.Pass, out.Verdict, "a replay costs no budget")
			require.Equal(t, `"rows"`, string(out.Event().Output))
			continue
		}
		require.Equal(t, pawl.Refuse, out.Verdict)
		require.Nil(t, out.Decision().Output, "block beats result")
	}
	require.Equal(t, pawl.Halt, b.before("shell", `{}`).Verdict)
}

// Whatever came before, a session's state is gone at its end, and others' stays.
func TestStateIsReleasedAtSessionEnd(t *testing.T) {
	guards := every(t)
	b := newBench(t, guards)
	dir := project(t)
	for _, session := range []string{"s", "other"} {
		for _, agent := range []string{"", "kid"} {
			for _, ev := range []pawl.Event{call("query", `{}`), file(dir, "read_file", "src/x"), call("shell", `{}`)} {
				b.run(with(ev, func(ev *pawl.Event) { ev.Session, ev.Agent.ID = session, agent }), `"out"`)
			}
		}
	}
	kept := func() (n []int) {
		for _, g := range guards {
			if k := guard.Kept(g); k >= 0 {
				n = append(n, k)
			}
		}
		return n
	}
	require.Equal(t, []int{4, 4, 4, 4, 4, 4, 4}, kept())
	b.fire(pawl.Event{Trigger: pawl.SessionEnd, Session: "s"})
	require.Equal(t, []int{2, 2, 2, 2, 2, 2, 2}, kept())
	b.fire(pawl.Event{Trigger: pawl.AgentDone, Session: "other", Agent: pawl.Agent{ID: "kid"}})
	require.Equal(t, []int{1, 1, 1, 2, 1, 1, 1}, kept(), "what was read stays known for the session")
	b.fire(pawl.Event{Trigger: pawl.SessionEnd, Session: "other"})
	require.Equal(t, []int{0, 0, 0, 0, 0, 0, 0}, kept())
}

func TestFitLeavesOutWhatARuntimeNeverDispatches(t *testing.T) {
	table := pawl.DefaultTriggers()
	for _, on := range []pawl.Trigger{pawl.AgentDone, pawl.ToolCancelled, pawl.CompactAfter} {
		delete(table, on)
	}
	hooks, err := guard.Hooks(every(t)...)
	require.NoError(t, err)
	_, err = pawl.New(pawl.Options{Triggers: table}, hooks...)
	require.Error(t, err)
	_, err = pawl.New(pawl.Options{Triggers: table}, guard.Fit(table, hooks)...)
	require.NoError(t, err)
	delete(table, pawl.ToolBefore)
	_, err = pawl.New(pawl.Options{Triggers: table}, guard.Fit(table, hooks)...)
	require.ErrorContains(t, err, `unknown trigger "tool.before"`)
}

// All guards at once, many sessions at once, under the race detector: budgets hold, and nothing is left.
func TestGuardsUnderLoad(t *testing.T) {
	guards := every(t)
	b := newBench(t, guards)
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(worker)))
			for round := range 8 {
				session := fmt.Sprint(worker, "-", round)
				ran := 0
				s := &guard.Scheduler{Hooks: b.reg, Guards: guards, Safe: func(ev *pawl.Event) bool { return ev.Tool == "query" },
					Run: func(_ context.Context, ev *pawl.Event) (json.RawMessage, error) {
						return json.RawMessage(`"TOKEN=1"`), nil
					}}
				for turn := range 4 {
					var list []guard.Call
					for i := range 5 {
						input := fmt.Sprintf(`{"n":%d}`, r.IntN(12))
						list = append(list, guard.Call{ID: fmt.Sprint(turn, i), Tool: []string{"query", "shell"}[r.IntN(2)], Input: json.RawMessage(input)})
					}
					for _, res := range s.Turn(context.Background(), pawl.Event{Session: session, Turn: fmt.Sprint(turn)}, list) {
						if res.Call.Tool == "query" && res.State == guard.Ran {
							ran++
						}
					}
				}
				if ran > 5 {
					panic(fmt.Sprintf("%d calls ran of a budget of 5", ran))
				}
				_, _ = b.reg.Dispatch(context.Background(), &pawl.Event{Trigger: pawl.SessionEnd, Session: session})
			}
		})
	}
	all.Wait()
	for _, g := range guards {
		require.LessOrEqual(t, guard.Kept(g), 0, "%T", g)
	}
}

// What redaction does to a result is what it does to each string in it, and no more.
func TestRedactPropertyOverAnyResult(t *testing.T) {
	b := newBench(t, one(&guard.Redact{Patterns: []string{`s+`}, With: "#"}))
	rapid.Check(t, func(rt *rapid.T) {
		v := anyValue(3).Draw(rt, "value")
		in, err := json.Marshal(v)
		require.NoError(rt, err)
		want, err := json.Marshal(redacted(v))
		require.NoError(rt, err)
		require.JSONEq(rt, string(want), string(b.fire(after(string(in))).Event().Output))
	})
}

func anyValue(depth int) *rapid.Generator[any] {
	text := rapid.Custom(func(rt *rapid.T) any { return rapid.StringMatching(`[as"\\é<]{0,6}`).Draw(rt, "s") })
	leaf := rapid.OneOf(text, rapid.Custom(func(rt *rapid.T) any { return rapid.IntRange(-9, 9).Draw(rt, "n") }), rapid.Just[any](nil), rapid.Just[any](true))
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(leaf,
		rapid.Custom(func(rt *rapid.T) any { return rapid.SliceOfN(anyValue(depth-1), 0, 3).Draw(rt, "list") }),
		rapid.Custom(func(rt *rapid.T) any {
			return rapid.MapOfN(rapid.StringMatching(`[as]{1,3}`), anyValue(depth-1), 0, 3).Draw(rt, "object")
		}))
}

func redacted(v any) any {
	switch v := v.(type) {
	case string:
		out, last := "", rune(0)
		for _, r := range v {
			if r == 's' && last == 's' {
				continue
			}
			if last = r; r == 's' {
				r = '#'
			}
			out += string(r)
		}
		return out
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = redacted(v[i])
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for k := range v {
			object[k] = redacted(v[k])
		}
		return object
	}
	return v
}

func TestANilGuardIsAFault(t *testing.T) {
	var none *guard.Repeat
	for _, g := range []guard.Guard{nil, none} {
		hooks, err := guard.Hooks(&guard.Counter{}, g)
		require.ErrorContains(t, err, "guard 2 of 2 is nil")
		require.Empty(t, hooks)
	}
}
