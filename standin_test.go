package pawl_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/stretchr/testify/require"
)

// A stand-in is redacted like a result, and no observer takes it for a call that ran.
func TestAStandInPassesReplacersAlone(t *testing.T) {
	var asked []string
	hook := func(name string, on pawl.Trigger, may pawl.Effect, d pawl.Decision) pawl.Hook {
		return pawl.Hook{Name: name, On: on, Effects: may, Handler: pawl.HandlerFunc(
			func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
				asked = append(asked, name)
				return d, nil
			})}
	}
	reg, err := pawl.New(pawl.Options{},
		hook("observe", pawl.ToolAfter, 0, pawl.Decision{}),
		hook("check", pawl.ToolAfter, pawl.MayRefuse, pawl.Decision{Verdict: pawl.Refuse}),
		hook("note", pawl.ToolAfter, pawl.MayNote, pawl.Decision{Notes: []string{"n"}}),
		hook("replace", pawl.ToolAfter, pawl.MayReplace, pawl.Decision{Output: json.RawMessage(`"clean"`)}),
		hook("child", "child.tool.after", 0, pawl.Decision{}),
	)
	require.NoError(t, err)
	ev := &pawl.Event{Trigger: pawl.ToolAfter, Tool: "t", Agent: pawl.Agent{ID: "a"}, Output: json.RawMessage(`"dirty"`), StandIn: true}
	out, err := reg.Dispatch(t.Context(), ev)
	require.NoError(t, err)
	require.Equal(t, []string{"replace"}, asked)
	require.Equal(t, pawl.Pass, out.Verdict)
	require.JSONEq(t, `"clean"`, string(out.Event().Output))

	fires := map[string]pawl.Fires{}
	for _, e := range reg.Explain(t.Context(), ev) {
		fires[e.Hook.Name] = e.Fires
	}
	require.Equal(t, map[string]pawl.Fires{"observe": pawl.FiresNo, "check": pawl.FiresNo, "note": pawl.FiresNo, "replace": pawl.FiresYes, "child": pawl.FiresNo}, fires)
}
