package on_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/on"
)

// A gate that reads the input as its own type.
func ExampleCheckInput() {
	type input struct {
		Command string `json:"command"`
	}
	gate := on.CheckInput("no-rm-rf", func(_ context.Context, _ *pawl.Event, in input) (on.Ruling, error) {
		if strings.Contains(in.Command, "rm -rf") {
			return on.Refuse("dangerous command"), nil
		}
		return on.Ruling{}, nil
	})
	reg, err := pawl.New(pawl.Options{}, on.Tools(gate, "shell"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, command := range []string{`{"command":"ls"}`, `{"command":"rm -rf /"}`, `{"command":7}`} {
		ev := pawl.Event{Trigger: pawl.ToolBefore, Tool: "shell", Input: json.RawMessage(command)}
		out, _ := reg.Dispatch(context.Background(), &ev)
		fmt.Println(out.Verdict, command)
	}
	// Output:
	// pass {"command":"ls"}
	// refuse {"command":"rm -rf /"}
	// refuse {"command":7}
}

// Drop old messages past a soft cap, and keep the first.
func ExampleMessages() {
	const keep = 3
	trim := on.Messages("trim", func(_ context.Context, _ *pawl.Event, m []string) ([]string, error) {
		if len(m) > keep {
			m = append(m[:1], m[len(m)-keep+1:]...)
		}
		return m, nil
	})
	reg, err := pawl.New(pawl.Options{}, trim)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, _ := reg.Dispatch(context.Background(), &pawl.Event{Trigger: pawl.ContextTransform, Payload: []string{"task", "a", "b", "c"}})
	fmt.Println(out.Event().Payload)
	// Output: [task b c]
}

// How long each event took, whatever hooks it had.
func ExampleWatched() {
	reg, err := pawl.New(pawl.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	hooks := on.Watched(reg, func(_ context.Context, ev *pawl.Event) func(pawl.Outcome, error) {
		began := ev.Step // a clock, elsewhere
		return func(out pawl.Outcome, _ error) {
			fmt.Println(ev.Trigger, "began at", began, "and came to", out.Verdict)
		}
	})
	_, _ = hooks.Dispatch(context.Background(), &pawl.Event{Trigger: pawl.TurnAfter, Step: 4})
	// Output: turn.after began at 4 and came to pass
}
