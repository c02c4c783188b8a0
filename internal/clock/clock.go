// Package clock is a timeout that can be paused, with a grace after it.
package clock

import (
	"context"
	"sync"
	"time"
)

// A Clock ends a context when its limit is over, and some grace later says that whoever still runs under it
// is to be left behind. It may be used by several goroutines. Make one with [Start].
type Clock struct {
	ctx          context.Context
	cancel       context.CancelCauseFunc
	unwatch      func() bool
	limit, grace time.Duration
	left         chan struct{}

	mu     sync.Mutex
	begun  time.Time
	timer  *time.Timer
	waits  int       // pauses under way
	since  time.Time // when the first of them began
	lost   time.Duration
	ending bool // the limit passed or the parent ended: the grace runs
	gone   bool
}

// Start returns a clock that runs from now.
func Start(parent context.Context, limit, grace time.Duration) *Clock {
	c := &Clock{limit: limit, grace: grace, left: make(chan struct{}), begun: time.Now()}
	c.ctx, c.cancel = context.WithCancelCause(parent)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(limit, c.expire)
	c.unwatch = context.AfterFunc(parent, func() { c.end(context.Cause(parent)) })
	return c
}

// Context ends with the limit, with cause [context.DeadlineExceeded], or with its parent.
func (c *Clock) Context() context.Context { return c.ctx }

// Left is closed when the grace is over.
func (c *Clock) Left() <-chan struct{} { return c.left }

// Stop ends the clock and its context.
func (c *Clock) Stop() {
	c.unwatch()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	c.timer.Stop()
	c.cancel(context.Canceled)
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
func (c *Clock) end(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending || c.gone {
		return
	}
	c.ending = true
	c.cancel(cause)
	c.timer.Stop()
	c.timer = time.AfterFunc(c.grace, func() { close(c.left) })
}

// Pause stops the clock for at most longest. The func it returns lets it run on; calling it twice does no
// harm. Pauses may overlap.
func (c *Clock) Pause(longest time.Duration) (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending || c.gone {
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
	if !c.ending && !c.gone {
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

// Deadline is when the limit is over, unless the clock is paused once more.
func (c *Clock) Deadline() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begun.Add(c.limit + c.lost)
}
