package on

import (
	"context"
	"path"
	"runtime"
	"strings"

	"github.com/pawl-hooks/pawl"
)

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
