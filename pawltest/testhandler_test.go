package pawltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/pawltest"
	"github.com/pawl-hooks/pawl/wire"
)

func TestAHandlerThatKeepsTheContract(t *testing.T) {
	program := func(codec command.Codec) func() pawl.Handler {
		return func() pawl.Handler { return command.Program{Name: "x", Args: []string{"x"}, Codec: codec} }
	}
	refuses := &pawltest.Gate{Next: pawltest.Exits(1, "no", "")}
	answers := &pawltest.Gate{Next: pawltest.Exits(0, `{"verdict":"refuse","input":{}}`, "")}
	denies := &pawltest.Gate{Next: pawltest.Exits(2, "", "not that")}
	for name, kit := range map[string]pawltest.HandlerKit{
		"one that passes":          {New: func() pawl.Handler { return pawl.HandlerFunc(passes) }},
		"a program told by flags":  {New: program(command.Flags{Output: command.OutputRefuse}), Gate: refuses, Effects: pawl.MayRefuse},
		"a program told by JSON":   {New: program(wire.JSON{}), Gate: answers, Effects: pawl.MayRefuse | pawl.MayRewrite},
		"a program without a word": {New: program(nil)},
		"a program of ZeroCode":    {New: program(&wire.Codec{}), Gate: denies, Effects: pawl.MayRefuse | pawl.MayHalt},
		"a program of Claude Code": {New: program(&wire.Codec{Flavour: wire.Claude}), Gate: denies, Effects: pawl.MayRefuse | pawl.MayHalt | pawl.MayNote},
		"one that hangs":           {New: func() pawl.Handler { return pawl.HandlerFunc(pawltest.HangHandler) }, Bound: 200 * time.Millisecond, Events: []*pawl.Event{{Trigger: "t"}}},
	} {
		t.Run(name, func(t *testing.T) { require.NoError(t, pawltest.TestHandler(kit)) })
	}
	require.NotEmpty(t, refuses.Calls)
	require.NotEmpty(t, answers.Calls)
	require.NotEmpty(t, denies.Calls)
}

func passes(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
	return pawl.Decision{}, nil
}

type brokenHandler struct {
	name string
	new  func() pawl.Handler
	rule string
}

func always(h pawl.Handler) func() pawl.Handler { return func() pawl.Handler { return h } }

func does(f pawl.HandlerFunc) func() pawl.Handler { return always(f) }

// brokenHandlers each break one rule.
func brokenHandlers(release <-chan struct{}) []brokenHandler {
	cmd := pawl.Command{Args: []string{"x"}}
	return []brokenHandler{
		{"it panics", always(pawltest.PanicHandler("x")), "Handle answers each event without a panic"},
		{"it panics with nothing", always(pawltest.PanicHandler(nil)), "Handle answers each event without a panic"},
		{"it ends its goroutine", does(pawltest.GoexitHandler), "Handle answers each event without a panic"},
		{"it scribbles", does(pawltest.ScribbleHandler), "it leaves the event as it is"},
		{"it renames the tool", does(func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
			ev.Tool = "other"
			return pawl.Decision{}, nil
		}), "it leaves the event as it is"},
		{"it answers garbage", does(pawltest.GarbageHandler), "its decisions stay within its effects"},
		{"it repeats a name", does(pawltest.GarbageHandler), "what it replaces is one JSON value without repeated names"},
		{"it answers one at a time", oneAtATime, "it may be called concurrently"},
		{"it is deaf", always(pawltest.DeafHandler(release)), "it returns soon after its context ended"},
		{"its gate is deaf to the context", does(func(ctx context.Context, _ *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
			_, err := gate.Run(context.WithoutCancel(ctx), cmd)
			return pawl.Decision{}, err
		}), "it returns soon after its context ended"},
		{"it believes a stopped program", does(func(ctx context.Context, _ *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
			_, err := gate.Run(ctx, cmd)
			return pawl.Decision{}, err
		}), "a program that was stopped is an error"},
		{"it swallows a refusal", always(pawltest.SwallowHandler(cmd)), "a program that the policy refused is an error"},
		{"it swallows a start that failed", does(func(ctx context.Context, _ *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
			if _, err := gate.Run(ctx, cmd); errors.Is(err, pawl.ErrRefused) {
				return pawl.Decision{}, err
			}
			return pawl.Decision{}, ctx.Err()
		}), "a program that could not run is an error"},
		{"it keeps a gate", func() pawl.Handler {
			var mu sync.Mutex
			var kept pawl.Gate
			return pawl.HandlerFunc(func(ctx context.Context, _ *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
				mu.Lock()
				if kept == nil {
					kept = gate
				}
				first := kept
				mu.Unlock()
				_, err := first.Run(ctx, cmd)
				return pawl.Decision{}, err
			})
		}, "it asks the gate only while it handles"},
	}
}

// oneAtATime panics when it is asked while it answers. It answers only when that happened or its time is up.
func oneAtATime() pawl.Handler {
	busy, met := make(chan struct{}, 1), make(chan struct{})
	var once sync.Once
	return pawl.HandlerFunc(func(ctx context.Context, _ *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
		select {
		case busy <- struct{}{}:
			defer func() { <-busy }()
		default:
			once.Do(func() { close(met) })
			panic("busy")
		}
		select {
		case <-met:
		case <-ctx.Done():
		}
		return pawl.Decision{}, nil
	})
}

func TestABrokenHandlerIsFoundOut(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for _, c := range brokenHandlers(release) {
		t.Run(c.name, func(t *testing.T) {
			err := pawltest.TestHandler(pawltest.HandlerKit{New: c.new, Bound: 20 * time.Millisecond})
			require.Contains(t, rules(t, err), c.rule, "%v", err)
		})
	}
}

func TestEveryRuleForHandlersHasAHandlerThatBreaksIt(t *testing.T) {
	broken := map[string]bool{}
	for _, c := range brokenHandlers(nil) {
		broken[c.rule] = true
	}
	for _, rule := range pawltest.HandlerRules() {
		require.True(t, broken[rule], rule)
	}
}

func TestTheKitAsksAboutTheCallersEvents(t *testing.T) {
	var asked []pawl.Trigger
	err := pawltest.TestHandler(pawltest.HandlerKit{
		Events: []*pawl.Event{{Trigger: "own", Extra: map[string]json.RawMessage{"x": json.RawMessage("1")}}},
		New: func() pawl.Handler {
			return pawl.HandlerFunc(func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
				if len(asked) == 0 {
					asked = append(asked, ev.Trigger)
				}
				ev.Extra["x"][0] = '2'
				return pawl.Decision{}, nil
			})
		},
	})
	require.Equal(t, []string{"it leaves the event as it is"}, rules(t, err))
	require.Equal(t, []pawl.Trigger{"own"}, asked)
}
