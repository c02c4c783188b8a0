package clock_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-hooks/pawl/internal/clock"
)

// A kept clock waits for what runs under it, or for being told to leave it.
type kept struct {
	clock.Clock
	alarm clock.Alarm
	over  chan bool
}

func start(ctx context.Context, limit, grace time.Duration) *kept {
	k := &kept{over: make(chan bool, 1)}
	k.Start(ctx, limit, grace, k, &k.alarm)
	return k
}

func (k *kept) Left() { k.over <- true }

// Wait reports whether it was left.
func (k *kept) Wait() bool { return <-k.over }

// Finish reports whether that came in time.
func (k *kept) Finish() bool {
	inTime := k.Claim()
	if inTime {
		k.over <- false
	}
	return inTime
}

func TestTheLimitEndsTheContextAndTheGraceLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t.Context(), time.Second, 2*time.Second)
		child, cancel := context.WithCancel(c)
		defer cancel()
		began := time.Now()
		<-child.Done()
		require.Equal(t, time.Second, time.Since(began))
		require.ErrorIs(t, child.Err(), context.DeadlineExceeded)
		require.True(t, c.Wait())
		require.Equal(t, 3*time.Second, time.Since(began))
		c.Stop()
	})
}

func TestTheParentEndsItToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "v"))
		c := start(ctx, time.Hour, time.Second)
		defer c.Stop()
		require.Equal(t, "v", c.Value(key{}))
		cancel()
		<-c.Done()
		require.ErrorIs(t, c.Err(), context.Canceled)
		require.True(t, c.Wait())
	})
}

func TestOverlappingPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t.Context(), time.Second, time.Second)
		began := time.Now()
		first, second := c.Pause(time.Hour), c.Pause(time.Hour)
		time.Sleep(time.Minute)
		first()
		first()
		time.Sleep(time.Minute)
		second()
		require.Zero(t, c.Elapsed())
		<-c.Done()
		require.Equal(t, 2*time.Minute+time.Second, time.Since(began))
		c.Stop()
	})
}

func TestAPauseEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t.Context(), time.Second, time.Second)
		began := time.Now()
		resume := c.Pause(time.Minute)
		c.Pause(time.Second)
		<-c.Done()
		require.Equal(t, time.Minute+time.Second, time.Since(began))
		resume()
		require.Equal(t, time.Second, c.Elapsed())
		c.Stop()
	})
}

func TestTheLongestLimitCanBePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t.Context(), math.MaxInt64, time.Second)
		resume := c.Pause(math.MaxInt64)
		time.Sleep(time.Hour)
		resume()
		time.Sleep(time.Hour)
		require.NoError(t, c.Err())
		deadline, ok := c.Deadline()
		require.True(t, ok)
		require.True(t, deadline.After(time.Now()))
		require.Equal(t, time.Hour, c.Elapsed())
		c.Stop()
	})
}

func TestAnAlarmMayRingEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &kept{over: make(chan bool, 1), alarm: clock.Alarm{First: 2 * time.Second}}
		c.Start(t.Context(), time.Minute, time.Second, c, &c.alarm)
		began := time.Now()
		<-c.Done()
		require.Equal(t, time.Minute, time.Since(began))
		require.True(t, c.Wait())
		require.Equal(t, time.Minute+time.Second, time.Since(began))
		c.Stop()
	})
}

func TestAnAlarmIsHandedOn(t *testing.T) {
	for name, took := range map[string]time.Duration{
		"before it first rings": time.Second, "as it rings": 2 * time.Second, "later": 3 * time.Second, "near the limit": 59 * time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := &kept{over: make(chan bool, 1), alarm: clock.Alarm{First: 2 * time.Second}}
				first.Start(t.Context(), time.Minute, time.Second, first, &first.alarm)
				time.Sleep(took)
				require.True(t, first.Finish())
				first.Stop()

				then := &kept{over: make(chan bool, 1)}
				then.StartDetached(t.Context(), 2*time.Second, 0, then, &first.alarm)
				began := time.Now()
				require.ErrorIs(t, first.Err(), context.Canceled)
				require.False(t, <-first.over)
				require.True(t, then.Wait())
				require.Equal(t, 2*time.Second, time.Since(began))
				require.Empty(t, first.over)
				first.alarm.Off()
			})
		})
	}
}

