// Package replay puts the events of a log to another configuration and says which decisions would change.
//
// The records of runs say what an event was about and not what was in it, so hooks that look at a call's
// input cannot be told from them. A runtime that wants those told too appends an [Event] record before it
// dispatches; what the event holds is then in its log.
package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/journal"
	"github.com/pawl-hooks/pawl/wire"
)

// An Event is the record of a whole event, kind event.
type Event struct {
	Event  *pawl.Event
	Redact func([]byte) []byte // over its JSON; nil: as it is
}

// Kind returns "event".
func (*Event) Kind() string { return "event" }

// MarshalJSON writes one object, kind first, and the event in pawl's own JSON.
func (e *Event) MarshalJSON() ([]byte, error) {
	ev, err := wire.EncodeEvent(e.Event)
	if err != nil {
		return nil, err
	}
	if e.Redact != nil {
		ev = e.Redact(ev)
	}
	return slices.Concat([]byte(`{"kind":"event","event":`), ev, []byte("}")), nil
}

// A Moment is one event as a log tells of it.
type Moment struct {
	Event   *pawl.Event
	Whole   bool         // the event was recorded; else it is what the runs say of it
	Runs    []*pawl.Run  // of its hooks, as recorded; none where no hook answered a recorded event
	Verdict pawl.Verdict // the strictest that was enforced
	File    string
	Line    int // of its first record
}

// about is what the records of one event have in common.
type about struct {
	trigger                          pawl.Trigger
	session, turn, call, agent, tool string
}

// Moments reads the events of a log, in the order in which they began. An entry that is a run or an event
// and cannot be read is an error; other kinds, and what is no record, are passed over.
func Moments(entries iter.Seq2[*journal.Entry, error]) ([]*Moment, error) {
	var list []*Moment
	open := map[about]*Moment{}
	for e, err := range entries {
		if err != nil {
			return nil, err
		}
		switch e.Kind {
		case "event":
			ev, err := eventOf(e)
			if err != nil {
				return nil, err
			}
			m := &Moment{Event: ev, Whole: true, File: e.File, Line: e.Line}
			list = append(list, m)
			open[about{ev.Trigger, ev.Session, ev.Turn, ev.Call, ev.Agent.ID, ev.Tool}] = m
		case "hook.run":
			run, err := e.Run()
			if err != nil {
				return nil, err
			}
			key := about{run.Trigger, run.Session, run.Turn, run.Call, run.Agent, run.Tool}
			m := open[key]
			if m == nil || m.has(run) {
				m = &Moment{Event: eventFrom(run), File: e.File, Line: e.Line}
				list = append(list, m)
				open[key] = m
			}
			m.add(run)
		}
	}
	return list, nil
}

func eventOf(e *journal.Entry) (*pawl.Event, error) {
	var rec struct{ Event json.RawMessage }
	if err := json.Unmarshal(e.Raw, &rec); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", e.File, e.Line, err)
	}
	return wire.DecodeEvent(fmt.Sprintf("%s:%d", e.File, e.Line), rec.Event)
}

// eventFrom makes of an event what the record of a run says of it.
func eventFrom(run *pawl.Run) *pawl.Event {
	ev := &pawl.Event{Trigger: run.Trigger, Session: run.Session, Turn: run.Turn, Call: run.Call, Tool: run.Tool}
	if run.Agent != "" {
		ev.Agent = pawl.Agent{ID: run.Agent, Depth: 1}
	}
	return ev
}

// has reports whether a run with the same id is there: then this one is of another event.
func (m *Moment) has(run *pawl.Run) bool {
	return slices.ContainsFunc(m.Runs, func(r *pawl.Run) bool { return r.ID == run.ID })
}

func (m *Moment) add(run *pawl.Run) {
	m.Runs = append(m.Runs, run)
	if !run.Shadow && !run.PassedOpen {
		m.Verdict = max(m.Verdict, enforced(run)) // as Decision.Join takes them
	}
}

// enforced is the verdict that a run had in the end: a failure refuses without having said so.
func enforced(run *pawl.Run) pawl.Verdict {
	if run.Refused && run.Verdict < pawl.Refuse {
		return pawl.Refuse
	}
	return run.Verdict
}

