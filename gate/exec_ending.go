package gate

import "time"

// An ending is the timetable by which one program and what it started are brought to an end. It holds no
// clock and sends no signal: the loops that run programs tell it what happened and ask what is due.
type ending struct {
	grace     time.Duration
	cancelled bool
	exited    bool
	killed    bool
	killAt    time.Time // zero: not yet known
	leaveAt   time.Time // when to stop waiting, whatever holds on
}

// cancel notes that the context ended and reports whether TERM is to be sent.
func (e *ending) cancel(now time.Time) (term bool) {
	if e.cancelled {
		return false
	}
	e.cancelled = true
	if e.exited { // its last words are being drained, and the time for that is over
		e.killAt = now
		return false
	}
	e.killAt, e.leaveAt = now.Add(e.grace/2), now.Add(e.grace)
	return true
}

// exit notes that the program itself ended. After a cancel its descendants keep their time to obey TERM.
func (e *ending) exit(now time.Time) {
	e.exited = true
	if !e.cancelled {
		e.killAt = now.Add(e.grace / 10)
		e.leaveAt = e.killAt.Add(e.grace / 2)
	}
}

// due reports whether KILL is to be sent now, once, and whether it is time to leave.
func (e *ending) due(now time.Time) (kill, leave bool) {
	kill = !e.killed && !e.killAt.IsZero() && !now.Before(e.killAt)
	e.killed = e.killed || kill
	leave = !e.leaveAt.IsZero() && !now.Before(e.leaveAt)
	return kill, leave
}

// next returns when due has to be asked again; false: only an event can change anything.
func (e *ending) next() (time.Time, bool) {
	if e.killed {
		return e.leaveAt, true
	}
	return e.killAt, !e.killAt.IsZero()
}
