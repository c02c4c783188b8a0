package on

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/pawl-hooks/pawl"
)

// Substitute makes a hook that may answer a call in place of the tool: ok says that result, as JSON, stands in
// for it. A refusal by any hook beats it.
func Substitute[R any](name string, f func(ctx context.Context, ev *pawl.Event) (result R, ok bool, err error)) pawl.Hook {
	return made(f != nil, hook(name, pawl.ToolBefore, pawl.MayReplace, func(ctx context.Context, ev *pawl.Event) (d pawl.Decision, err error) {
		result, ok, err := f(ctx, ev)
		if err == nil && ok {
			d.Output, err = encode("stand-in", result)
		}
		return d, err
	}))
}

// Unknown makes a hook that may answer a call of a tool that does not exist; ok says that the result is an
// answer and no error.
func Unknown[R any](name string, f func(ctx context.Context, ev *pawl.Event) (result R, ok bool, err error)) pawl.Hook {
	return made(f != nil, hook(name, pawl.ToolUnknown, pawl.MayReplace, func(ctx context.Context, ev *pawl.Event) (d pawl.Decision, err error) {
		result, ok, err := f(ctx, ev)
		if err == nil && ok {
			d.Fail = new(bool)
			d.Output, err = encode("answer", result)
		}
		return d, err
	}))
}

// Transform makes a hook that may change the result of a call that ran, read as an R. A result that does not
// fit R, or has members that R lacks, is an error, and the result is withheld: use json.RawMessage, any or a
// map where results vary. Numbers keep their digits in json.RawMessage alone.
func Transform[R any](name string, f func(ctx context.Context, ev *pawl.Event, result R) (R, error)) pawl.Hook {
	return made(f != nil, hook(name, pawl.ToolAfter, pawl.MayReplace, func(ctx context.Context, ev *pawl.Event) (d pawl.Decision, err error) {
		d.Output, err = change(ctx, ev, "result", ev.Output, f)
		return d, err
	}))
}

// TransformText is Transform for results that are texts; others, and events without a result, pass untouched.
func TransformText(name string, f func(ctx context.Context, ev *pawl.Event, text string) (string, error)) pawl.Hook {
	return textHook(name, pawl.ToolAfter, f)
}

// ErrorText makes a hook that may change the error text of a call that ran and failed, before the model and
// tool.after see it.
func ErrorText(name string, f func(ctx context.Context, ev *pawl.Event, text string) (string, error)) pawl.Hook {
	return textHook(name, pawl.ToolFailed, f)
}

func textHook(name string, t pawl.Trigger, f func(context.Context, *pawl.Event, string) (string, error)) pawl.Hook {
	return made(f != nil, hook(name, t, pawl.MayReplace, func(ctx context.Context, ev *pawl.Event) (d pawl.Decision, err error) {
		if !bytes.HasPrefix(bytes.TrimSpace(ev.Output), []byte{'"'}) {
			return d, nil
		}
		d.Output, err = change(ctx, ev, "result", ev.Output, f)
		return d, err
	}))
}

// Rewrite makes a hook that may change what an event is about before anything is done with it: a call's
// input, the messages, the system prompt, the options of a request. Where the runtime's Payload is a T that is
// what changes, else the Input, read as a T; both where the event has both. Members of an Input that T lacks
// are an error, since a rewrite would drop them. An error refuses the event.
func Rewrite[T any](name string, t pawl.Trigger, f func(ctx context.Context, ev *pawl.Event, v T) (T, error)) pawl.Hook {
	return made(f != nil, hook(name, t, pawl.MayRewrite, func(ctx context.Context, ev *pawl.Event) (d pawl.Decision, err error) {
		p, ok := ev.Payload.(T)
		if !ok {
			d.Input, err = change(ctx, ev, "input", ev.Input, f)
			return d, err
		}
		out, err := f(ctx, ev, p)
		if err != nil {
			return d, err
		}
		if d.Payload = out; ev.Input != nil {
			d.Input, err = encode("input", out)
		}
		return d, err
	}))
}

// Input is Rewrite for the input of a call.
func Input[I any](name string, f func(ctx context.Context, ev *pawl.Event, input I) (I, error)) pawl.Hook {
	return Rewrite(name, pawl.ToolBefore, f)
}

// Prompt is Rewrite for the system prompt of a request.
func Prompt(name string, f func(ctx context.Context, ev *pawl.Event, prompt string) (string, error)) pawl.Hook {
	return Rewrite(name, pawl.SystemTransform, f)
}

// Request is Rewrite for the options of a request, at turn.before.
func Request[O any](name string, f func(ctx context.Context, ev *pawl.Event, options O) (O, error)) pawl.Hook {
	return Rewrite(name, pawl.TurnBefore, f)
}

// Messages is Rewrite for the list of messages of a request. The func owns the list it is given, not what its
// elements point to; what the runtime makes of the list that comes back, for this request or for good, is for
// the runtime to say.
func Messages[L ~[]M, M any](name string, f func(ctx context.Context, ev *pawl.Event, messages L) (L, error)) pawl.Hook {
	return made(f != nil, Rewrite(name, pawl.ContextTransform, func(ctx context.Context, ev *pawl.Event, messages L) (L, error) {
		return f(ctx, ev, slices.Clone(messages))
	}))
}

// change reads v as a T, lets f change it, and returns it as JSON; nil where nothing changed.
func change[T any](ctx context.Context, ev *pawl.Event, what string, v json.RawMessage, f func(context.Context, *pawl.Event, T) (T, error)) (json.RawMessage, error) {
	var in T
	if err := decode(what, v, &in, true); err != nil {
		return nil, err
	}
	before, err := encode(what, in)
	if err != nil {
		return nil, err
	}
	out, err := f(ctx, ev, in)
	if err != nil {
		return nil, err
	}
	after, err := encode(what, out)
	if err != nil || bytes.Equal(before, after) {
		return nil, err
	}
	return after, nil
}
