package on_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/on"
	"github.com/stretchr/testify/require"
)

// A check whose Deny could do nothing must not look like one.
func TestACheckWhereNothingCanBeRefusedIsALoadError(t *testing.T) {
	checked := 0
	for trigger, row := range pawl.DefaultTriggers() {
		if strings.HasSuffix(string(trigger), ".*") {
			continue
		}
		for name, h := range map[string]pawl.Hook{
			"check":    on.Check("h", trigger, func(context.Context, *pawl.Event) (on.Ruling, error) { return on.Refuse("no"), nil }),
			"check as": on.CheckAs("h", trigger, func(context.Context, *pawl.Event, int) (on.Ruling, error) { return on.Refuse("no"), nil }),
		} {
			_, err := pawl.New(pawl.Options{}, h)
			if row.Can&pawl.MayRefuse != 0 {
				require.NoError(t, err, "%s at %s", name, trigger)
				continue
			}
			checked++
			require.ErrorContains(t, err, string(trigger)+" cannot refuse", name)
		}
	}
	require.NotZero(t, checked)
}

// A guard that reads members no input has would never fire.
func TestAnInputWithNoMemberThatACheckReadsRefuses(t *testing.T) {
	type shellInput struct {
		Command string `json:"command"`
		Dir     string `json:"dir"`
	}
	pass := func(context.Context, *pawl.Event, shellInput) (on.Ruling, error) { return on.Ruling{}, nil }
	for name, c := range map[string]struct {
		hook  pawl.Hook
		input string
		want  pawl.Verdict
	}{
		"a member it reads":       {on.CheckInput("h", pass), `{"x":1,"dir":"/"}`, pawl.Pass},
		"none":                    {on.CheckInput("h", pass), `{"cmd":"rm","x":{}}`, pawl.Refuse},
		"none but for its case":   {on.CheckInput("h", pass), `{"Command":"rm"}`, pawl.Refuse},
		"an empty object":         {on.CheckInput("h", pass), `{}`, pawl.Pass},
		"null":                    {on.CheckInput("h", pass), `null`, pawl.Pass},
		"by a pointer":            {on.CheckInput("h", func(context.Context, *pawl.Event, *shellInput) (on.Ruling, error) { return on.Ruling{}, nil }), `{"cmd":"rm"}`, pawl.Refuse},
		"a map reads every one":   {on.CheckInput("h", func(context.Context, *pawl.Event, map[string]any) (on.Ruling, error) { return on.Ruling{}, nil }), `{"cmd":"rm"}`, pawl.Pass},
		"raw bytes read anything": {on.CheckInput("h", func(context.Context, *pawl.Event, json.RawMessage) (on.Ruling, error) { return on.Ruling{}, nil }), `{"cmd":"rm"}`, pawl.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			out := fire(t, registry(t, c.hook), shell(c.input))
			require.Equal(t, c.want, out.Verdict, out.Decision().Reason)
			if c.want == pawl.Refuse {
				require.Contains(t, out.Decision().Reason, "none of its members is one of")
			}
		})
	}
}

func TestAHookWithoutAFuncIsALoadError(t *testing.T) {
	for name, h := range map[string]pawl.Hook{
		"Observe":          on.Observe("h", pawl.ToolStarted, nil),
		"ObserveAs":        on.ObserveAs[int]("h", pawl.ToolStarted, nil),
		"ObserveChild":     on.ObserveChild("h", pawl.ToolBefore, nil),
		"Note":             on.Note("h", pawl.ToolBefore, nil),
		"Check":            on.Check("h", pawl.ToolBefore, nil),
		"CheckAs":          on.CheckAs[int]("h", pawl.ToolBefore, nil),
		"CheckInput":       on.CheckInput[int]("h", nil),
		"Approve":          on.Approve("h", nil),
		"Substitute":       on.Substitute[int]("h", nil),
		"Unknown":          on.Unknown[int]("h", nil),
		"Transform":        on.Transform[int]("h", nil),
		"TransformText":    on.TransformText("h", nil),
		"ErrorText":        on.ErrorText("h", nil),
		"Rewrite":          on.Rewrite[int]("h", pawl.ToolBefore, nil),
		"Input":            on.Input[int]("h", nil),
		"Prompt":           on.Prompt("h", nil),
		"Request":          on.Request[int]("h", nil),
		"Messages":         on.Messages[[]int]("h", nil),
		"CacheBreak":       on.CacheBreak("h", nil),
		"CacheDrift":       on.CacheDrift("h", nil),
		"Once":             on.Once(pawl.Hook{Name: "h", On: pawl.ToolBefore}),
		"Once of a check":  on.Once(on.Check("h", pawl.ToolBefore, nil)),
		"a nil func":       {Name: "h", On: pawl.ToolBefore, Handler: pawl.HandlerFunc(nil)},
		"a nil observer":   {Name: "h", On: pawl.ToolBefore, Handler: pawl.Observer(nil)},
		"Once of nil func": on.Once(pawl.Hook{Name: "h", On: pawl.ToolBefore, Handler: pawl.HandlerFunc(nil)}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pawl.New(pawl.Options{}, h)
			require.ErrorContains(t, err, "it has no handler")
		})
	}
}

func TestDecideWithoutAContextHasNoOpinion(t *testing.T) {
	var none context.Context
	require.Equal(t, on.Opinion{}, on.Decide(none, on.Question{Text: "?"}))
}
