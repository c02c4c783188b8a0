package on

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// A Question is what a handler asks the runtime's decision provider.
type Question struct {
	Key     string          // names the question, for caches and logs: "is-destructive"
	Text    string          // in words, for a model or a person
	Choices []string        // what may be answered; empty: anything
	State   json.RawMessage // what the question is about; may be nil
}

// An Opinion is the provider's answer. The zero Opinion is "no opinion": a handler goes on as if it had not
// asked.
type Opinion struct {
	Choice string // one of the Choices; empty: no opinion
	Reason string
	Err    error // why there is no opinion, where that is known; for logs
}

// A Decider is the runtime's decision provider: a model, a rule, a person. It may be called concurrently and
// returns soon after ctx is done.
type Decider interface {
	Decide(ctx context.Context, q Question) (Opinion, error)
}

// DeciderFunc is a func that is a Decider.
type DeciderFunc func(ctx context.Context, q Question) (Opinion, error)

// Decide calls f.
func (f DeciderFunc) Decide(ctx context.Context, q Question) (Opinion, error) { return f(ctx, q) }

type (
	slotKey     struct{}
	decidingKey struct{}
)

// slot binds a provider to its run.
type slot struct {
	run     context.Context
	decider Decider
}

// WithDecider returns run with a slot by which every handler of the events dispatched under it may ask d. The
// slot is bound to run: once run is done there is no opinion, also for a handler that lives on.
func WithDecider(run context.Context, d Decider) context.Context {
	return context.WithValue(run, slotKey{}, slot{run, d})
}

// Decide asks the provider of the run that ctx belongs to. It never panics. There is no opinion where there is
// no provider, the run or ctx is done, the provider fails, panics or answers what is not among the choices,
// and where the provider itself asks, directly or through handlers of events that it dispatches.
func Decide(ctx context.Context, q Question) (answer Opinion) {
	if ctx == nil {
		return Opinion{}
	}
	s, _ := ctx.Value(slotKey{}).(slot)
	if s.decider == nil || ctx.Value(decidingKey{}) != nil {
		return Opinion{}
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, decidingKey{}, true))
	defer cancel(nil)
	defer context.AfterFunc(s.run, func() { cancel(context.Cause(s.run)) })()
	if err := s.run.Err(); err != nil {
		return Opinion{Err: err}
	}
	if err := ctx.Err(); err != nil {
		return Opinion{Err: err}
	}
	defer func() {
		if v := recover(); v != nil {
			answer = Opinion{Err: fmt.Errorf("the decision provider panicked: %v", v)}
		}
	}()
	o, err := s.decider.Decide(ctx, q)
	return q.take(o, err)
}

// take drops an answer that is none.
func (q Question) take(o Opinion, err error) Opinion {
	switch {
	case err != nil:
		return Opinion{Err: err}
	case o.Choice != "" && len(q.Choices) > 0 && !slices.Contains(q.Choices, o.Choice):
		return Opinion{Err: fmt.Errorf("the decision provider answered %q, which is not among %q", o.Choice, q.Choices)}
	}
	return o
}
