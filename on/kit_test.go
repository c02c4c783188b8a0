package on_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/on"
	"github.com/pawl-hooks/pawl/pawltest"
)

// every makes one hook by each constructor, of funcs that do what they are there for.
func every() []pawl.Hook {
	type object = map[string]json.RawMessage
	observe := func(context.Context, *pawl.Event) {}
	says := func(context.Context, *pawl.Event) (on.Ruling, error) { return on.Refuse("no"), nil }
	text := func(_ context.Context, _ *pawl.Event, s string) (string, error) { return s + "!", nil }
	same := func(_ context.Context, _ *pawl.Event, v object) (object, error) { return v, nil }
	yields := func(context.Context, *pawl.Event) (string, bool, error) { return "instead", true, nil }
	return []pawl.Hook{
		on.Check("check", pawl.ToolBefore, says),
		on.CheckAs("check-as", pawl.ToolBefore, func(context.Context, *pawl.Event, string) (on.Ruling, error) { return on.Ask("sure?"), nil }),
		on.CheckInput("check-input", func(context.Context, *pawl.Event, object) (on.Ruling, error) { return on.Halt("enough"), nil }),
		on.Approve("approve", func(context.Context, *pawl.Event) (on.Answer, error) { return on.Yes(""), nil }),
		on.Observe("observe", pawl.ToolAfter, observe),
		on.ObserveAs("observe-as", pawl.ToolAfter, func(context.Context, *pawl.Event, string) {}),
		on.ObserveChild("observe-child", pawl.TurnAfter, func(context.Context, *pawl.Event, string, int) {}),
		on.Note("note", pawl.ToolBefore, func(context.Context, *pawl.Event) (string, error) { return "a note", nil }),
		on.CacheBreak("cache-break", func(context.Context, *pawl.Event, on.Sections) {}),
		on.CacheDrift("cache-drift", func(context.Context, *pawl.Event, on.Sections) {}),
		on.Substitute("substitute", yields),
		on.Unknown("unknown", yields),
		on.Transform("transform", same),
		on.TransformText("transform-text", text),
		on.ErrorText("error-text", text),
		on.Rewrite("rewrite", pawl.ToolBefore, same),
		on.Input("input", same),
		on.Prompt("prompt", text),
		on.Request("request", same),
		on.Messages("messages", func(_ context.Context, _ *pawl.Event, list []object) ([]object, error) { return list, nil }),
		on.Once(on.Check("once", pawl.ToolBefore, says)),
		on.Once(pawl.Hook{Name: "once-failing", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Handler: pawltest.ErrorHandler(errors.New("x"))}),
	}
}

func TestEveryHandlerKeepsTheContract(t *testing.T) {
	for i, h := range every() {
		t.Run(h.Name, func(t *testing.T) {
			var events []*pawl.Event // nothing that JSON can be is a surprise to a handler
			for _, value := range []string{``, `"text"`, `{"a":1}`, `[{"a":1}]`, `null`, `7`} {
				events = append(events, &pawl.Event{Trigger: h.On, Tool: "Bash", Call: "c", Input: raw(value), Output: raw(value), Prompt: "p"})
			}
			switch h.Name {
			case "observe-as", "cache-break", "cache-drift": // by panic alone can an observer say that it was not told
				events = nil
			}
			var payload any = "text"
			if h.On == pawl.CacheBreak || h.On == pawl.CacheDrift {
				payload = on.Sections{}
			}
			events = append(events, &pawl.Event{Trigger: h.On, Tool: "Bash", Payload: payload, Agent: pawl.Agent{ID: "a", Type: "explore", Depth: 1}})
			can := h.Effects
			if h.Name == "once-failing" { // what a handler says beside an error is masked by the dispatch
				can |= pawl.MayAllow | pawl.MayRewrite
			}
			require.NoError(t, pawltest.TestHandler(pawltest.HandlerKit{
				New: func() pawl.Handler { return every()[i].Handler }, Events: events, Effects: can,
			}))
		})
	}
}
