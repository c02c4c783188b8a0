// Package fakes is a runtime's one tool call, and its test: with pawltest neither needs a program, a file or a model.
package fakes

import (
	"context"
	"encoding/json"

	"github.com/pawl-hooks/pawl"
)

// call asks the hooks about a call, runs it unless they keep it from running, and returns what the model reads.
func call(ctx context.Context, hooks *pawl.Registry, ev pawl.Event, run func(input json.RawMessage) json.RawMessage) string {
	ev.Trigger = pawl.ToolBefore
	out, _ := hooks.Dispatch(ctx, &ev) // obeying the outcome is enough: it holds what went wrong
	if out.Verdict >= pawl.Ask {       // there is nobody here to ask
		return out.Decision().Reason
	}
	if standIn := out.Decision().Output; standIn != nil {
		return string(standIn)
	}
	ev.Trigger, ev.Input = pawl.ToolAfter, out.Event().Input
	ev.Output = run(ev.Input)
	if out, _ = hooks.Dispatch(ctx, &ev); out.Verdict >= pawl.Refuse {
		return out.Decision().Reason
	}
	return string(out.Event().Output)
}