// A spell is a pause under a clock: when it begins, what it may last at most, and after what it is resumed.
type spell struct{ begins, longest, resumed time.Duration }

// endOf counts the moments at which nothing pauses, up to the limit.
func endOf(limit time.Duration, pauses []spell) (at time.Duration) {
	for ; limit > 0; at++ {
		if !slices.ContainsFunc(pauses, func(p spell) bool { return p.begins <= at && at < p.begins+min(p.longest, p.resumed) }) {
			limit--
		}
	}
	return at
}

// Property: whatever pauses it, ends it early or takes its alarm over, all that is due comes when it is due. No two
// things happen at once: of four moments each kind has its own.
func TestAllComesWhenItIsDue(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(what string, most, beat int) time.Duration {
			return time.Duration(4*rapid.IntRange(0, most).Draw(rt, what) + beat)
		}
		limit, grace, first, again := draw("limit", 10, 0), draw("grace", 10, 0), draw("first", 10, 0), draw("again", 10, 0)
		pauses := make([]spell, rapid.IntRange(0, 3).Draw(rt, "pauses"))
		for i := range pauses {
			pauses[i] = spell{draw("begins", 10, 1), draw("longest", 20, 0), draw("resumed", 20, 0)}
		}
		cancelled, finished := draw("cancelled", 50, 2), draw("finished", 50, 3)
		ends := min(endOf(limit, pauses), cancelled)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			c := &kept{over: make(chan bool, 1), alarm: clock.Alarm{First: first}}
			began, ended := time.Now(), make(chan time.Duration, 1)
			c.Start(ctx, limit, grace, c, &c.alarm)
			context.AfterFunc(c, func() { ended <- time.Since(began) })
			time.AfterFunc(cancelled, cancel)
			time.AfterFunc(finished, func() { c.Finish() })
			for _, p := range pauses {
				time.AfterFunc(p.begins, func() { time.AfterFunc(p.resumed, c.Pause(p.longest)) })
			}
			require.Equal(t, ends+grace < finished, c.Wait())
			c.Stop()
			over := min(ends+grace, finished)
			require.Equal(t, over, time.Since(began))
			require.Equal(t, min(ends, finished), <-ended)

			then := &kept{over: make(chan bool, 1)}
			then.StartDetached(ctx, again, 0, then, &c.alarm)
			require.True(t, then.Wait())
			require.Equal(t, over+again, time.Since(began))
			c.alarm.Off()
			time.Sleep(time.Second)
			require.Empty(t, c.over)
			require.Empty(t, then.over)
		})
	})
}

func TestAfterFunc(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t.Context(), time.Second, time.Second)
		called := make(chan string, 3)
		keep := context.AfterFunc(c, func() { called <- "kept" })
		drop := context.AfterFunc(c, func() { called <- "dropped" })
		require.True(t, drop())
		require.False(t, drop())
		require.Equal(t, "kept", <-called)
		require.False(t, keep())
		context.AfterFunc(c, func() { called <- "late" })
		require.Equal(t, "late", <-called)
		c.Stop()
		synctest.Wait()
		require.Empty(t, called)
	})
}

func TestWhoFinishesInTimeIsNotLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t.Context(), time.Second, time.Second)
		go func() {
			<-c.Done() // it uses its grace
			c.Finish()
		}()
		require.False(t, c.Wait())
		require.False(t, c.Finish(), "twice")
		c.Stop()
		time.Sleep(time.Minute)
		require.Empty(t, c.over)

		c = start(t.Context(), time.Second, time.Second)
		require.True(t, c.Wait())
		require.False(t, c.Finish(), "too late")
	})
}

func TestADetachedClockOutlivesItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "v"))
		cancel()
		c := &kept{over: make(chan bool, 1)}
		c.StartDetached(ctx, time.Second, 0, c, &c.alarm)
		require.NoError(t, c.Err())
		require.Equal(t, "v", c.Value(key{}))
		require.True(t, c.Wait())
		require.ErrorIs(t, c.Err(), context.DeadlineExceeded)
		<-c.Done() // asked for late, it is closed
	})
}

type key struct{}