// Hooks lists the names of the hooks that ran, once each, in the order of their records.
func (m *Moment) Hooks() []string {
	var names []string
	for _, run := range m.Runs {
		if !slices.Contains(names, run.Name) {
			names = append(names, run.Name)
		}
	}
	return names
}

// A Change is what another configuration makes of a moment.
type Change struct {
	Moment *Moment
	Ran    bool         // the event was dispatched; else only planned
	After  pawl.Verdict // what came of it; of a plan the recorded verdict
	Reason string
	Now    []string // hooks that answer now, in configuration order
	Gone   []string // hooks that ran and now do not
	Added  []string // hooks that did not run and now do
	// Unsure lists hooks that look at what the log does not hold, so that neither can be told: of these
	// none is in Gone or Added.
	Unsure []string
}

// Changed reports whether anything is different: the verdict, or the hooks that answer.
func (c *Change) Changed() bool {
	return c.After != c.Moment.Verdict || len(c.Gone) > 0 || len(c.Added) > 0
}

// String says the change on one line.
func (c *Change) String() string {
	ev := c.Moment.Event
	parts := []string{strings.TrimRight(fmt.Sprintf("%s:%d: %s %s", c.Moment.File, c.Moment.Line, ev.Trigger, ev.Tool), " ") + ":"}
	if c.After != c.Moment.Verdict {
		parts = append(parts, fmt.Sprintf("%s, was %s;", c.After, c.Moment.Verdict))
	} else {
		parts = append(parts, c.After.String()+" as before;")
	}
	for _, list := range []struct {
		word  string
		names []string
	}{{"no more:", c.Gone}, {"now also:", c.Added}, {"cannot be told:", c.Unsure}} {
		if len(list.names) > 0 {
			parts = append(parts, list.word+" "+strings.Join(list.names, ", ")+";")
		}
	}
	return strings.TrimSuffix(strings.Join(parts, " "), ";")
}

// Plan says which hooks of r would answer a moment's event, and runs nothing.
func Plan(ctx context.Context, r *pawl.Registry, m *Moment) *Change {
	c := &Change{Moment: m, After: m.Verdict}
	var now []string
	for _, x := range r.Explain(ctx, m.Event) {
		name := x.Hook.Name
		switch {
		case x.Fires == pawl.FiresIfChanged, x.Hook.On == m.Event.Trigger && !m.Whole && reads(x.Hook.Match):
			c.Unsure = append(c.Unsure, name)
		case x.Fires == pawl.FiresYes:
			now = append(now, name)
		}
	}
	c.compare(now)
	return c
}

// reads reports whether a matcher looks at more than names.
func reads(m pawl.Matcher) bool {
	_, names := m.(pawl.NameMatcher)
	return m != nil && !names
}

// compare notes which hooks answer now, and how that differs.
func (c *Change) compare(now []string) {
	c.Now = now
	before := c.Moment.Hooks()
	without := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(n string) bool { return slices.Contains(other, n) || slices.Contains(c.Unsure, n) })
	}
	c.Gone, c.Added = without(before, now), without(now, before)
}

// Run dispatches a moment's event to r, with all that its hooks do, and compares what came of it. Of a
// moment that is not whole the hooks get what the log holds, so no input: those that match by more than
// names are in Unsure, and what they answered now says little. The error of the dispatch comes beside the
// change.
func Run(ctx context.Context, r *pawl.Registry, m *Moment) (*Change, error) {
	c := Plan(ctx, r, m)
	out, err := r.Dispatch(ctx, m.Event)
	c.Ran, c.After, c.Reason = true, out.Verdict, out.Decision().Reason
	if m.Whole {
		c.Unsure = nil // it was seen
	}
	var now []string
	for h := range r.Hooks() { // records stand by stage
		if slices.ContainsFunc(out.Runs(), func(run pawl.Run) bool { return run.Name == h.Name }) {
			now = append(now, h.Name)
		}
	}
	c.compare(now)
	return c, err
}
