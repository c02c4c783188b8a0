package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/pawl-hooks/pawl"
)

// Blocked begins every reason by which a guard refuses a call, as the model is told it.
const Blocked = "Blocked: "

// What a Budget does about a call beyond the limit.
const (
	Steer = "steer" // lets it run, and tells the model once to finish with what it has
	Block = "block" // refuses it
)

// A Limit is how many calls of a tool may run. Max calls run; the next is steered or blocked.
type Limit struct {
	Max      int    `json:"max" toml:"max"`                             // at least 1
	OnExceed string `json:"on_exceed" toml:"on_exceed"`                 // Steer or Block
	Message  string `json:"message,omitempty" toml:"message,omitempty"` // for the model; empty: a stock text
}

// A Budget limits how many calls of a tool run in one run. Refused calls, cancelled ones and those answered by
// a stand-in do not count. The zero Budget limits nothing.
type Budget struct {
	Name  string           // of its hooks; empty: "budget"
	Tools map[string]Limit // by canonical name or alias
	runs  runs[spent]
}

type spent struct {
	ran    map[string]int
	nudged map[string]bool
	calls  ledger[taken]
}

// taken is what the budget said of a call.
type taken struct {
	tool     string // under which it was counted; empty: it was not
	decision pawl.Decision
}

// Hooks returns the hooks of the budget, or every fault in its limits.
func (b *Budget) Hooks() ([]pawl.Hook, error) {
	name := cmp.Or(b.Name, "budget")
	var faults []error
	for _, tool := range sorted(b.Tools) {
		faults = append(faults, b.Tools[tool].check(name, tool))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return append([]pawl.Hook{
		{Name: name, On: pawl.ToolBefore, Effects: pawl.MayRefuse | pawl.MayNote, Handler: pawl.HandlerFunc(b.check)},
		observer(name+"-settle", pawl.ToolBefore, b.settle),
		observer(name+"-cancelled", pawl.ToolCancelled, b.Forget),
		observer(name+"-done", pawl.ToolAfter, b.done),
	}, b.runs.endings(name)...), nil
}

func (l Limit) check(guard, tool string) error {
	switch {
	case tool == "":
		return fmt.Errorf("guard %s: a limit without a tool's name", guard)
	case l.Max < 1:
		return fmt.Errorf("guard %s: tool %s: max is %d, want at least 1; to forbid a tool, refuse it by policy", guard, tool, l.Max)
	case l.OnExceed != Steer && l.OnExceed != Block:
		return fmt.Errorf("guard %s: tool %s: on_exceed is %q, want %q or %q", guard, tool, l.OnExceed, Steer, Block)
	}
	return nil
}

func (b *Budget) check(_ context.Context, ev *pawl.Event, _ pawl.Gate) (d pawl.Decision, _ error) {
	tool, limit, ok := lookup(b.Tools, ev)
	if !ok {
		return d, nil
	}
	b.runs.do(ev, func(s *spent) {
		if ev.Recheck {
			if i := s.calls.latest(ev.Call, false); i >= 0 {
				d = s.calls.calls[i].note.decision
			}
			return
		}
		note := taken{}
		if ev.Output == nil {
			note = s.judge(tool, limit)
		}
		s.calls.add(ev.Call, note)
		d = note.decision
	})
	return d, nil
}

// judge reserves a place for a call of the tool, or says why there is none.
func (s *spent) judge(tool string, limit Limit) taken {
	if s.ran == nil {
		s.ran, s.nudged = map[string]int{}, map[string]bool{}
	}
	if s.ran[tool] < limit.Max {
		s.ran[tool]++
		return taken{tool: tool}
	}
	if limit.OnExceed == Block {
		why := cmp.Or(limit.Message, fmt.Sprintf("%s already ran %s in this run, which is its limit. Go on with what you have.", tool, times(limit.Max)))
		return taken{decision: pawl.Decision{Verdict: pawl.Refuse, Reason: Blocked + why}}
	}
	s.ran[tool]++
	t := taken{tool: tool}
	if !s.nudged[tool] {
		s.nudged[tool] = true
		t.decision.Notes = []string{cmp.Or(limit.Message, fmt.Sprintf("%s has now run more than %s in this run. Commit to an answer with what you have.", tool, times(limit.Max)))}
	}
	return t
}

// settle sees what all hooks together decided of the call.
func (b *Budget) settle(ev *pawl.Event) {
	b.runs.peek(ev, func(s *spent) {
		i := s.calls.latest(ev.Call, false)
		if i < 0 {
			return
		}
		if s.calls.calls[i].note.tool == "" || ev.Verdict >= pawl.Refuse || ev.Output != nil {
			s.giveBack(i)
			return
		}
		s.calls.calls[i].settled = true
	})
}

// Forget takes back a call that passed tool.before and then did not run. A runtime that dispatches
// tool.cancelled for it need not call this.
func (b *Budget) Forget(ev *pawl.Event) {
	b.runs.peek(ev, func(s *spent) {
		if i := s.calls.either(ev.Call); i >= 0 {
			s.giveBack(i)
		}
	})
}

// done makes the call final.
func (b *Budget) done(ev *pawl.Event) {
	b.runs.peek(ev, func(s *spent) {
		if i := s.calls.latest(ev.Call, true); i >= 0 {
			s.calls.take(i)
		}
	})
}

func (s *spent) giveBack(i int) {
	if t := s.calls.take(i); t.tool != "" {
		uncount(s.ran, t.tool)
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
