package clock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

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
