package on

import (
	"context"

	"github.com/pawl-hooks/pawl"
)

// A Dispatcher answers events: a *pawl.Registry, a *pawl.Live, or one of those with spies around it.
type Dispatcher interface {
	Dispatch(ctx context.Context, ev *pawl.Event) (pawl.Outcome, error)
}

// DispatcherFunc is a func that is a Dispatcher.
type DispatcherFunc func(ctx context.Context, ev *pawl.Event) (pawl.Outcome, error)

// Dispatch calls f.
func (f DispatcherFunc) Dispatch(ctx context.Context, ev *pawl.Event) (pawl.Outcome, error) {
	return f(ctx, ev)
}

// A Spy is told of every event before its first hook, also of one that no hook matches. The func it returns is
// told what came of it, also of a refusal or an error, and shares what it closes over with the first: a start
// time, a span. It may be nil. A spy can change nothing: an event it writes to is its own copy, and its panics
// are dropped. For each hook's own start and finish there is pawl.Trace.
type Spy func(ctx context.Context, ev *pawl.Event) (after func(out pawl.Outcome, err error))

// Watched returns d with spies around every dispatch: before in the order given, after in reverse.
func Watched(d Dispatcher, spies ...Spy) Dispatcher {
	return DispatcherFunc(func(ctx context.Context, ev *pawl.Event) (pawl.Outcome, error) {
		afters := make([]func(pawl.Outcome, error), len(spies))
		for i, spy := range spies {
			seen := *ev
			quietly(func() { afters[i] = spy(ctx, &seen) })
		}
		out, err := d.Dispatch(ctx, ev)
		for i := len(afters) - 1; i >= 0; i-- {
			if after := afters[i]; after != nil {
				quietly(func() { after(out, err) })
			}
		}
		return out, err
	})
}

// quietly runs f on this goroutine and drops its panic.
func quietly(f func()) {
	defer func() { _ = recover() }()
	f()
}
