package figures

import (
	"sync"
	"time"

	"github.com/pawl-hooks/pawl"
)

// A Watch warns of hooks that people wait for. The zero Watch warns of nothing. Its fields must not change
// once it is used; it may be used concurrently.
type Watch struct {
	Slow   time.Duration // warn of a run that takes this long; zero: never
	Budget time.Duration // warn once when the runs of one turn, added up, take this long; zero: never

	// Warn is told, from the goroutine of the hook: it must be quick. Nil: nobody.
	Warn func(Warning)

	mu    sync.Mutex
	turns map[turnKey]*spent
	order []turnKey // of the turns, the oldest first
}

// A Warning is a hook, or the hooks of a turn, that took long.
type Warning struct {
	Hook    string // empty where it is a turn's budget
	Trigger pawl.Trigger
	Session string
	Turn    string
	Took    time.Duration
	Limit   time.Duration
}

type turnKey struct{ session, turn string }

type spent struct {
	total  time.Duration
	warned bool
}

// keptTurns bounds how many turns are watched at once.
const keptTurns = 256

// Trace returns a Trace that watches what finishes and hands everything on to next, which may be nil.
func (w *Watch) Trace(next *pawl.Trace) *pawl.Trace {
	t := &pawl.Trace{Finished: func(hook *pawl.Hook, run *pawl.Run) {
		w.finished(run)
		if next != nil && next.Finished != nil {
			next.Finished(hook, run)
		}
	}}
	if next != nil {
		t.Started = next.Started
	}
	return t
}

func (w *Watch) finished(run *pawl.Run) {
	warning := Warning{Trigger: run.Trigger, Session: run.Session, Turn: run.Turn}
	if w.Slow > 0 && run.Elapsed >= w.Slow {
		slow := warning
		slow.Hook, slow.Took, slow.Limit = run.Name, run.Elapsed, w.Slow
		w.warn(slow)
	}
	if total, over := w.spend(run); over {
		warning.Took, warning.Limit = total, w.Budget
		w.warn(warning)
	}
}

func (w *Watch) warn(warning Warning) {
	if w.Warn != nil {
		w.Warn(warning)
	}
}

// spend adds a run to its turn and reports whether that has just gone over the budget.
func (w *Watch) spend(run *pawl.Run) (total time.Duration, over bool) {
	if w.Budget <= 0 {
		return 0, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	key := turnKey{run.Session, run.Turn}
	s := w.turns[key]
	if s == nil {
		s = w.begin(key)
	}
	s.total += run.Elapsed
	if s.warned || s.total < w.Budget {
		return s.total, false
	}
	s.warned = true
	return s.total, true
}

// begin watches one more turn, and the oldest no more.
func (w *Watch) begin(key turnKey) *spent {
	if w.turns == nil {
		w.turns = map[turnKey]*spent{}
	}
	if len(w.order) == keptTurns {
		delete(w.turns, w.order[0])
		w.order = append(w.order[:0], w.order[1:]...)
	}
	s := new(spent)
	w.turns[key] = s
	w.order = append(w.order, key)
	return s
}
