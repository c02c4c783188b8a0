// Package clock is a timeout that can be paused, with a grace after it.
package clock

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A Clock is a context that ends when its limit is over, or with its parent; some grace later it says that
// whoever still runs under it is to be left behind. It may be used by several goroutines. Begin it with
// Start or StartDetached; it must not be copied.
type Clock struct {
	parent       context.Context
	limit, grace time.Duration
	owner        Owner
	bound        bool // it ends with its parent
	unwatch      func() bool
	alarm        *Alarm

	mu      sync.Mutex
	done    chan struct{} // made when it is asked for
	begun   time.Time
	pauses  []*pause  // under way
	since   time.Time // when the first of them began
	lost    time.Duration
	err     error // why the context ended; the grace runs
	ended   time.Time
	gone    bool
	claimed bool       // whoever ran under it has ended, or was left behind
	behind  []waiting  // what to call when the context ends
	room    [1]waiting // for one of them, as a rule all there is
	drawn   int        // the last ticket of a waiting
}

// An Alarm is the timer of a clock, and of the clock that begins where that one has stopped: what ends in time never
// sets a second one. It may ring early, and is then set again. The zero Alarm is off.
type Alarm struct {
	First time.Duration // after that long it rings once, for whoever begins later and is due sooner; zero: it need not

	mu    sync.Mutex
	timer *time.Timer
	at    time.Time // when it rings; zero: it does not
	clock *Clock    // whose time it is for
}

// keep makes the alarm that of c, due then.
func (a *Alarm) keep(c *Clock, due time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clock = c
	if first := c.begun.Add(a.First); a.timer == nil && a.First > 0 && first.Before(due) {
		due = first
	}
	a.set(due, c.begun)
}

// by has the alarm ring no later than that. The caller holds its clock, which has not stopped: else the alarm may be
// another's, or off.
func (a *Alarm) by(due time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set(due, time.Now())
}

func (a *Alarm) set(due, now time.Time) {
	switch {
	case a.timer == nil:
		a.timer = time.AfterFunc(due.Sub(now), a.ring)
	case !a.at.IsZero() && !due.Before(a.at):
		return
	default:
		a.timer.Reset(due.Sub(now))
	}
	a.at = due
}

func (a *Alarm) ring() {
	a.mu.Lock()
	c := a.clock
	a.at = time.Time{}
	a.mu.Unlock()
	c.ring()
}

// Off stops the alarm, whose clocks have stopped.
func (a *Alarm) Off() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
	}
}

// An Owner is told, in a goroutine of its own, that what ran under the clock is to be left behind.
type Owner interface{ Left() }

type waiting struct {
	ticket int
	f      func()
}

// Start lets the clock run from now. It is called once, before anything else.
func (c *Clock) Start(parent context.Context, limit, grace time.Duration, owner Owner, alarm *Alarm) {
	c.bound = true
	c.StartDetached(parent, limit, grace, owner, alarm)
	if err := parent.Err(); err != nil {
		c.end(err)
		return
	}
	if parent.Done() == nil {
		return
	}
	unwatch := AfterFunc(parent, func() { c.end(parent.Err()) })
	c.mu.Lock()
	c.unwatch = unwatch
	gone := c.gone
	c.mu.Unlock()
	if gone {
		unwatch()
	}
}

// StartDetached is Start for a clock that has its parent's values and outlives its end.
func (c *Clock) StartDetached(parent context.Context, limit, grace time.Duration, owner Owner, alarm *Alarm) {
	c.parent, c.limit, c.grace, c.owner, c.alarm, c.begun = parent, limit, grace, owner, alarm, time.Now()
	c.behind = c.room[:0]
	alarm.keep(c, c.begun.Add(limit))
}

// AfterFunc is context.AfterFunc, without a context of its own where ctx can do without.
func AfterFunc(ctx context.Context, f func()) (stop func() bool) {
	if a, ok := ctx.(interface{ AfterFunc(func()) func() bool }); ok {
		return a.AfterFunc(f)
	}
	return context.AfterFunc(ctx, f)
}

// Claim says that whoever ran under the clock has ended. It reports whether that came in time; else the owner was
// told.
func (c *Clock) Claim() (inTime bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	inTime = !c.claimed
	c.claimed = true
	return inTime
}

func (c *Clock) leave() {
	if c.Claim() {
		c.owner.Left()
	}
}

