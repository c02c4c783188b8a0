package on

import (
	"context"

	"github.com/pawl-hooks/pawl"
)

// Observe makes a hook that watches a trigger and cannot decide. At a Quiet trigger it costs a call and leaves
// no record.
func Observe(name string, t pawl.Trigger, f func(ctx context.Context, ev *pawl.Event)) pawl.Hook {
	return made(f != nil, pawl.Hook{Name: name, On: t, Handler: pawl.Observer(f), Origin: caller()})
}

// ObserveAs is Observe for a runtime whose Payload at this trigger is a P. Where it is not, the hook panics with
// a [TypeError], which is recorded, at a Quiet trigger too.
func ObserveAs[P any](name string, t pawl.Trigger, f func(ctx context.Context, ev *pawl.Event, payload P)) pawl.Hook {
	h := Observe(name, t, func(ctx context.Context, ev *pawl.Event) {
		p, err := payloadAs[P](ev)
		if err != nil {
			panic(err) // an Observer has no other way to fail, and nothing else is quick enough for a stream
		}
		f(ctx, ev, p)
	})
	h.Origin = caller()
	return made(f != nil, h)
}

// ObserveChild makes a hook that watches a trigger that bubbles for the events of sub-agents alone, as
// "child." + trigger: depth is 1 for a child of the main agent.
func ObserveChild(name string, t pawl.Trigger, f func(ctx context.Context, ev *pawl.Event, childID string, depth int)) pawl.Hook {
	h := Observe(name, "child."+t, func(ctx context.Context, ev *pawl.Event) { f(ctx, ev, ev.Agent.ID, ev.Agent.Depth) })
	h.Origin = caller()
	return made(f != nil, h)
}

// Note makes a hook that may put text before the model, and no more. An empty text says nothing.
func Note(name string, t pawl.Trigger, f func(ctx context.Context, ev *pawl.Event) (note string, err error)) pawl.Hook {
	return made(f != nil, hook(name, t, pawl.MayNote, func(ctx context.Context, ev *pawl.Event) (d pawl.Decision, err error) {
		text, err := f(ctx, ev)
		if text != "" {
			d.Notes = []string{text}
		}
		return d, err
	}))
}
