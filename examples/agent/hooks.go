package main

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
	"github.com/pawl-hooks/pawl/on"
)

// keepRecent is how many messages a request carries at most.
const keepRecent = 12

// newHost binds the hooks: gates first, then the guards in their own order, then what transforms and watches,
// then more.
func newHost(out io.Writer, script map[string][]reply, more ...pawl.Hook) (*host, error) {
	h := &host{out: out, script: script}
	h.guards = []guard.Guard{
		&guard.Repeat{Exceeded: func(ctx context.Context, ev *pawl.Event) { _, _ = h.hooks.Dispatch(ctx, ev) }},
		&guard.Budget{Tools: map[string]guard.Limit{
			"run_query": {Max: 2, OnExceed: guard.Block},
			"todowrite": {Max: 1, OnExceed: guard.Steer},
		}},
		&guard.Dedup{Tools: map[string]guard.Hasher{"search": guard.WholeInput}},
		&guard.Redact{},
		&guard.Truncate{Max: 80, Keep: guard.KeepBoth},
		&guard.OutputBudget{Max: 500},
		&guard.ThinkingDecay{Budget: 8192, AfterTurn: 3, Floor: 1024},
	}
	guards, err := guard.Hooks(h.guards...)
	if err != nil {
		return nil, err
	}
	h.hooks, err = pawl.New(pawl.Options{}, slices.Concat(h.gates(), guards, h.rest(), more)...)
	return h, err
}

// gates have the first word about a call.
func (h *host) gates() []pawl.Hook {
	return []pawl.Hook{
		on.Tools(on.CheckInput("no-rm-rf", func(_ context.Context, _ *pawl.Event, in input) (on.Ruling, error) {
			if strings.Contains(in.Command, "rm -rf") {
				return on.Refuse("dangerous command"), nil
			}
			return on.Ruling{}, nil
		}), "shell"),
		on.Tools(on.CheckInput("destructive", func(ctx context.Context, _ *pawl.Event, in input) (on.Ruling, error) {
			state, err := json.Marshal(in.Command)
			asked := on.Decide(ctx, on.Question{Key: "destructive", Text: "Does this destroy work?", Choices: []string{"yes", "no"}, State: state})
			if asked.Choice == "yes" {
				return on.Refuse(asked.Reason), nil
			}
			return on.Ruling{}, err
		}), "shell"),
	}
}

func (h *host) rest() []pawl.Hook {
	return []pawl.Hook{
		on.Unknown("no-plan-mode", func(_ context.Context, ev *pawl.Event) (string, bool, error) {
			return "EnterPlanMode is not available. Write the plan as a comment.", ev.Tool == "EnterPlanMode", nil
		}),
		on.Messages("trim", func(_ context.Context, _ *pawl.Event, m []message) ([]message, error) {
			if len(m) > keepRecent {
				m = append(m[:1], m[len(m)-keepRecent+1:]...)
			}
			return m, nil
		}),
		on.Prompt("concise", func(_ context.Context, ev *pawl.Event, prompt string) (string, error) {
			if ev.Step > 5 {
				prompt += " Be concise."
			}
			return prompt, nil
		}),
		on.Check("tests-first", pawl.TurnStop, func(_ context.Context, ev *pawl.Event) (on.Ruling, error) {
			if !ev.StopActive && !strings.Contains(ev.LastMessage, "tests") {
				return on.Refuse("Say what the tests do now."), nil
			}
			return on.Ruling{}, nil
		}),
		on.ObserveAs("stream", pawl.StreamText, func(_ context.Context, ev *pawl.Event, delta string) {
			h.say("%s   ~ %s", (&run{who: ev.Agent}).name(), strings.TrimSpace(delta))
		}),
		on.ObserveChild("child-tools", pawl.ToolAfter, func(_ context.Context, ev *pawl.Event, id string, depth int) {
			h.say("main   sees %s (depth %d) use %s", id, depth, ev.Tool)
		}),
		on.Observe("spawned", pawl.SpawnBefore, func(_ context.Context, ev *pawl.Event) { h.say("main   spawns %s: %s", ev.Source, ev.Payload) }),
		on.ObserveAs("repeats", pawl.RepeatExceeded, func(_ context.Context, ev *pawl.Event, s guard.Streak) {
			h.say("%s   repeat guard: call %d of %s in a row", (&run{who: ev.Agent}).name(), s.Length, s.Tool)
		}),
		on.Observe("done", pawl.AgentDone, func(_ context.Context, ev *pawl.Event) {
			h.say("%s done after step %d", (&run{who: ev.Agent}).name(), ev.Step)
		}),
	}
}
