package guard_test

import (
	"context"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
	"github.com/stretchr/testify/require"
)

func TestCountsAreOfEarlierCallsThatWereNotRefused(t *testing.T) {
	c := &guard.Counter{}
	var seen []map[string]int
	look := pawl.Hook{Name: "look", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Handler: pawl.HandlerFunc(
		func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
			seen = append(seen, c.Counts(ev))
			return pawl.Decision{}, nil
		})}
	b := newBench(t, one(c), look, refuse("gate", "bad"), answer("known", "known"))
	for _, tool := range []string{"a", "bad", "a", "known", "a"} {
		b.before(tool, `{}`)
	}
	require.Equal(t, []map[string]int{{}, {"a": 1}, {"a": 1}, {"a": 2}, {"a": 2, "known": 1}}, seen)
}

func TestCountsLeaveOutTheCallItselfAndLaterOnes(t *testing.T) {
	c := &guard.Counter{}
	b := newBench(t, one(c))
	for _, id := range []string{"1", "2", "3"} {
		b.fire(with(call("a", `{}`), func(ev *pawl.Event) { ev.Call = id }))
	}
	after := with(call("a", `{}`), func(ev *pawl.Event) { ev.Call, ev.Trigger = "2", pawl.ToolAfter })
	require.Equal(t, map[string]int{"a": 1}, c.Counts(&after))
	cancelled := after
	cancelled.Trigger = pawl.ToolCancelled
	b.fire(cancelled)
	later := call("a", `{}`)
	require.Equal(t, map[string]int{"a": 2}, c.Counts(&later))
}

func TestCountsOnceOnARecheck(t *testing.T) {
	c := &guard.Counter{}
	b := newBench(t, one(c), rewrites("rewrite", `{"x":1}`), refuse("gate", "other"))
	b.before("a", `{}`)
	ev := call("a", `{}`)
	require.Equal(t, map[string]int{"a": 1}, c.Counts(&ev))
}

func TestStateIsBoundedByTheRunsInFlight(t *testing.T) {
	c := &guard.Counter{}
	b := newBench(t, one(c))
	for i := range 1100 {
		b.fire(with(call("a", `{}`), func(ev *pawl.Event) { ev.Agent.ID = string(rune('a' + i)) }))
	}
	first := with(call("a", `{}`), func(ev *pawl.Event) { ev.Agent.ID = "a" })
	last := with(call("a", `{}`), func(ev *pawl.Event) { ev.Agent.ID = string(rune('a' + 1099)) })
	require.Empty(t, c.Counts(&first), "idle longest")
	require.Equal(t, map[string]int{"a": 1}, c.Counts(&last))
}
