package guard_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
	"github.com/stretchr/testify/require"
)

func verdicts(b *bench, n int, tool, input string) (got []pawl.Verdict) {
	for range n {
		got = append(got, b.before(tool, input).Verdict)
	}
	return got
}

func TestRepeatBlocksThenAborts(t *testing.T) {
	for tool, want := range map[string]guard.Threshold{"shell": {4, 8}, "read_file": {6, 12}} {
		t.Run(tool, func(t *testing.T) {
			b := newBench(t, one(&guard.Repeat{}))
			for i, v := range verdicts(b, want.Abort+1, tool, `{"a":1}`) {
				switch n := i + 1; {
				case n < want.Block:
					require.Equal(t, pawl.Pass, v, "call %d", n)
				case n < want.Abort:
					require.Equal(t, pawl.Refuse, v, "call %d", n)
				default:
					require.Equal(t, pawl.Halt, v, "call %d", n)
				}
			}
		})
	}
}

func TestRepeatTellsTheModelToPivot(t *testing.T) {
	b := newBench(t, one(&guard.Repeat{}))
	verdicts(b, 3, "shell", `{}`)
	reason := b.before("shell", `{}`).Decision().Reason
	require.True(t, strings.HasPrefix(reason, "Blocked: 4 calls of shell in a row were the same"), reason)
	require.Contains(t, reason, "Pivot")
}

func TestRepeatStreakEnds(t *testing.T) {
	for name, between := range map[string]func(b *bench){
		"with a call of another tool":  func(b *bench) { b.before("glob", `{}`) },
		"with another input":           func(b *bench) { b.before("shell", `{"a":2}`) },
		"with the run":                 func(b *bench) { b.fire(pawl.Event{Trigger: pawl.AgentDone, Session: "s"}) },
		"with a refused call":          func(b *bench) { b.before("bad", `{}`) },
		"with a call with a stand-in":  func(b *bench) { b.before("known", `{}`) },
		"with the session":             func(b *bench) { b.fire(pawl.Event{Trigger: pawl.SessionEnd, Session: "s"}) },
		"with the input's number type": func(b *bench) { b.before("shell", `{"a":1.0}`) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, one(&guard.Repeat{}), refuse("gate", "bad"), answer("known", "known"))
			verdicts(b, 3, "shell", `{"a":1}`)
			between(b)
			require.Equal(t, pawl.Pass, b.before("shell", `{"a":1}`).Verdict)
		})
	}
}

func TestRepeatStreakGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		between func(b *bench)
		input   string
	}{
		"over another agent's call":       {func(b *bench) { b.fire(with(call("glob", `{}`), func(ev *pawl.Event) { ev.Agent.ID = "x" })) }, `{"a":1,"b":2}`},
		"whatever the order of members":   {nil, `{ "b": 2, "a": 1 }`},
		"whatever way a text is escaped":  {nil, `{"a":1,"\u0062":2}`},
		"over an observed moment of none": {func(b *bench) { b.fire(pawl.Event{Trigger: pawl.TurnAfter, Session: "s"}) }, `{"a":1,"b":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, one(&guard.Repeat{}))
			verdicts(b, 3, "shell", `{"a":1,"b":2}`)
			if c.between != nil {
				c.between(b)
			}
			require.Equal(t, pawl.Refuse, b.before("shell", c.input).Verdict)
		})
	}
}

func TestRepeatCountsCallsThatOthersRefusedOrAnswered(t *testing.T) {
	for name, h := range map[string]pawl.Hook{"refused": refuse("gate", "shell"), "answered": answer("known", "shell")} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, one(&guard.Repeat{}), h)
			require.Equal(t, pawl.Halt, verdicts(b, 8, "shell", `{}`)[7])
		})
	}
}

func TestRepeatCountsOnceOnARecheck(t *testing.T) {
	b := newBench(t, one(&guard.Repeat{}), rewrites("rewrite", `{"x":1}`))
	require.Equal(t, []pawl.Verdict{pawl.Pass, pawl.Pass, pawl.Pass, pawl.Refuse}, verdicts(b, 4, "shell", `{}`))
}

func TestRepeatKnowsAToolByItsAlias(t *testing.T) {
	b := newBench(t, one(&guard.Repeat{}))
	ev := with(call("Bash", `{}`), func(ev *pawl.Event) { ev.Aliases = []string{"shell"} })
	for range 3 {
		require.Equal(t, pawl.Pass, b.fire(ev).Verdict)
	}
	require.Equal(t, pawl.Refuse, b.fire(ev).Verdict)
}

func TestRepeatWatchesOtherToolsWhereAsked(t *testing.T) {
	b := newBench(t, one(&guard.Repeat{Other: guard.Threshold{Block: 2, Abort: 3}}))
	require.Equal(t, []pawl.Verdict{pawl.Pass, pawl.Refuse, pawl.Halt}, verdicts(b, 3, "glob", `{}`))
	require.Equal(t, pawl.Pass, verdicts(newBench(t, one(&guard.Repeat{})), 9, "glob", `{}`)[8])
}

// The event it makes is dispatched to the same registry, and bubbles from a sub-agent.
func TestRepeatReportsWhatItDid(t *testing.T) {
	var b *bench
	var got, child []guard.Streak
	g := &guard.Repeat{Exceeded: func(ctx context.Context, ev *pawl.Event) {
		_, err := b.reg.Dispatch(ctx, ev)
		require.NoError(t, err)
	}}
	see := func(name string, on pawl.Trigger, into *[]guard.Streak) pawl.Hook {
		return pawl.Hook{Name: name, On: on, Handler: pawl.Observer(func(_ context.Context, ev *pawl.Event) {
			*into = append(*into, ev.Payload.(guard.Streak))
		})}
	}
	b = newBench(t, one(g), see("see", pawl.RepeatExceeded, &got), see("see-child", "child.repeat-guard.exceeded", &child))
	verdicts(b, 4, "shell", `{}`)
	ev := with(call("shell", `{}`), func(ev *pawl.Event) { ev.Agent = pawl.Agent{ID: "kid", Depth: 1} })
	for range 8 {
		b.fire(ev)
	}
	require.Equal(t, guard.Streak{Tool: "shell", Length: 4, Threshold: guard.Threshold{Block: 4, Abort: 8}}, got[0])
	require.Len(t, got, 1+5)
	require.Len(t, child, 5)
	require.True(t, child[4].Aborted)
}

func TestRepeatFaults(t *testing.T) {
	_, err := guard.Hooks(&guard.Repeat{Tools: map[string]guard.Threshold{"a": {1, 8}, "b": {4, 4}}, Other: guard.Threshold{Block: 3}})
	require.EqualError(t, err, "guard repeat: tool a: block is 1, want at least 2: the first call repeats nothing\n"+
		"guard repeat: tool b: abort is 4, want more than block, 4\n"+
		"guard repeat: other tools: abort is 0, want more than block, 3")
}
