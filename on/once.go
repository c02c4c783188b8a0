package on

import (
	"context"
	"sync"

	"github.com/pawl-hooks/pawl"
)

// Once makes a hook that runs for one event and never again. It is spent before it runs: an event dispatched
// from within the handler does not reach it, and one that fails is spent too. Asked again about the event it
// was spent on (Event.Recheck), it answers again: a check must judge what will happen. To other events it is as
// if it were not there, and leaves no record. One use of the result makes one Once.
func Once(h pawl.Hook) pawl.Hook {
	f, isFunc := h.Handler.(pawl.HandlerFunc)
	seen, isObserver := h.Handler.(pawl.Observer)
	if h.Handler == nil || isFunc && f == nil || isObserver && seen == nil {
		return h // pawl.New says that it has no handler
	}
	o := &once{match: h.Match, handler: h.Handler, judges: h.Effects&(pawl.MayRefuse|pawl.MayHalt|pawl.MayAsk|pawl.MayAllow) != 0}
	h.Match, h.Handler = o, o
	if p, ok := o.handler.(pawl.Program); ok {
		h.Handler = onceProgram{p, o}
	}
	return h
}

// once is the matcher and the handler of such a hook.
type once struct {
	match   pawl.Matcher
	handler pawl.Handler
	judges  bool // it may be asked again
	mu      sync.Mutex
	spent   bool
	on      eventID
}

// An eventID tells the event that was spent from others when it comes again.
type eventID struct {
	trigger                    pawl.Trigger
	session, agent, turn, call string
}

func idOf(ev *pawl.Event) eventID {
	return eventID{ev.Trigger, ev.Session, ev.Agent.ID, ev.Turn, ev.Call}
}

// Match accepts the event it was spent on for as long as that may be judged again; which time that is, only
// Handle is told.
func (o *once) Match(ev *pawl.Event) bool {
	o.mu.Lock()
	open := !o.spent || o.judges && o.on == idOf(ev)
	o.mu.Unlock()
	return open && (o.match == nil || o.match.Match(ev))
}

func (o *once) String() string {
	if o.match == nil {
		return "once"
	}
	return o.match.String() + " & once"
}

func (o *once) Handle(ctx context.Context, ev *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
	o.mu.Lock()
	open := !o.spent || ev.Recheck && o.on == idOf(ev)
	if open {
		o.spent, o.on = true, idOf(ev)
	}
	o.mu.Unlock()
	if !open {
		return pawl.Decision{}, nil // another event was quicker
	}
	return o.handler.Handle(ctx, ev, gate)
}

// onceProgram keeps a program a program: bounded, recorded, listed with its words.
type onceProgram struct {
	pawl.Program
	o *once
}

func (p onceProgram) Handle(ctx context.Context, ev *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
	return p.o.Handle(ctx, ev, gate)
}
