package guard

import (
	"context"

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

// Hooks returns the hook, bound to once a run, and those that release its state. The error is always nil.
func (o *Once) Hooks() ([]pawl.Hook, error) {
	h := o.Hook
	h.Handler = pawl.HandlerFunc(o.handle)
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
