package guard

import (
	"context"
	"fmt"

	"github.com/pawl-hooks/pawl"
)

// A Once runs a hook for the first event of each run that reaches it, and not again in that run: a note that
// is worth saying once. It is spent before the hook runs, so one that fails is spent too; asked again about the
// same event (Event.Recheck) it answers again.
type Once struct {
	Hook pawl.Hook
	runs runs[spentOn]
}

// spentOn is the event that a run's once went to.
type spentOn struct {
	spent      bool
	turn, call string
}

// Hooks returns the hook, bound to once a run, and those that release its state. A hook without a handler is
// an error.
func (o *Once) Hooks() ([]pawl.Hook, error) {
	h := o.Hook
	if h.Handler == nil {
		return nil, fmt.Errorf("guard once: hook %q has no handler", h.Name)
	}
	h.Handler = pawl.HandlerFunc(o.handle)
	if p, ok := o.Hook.Handler.(pawl.Program); ok {
		h.Handler = onceProgram{p, o}
	}
	return append([]pawl.Hook{h}, o.runs.endings(h.Name+"-once")...), nil
}

func (o *Once) handle(ctx context.Context, ev *pawl.Event, gate pawl.Gate) (d pawl.Decision, err error) {
	mine := false
	o.runs.do(ev, func(s *spentOn) {
		mine = !s.spent || ev.Recheck && s.turn == ev.Turn && s.call == ev.Call
		if !s.spent {
			*s = spentOn{true, ev.Turn, ev.Call}
		}
	})
	if !mine {
		return d, nil
	}
	return o.Hook.Handler.Handle(ctx, ev, gate)
}

// onceProgram keeps a program a program: bounded, recorded, listed with its words.
type onceProgram struct {
	pawl.Program
	once *Once
}

func (p onceProgram) Handle(ctx context.Context, ev *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
	return p.once.handle(ctx, ev, gate)
}
