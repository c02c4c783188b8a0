package on_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/on"
	"github.com/stretchr/testify/require"
)

func live(t testing.TB, hooks ...pawl.Hook) *pawl.Live { return pawl.NewLive(registry(t, hooks...)) }

func turn(t testing.TB, l *pawl.Live) {
	t.Helper()
	_, err := l.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.TurnAfter})
	require.NoError(t, err)
}

func logs(into *[]string, name string) pawl.Hook {
	return on.Observe(name, pawl.TurnAfter, func(context.Context, *pawl.Event) { *into = append(*into, name) })
}

// C03: a handler that takes itself away does not make the next one be passed over, and one added while an
// event is under way runs from the next on.
func TestRegistrationIsBySnapshot(t *testing.T) {
	l := live(t)
	var got []string
	var undoA func()
	a := on.Observe("a", pawl.TurnAfter, func(context.Context, *pawl.Event) {
		got = append(got, "a")
		undoA()
		_, err := l.Add(logs(&got, "d"))
		require.NoError(t, err)
	})
	undoA, err := l.Add(a)
	require.NoError(t, err)
	_, err = l.Add(logs(&got, "b"), logs(&got, "c"))
	require.NoError(t, err)
	turn(t, l)
	require.Equal(t, []string{"a", "b", "c"}, got)
	turn(t, l)
	require.Equal(t, []string{"a", "b", "c", "b", "c", "d"}, got)
}

func TestOneFuncRegisteredTwiceRunsTwiceAndEachUndoIsItsOwn(t *testing.T) {
	l := live(t)
	n := 0
	h := on.Observe("", pawl.TurnAfter, func(context.Context, *pawl.Event) { n++ })
	first, err := on.Add(l, h)
	require.NoError(t, err)
	_, err = on.Add(l, h)
	require.NoError(t, err)
	turn(t, l)
	require.Equal(t, 2, n)
	first()
	first()
	turn(t, l)
	require.Equal(t, 3, n)
}

func TestNames(t *testing.T) {
	names := func(hooks []pawl.Hook) (out []string) {
		for _, h := range hooks {
			out = append(out, h.Name)
		}
		return out
	}
	hooks := []pawl.Hook{{On: "tool.before"}, {On: "turn.after", Name: "tool-before-2"}, {On: "tool.before"}, {On: "child.background.*"}, {On: "stream.server_tool"}}
	require.Equal(t, []string{"tool-before-1", "tool-before-2", "tool-before-4", "child-background-1", "stream-server-tool-1"}, names(on.Named(hooks, "tool-before-3")))
	require.Empty(t, hooks[0].Name, "the list given stays as it is")
}

func TestAddIsAllOrNothingAndOneUndo(t *testing.T) {
	var got []string
	l := live(t, logs(&got, "base"))
	_, err := on.Add(l, logs(&got, "x"), logs(&got, "base"))
	require.ErrorContains(t, err, "the name is taken")
	turn(t, l)
	require.Equal(t, []string{"base"}, got)
	undo, err := on.Add(l, logs(&got, "x"), logs(&got, "y"))
	require.NoError(t, err)
	turn(t, l)
	undo()
	undo()
	turn(t, l)
	require.Equal(t, []string{"base", "base", "x", "y", "base"}, got)
}

func TestUndoOfMany(t *testing.T) {
	var got []int
	undo := on.Undo(func() { got = append(got, 1) }, nil, func() { got = append(got, 2) })
	undo()
	undo()
	require.Equal(t, []int{2, 1}, got)
}

// Names made for two Adds at once never collide.
func TestAddConcurrently(t *testing.T) {
	l := live(t)
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			_, err := on.Add(l, on.Observe("", pawl.TurnAfter, func(context.Context, *pawl.Event) {}))
			require.NoError(t, err)
		})
	}
	all.Wait()
	n := 0
	for range l.Registry().Hooks() {
		n++
	}
	require.Equal(t, 32, n)
}

