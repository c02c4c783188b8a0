package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
	"github.com/pawl-hooks/pawl/on"
)

// maxSteps ends a run that does not end itself.
const maxSteps = 20

var (
	errSteps  = errors.New("the run reached its limit of requests")
	errHalted = errors.New("a hook ended the run")
)

// host is what all agents of a session share: one registry, whoever acts.
type host struct {
	hooks  on.Dispatcher
	guards []guard.Guard
	script map[string][]reply // by task
	mu     sync.Mutex
	out    io.Writer
	kids   int
}

func (h *host) say(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Fprintf(h.out, format+"\n", args...)
}

// A message is one entry of the conversation.
type message struct{ Role, Text string }

// run is one agent at work on one task.
type run struct {
	*host
	who     pawl.Agent
	model   []reply
	history []message
	step    int
}

// run works on a task until the model has no more to do. Whatever happens, agent.done is dispatched once.
func (h *host) run(ctx context.Context, who pawl.Agent, task string) (answer string, err error) {
	r := &run{host: h, who: who, model: h.script[task], history: []message{{"user", task}}}
	defer func() {
		last := context.WithoutCancel(ctx)
		if ctx.Err() != nil {
			_, _ = r.fire(last, pawl.AgentAbort, nil)
		}
		_, _ = r.fire(last, pawl.AgentDone, nil)
	}()
	stopped := false
	for r.step = 1; r.step <= maxSteps; r.step++ {
		said, err := r.turn(ctx)
		if err != nil {
			return "", err
		}
		if len(said.calls) > 0 {
			if err := r.act(ctx, said.calls); err != nil {
				return "", err
			}
			continue
		}
		on := r.stop(ctx, said.text, stopped)
		if on == "" {
			return said.text, nil
		}
		stopped = true
		r.history = append(r.history, message{"user", on})
	}
	return "", errSteps
}

// fire dispatches one moment of this agent. A refusal is an error.
func (r *run) fire(ctx context.Context, on pawl.Trigger, fill func(*pawl.Event)) (*pawl.Event, error) {
	ev := r.event(on)
	if fill != nil {
		fill(&ev)
	}
	out, _ := r.hooks.Dispatch(ctx, &ev) // obeying the outcome is enough: it holds what went wrong
	if out.Verdict >= pawl.Refuse {
		return nil, fmt.Errorf("%s was refused: %s", on, out.Decision().Reason)
	}
	return out.Event(), nil
}

// event is a moment of this agent. All requests that one prompt leads to are one turn, of so many steps.
func (r *run) event(on pawl.Trigger) pawl.Event {
	return pawl.Event{Trigger: on, Session: "s1", Turn: "t1", Step: r.step, Agent: r.who, Dir: "/w", Model: "scripted"}
}

// turn makes one request and streams what the model says.
func (r *run) turn(ctx context.Context) (reply, error) {
	messages, err := r.fire(ctx, pawl.ContextTransform, func(ev *pawl.Event) { ev.Payload = r.history })
	if err != nil {
		return reply{}, err
	}
	r.history = messages.Payload.([]message)
	system, err := r.fire(ctx, pawl.SystemTransform, func(ev *pawl.Event) { ev.Payload = "You are a careful programmer." })
	if err != nil {
		return reply{}, err
	}
	options, err := r.fire(ctx, pawl.TurnBefore, func(ev *pawl.Event) { ev.Input = []byte(`{}`) })
	if err != nil {
		return reply{}, err
	}
	r.say("%s step %d: %d messages, system %q, options %s", r.name(), r.step, len(r.history), system.Payload, options.Input)
	said := r.next()
	if said.text != "" {
		for _, delta := range strings.SplitAfter(said.text, " ") {
			_, _ = r.fire(ctx, pawl.StreamText, func(ev *pawl.Event) { ev.Payload = delta })
		}
		_, _ = r.fire(ctx, pawl.StreamEnd, func(ev *pawl.Event) { ev.Payload = said.text })
		r.history = append(r.history, message{"assistant", said.text})
	}
	_, _ = r.fire(context.WithoutCancel(ctx), pawl.TurnAfter, func(ev *pawl.Event) { ev.LastMessage = said.text })
	return said, nil
}

// next is what the scripted model says now.
func (r *run) next() (said reply) {
	if len(r.model) > 0 {
		said, r.model = r.model[0], r.model[1:]
	}
	return said
}

// act runs the calls of a turn and adds what came of them to the conversation.
func (r *run) act(ctx context.Context, calls []guard.Call) error {
	for i := range calls {
		calls[i].ID = fmt.Sprintf("%s-%d-%d", r.name(), r.step, i+1)
	}
	s := &guard.Scheduler{Hooks: r.hooks, Guards: r.guards, Run: r.call, Safe: safe, Known: known, Validate: validate, Limit: 4}
	halted := ""
	for _, res := range s.Turn(ctx, r.event(""), calls) {
		r.say("%s   %s %s -> %s: %s", r.name(), res.Call.Tool, res.Call.Input, res.State, res.Output)
		r.history = append(r.history, message{"tool", string(res.Output)})
		for _, note := range res.Notes {
			r.say("%s   note: %s", r.name(), note)
			r.history = append(r.history, message{"user", note})
		}
		if res.Halt {
			halted = string(res.Output)
		}
	}
	if halted != "" {
		return fmt.Errorf("%w: %s", errHalted, halted)
	}
	return ctx.Err()
}

// stop asks whether the agent may stop; what it is told instead sends it on.
func (r *run) stop(ctx context.Context, last string, active bool) (goOn string) {
	on := pawl.TurnStop
	if r.who != (pawl.Agent{}) {
		on = pawl.AgentStop
	}
	ev := r.event(on)
	ev.LastMessage, ev.StopActive = last, active
	out, _ := r.hooks.Dispatch(ctx, &ev)
	if out.Verdict != pawl.Refuse {
		return ""
	}
	r.say("%s   goes on: %s", r.name(), out.Decision().Reason)
	return out.Decision().Reason
}

func (r *run) name() string {
	if r.who.ID == "" {
		return "main"
	}
	return r.who.ID
}
