package guard

import (
	"cmp"
	"maps"

	"github.com/pawl-hooks/pawl"
)

// A Counter knows how often each tool was called in a run. It is a value beside the registry rather than a
// field of every event, so that a runtime without counting handlers pays nothing for it. The zero Counter is
// ready; register its Hooks and ask Counts from any handler. It must not be copied and may be used
// concurrently.
type Counter struct {
	Name string // of its hooks; empty: "counter"
	runs runs[counted]
}

type counted struct {
	total map[string]int
	calls ledger[string] // the tool of each
}

// Hooks returns the observers that count. The error is always nil.
func (c *Counter) Hooks() ([]pawl.Hook, error) {
	name := cmp.Or(c.Name, "counter")
	return append([]pawl.Hook{
		observer(name, pawl.ToolBefore, c.count),
		observer(name+"-cancelled", pawl.ToolCancelled, c.Forget),
	}, c.runs.endings(name)...), nil
}

// Counts returns how often each tool was called earlier in the event's run, by canonical name; a tool that was
// not called has no entry. The call that the event is about, those that came after it, and those that a hook
// refused or that were cancelled do not count; one that was answered by a stand-in does. The map is the
// caller's.
func (c *Counter) Counts(ev *pawl.Event) map[string]int {
	counts := map[string]int{}
	c.runs.peek(ev, func(s *counted) {
		maps.Copy(counts, s.total)
		if ev.Call == "" {
			return
		}
		own := s.calls.latest(ev.Call, false)
		if own < 0 || ev.Trigger == pawl.ToolBefore {
			return
		}
		for _, later := range s.calls.calls[own:] {
			uncount(counts, later.note)
		}
	})
	return counts
}

// Forget takes back a call that passed tool.before and then did not run. A runtime that dispatches
// tool.cancelled for it need not call this.
func (c *Counter) Forget(ev *pawl.Event) {
	c.runs.peek(ev, func(s *counted) {
		if i := s.calls.latest(ev.Call, false); i >= 0 {
			uncount(s.total, s.calls.take(i))
		}
	})
}

func (c *Counter) count(ev *pawl.Event) {
	if ev.Verdict >= pawl.Refuse {
		return
	}
	c.runs.do(ev, func(s *counted) {
		if s.total == nil {
			s.total = map[string]int{}
		}
		s.total[ev.Tool]++
		s.calls.add(ev.Call, ev.Tool)
	})
}

func uncount(counts map[string]int, tool string) {
	if counts[tool]--; counts[tool] <= 0 {
		delete(counts, tool)
	}
}