func TestOnce(t *testing.T) {
	t.Run("runs for one event and leaves no record after", func(t *testing.T) {
		n := 0
		reg := registry(t, on.Once(on.Observe("h", pawl.TurnAfter, func(context.Context, *pawl.Event) { n++ })))
		require.Len(t, fire(t, reg, pawl.Event{Trigger: pawl.TurnAfter}).Runs(), 1)
		require.Empty(t, fire(t, reg, pawl.Event{Trigger: pawl.TurnAfter}).Runs())
		require.Equal(t, 1, n)
	})
	t.Run("is spent before it runs", func(t *testing.T) {
		var reg *pawl.Registry
		n := 0
		reg = registry(t, on.Once(on.Observe("h", pawl.TurnAfter, func(ctx context.Context, ev *pawl.Event) {
			n++
			_, err := reg.Dispatch(ctx, &pawl.Event{Trigger: pawl.TurnAfter})
			require.NoError(t, err)
		})))
		fire(t, reg, pawl.Event{Trigger: pawl.TurnAfter})
		require.Equal(t, 1, n)
	})
	t.Run("is spent though it panics", func(t *testing.T) {
		n := 0
		reg := registry(t, on.Once(on.Observe("h", pawl.TurnAfter, func(context.Context, *pawl.Event) { n++; panic("x") })))
		fire(t, reg, pawl.Event{Trigger: pawl.TurnAfter})
		fire(t, reg, pawl.Event{Trigger: pawl.TurnAfter})
		require.Equal(t, 1, n)
	})
	t.Run("keeps its matcher", func(t *testing.T) {
		n := 0
		reg := registry(t, on.Once(on.Tools(on.Observe("h", pawl.ToolStarted, func(context.Context, *pawl.Event) { n++ }), "shell")))
		fire(t, reg, pawl.Event{Trigger: pawl.ToolStarted, Tool: "glob"})
		require.Zero(t, n)
		fire(t, reg, pawl.Event{Trigger: pawl.ToolStarted, Tool: "shell"})
		require.Equal(t, 1, n)
	})
	t.Run("judges the event it was spent on to the end", func(t *testing.T) {
		check := on.Once(on.CheckInput("h", noRemove))
		rewrite := on.Input("worse", func(context.Context, *pawl.Event, command) (command, error) { return command{"rm -rf /"}, nil })
		rewrite.Concurrent = true
		require.Equal(t, pawl.Refuse, fire(t, registry(t, rewrite, check), shell(`{"command":"ls"}`)).Verdict)
	})
	t.Run("by one of many events at once", func(t *testing.T) {
		var n atomic.Int32
		reg := registry(t, on.Once(on.Observe("h", pawl.TurnAfter, func(context.Context, *pawl.Event) { n.Add(1) })))
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() { fire(t, reg, pawl.Event{Trigger: pawl.TurnAfter}) })
		}
		all.Wait()
		require.EqualValues(t, 1, n.Load())
	})
	t.Run("can be taken away before", func(t *testing.T) {
		l, n := live(t), 0
		undo, err := on.Add(l, on.Once(on.Observe("", pawl.TurnAfter, func(context.Context, *pawl.Event) { n++ })))
		require.NoError(t, err)
		undo()
		turn(t, l)
		require.Zero(t, n)
	})
	t.Run("of a program stays a program", func(t *testing.T) {
		h := on.Once(pawl.Hook{Name: "h", On: pawl.TurnAfter, Handler: program{}})
		require.Equal(t, []string{"echo"}, h.Handler.(pawl.Program).Argv())
	})
}

type program struct{ pawl.HandlerFunc }

func (program) Argv() []string { return []string{"echo"} }
func (program) Digest() string { return "" }

func TestSpies(t *testing.T) {
	var got []string
	spy := func(name string) on.Spy {
		return func(_ context.Context, ev *pawl.Event) func(pawl.Outcome, error) {
			got = append(got, name+" before "+string(ev.Trigger))
			ev.Tool = "changed"
			return func(out pawl.Outcome, err error) {
				got = append(got, fmt.Sprint(name, " after ", out.Verdict, err != nil))
			}
		}
	}
	reg := registry(t, on.Check("no", pawl.ToolBefore, func(_ context.Context, ev *pawl.Event) (on.Ruling, error) {
		got = append(got, "hook "+ev.Tool)
		return on.Refuse("no"), nil
	}))
	d := on.Watched(reg, spy("a"), func(context.Context, *pawl.Event) func(pawl.Outcome, error) { panic("a spy's panic is its own") },
		func(context.Context, *pawl.Event) func(pawl.Outcome, error) {
			return func(pawl.Outcome, error) { panic("so is this") }
		},
		func(context.Context, *pawl.Event) func(pawl.Outcome, error) { return nil }, spy("b"))
	for _, ev := range []pawl.Event{shell(`{}`), {Trigger: pawl.TurnAfter}, {Trigger: "no.such"}} {
		_, _ = d.Dispatch(t.Context(), &ev)
	}
	require.Equal(t, []string{
		"a before tool.before", "b before tool.before", "hook shell", "b after refuse false", "a after refuse false",
		"a before turn.after", "b before turn.after", "b after pass false", "a after pass false", // no hook at all
		"a before no.such", "b before no.such", "b after refuse true", "a after refuse true",
	}, got)
}

// Handlers come and go while thousands of events are under way: each event sees a whole bundle or none of it.
func TestAddAndUndoDuringConcurrentDispatches(t *testing.T) {
	var base atomic.Int64
	l := live(t, on.Observe("base", pawl.TurnAfter, func(context.Context, *pawl.Event) { base.Add(1) }))
	const workers, events = 4, 1500
	type seen struct{ a, b int }
	type key struct{}
	stop := make(chan struct{})
	var churn, work sync.WaitGroup
	for range 2 {
		churn.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				undo, err := on.Add(l,
					on.Observe("", pawl.TurnAfter, func(ctx context.Context, _ *pawl.Event) { ctx.Value(key{}).(*seen).a++ }),
					on.Check("", pawl.PromptSubmit, func(ctx context.Context, _ *pawl.Event) (on.Ruling, error) { return on.Refuse("no"), nil }),
					on.Observe("", pawl.TurnAfter, func(ctx context.Context, _ *pawl.Event) { ctx.Value(key{}).(*seen).b++ }))
				if err != nil {
					panic(err)
				}
				undo()
			}
		})
	}
	for i := range workers {
		work.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for range events {
				if r.IntN(4) == 0 {
					out, err := l.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.PromptSubmit})
					if err != nil || out.Verdict == pawl.Refuse && out.Decision().Reason == "" {
						panic("a refusal without its reason")
					}
					continue
				}
				s := &seen{}
				if _, err := l.Dispatch(context.WithValue(t.Context(), key{}, s), &pawl.Event{Trigger: pawl.TurnAfter}); err != nil {
					panic(err)
				}
				if s.a != s.b {
					panic(fmt.Sprintf("half a bundle: %+v", *s))
				}
			}
		})
	}
	work.Wait()
	close(stop)
	churn.Wait()
	require.Positive(t, base.Load())
	n := 0
	for range l.Registry().Hooks() {
		n++
	}
	require.Equal(t, 1, n, "every undo took its own away")
}
