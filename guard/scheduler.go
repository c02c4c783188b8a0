package guard

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/on"
)

// A Call is one tool call as the model asked for it.
type Call struct {
	ID      string // unique in the session; guards tell calls apart by it
	Tool    string // canonical name
	Aliases []string
	Action  string
	Paths   []string
	Input   json.RawMessage
	Payload any
}

// A State says how far a call came.
type State string

// The states.
const (
	Ran       State = "ran"       // the tool was called, whatever came of it
	Answered  State = "answered"  // a hook's stand-in is the result
	Refused   State = "refused"   // by a hook, the policy or a person
	Cancelled State = "cancelled" // before it started
	Unknown   State = "unknown"   // there is no such tool
	Invalid   State = "invalid"   // its input failed validation
)

// A Result is what became of one call.
type Result struct {
	Call     Call
	State    State
	Output   json.RawMessage // what the model gets
	Failed   bool            // as an error
	Notes    []string        // for the model, beside the output
	Warnings []string        // for the person
	Halt     bool            // a hook ended the run here; the calls after it were cancelled
	Payload  any             // the event's, after hooks
	Err      error           // the tool's own error, a *ToolPanic included; nil where it did not fail
}

// A Scheduler runs the tool calls of a turn with the hooks around each. Safe calls run beside each other, up to
// Limit; an unsafe one waits for what is in flight, runs alone, and is never overtaken. Hooks are asked about
// calls one at a time, in the order the model gave them, each before the next starts, so that guards count the
// same under every schedule; results stand in that order too.
//
// What is dispatched for a call, as it applies:
//
//	tool.before                     every call but one cancelled earlier
//	tool.unknown, validation.reject where it passed and has no tool or no valid input
//	tool.approval                   where a hook or the policy asks
//	tool.dispatched, tool.started   where it will run, and as it does
//	tool.failed, tool.after         where it ran
//	tool.cancelled                  where the context ended, Skip stepped in or a hook halted before it started
//
// A stand-in goes through the replacers of tool.after and is seen there by nobody else. A call that was
// running when the context ended has run: its result is what the tool returned, its hooks are still asked.
//
// Any of the funcs, and Hooks, may panic or end its goroutine. The call fails then, and no other: Safe says no, Skip
// cancels, Run fails, and every other one refuses.
//
// The zero value of every field but Run is fine. A Scheduler may be used concurrently.
type Scheduler struct {
	Hooks on.Dispatcher // nil: none
	// Run calls the tool. The event is the call's after all rewrites. An error, or a panic, is a failed call.
	Run func(ctx context.Context, ev *pawl.Event) (json.RawMessage, error)
	// Safe reports whether a call may run beside others, asked about the call as the model gave it and, where a
	// hook changed it, as it will run. Nil: none is.
	Safe  func(ev *pawl.Event) bool
	Limit int // safe calls at once; zero: 10; 1, or below zero: one at a time

	Known    func(tool string) bool                                           // nil: every tool exists
	Validate func(ev *pawl.Event) error                                       // judges the input after rewrites; nil: every input is valid
	Skip     func() (reason string)                                           // asked before each call; a reason cancels it and those after it: steering; nil: never
	Permit   func(ctx context.Context, ev *pawl.Event) (pawl.Verdict, string) // the runtime's policy, with its reason; nil: permits
	// Approve asks a person where a hook or the policy said Ask and no tool.approval hook answered. Nil and an
	// error refuse.
	Approve func(ctx context.Context, ev *pawl.Event, reason string) (bool, error)

	Guards []Guard // those with a Forget are told of calls that passed tool.before and were then kept from running
}

// Turn runs calls and returns their results, in order, when all have ended. The event holds what the calls'
// events have in common: session, turn, step, agent, directory, model. No call is lost: one whose hook ends the
// goroutine counts as refused, one whose tool does as failed.
func (s *Scheduler) Turn(ctx context.Context, turn pawl.Event, calls []Call) []Result {
	t := &schedule{s: s, ctx: ctx, calls: make([]*scheduled, len(calls)), slots: make(chan struct{}, s.limit())}
	for i, c := range calls {
		ev := turn
		ev.Trigger, ev.Call, ev.Tool, ev.Aliases = pawl.ToolBefore, c.ID, c.Tool, c.Aliases
		ev.Action, ev.Paths, ev.Input, ev.Payload = c.Action, c.Paths, c.Input, c.Payload
		ev.Output, ev.OutputBytes, ev.Failed, ev.StandIn, ev.Verdict = nil, 0, false, false, pawl.Pass
		t.calls[i] = &scheduled{t: t, ev: &ev, result: Result{Call: c}}
		t.next(t.calls[i])
	}
	t.inFlight.Wait()
	results := make([]Result, len(calls))
	for i, c := range t.calls {
		results[i] = c.result
	}
	return results
}

func (s *Scheduler) limit() int {
	if s.Limit == 0 {
		return 10
	}
	return max(s.Limit, 1)
}

// schedule is one turn under way. All but inFlight's goroutines is done by the caller of Turn.
type schedule struct {
	s        *Scheduler
	ctx      context.Context
	calls    []*scheduled
	slots    chan struct{}
	inFlight sync.WaitGroup
	mu       sync.Mutex
	halted   string // why the run is over
}

// next takes one call to its start, or to the end of a safe one before it is worth waiting for.
func (t *schedule) next(c *scheduled) {
	safe := t.safe(c.ev)
	if safe {
		t.slots <- struct{}{}
	} else {
		t.inFlight.Wait()
	}
	admitted := false
	if reason := t.over(); reason != "" {
		c.cancel(reason)
	} else {
		await(func() { admitted = c.admit() })
	}
	if admitted && safe && !t.safe(c.ev) {
		<-t.slots
		safe = false
		t.inFlight.Wait()
		if reason := t.over(); reason != "" {
			c.cancel(reason)
			admitted = false
		}
	}
	switch {
	case admitted && safe:
		t.inFlight.Go(func() {
			defer func() { <-t.slots }()
			c.run()
		})
	case admitted:
		await(c.run)
	case safe:
		<-t.slots
	}
}

// over says why no further call starts, or "".
func (t *schedule) over() string {
	t.mu.Lock()
	halted := t.halted
	t.mu.Unlock()
	switch {
	case halted != "":
		return halted
	case t.ctx.Err() != nil:
		return say(context.Cause(t.ctx))
	case t.s.Skip == nil:
		return ""
	}
	var reason string
	if broken := contained("Skip", func() { reason = t.s.Skip() }); broken != nil {
		return broken.Error()
	}
	return reason
}

func (t *schedule) halt(reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.halted == "" {
		t.halted = cmp.Or(reason, "the run was ended")
	}
}

// safe asks the predicate; a panic is a no.
func (t *schedule) safe(ev *pawl.Event) (safe bool) {
	if t.s.Safe == nil {
		return false
	}
	broken := contained("Safe", func() { safe = t.s.Safe(ev) })
	return safe && broken == nil
}
