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
	unwatch      func() bool
	over         *sync.WaitGroup // until Finish, or the end of the grace
	own          sync.WaitGroup

	mu      sync.Mutex
	done    chan struct{} // made when it is asked for
	begun   time.Time
	timer   *time.Timer
	waits   int       // pauses under way
	since   time.Time // when the first of them began
	lost    time.Duration
	err     error // why the context ended; the grace runs
	gone    bool
	settled bool // what Wait returns is decided
	left    bool
	behind  []waiting  // what to call when the context ends
	room    [1]waiting // for one of them, as a rule all there is
	drawn   int        // the last ticket of a waiting
}

type waiting struct {
	ticket int
	f      func()
}

// Start lets the clock run from now. It is called once, before anything else.
func (c *Clock) Start(parent context.Context, limit, grace time.Duration) {
	c.StartDetached(parent, limit, grace)
	if parent.Done() != nil {
		c.unwatch = AfterFunc(parent, func() { c.end(parent.Err()) })
	}
}

// StartDetached is Start for a clock that has its parent's values and outlives its end.
func (c *Clock) StartDetached(parent context.Context, limit, grace time.Duration) {
	c.parent, c.limit, c.grace, c.begun = parent, limit, grace, time.Now()
	c.behind = c.room[:0]
	if c.over == nil {
		c.over = &c.own
		c.over.Add(1)
	}
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

// Finish says that whoever ran under the clock has ended: it calls note and lets Wait return. It does
// neither where the grace was over before.
func (c *Clock) Finish(note func()) {
	if c.settle(false) {
		note()
		c.over.Done()
	}
}

// Claim is Finish for who goes on under another clock, which is to [Clock.Follow] this one, or ends the wait by
// Release. It reports whether the grace was not over before.
func (c *Clock) Claim() bool { return c.settle(false) }

// Release lets Wait return after Claim.
func (c *Clock) Release() { c.over.Done() }

// Follow makes whoever waits for before wait for c. It is called before c is started.
func (c *Clock) Follow(before *Clock) { c.over = before.over }

// Wait returns once Finish was called, or the grace is over: then left is true.
func (c *Clock) Wait() (left bool) {
	c.over.Wait()
	return c.left
}

func (c *Clock) leave() {
	if c.settle(true) {
		c.over.Done()
	}
}

func (c *Clock) settle(left bool) (first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.settled {
		return false
	}
	c.settled, c.left = true, left
	return true
}

// Stop ends the clock and its context.
func (c *Clock) Stop() {
	if c.unwatch != nil {
		c.unwatch()
	}
	c.mu.Lock()
	c.gone = true
	c.timer.Stop()
	c.mu.Unlock()
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
	c.err = why
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

// Deadline is when the limit is over, unless the clock is paused once more.
func (c *Clock) Deadline() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begun.Add(c.limit + c.lost), true
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
