package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/pawl-hooks/pawl"
)

// A Threshold says which identical call in a row is refused, and which ends the run.
type Threshold struct {
	Block int `json:"block" toml:"block"` // this one and those after it are refused; at least 2
	Abort int `json:"abort" toml:"abort"` // this one ends the run; above Block
}

// DefaultThresholds are those of a Repeat without Tools: shell 4 and 8, read_file 6 and 12.
func DefaultThresholds() map[string]Threshold {
	return map[string]Threshold{"shell": {4, 8}, "read_file": {6, 12}}
}

// A Streak is what a repeat-guard.exceeded event is about: its Payload.
type Streak struct {
	Tool      string
	Length    int // identical calls in a row, this one included
	Threshold Threshold
	Aborted   bool // the run ends
}

// A Repeat breaks streaks of identical calls: the same tool and the same input, whatever the order of the
// input's members, with no other call in between. Calls that were refused lengthen the streak, and so do
// those answered by a stand-in. The zero Repeat watches shell and read_file.
type Repeat struct {
	Name  string               // of its hooks; empty: "repeat"
	Tools map[string]Threshold // by canonical name or alias; nil: DefaultThresholds()
	Other Threshold            // for tools not in Tools; zero: they are not watched, but end a streak

	// Exceeded is told of each call that is refused, or that ends the run: an event of trigger
	// repeat-guard.exceeded with a Streak as its Payload, ready to dispatch. It may be nil.
	Exceeded func(ctx context.Context, ev *pawl.Event)

	runs runs[streak]
}

type streak struct {
	last   string
	length int
	said   ledger[pawl.Decision]
}

// Hooks returns the hooks of the guard, or every fault in its thresholds.
func (r *Repeat) Hooks() ([]pawl.Hook, error) {
	name := cmp.Or(r.Name, "repeat")
	if r.Tools == nil {
		r.Tools = DefaultThresholds()
	}
	var faults []error
	for _, tool := range sorted(r.Tools) {
		faults = append(faults, r.Tools[tool].check(name, "tool "+tool))
	}
	if r.Other != (Threshold{}) {
		faults = append(faults, r.Other.check(name, "other tools"))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return append([]pawl.Hook{
		{Name: name, On: pawl.ToolBefore, Effects: pawl.MayRefuse | pawl.MayHalt, Handler: pawl.HandlerFunc(r.check)},
	}, r.runs.endings(name)...), nil
}

func (t Threshold) check(guard, whose string) error {
	switch {
	case t.Block < 2:
		return fmt.Errorf("guard %s: %s: block is %d, want at least 2: the first call repeats nothing", guard, whose, t.Block)
	case t.Abort <= t.Block:
		return fmt.Errorf("guard %s: %s: abort is %d, want more than block, %d", guard, whose, t.Abort, t.Block)
	}
	return nil
}

func (r *Repeat) check(ctx context.Context, ev *pawl.Event, _ pawl.Gate) (d pawl.Decision, _ error) {
	length := 0
	key := ev.Tool + "\x00" + canonical(ev.Input)
	tool, limit, ok := lookup(r.Tools, ev)
	if !ok {
		tool, limit = ev.Tool, r.Other
	}
	r.runs.do(ev, func(s *streak) {
		if ev.Recheck {
			if i := s.said.latest(ev.Call, false); i >= 0 {
				d = s.said.calls[i].note
			}
			return
		}
		length = s.next(key)
		d = limit.judge(tool, length)
		s.said.add(ev.Call, d)
	})
	if d.Verdict != pawl.Pass && !ev.Recheck && r.Exceeded != nil {
		r.Exceeded(ctx, exceeded(ev, Streak{tool, length, limit, d.Verdict == pawl.Halt}))
	}
	return d, nil
}

func (s *streak) next(key string) int {
	if key != s.last {
		s.last, s.length = key, 0
	}
	s.length++
	return s.length
}

func (t Threshold) judge(tool string, length int) pawl.Decision {
	switch {
	case t.Block == 0 || length < t.Block:
		return pawl.Decision{}
	case length >= t.Abort:
		return pawl.Decision{Verdict: pawl.Halt, Reason: fmt.Sprintf("the run was ended: the same call of %s came %d times in a row", tool, length)}
	}
	return pawl.Decision{Verdict: pawl.Refuse, Reason: fmt.Sprintf(
		Blocked+"%d calls of %s in a row were the same, and the answer will not change. "+
			"Pivot: use other arguments or another tool, or say what is in the way.", length, tool)}
}

func exceeded(ev *pawl.Event, s Streak) *pawl.Event {
	return &pawl.Event{
		Trigger: pawl.RepeatExceeded, Session: ev.Session, Turn: ev.Turn, Call: ev.Call, Step: ev.Step, Agent: ev.Agent,
		Tool: ev.Tool, Aliases: ev.Aliases, Action: ev.Action, Dir: ev.Dir, Input: ev.Input, Model: ev.Model, Payload: s,
	}
}
