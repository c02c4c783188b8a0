// Package pawl dispatches the hooks of an agent runtime.
package pawl

import (
	"context"
	"fmt"
	"time"
)

// A Hook binds a Handler to a Trigger. The zero value of every field but Name, On and Handler is fine.
type Hook struct {
	Name       string  // unique; lowercase words joined by single hyphens
	On         Trigger // a row of the trigger table, or a name below a row that ends in ".*"
	Match      Matcher // nil accepts every event of the trigger
	Handler    Handler
	Effects    Effect        // what decisions may do; zero makes an observer
	Timeout    time.Duration // zero: programs get 30 s, Go handlers are not bounded
	FailOpen   bool          // let the event through when the hook could not answer
	Shadow     bool          // run and record what it would decide; enforce nothing
	Concurrent bool          // may rewrite, yet runs beside the checks; checks are asked again
	Status     string        // what to show while it runs
	Origin     Origin        // where it was written; copied to the record
}

// An Origin says where a hook was written. The zero Origin is Go code.
type Origin struct {
	Layer  string // managed, system, user, project, session, plugin, config
	File   string
	Line   int // from 1
	Column int // from 1, in bytes
}

// String returns layer:file:line:column, leaving out what is not known.
func (o Origin) String() string {
	if o.File == "" {
		return o.Layer
	}
	s := fmt.Sprintf("%s:%d:%d", o.File, o.Line, o.Column)
	if o.Layer != "" {
		s = o.Layer + ":" + s
	}
	return s
}

// A Handler answers one event. It may be called concurrently and keeps nothing of ev after it returns; at
// a trigger that is recorded the bytes it is lent are its own copy. It starts programs by gate alone, which
// closes when Handle returns. An error is a check that did not happen; what the Decision beside it refuses,
// halts or asks still counts. A panic is recovered and counts as an error.
type Handler interface {
	Handle(ctx context.Context, ev *Event, gate Gate) (Decision, error)
}

// HandlerFunc is a func that is a Handler.
type HandlerFunc func(ctx context.Context, ev *Event, gate Gate) (Decision, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, ev *Event, gate Gate) (Decision, error) {
	return f(ctx, ev, gate)
}

// An Observer is a Handler that cannot decide: the quiet path. It must not change ev.
type Observer func(ctx context.Context, ev *Event)

// Handle calls o.
func (o Observer) Handle(ctx context.Context, ev *Event, _ Gate) (Decision, error) {
	o(ctx, ev)
	return Decision{}, nil
}

// A Program is a Handler that starts one: bounded by default, always recorded, shown in listings.
type Program interface {
	Handler
	Argv() []string // the command as configured
	Digest() string // of the whole definition
}

// LogFailure says what becomes of an event whose records the Log did not take.
type LogFailure uint8

// The choices.
const (
	LogRefuse LogFailure = iota // refuse where the trigger can refuse, else warn
	LogWarn                     // warn; an Allow falls to Pass
)

// Options are what all hooks of a Registry share. The zero Options refuse every command and keep no log.
type Options struct {
	Gate       Gate                 // nil refuses every command
	Log        Log                  // nil discards
	LogFailure LogFailure           // zero: refuse
	Triggers   map[Trigger]Contract // nil: DefaultTriggers()
	Parallel   int                  // programs at once over the whole registry; zero: 2 × GOMAXPROCS, at least 8
	Grace      time.Duration        // after a timeout, for the end of what ran; zero: 2 s
	StopCap    int                  // refusals in a row at turn.stop and agent.stop; zero: 8, below zero: none
	Redact     func([]byte) []byte  // over reasons, notes, warnings, outputs and records; nil: as they are
	Rebind     func(*Event) error   // after a rewrite of Input: bring Payload, Action, Paths into line; nil clears them
	Trace      *Trace               // started and finished, in the order they happen
	Now        func() time.Time     // for records only, never for deadlines; nil: time.Now
}

// A Trace is told of hooks as they start and finish, from the goroutines that run them, in the order it
// happens. Either func may be nil; a panic in one is ignored.
type Trace struct {
	Started  func(hook *Hook, ev *Event)
	Finished func(hook *Hook, run *Run)
}
