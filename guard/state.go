package guard

import (
	"container/list"
	"context"
	"sync"

	"github.com/pawl-hooks/pawl"
)

// maxRuns bounds the runs whose state one guard keeps.
const maxRuns = 1024

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
