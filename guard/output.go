package guard

import (
	"cmp"
	"context"
	"fmt"

	"github.com/pawl-hooks/pawl"
)

// An OutputBudget tells the model once a turn when the results of the turn's tools together are large: a nudge
// to summarize and to narrow its calls. It measures Event.OutputBytes, what tools printed before any hook cut
// it; where a runtime leaves that zero, the length of Output as the hooks left it. A result that a hook refused does not count.
type OutputBudget struct {
	Name    string // of its hooks; empty: "output-budget"
	Max     int    // bytes of a turn; at least 1
	Message string // for the model; empty: a stock text
	runs    runs[printed]
}

type printed struct {
	turn   string
	step   int
	bytes  int
	nudged bool
}

// Hooks returns the hooks of the guard, or the fault in its limit.
func (o *OutputBudget) Hooks() ([]pawl.Hook, error) {
	name := cmp.Or(o.Name, "output-budget")
	if o.Max < 1 {
		return nil, fmt.Errorf("guard %s: max is %d, want at least 1 byte", name, o.Max)
	}
	return append([]pawl.Hook{
		{Name: name, On: pawl.ToolAfter, Effects: pawl.MayNote, Handler: pawl.HandlerFunc(o.add)},
	}, o.runs.endings(name)...), nil
}

func (o *OutputBudget) add(_ context.Context, ev *pawl.Event, _ pawl.Gate) (d pawl.Decision, _ error) {
	if ev.Recheck || ev.Verdict >= pawl.Refuse {
		return d, nil
	}
	o.runs.do(ev, func(p *printed) {
		if p.turn != ev.Turn || p.step != ev.Step {
			*p = printed{turn: ev.Turn, step: ev.Step}
		}
		p.bytes += cmp.Or(ev.OutputBytes, len(ev.Output))
		if p.bytes > o.Max && !p.nudged {
			p.nudged = true
			d.Notes = []string{cmp.Or(o.Message, fmt.Sprintf("The tools of this turn printed %d bytes, more than the %d that fit well. "+
				"Summarize what you learned, and ask for less at a time.", p.bytes, o.Max))}
		}
	})
	return d, nil
}