// Stop ends the clock and its context, and leaves the alarm to who comes next.
func (c *Clock) Stop() {
	c.mu.Lock()
	c.gone = true
	unwatch := c.unwatch
	c.mu.Unlock()
	if unwatch != nil {
		unwatch()
	}
	c.close(context.Canceled)
}

// ring does what is due, and has the alarm ring once more for the rest.
func (c *Clock) ring() {
	c.mu.Lock()
	now := time.Now()
	for _, p := range slices.Clone(c.pauses) {
		if !now.Before(p.until) {
			c.resume(p)
		}
	}
	due, gone, ended := c.due(), c.gone, c.err != nil
	early := now.Before(due)
	if early && !gone {
		c.alarm.by(due)
	}
	c.mu.Unlock()
	switch {
	case gone, early:
	case ended:
		c.leave()
	default:
		c.end(context.DeadlineExceeded)
	}
}

// due is when something is to be done next. The caller holds c.mu.
func (c *Clock) due() time.Time {
	switch {
	case c.err != nil:
		return c.ended.Add(c.grace)
	case len(c.pauses) > 0:
		first := slices.MinFunc(c.pauses, func(a, b *pause) int { return a.until.Compare(b.until) })
		return first.until
	}
	return c.ends()
}

// ends is when the limit is over. Limit and lost are added one by one: their sum may be more than a Duration can be.
// The caller holds c.mu.
func (c *Clock) ends() time.Time { return c.begun.Add(c.limit).Add(c.lost) }

// end ends the context and lets the grace run.
func (c *Clock) end(why error) {
	if !c.close(why) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone {
		c.alarm.by(c.due())
	}
}

// close ends the context once and calls what waits for its end.
func (c *Clock) close(why error) (first bool) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return false
	}
	if c.err = why; !c.gone {
		c.ended = time.Now()
	}
	behind := c.behind
	c.behind = nil
	if c.done != nil {
		close(c.done)
	}
	c.mu.Unlock()
	for _, w := range behind {
		go w.f()
	}
	return true
}

// Deadline is when the limit is over, unless the clock is paused once more, or the parent's where that is sooner.
func (c *Clock) Deadline() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	own := c.ends()
	if parents, ok := c.parent.Deadline(); ok && c.bound && parents.Before(own) {
		return parents, true
	}
	return own, true
}

// Over reports whether the context has ended and the grace is over.
func (c *Clock) Over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err != nil && time.Since(c.ended) >= c.grace
}

// Done is closed when the context ends.
func (c *Clock) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	return c.done
}

// Err says why it ended: context.DeadlineExceeded for the limit.
func (c *Clock) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Value is the parent's.
func (c *Clock) Value(key any) any { return c.parent.Value(key) }

// AfterFunc calls f in a goroutine of its own once the context has ended: package context uses it instead of
// a goroutine that waits.
func (c *Clock) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		go f()
		return func() bool { return false }
	}
	c.drawn++
	ticket := c.drawn
	c.behind = append(c.behind, waiting{ticket, f})
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.IndexFunc(c.behind, func(w waiting) bool { return w.ticket == ticket })
		if i < 0 {
			return false
		}
		c.behind = slices.Delete(c.behind, i, i+1)
		return true
	}
}

// A pause is one time at which the clock stands still.
type pause struct{ until time.Time }

// Pause stops the clock for at most longest. The func it returns lets it run on; calling it twice does no
// harm. Pauses may overlap.
func (c *Clock) Pause(longest time.Duration) (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.gone {
		return func() {}
	}
	now := time.Now()
	if len(c.pauses) == 0 {
		c.since = now
	}
	p := &pause{now.Add(longest)}
	c.pauses = append(c.pauses, p)
	c.alarm.by(p.until)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.resume(p)
	}
}

// resume ends a pause, once. The caller holds c.mu.
func (c *Clock) resume(p *pause) {
	i := slices.Index(c.pauses, p)
	if i < 0 {
		return
	}
	if c.pauses = slices.Delete(c.pauses, i, i+1); len(c.pauses) > 0 {
		return
	}
	c.lost += time.Since(c.since)
	if c.err == nil && !c.gone {
		c.alarm.by(c.due())
	}
}

// Elapsed is the time since Start without the pauses.
func (c *Clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := time.Since(c.begun) - c.lost
	if len(c.pauses) > 0 {
		t -= time.Since(c.since)
	}
	return t
}
