package guard

import (
	"slices"
)

// maxCalls bounds the calls remembered of one run.
const maxCalls = 512

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
