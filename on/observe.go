package on

import (
	"context"
	"path"
	"runtime"
	"strings"

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

// Tools narrows hooks of a trigger about tools to those named, by canonical name or alias.
func Tools(h pawl.Hook, names ...string) pawl.Hook { return Only(h, pawl.Names(names...)) }

// Only narrows a hook to the events that m matches too.
func Only(h pawl.Hook, m pawl.Matcher) pawl.Hook {
	if h.Match != nil {
		m = pawl.All(h.Match, m)
	}
	h.Match = m
	return h
}

// hook is what all helpers but the observers are made with; its caller's caller is where the hook was written.
func hook(name string, t pawl.Trigger, may pawl.Effect, f func(context.Context, *pawl.Event) (pawl.Decision, error)) pawl.Hook {
	return pawl.Hook{Name: name, On: t, Effects: may, Origin: caller(),
		Handler: pawl.HandlerFunc(func(ctx context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) { return f(ctx, ev) })}
}

// made takes the handler away from a hook whose func was not given, so that pawl.New says that there is none.
func made(given bool, h pawl.Hook) pawl.Hook {
	if !given {
		h.Handler = nil
	}
	return h
}

// packagePath is this package's, so that caller can step over its helpers.
const packagePath = "github.com/pawl-hooks/pawl/on."

// caller is the place in the user's code that made the hook: the file with the folder it lies in, since the
// whole path would differ from one machine to the next.
func caller() pawl.Origin {
	pcs := make([]uintptr, 8)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, packagePath) {
			dir, file := path.Split(frame.File)
			return pawl.Origin{File: path.Join(path.Base(dir), file), Line: frame.Line, Column: 1}
		}
		if !more {
			return pawl.Origin{}
		}
	}
}
