package guard

import (
	"container/list"
	"context"
	"slices"
	"sync"

	"github.com/pawl-hooks/pawl"
)

// maxRuns bounds the runs whose state one guard keeps; maxCalls the calls remembered of one run.
const (
	maxRuns  = 1024
	maxCalls = 512
)

// A runKey names one agent's run within a session.
type runKey struct{ session, agent string }

// runs keeps a guard's state, one T a run. Of too many, the run idle longest is dropped.
type runs[T any] struct {
	drop  func(*T) // called under the lock for a state that goes; may be nil
	mu    sync.Mutex
	byKey map[runKey]*list.Element
	order list.List // of *runState[T], the latest first
}

type runState[T any] struct {
	key   runKey
	state T
}

// do calls f with the state of the event's run, under the lock.
func (r *runs[T]) do(ev *pawl.Event, f func(*T)) {
	key := runKey{ev.Session, ev.Agent.ID}
	r.mu.Lock()
	defer r.mu.Unlock()
	el := r.byKey[key]
	if el == nil {
		if r.byKey == nil {
			r.byKey = map[runKey]*list.Element{}
		}
		el = r.order.PushFront(&runState[T]{key: key})
		r.byKey[key] = el
		if r.order.Len() > maxRuns {
			r.remove(r.order.Back())
		}
	}
	r.order.MoveToFront(el)
	f(&el.Value.(*runState[T]).state)
}

// peek is do for a run that may have no state yet; f is not called then.
func (r *runs[T]) peek(ev *pawl.Event, f func(*T)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if el := r.byKey[runKey{ev.Session, ev.Agent.ID}]; el != nil {
		f(&el.Value.(*runState[T]).state)
	}
}

func (r *runs[T]) remove(el *list.Element) {
	s := r.order.Remove(el).(*runState[T])
	delete(r.byKey, s.key)
	if r.drop != nil {
		r.drop(&s.state)
	}
}

func (r *runs[T]) endRun(ev *pawl.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if el := r.byKey[runKey{ev.Session, ev.Agent.ID}]; el != nil {
		r.remove(el)
	}
}

func (r *runs[T]) endSession(ev *pawl.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, el := range r.byKey {
		if key.session == ev.Session {
			r.remove(el)
		}
	}
}

// endings are the hooks by which a guard lets go of a run's state.
func (r *runs[T]) endings(name string) []pawl.Hook {
	return append(r.sessionEnding(name),
		observer(name+"-run-end", pawl.AgentDone, r.endRun),
		observer(name+"-run-start", pawl.PromptSubmit, func(ev *pawl.Event) {
			if ev.Verdict < pawl.Refuse {
				r.endRun(ev)
			}
		}))
}

func (r *runs[T]) sessionEnding(name string) []pawl.Hook {
	return []pawl.Hook{observer(name+"-session-end", pawl.SessionEnd, r.endSession)}
}

func observer(name string, on pawl.Trigger, f func(*pawl.Event)) pawl.Hook {
	return pawl.Hook{Name: name, On: on, Handler: pawl.Observer(func(_ context.Context, ev *pawl.Event) { f(ev) })}
}

// A ledger remembers the latest calls of a run, each with a note of the guard's own.
type ledger[T any] struct{ calls []entry[T] }

type entry[T any] struct {
	call    string
	settled bool // its tool.before is over and it stands
	note    T
}

func (l *ledger[T]) add(call string, note T) {
	if len(l.calls) >= maxCalls {
		l.calls = slices.Delete(l.calls, 0, len(l.calls)-maxCalls+1)
	}
	l.calls = append(l.calls, entry[T]{call: call, note: note})
}

// latest returns the place of the latest entry of the call, settled or not as asked; -1 if there is none.
// Runtimes without call ids, or that use one twice, are served in the order their calls came.
func (l *ledger[T]) latest(call string, settled bool) int {
	for i := len(l.calls) - 1; i >= 0; i-- {
		if l.calls[i].call == call && l.calls[i].settled == settled {
			return i
		}
	}
	return -1
}

// either is latest for a call that settled or, where its dispatch was cut short, did not.
func (l *ledger[T]) either(call string) int {
	if i := l.latest(call, true); i >= 0 {
		return i
	}
	return l.latest(call, false)
}

func (l *ledger[T]) take(i int) T {
	note := l.calls[i].note
	l.calls = slices.Delete(l.calls, i, i+1)
	return note
}
