package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
	"github.com/pawl-hooks/pawl/on"
	"github.com/stretchr/testify/require"
)

func TestTheSessionPrintsWhatIsExpected(t *testing.T) {
	want, err := os.ReadFile("output.txt")
	require.NoError(t, err)
	for range 3 { // whatever the schedule
		var out bytes.Buffer
		require.NoError(t, session(t.Context(), &out, script()))
		require.Equal(t, string(want), out.String())
	}
}

// seer are observers of every trigger, which write down what they are told.
func seer(into *[]string) (hooks []pawl.Hook) {
	for _, row := range pawl.TriggerRows() {
		if row.Trigger != pawl.Background {
			hooks = append(hooks, on.Observe("", row.Trigger, func(_ context.Context, ev *pawl.Event) {
				if ev.Agent.ID == "" {
					*into = append(*into, string(ev.Trigger))
				}
			}))
		}
	}
	return on.Named(hooks)
}

func count(seen []string, trigger string) (n int) {
	for _, s := range seen {
		if s == trigger {
			n++
		}
	}
	return n
}

const task = "task"

func turns(replies ...reply) map[string][]reply { return map[string][]reply{task: replies} }

func perform(t *testing.T, ctx context.Context, script map[string][]reply, more ...pawl.Hook) (seen []string, err error) {
	t.Helper()
	h, err := newHost(io.Discard, script, append(more, seer(&seen)...)...)
	require.NoError(t, err)
	_, err = h.run(ctx, pawl.Agent{}, task)
	return seen, err
}

// The order of moments in a turn, as zidane was seen to have it: what a turn said comes before its tools.
func TestTheOrderOfMoments(t *testing.T) {
	const request = "context.transform system.transform turn.before "
	const end = " " + request + "stream.text stream.text stream.end turn.after turn.stop agent.done"
	for _, c := range []struct {
		name, moments string
		call          guard.Call
	}{
		{"a call that runs", "tool.before tool.dispatched tool.started tool.after", call("read_file", "path", "a.go")},
		{"a call that is blocked", "tool.before", call("shell", "command", "rm -rf /")},
		{"a tool that does not exist", "tool.before tool.unknown", call("Teleport", "to", "x")},
		{"arguments that are not valid", "tool.before validation.reject", call("search", "query", "")},
		{"a tool that fails", "tool.before tool.dispatched tool.started tool.failed tool.after", call("shell", "command", "make test")},
		{"a sub-agent", "tool.before tool.dispatched tool.started spawn.before spawn.complete tool.after", call("spawn", "task", "kid")},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := turns(reply{"Hi", []guard.Call{c.call}}, reply{"tests pass", nil})
			script["kid"] = []reply{{"done", nil}}
			seen, err := perform(t, t.Context(), script)
			require.NoError(t, err)
			require.Equal(t, request+"stream.text stream.end turn.after "+c.moments+end, strings.Join(seen, " "))
		})
	}
}

func TestAgentDoneComesOnce(t *testing.T) {
	again := make([]reply, 60)
	for i := range again {
		again[i] = reply{"", []guard.Call{call("read_file", "path", strings.Repeat("x", i+1))}}
	}
	ctx, cancel := context.WithCancel(t.Context())
	abort := on.Observe("abort", pawl.TurnAfter, func(context.Context, *pawl.Event) { cancel() })
	broken := on.Check("broken", pawl.ContextTransform, func(context.Context, *pawl.Event) (on.Ruling, error) { panic("x") })
	halt := on.Check("halt", pawl.ToolBefore, func(context.Context, *pawl.Event) (on.Ruling, error) { return on.Halt("enough"), nil })
	read := turns(reply{"", []guard.Call{call("read_file", "path", "a.go")}})
	for name, c := range map[string]struct {
		ctx    context.Context
		script map[string][]reply
		more   []pawl.Hook
		err    string
		aborts int
	}{
		"when the work is done":      {t.Context(), turns(reply{"tests pass", nil}), nil, "", 0},
		"at the turn limit":          {t.Context(), turns(again...), nil, errSteps.Error(), 0},
		"on an abort":                {ctx, read, []pawl.Hook{abort}, context.Canceled.Error(), 1},
		"when a hook ends the run":   {t.Context(), read, []pawl.Hook{halt}, errHalted.Error(), 0},
		"when a transform is broken": {t.Context(), read, []pawl.Hook{broken}, "context.transform was refused", 0},
	} {
		t.Run(name, func(t *testing.T) {
			seen, err := perform(t, c.ctx, c.script, c.more...)
			if c.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.err)
			}
			require.Equal(t, 1, count(seen, "agent.done"))
			require.Equal(t, c.aborts, count(seen, "agent.abort"))
			require.LessOrEqual(t, count(seen, "turn.after"), maxSteps)
		})
	}
}

