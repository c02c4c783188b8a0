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

	mu      sync.Mutex
	done    chan struct{} // made when it is asked for
	begun   time.Time
	timer   *time.Timer
	waits   int       // pauses under way
	since   time.Time // when the first of them began
	lost    time.Duration
	err     error // why the context ended; the grace runs
	ended   time.Time
	holds   []*time.Timer // of the pauses
	gone    bool
	claimed bool       // whoever ran under it has ended, or was left behind
	behind  []waiting  // what to call when the context ends
	room    [1]waiting // for one of them, as a rule all there is
	drawn   int        // the last ticket of a waiting
}

// An Owner is told, in a goroutine of its own, that what ran under the clock is to be left behind.
type Owner interface{ Left() }

type waiting struct {
	ticket int
	f      func()
}

// Start lets the clock run from now. It is called once, before anything else.
func (c *Clock) Start(parent context.Context, limit, grace time.Duration, owner Owner) {
	c.bound = true
	c.StartDetached(parent, limit, grace, owner)
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
func (c *Clock) StartDetached(parent context.Context, limit, grace time.Duration, owner Owner) {
	c.parent, c.limit, c.grace, c.owner, c.begun = parent, limit, grace, owner, time.Now()
	c.behind = c.room[:0]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(limit, c.expire)
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

// Stop ends the clock and its context.
func (c *Clock) Stop() {
	c.mu.Lock()
	c.gone = true
	c.timer.Stop()
	for _, t := range c.holds {
		t.Stop()
	}
	unwatch := c.unwatch
	c.mu.Unlock()
	if unwatch != nil {
		unwatch()
	}
	c.close(context.Canceled)
}

// expire ends the context, unless a pause came first.
func (c *Clock) expire() {
	c.mu.Lock()
	paused := c.waits > 0
	c.mu.Unlock()
	if !paused {
		c.end(context.DeadlineExceeded)
	}
}

// end ends the context and lets the grace run.
func (c *Clock) end(why error) {
	if c.close(why) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.timer.Stop()
		if !c.gone {
			c.timer = time.AfterFunc(c.grace, c.leave)
		}
	}
}

// close ends the context once and calls what waits for its end.
func (c *Clock) close(why error) (first bool) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return false
	}
	c.err, c.ended = why, time.Now()
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
	own := c.begun.Add(c.limit + c.lost)
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

// Pause stops the clock for at most longest. The func it returns lets it run on; calling it twice does no
// harm. Pauses may overlap.
func (c *Clock) Pause(longest time.Duration) (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.gone {
		return func() {}
	}
	if c.waits++; c.waits == 1 {
		c.since = time.Now()
		c.timer.Stop()
	}
	once := sync.OnceFunc(c.resume)
	atMost := time.AfterFunc(longest, once)
	c.holds = append(c.holds, atMost)
	return func() {
		atMost.Stop()
		once()
	}
}

func (c *Clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits--; c.waits > 0 {
		return
	}
	c.lost += time.Since(c.since)
	if c.err == nil && !c.gone {
		c.timer.Reset(c.limit - time.Since(c.begun) + c.lost)
	}
}

// Elapsed is the time since Start without the pauses.
func (c *Clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := time.Since(c.begun) - c.lost
	if c.waits > 0 {
		t -= time.Since(c.since)
	}
	return t
}
