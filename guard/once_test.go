package guard_test

import (
	"context"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
	"github.com/stretchr/testify/require"
)

func TestOnceARun(t *testing.T) {
	n := 0
	h := pawl.Hook{Name: "hint", On: pawl.ToolBefore, Effects: pawl.MayRefuse | pawl.MayNote, Handler: pawl.HandlerFunc(
		func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
			n++
			return pawl.Decision{Notes: []string{"hint"}}, nil
		})}
	b := newBench(t, one(&guard.Once{Hook: h}), rewrites("rewrite", `{"x":1}`))
	require.Equal(t, []string{"hint"}, b.before("a", `{}`).Decision().Notes, "asked again about the same event, it says it again")
	require.Equal(t, 2, n)
	require.Empty(t, b.fire(with(call("a", `{}`), func(ev *pawl.Event) { ev.Call = "2" })).Decision().Notes)
	require.Equal(t, []string{"hint"}, b.fire(with(call("a", `{}`), func(ev *pawl.Event) { ev.Agent.ID = "kid" })).Decision().Notes)
	b.fire(pawl.Event{Trigger: pawl.AgentDone, Session: "s"})
	require.Equal(t, []string{"hint"}, b.before("a", `{}`).Decision().Notes)

	_, err := guard.Hooks(&guard.Once{Hook: pawl.Hook{Name: "x"}})
	require.EqualError(t, err, `guard once: hook "x" has no handler`)
}
