package on_test

import (
	"context"
	"errors"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/on"
	"github.com/stretchr/testify/require"
)

var question = on.Question{Key: "destructive", Text: "Does this delete files?", Choices: []string{"yes", "no"}}

func says(choice string) on.DeciderFunc {
	return func(context.Context, on.Question) (on.Opinion, error) {
		return on.Opinion{Choice: choice, Reason: "because"}, nil
	}
}

func TestDecideReachesTheRunsProviderFromAHandler(t *testing.T) {
	reg := registry(t, on.Check("ask", pawl.ToolBefore, func(ctx context.Context, _ *pawl.Event) (on.Ruling, error) {
		if o := on.Decide(ctx, question); o.Choice == "yes" {
			return on.Refuse(o.Reason), nil
		}
		return on.Ruling{}, nil
	}))
	out, err := reg.Dispatch(on.WithDecider(t.Context(), says("yes")), new(shell(`{}`)))
	require.NoError(t, err)
	require.Equal(t, "because", out.Decision().Reason)
	require.Equal(t, pawl.Pass, fire(t, reg, shell(`{}`)).Verdict, "no provider, no opinion")
}

func TestDecideHasNoOpinion(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ctx := range map[string]context.Context{
		"without a provider":                t.Context(),
		"with a nil provider":               on.WithDecider(t.Context(), nil),
		"after the run":                     on.WithDecider(done, says("yes")),
		"after the run, for one that lives": context.WithoutCancel(on.WithDecider(done, says("yes"))),
		"where the provider fails": on.WithDecider(t.Context(), on.DeciderFunc(func(context.Context, on.Question) (on.Opinion, error) {
			return on.Opinion{Choice: "yes"}, errors.New("x")
		})),
		"where the provider panics":           on.WithDecider(t.Context(), on.DeciderFunc(func(context.Context, on.Question) (on.Opinion, error) { panic("x") })),
		"where the answer is no choice":       on.WithDecider(t.Context(), says("perhaps")),
		"where the provider has none":         on.WithDecider(t.Context(), says("")),
		"where the provider is a nil pointer": on.WithDecider(t.Context(), (*provider)(nil)),
	} {
		t.Run(name, func(t *testing.T) { require.Empty(t, on.Decide(ctx, question).Choice) })
	}
}

type provider struct{ choice string }

func (p *provider) Decide(context.Context, on.Question) (on.Opinion, error) {
	return on.Opinion{Choice: p.choice}, nil
}

// A decision handler cannot ask again, neither itself nor through the hooks of an event it dispatches.
func TestADeciderCannotAsk(t *testing.T) {
	var inner []on.Opinion
	reg := registry(t, on.Observe("ask", pawl.TurnAfter, func(ctx context.Context, _ *pawl.Event) { inner = append(inner, on.Decide(ctx, question)) }))
	var d on.DeciderFunc
	d = func(ctx context.Context, q on.Question) (on.Opinion, error) {
		inner = append(inner, on.Decide(ctx, q), on.Decide(on.WithDecider(ctx, d), q))
		_, err := reg.Dispatch(ctx, &pawl.Event{Trigger: pawl.TurnAfter})
		require.NoError(t, err)
		return on.Opinion{Choice: "no"}, nil
	}
	require.Equal(t, "no", on.Decide(on.WithDecider(t.Context(), d), question).Choice)
	require.Equal(t, make([]on.Opinion, 3), inner)
}

func TestDecideEndsWithTheRun(t *testing.T) {
	run, cancel := context.WithCancelCause(t.Context())
	why := errors.New("aborted")
	ctx := context.WithoutCancel(on.WithDecider(run, on.DeciderFunc(func(ctx context.Context, _ on.Question) (on.Opinion, error) {
		cancel(why)
		<-ctx.Done()
		return on.Opinion{}, context.Cause(ctx)
	})))
	require.ErrorIs(t, on.Decide(ctx, question).Err, why)
}
