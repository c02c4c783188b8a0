package clock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/internal/clock"
)

func start(ctx context.Context, limit, grace time.Duration) *clock.Clock {
	var c clock.Clock
	c.Start(ctx, limit, grace)
	return &c
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
		said := ""
		go func() {
			<-c.Done() // it uses its grace
			c.Finish(func() { said = "done" })
		}()
		require.False(t, c.Wait())
		require.Equal(t, "done", said)
		c.Finish(func() { said = "twice" })
		require.Equal(t, "done", said)
		c.Stop()

		c = start(t.Context(), time.Second, time.Second)
		require.True(t, c.Wait())
		c.Finish(func() { said = "too late" })
		require.Equal(t, "done", said)
	})
}

func TestADetachedClockOutlivesItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "v"))
		cancel()
		var c clock.Clock
		c.StartDetached(ctx, time.Second, 0)
		require.NoError(t, c.Err())
		require.Equal(t, "v", c.Value(key{}))
		require.True(t, c.Wait())
		require.ErrorIs(t, c.Err(), context.DeadlineExceeded)
		<-c.Done() // asked for late, it is closed
	})
}

type key struct{}
