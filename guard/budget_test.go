package guard_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func budget(max int, how string) *guard.Budget {
	return &guard.Budget{Tools: map[string]guard.Limit{"query": {Max: max, OnExceed: how}}}
}

func TestBudgetBlocksTheCallAfterMax(t *testing.T) {
	b := newBench(t, one(budget(3, guard.Block)))
	for range 3 {
		require.Equal(t, pawl.Pass, b.before("query", `{}`).Verdict)
	}
	for range 2 { // refused calls do not count, and do not free a place either
		out := b.before("query", `{}`)
		require.Equal(t, pawl.Refuse, out.Verdict)
		require.Equal(t, "Blocked: query already ran 3 times in this run, which is its limit. Go on with what you have.", out.Decision().Reason)
	}
	require.Equal(t, pawl.Pass, b.before("other", `{}`).Verdict, "each tool has its own budget")
}

func TestBudgetSteersOnce(t *testing.T) {
	b := newBench(t, one(budget(2, guard.Steer)))
	var notes []string
	for i := range 6 {
		out := b.before("query", `{}`)
		require.Equal(t, pawl.Pass, out.Verdict, "call %d runs", i+1)
		if n := out.Decision().Notes; n != nil {
			notes = append(notes, fmt.Sprint(i+1, n))
		}
	}
	require.Equal(t, []string{"3 [query has now run more than 2 times in this run. Commit to an answer with what you have.]"}, notes)
}

func TestBudgetDoesNotCount(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(b *bench)
		more  []pawl.Hook
	}{
		"a call that another hook refused": {
			func(b *bench) {
				b.fire(with(call("query", `{}`), func(ev *pawl.Event) { ev.Aliases = []string{"bad"} }))
			},
			[]pawl.Hook{refuse("gate", "bad")},
		},
		"a call answered by a stand-in": {
			func(b *bench) {
				b.fire(with(call("query", `{}`), func(ev *pawl.Event) { ev.Aliases = []string{"known"} }))
			},
			[]pawl.Hook{answer("known", "known")},
		},
		"a call answered beside the checks": {
			func(b *bench) {
				b.fire(with(call("query", `{}`), func(ev *pawl.Event) { ev.Aliases = []string{"known"} }))
			},
			[]pawl.Hook{beside(answer("known", "known"))},
		},
		"a call that was cancelled": {
			func(b *bench) {
				b.fire(with(call("query", `{}`), func(ev *pawl.Event) { ev.Call = "x" }))
				b.fire(with(call("query", `{}`), func(ev *pawl.Event) { ev.Call, ev.Trigger = "x", pawl.ToolCancelled }))
			}, nil,
		},
		"a call of another session": {
			func(b *bench) { b.fire(with(call("query", `{}`), func(ev *pawl.Event) { ev.Session = "other" })) }, nil,
		},
		"a call of a sub-agent": {
			func(b *bench) { b.fire(with(call("query", `{}`), func(ev *pawl.Event) { ev.Agent.ID = "child" })) }, nil,
		},
		"a call of the last run": {
			func(b *bench) {
				b.before("query", `{}`)
				b.fire(pawl.Event{Trigger: pawl.AgentDone, Session: "s"})
			}, nil,
		},
		"a call before the next prompt": {
			func(b *bench) {
				b.before("query", `{}`)
				b.fire(pawl.Event{Trigger: pawl.PromptSubmit, Session: "s"})
			}, nil,
		},
		"a call of a session that ended": {
			func(b *bench) {
				b.before("query", `{}`)
				b.fire(pawl.Event{Trigger: pawl.SessionEnd, Session: "s"})
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, one(budget(1, guard.Block)), c.more...)
			c.spoil(b)
			require.Equal(t, pawl.Pass, b.before("query", `{}`).Verdict)
			require.Equal(t, pawl.Refuse, b.before("query", `{}`).Verdict)
		})
	}
}

func TestBudgetKeepsCountOverARefusedPrompt(t *testing.T) {
	b := newBench(t, one(budget(1, guard.Block)), pawl.Hook{Name: "no-prompt", On: pawl.PromptSubmit, Effects: pawl.MayRefuse, Handler: refuse("x", "y").Handler})
	b.before("query", `{}`)
	b.fire(pawl.Event{Trigger: pawl.PromptSubmit, Session: "s"})
	require.Equal(t, pawl.Refuse, b.before("query", `{}`).Verdict)
}

func TestBudgetCountsOnceOnARecheck(t *testing.T) {
	b := newBench(t, one(budget(2, guard.Steer)), rewrites("rewrite", `{"x":1}`))
	for i := range 4 {
		out := b.before("query", `{}`)
		require.Len(t, out.Runs(), 4, "rewrite, check, recheck, settle")
		require.Equal(t, i == 2, len(out.Decision().Notes) == 1, "the nudge is on call 3, asked twice or not: call %d", i+1)
	}
}

func TestBudgetGivesBackWhatANoteOfForgetSays(t *testing.T) {
	g := budget(1, guard.Block)
	b := newBench(t, one(g))
	ev := with(call("query", `{}`), func(ev *pawl.Event) { ev.Call = "c1" })
	b.fire(ev)
	g.Forget(&ev)
	g.Forget(&ev)
	require.Equal(t, pawl.Pass, b.before("query", `{}`).Verdict)
	require.Equal(t, pawl.Refuse, b.before("query", `{}`).Verdict)
}

func TestBudgetUnderParallelCallsLetsMaxRun(t *testing.T) {
	b := newBench(t, one(budget(5, guard.Block)))
	passed := make(chan bool, 40)
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			_, ran := b.run(with(call("query", `{}`), func(ev *pawl.Event) { ev.Call = fmt.Sprint("c", i) }), `"ok"`)
			passed <- ran
		})
	}
	all.Wait()
	close(passed)
	n := 0
	for ran := range passed {
		if ran {
			n++
		}
	}
	require.Equal(t, 5, n)
}

// Over any mix of refused, substituted, cancelled and plain calls, exactly max run.
func TestBudgetPropertyMaxCallsRun(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		max := rapid.IntRange(1, 5).Draw(rt, "max")
		b := newBench(t, one(budget(max, guard.Block)), refuse("gate", "bad"), answer("known", "known"))
		ran := 0
		for i, kind := range rapid.SliceOfN(rapid.SampledFrom([]string{"plain", "bad", "known", "cancel"}), 0, 20).Draw(rt, "calls") {
			ev := with(call("query", `{}`), func(ev *pawl.Event) { ev.Call, ev.Aliases = fmt.Sprint(i), []string{kind} })
			out := b.fire(ev)
			switch kind {
			case "plain":
				require.Equal(rt, ran < max, out.Verdict == pawl.Pass)
				if out.Verdict == pawl.Pass {
					ran++
				}
			case "cancel":
				ev.Trigger = pawl.ToolCancelled
				b.fire(ev)
			}
		}
	})
}

func TestBudgetFaults(t *testing.T) {
	_, err := guard.Hooks(&guard.Budget{Tools: map[string]guard.Limit{"a": {Max: 0, OnExceed: guard.Block}, "b": {Max: 2, OnExceed: "warn"}}})
	require.EqualError(t, err, "guard budget: tool a: max is 0, want at least 1; to forbid a tool, refuse it by policy\n"+
		`guard budget: tool b: on_exceed is "warn", want "steer" or "block"`)
}
