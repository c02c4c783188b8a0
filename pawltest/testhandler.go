package pawltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pawl-hooks/pawl"
)

// A HandlerKit says what [TestHandler] needs to know of a handler.
type HandlerKit struct {
	New     func() pawl.Handler // called for every rule
	Events  []*pawl.Event       // what it is asked about; empty: a tool call, its result, a prompt, a stop
	Effects pawl.Effect         // what its decisions may do
	Gate    pawl.Gate           // runs its programs; nil: each exits with 0 and prints nothing
	Bound   time.Duration       // how soon Handle returns once its context is done; zero: 5 s
}

// TestHandler holds a handler to the contract of [pawl.Handler]. It returns every [Violation], joined, or
// nil. Run it under the race detector: several rules ask concurrently.
func TestHandler(kit HandlerKit) error {
	kit.Bound = orDefault(kit.Bound)
	if len(kit.Events) == 0 {
		kit.Events = someEvents()
	}
	if kit.Gate == nil {
		kit.Gate = &Gate{}
	}
	return judge(handlerRules, func() (*handlerCheck, func(), error) {
		return &handlerCheck{kit, kit.New()}, nil, nil
	})
}

func someEvents() []*pawl.Event {
	input := json.RawMessage(`{"path":"a.go","text":"é"}`)
	return []*pawl.Event{
		{Trigger: pawl.ToolBefore, Call: "c1", Tool: "write_file", Aliases: []string{"Write"}, Paths: []string{"a.go"}, Input: input},
		{Trigger: pawl.ToolAfter, Call: "c1", Tool: "write_file", Input: input, Output: json.RawMessage(`"done"`), OutputBytes: 6},
		{Trigger: pawl.PromptSubmit, Prompt: "go on"},
		{Trigger: pawl.TurnStop, LastMessage: "done", Agent: pawl.Agent{ID: "a1", Type: "explore", Depth: 1}},
	}
}

var handlerRules = []rule[*handlerCheck]{
	{"Handle answers each event without a panic", (*handlerCheck).answers},
	{"it leaves the event as it is", (*handlerCheck).leavesEvent},
	{"its decisions stay within its effects", (*handlerCheck).withinEffects},
	{"what it replaces is one JSON value without repeated names", (*handlerCheck).replacesByJSON},
	{"it may be called concurrently", (*handlerCheck).concurrent},
	{"it returns soon after its context ended", (*handlerCheck).ends},
	{"a program that was stopped is an error", (*handlerCheck).stoppedProgram},
	{"a program that the policy refused is an error", (*handlerCheck).refusedProgram},
	{"a program that could not run is an error", (*handlerCheck).missingProgram},
	{"it asks the gate only while it handles", (*handlerCheck).gateOnlyWithin},
}

// A handlerCheck is one rule being looked at.
type handlerCheck struct {
	HandlerKit
	handler pawl.Handler
}

// handled is what a handler said of one event.
type handled struct {
	d     pawl.Decision
	err   error
	asked int // how often it asked the gate
}

func (c *handlerCheck) handle(ctx context.Context, ev *pawl.Event, gate pawl.Gate) (handled, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*c.Bound)
	defer cancel()
	recorder := &Gate{Next: gate}
	said := make(chan handled, 1)
	err := bounded(ctx, c.Bound, func(ctx context.Context) {
		d, err := c.handler.Handle(ctx, ev, recorder)
		said <- handled{d, err, len(recorder.Args())}
	})
	if err != nil {
		return handled{}, fmt.Errorf("%s: %w", ev.Trigger, err)
	}
	return <-said, nil
}

