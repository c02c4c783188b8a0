package pawl

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A Cause says why a hook gave no valid answer. The zero Cause: it did answer.
type Cause string

// The causes, as the record spells them.
const (
	CausePolicy    Cause = "policy"    // the gate refused its program
	CauseStart     Cause = "start"     // not found, not executable, bad format, no gate
	CauseTimeout   Cause = "timeout"   // it ran into its Timeout
	CauseCancelled Cause = "cancelled" // the context of the dispatch ended
	CauseSignal    Cause = "signal"    // its program was killed by a signal
	CauseExit      Cause = "exit"      // an exit code that is no answer in this dialect
	CauseOutput    Cause = "output"    // unreadable or cut
	CauseUntrusted Cause = "untrusted" // pending, under Strict
	CauseConflict  Cause = "conflict"  // a second, different rewrite
	CauseEffect    Cause = "effect"    // a decision beyond its effects
	CauseError     Cause = "error"     // the handler returned an error
	CausePanic     Cause = "panic"     // it panicked, or called runtime.Goexit
	CauseAbandoned Cause = "abandoned" // it ignored its deadline and was left behind
	CauseLog       Cause = "log"       // the records were not kept
)

// A Failure is an error by which a Handler names the Cause; any other error counts as CauseError, or as
// what its gate said.
type Failure struct {
	Cause Cause
	Err   error // what went wrong, for people; may be nil
}

func (f *Failure) Error() string {
	if f.Err == nil {
		return string(f.Cause)
	}
	return f.Err.Error()
}

// Unwrap returns Err.
func (f *Failure) Unwrap() error { return f.Err }

// A PanicError is a handler's panic.
type PanicError struct {
	Hook  string
	Value any    // nil for runtime.Goexit
	Stack []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string {
	if e.Value == nil {
		return fmt.Sprintf("hook %s ended its goroutine", e.Hook)
	}
	return fmt.Sprintf("hook %s panicked: %v", e.Hook, e.Value)
}

// EventFrom returns the event that a Gate is asked about, or nil where ctx is not a hook's.
func EventFrom(ctx context.Context) *Event {
	ev, _ := ctx.Value(eventKey{}).(*Event)
	return ev
}

// HookFrom returns the hook whose context ctx is, or nil. The Hook must not be changed.
func HookFrom(ctx context.Context) *Hook {
	h, _ := ctx.Value(hookKey{}).(*Hook)
	return h
}

// Pause stops the clock of the hook whose context ctx is while a person is asked, for at most limit. It
// returns a func that lets the clock run on; calling it twice does no harm. Where ctx is not a hook's, or
// the hook has no timeout, Pause does nothing.
func Pause(ctx context.Context, limit time.Duration) (resume func()) {
	if c, _ := ctx.Value(clockKey{}).(*clock); c != nil {
		return c.pause(limit)
	}
	return func() {}
}

type (
	eventKey struct{}
	hookKey  struct{}
	clockKey struct{}
)

// Once returns the value that f makes, computed once per state of an event however many hooks are asked
// about it: a codec's encoding, say. The value is shared between goroutines and must not be changed.
func (ev *Event) Once(key any, f func() any) any {
	if ev.shared == nil {
		return f()
	}
	return ev.shared.once(key, f)
}

// shared is what the copies of one state of an event have in common.
type shared struct {
	mu     sync.Mutex
	values map[any]any
}

func (s *shared) once(key any, f func() any) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.values[key]; ok {
		return v
	}
	v := f()
	if s.values == nil {
		s.values = map[any]any{}
	}
	s.values[key] = v
	return v
}

// clock is a timeout that can be paused.
type clock struct{}

func (c *clock) pause(time.Duration) func() { return func() {} }