// A handler that breaks at any moment spoils at most the run it breaks in.
func TestTheAgentWorksAfterAHookBroke(t *testing.T) {
	for _, row := range pawl.TriggerRows() {
		t.Run(string(row.Trigger), func(t *testing.T) {
			armed := true
			h := pawl.Hook{Name: "broken", On: row.Trigger, Effects: row.Can, Handler: pawl.HandlerFunc(
				func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
					if armed {
						panic("x")
					}
					return pawl.Decision{}, nil
				})}
			script := turns(reply{"Hi", []guard.Call{call("read_file", "path", "a.go"), call("shell", "command", "make test"), call("Teleport", "to", "x")}}, reply{"tests pass", nil})
			host, err := newHost(io.Discard, script, h)
			require.NoError(t, err)
			_, _ = host.run(t.Context(), pawl.Agent{}, task)
			armed = false
			answer, err := host.run(t.Context(), pawl.Agent{}, task)
			require.NoError(t, err)
			require.Equal(t, "tests pass", answer)
		})
	}
}

func TestASubAgentIsUnderTheSameHooks(t *testing.T) {
	script := turns(reply{"", []guard.Call{call("spawn", "task", "kid")}}, reply{"tests pass", nil})
	script["kid"] = []reply{{"", []guard.Call{call("shell", "command", "rm -rf /"), call("read_file", "path", "a.go")}}}
	var child, results []string
	h, err := newHost(io.Discard, script,
		on.Observe("before", pawl.ToolBefore, func(_ context.Context, ev *pawl.Event) {
			if ev.Agent.Depth == 1 {
				child = append(child, ev.Tool+" "+ev.Verdict.String())
			}
		}),
		on.Observe("after", pawl.ToolAfter, func(_ context.Context, ev *pawl.Event) { results = append(results, string(ev.Output)) }),
		on.Check("stop", pawl.AgentStop, func(context.Context, *pawl.Event) (on.Ruling, error) { return on.Refuse("go on"), nil }),
	)
	require.NoError(t, err)
	answer, err := h.run(t.Context(), pawl.Agent{}, task)
	require.NoError(t, err)
	require.Equal(t, "tests pass", answer)
	require.Equal(t, []string{"shell refuse", "read_file pass"}, child)
	require.Equal(t, `"[sub-agent child-1] "`, results[len(results)-1], "a stop hook that never lets go is held by the cap on refused stops")
}

// A child that fails is the result of its call, not the end of its parent.
func TestASubAgentThatFailsIsAResult(t *testing.T) {
	script := turns(reply{"", []guard.Call{call("spawn", "task", "kid")}}, reply{"tests pass", nil})
	script["kid"] = []reply{{"", []guard.Call{call("shell", "command", "ls")}}}
	var result string
	end := on.Check("end", pawl.ToolBefore, func(_ context.Context, ev *pawl.Event) (on.Ruling, error) {
		if ev.Agent.Depth > 0 {
			return on.Halt("enough"), nil
		}
		return on.Ruling{}, nil
	})
	seen, err := perform(t, t.Context(), script, end, on.Observe("result", pawl.ToolAfter, func(_ context.Context, ev *pawl.Event) { result = string(ev.Output) }))
	require.NoError(t, err)
	require.Contains(t, result, "[sub-agent child-1] a hook ended the run")
	require.Equal(t, 1, count(seen, "spawn.error"))
	require.Zero(t, count(seen, "spawn.complete"))
}