// each asks about a copy of every event.
func (c *handlerCheck) each(gate pawl.Gate, look func(ev *pawl.Event, h handled) error) error {
	for _, ev := range c.Events {
		own := deepCopy(ev)
		h, err := c.handle(context.Background(), own, gate)
		if err == nil {
			err = look(own, h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func deepCopy(ev *pawl.Event) *pawl.Event {
	own := *ev
	own.Aliases, own.Paths = slices.Clone(ev.Aliases), slices.Clone(ev.Paths)
	own.Input, own.Output = bytes.Clone(ev.Input), bytes.Clone(ev.Output)
	own.Extra = maps.Clone(ev.Extra)
	for name, raw := range own.Extra {
		own.Extra[name] = bytes.Clone(raw)
	}
	return &own
}

func (c *handlerCheck) answers() error {
	return c.each(c.Gate, func(*pawl.Event, handled) error { return nil })
}

func (c *handlerCheck) leavesEvent() error {
	for _, ev := range c.Events {
		own := deepCopy(ev)
		if _, err := c.handle(context.Background(), own, c.Gate); err != nil {
			return err
		}
		if !reflect.DeepEqual(deepCopy(ev), own) {
			return fmt.Errorf("%s: the event was changed", ev.Trigger)
		}
	}
	return nil
}

func (c *handlerCheck) withinEffects() error {
	return c.each(c.Gate, func(ev *pawl.Event, h handled) error {
		if over := h.d.Effects() &^ c.Effects; over != 0 {
			return fmt.Errorf("%s: the decision may not %s", ev.Trigger, over)
		}
		return nil
	})
}

func (c *handlerCheck) replacesByJSON() error {
	return c.each(c.Gate, func(ev *pawl.Event, h handled) error {
		for _, raw := range []json.RawMessage{h.d.Input, h.d.Output} {
			if raw != nil && !jsontext.Value(raw).IsValid() {
				return fmt.Errorf("%s: %.80q is none", ev.Trigger, raw)
			}
		}
		return nil
	})
}

func (c *handlerCheck) concurrent() error {
	const each = 8
	errs := make([]error, each*len(c.Events))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			_, errs[i] = c.handle(context.Background(), deepCopy(c.Events[i%len(c.Events)]), c.Gate)
		})
	}
	all.Wait()
	return first(errs...)
}

// stopped asks about every event with a gate that ends the context and then answers.
func (c *handlerCheck) stopped(answer pawl.GateFunc, look func(ev *pawl.Event, h handled) error) error {
	for _, ev := range c.Events {
		ctx, cancel := context.WithCancel(context.Background())
		gate := pawl.GateFunc(func(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
			cancel()
			return answer(ctx, cmd)
		})
		asksNone := time.AfterFunc(c.Bound/10, cancel)
		h, err := c.handle(ctx, deepCopy(ev), gate)
		asksNone.Stop()
		cancel()
		if err == nil {
			err = look(ev, h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *handlerCheck) ends() error {
	return c.stopped(HangGate, func(*pawl.Event, handled) error { return nil })
}

// failed wants an error where the gate was asked: a check that did not happen has not passed.
func failed(ev *pawl.Event, h handled) error {
	if h.asked > 0 && h.err == nil {
		return fmt.Errorf("%s: Handle has no error, and decided %s", ev.Trigger, h.d.Verdict)
	}
	return nil
}

// stoppedProgram: though the program exited with 0 when it was told to end.
func (c *handlerCheck) stoppedProgram() error { return c.stopped(LateGate, failed) }

func (c *handlerCheck) refusedProgram() error { return c.each(Refuses("pawltest"), failed) }

func (c *handlerCheck) missingProgram() error { return c.each(pawl.GateFunc(Missing), failed) }

// gateOnlyWithin asks about every event with a gate that notes who comes too late.
func (c *handlerCheck) gateOnlyWithin() error {
	var mu sync.Mutex
	late, open := 0, 0
	for _, ev := range c.Events {
		over := false
		gate := pawl.GateFunc(func(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
			mu.Lock()
			if over {
				late++
			}
			open++
			mu.Unlock()
			res, err := c.Gate.Run(ctx, cmd)
			mu.Lock()
			open--
			mu.Unlock()
			return res, err
		})
		if _, err := c.handle(context.Background(), deepCopy(ev), gate); err != nil {
			return err
		}
		mu.Lock()
		over = true
		stillOpen := open
		mu.Unlock()
		if stillOpen > 0 {
			return errors.New("Handle returned before its program did")
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if late > 0 {
		return errors.New("the gate was asked after Handle had returned")
	}
	return nil
}
