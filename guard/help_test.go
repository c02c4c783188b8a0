package guard_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
	"github.com/stretchr/testify/require"
)

// bench is a registry of guards and further hooks, with shorthands for the moments of a tool call.
type bench struct {
	t   *testing.T
	reg *pawl.Registry
}

func newBench(t *testing.T, guards []guard.Guard, more ...pawl.Hook) *bench {
	t.Helper()
	hooks, err := guard.Hooks(guards...)
	require.NoError(t, err)
	reg, err := pawl.New(pawl.Options{}, append(more, hooks...)...)
	require.NoError(t, err)
	return &bench{t: t, reg: reg}
}

func one(g guard.Guard) []guard.Guard { return []guard.Guard{g} }

func (b *bench) fire(ev pawl.Event) pawl.Outcome {
	b.t.Helper()
	out, err := b.reg.Dispatch(b.t.Context(), &ev)
	require.NoError(b.t, err)
	return out
}

// before dispatches tool.before for a new call without an id.
func (b *bench) before(tool, input string) pawl.Outcome {
	b.t.Helper()
	return b.fire(call(tool, input))
}

// run takes a call from tool.before to tool.after, if it may run, and reports whether it ran.
func (b *bench) run(ev pawl.Event, output string) (pawl.Outcome, bool) {
	b.t.Helper()
	out := b.fire(ev)
	if out.Verdict >= pawl.Refuse || out.Event().Output != nil {
		return out, false
	}
	after := *out.Event()
	after.Trigger, after.Output = pawl.ToolAfter, json.RawMessage(output)
	b.fire(after)
	return out, true
}

func call(tool, input string) pawl.Event {
	return pawl.Event{Trigger: pawl.ToolBefore, Session: "s", Tool: tool, Input: json.RawMessage(input)}
}

func with(ev pawl.Event, change func(*pawl.Event)) pawl.Event {
	change(&ev)
	return ev
}

// refuse is a gate that refuses calls of one tool.
func refuse(name, tool string) pawl.Hook {
	return pawl.Hook{Name: name, On: pawl.ToolBefore, Match: pawl.Names(tool), Effects: pawl.MayRefuse, Handler: pawl.HandlerFunc(
		func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
			return pawl.Decision{Verdict: pawl.Refuse, Reason: "no"}, nil
		})}
}

// answer is a hook that answers calls of one tool itself.
func answer(name, tool string) pawl.Hook {
	return pawl.Hook{Name: name, On: pawl.ToolBefore, Match: pawl.Names(tool), Effects: pawl.MayReplace, Handler: pawl.HandlerFunc(
		func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
			return pawl.Decision{Output: json.RawMessage(`"stand-in"`)}, nil
		})}
}

// rewrites is a hook that rewrites the input beside the checks, so that they are asked again.
func rewrites(name, input string) pawl.Hook {
	return pawl.Hook{Name: name, On: pawl.ToolBefore, Effects: pawl.MayRewrite, Concurrent: true, Handler: pawl.HandlerFunc(
		func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
			return pawl.Decision{Input: json.RawMessage(input)}, nil
		})}
}

// beside lets a hook that may change the event run beside the checks, as hooks of host files do.
func beside(h pawl.Hook) pawl.Hook {
	h.Concurrent = true
	return h
}
