package on_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/on"
	"github.com/stretchr/testify/require"
)

type command struct {
	Command string `json:"command"`
}

func noRemove(_ context.Context, _ *pawl.Event, in command) (on.Ruling, error) {
	switch {
	case strings.Contains(in.Command, "rm -rf"):
		return on.Refuse("dangerous command"), nil
	case strings.HasPrefix(in.Command, "sudo"):
		return on.Ask("as root?"), nil
	case in.Command == "reboot":
		return on.Halt("enough"), nil
	case in.Command == "":
		return on.Ruling{}, errors.New("no command")
	}
	return on.Ruling{}, nil
}

func TestCheckInput(t *testing.T) {
	reg := registry(t, on.Tools(on.CheckInput("no-rm-rf", noRemove), "shell"))
	for input, want := range map[string]pawl.Decision{
		`{"command":"ls"}`:                        {},
		`{"command":"rm -rf /"}`:                  {Verdict: pawl.Refuse, Reason: "dangerous command"},
		`{"command":"sudo ls"}`:                   {Verdict: pawl.Ask, Reason: "as root?"},
		`{"command":"reboot"}`:                    {Verdict: pawl.Halt, Reason: "enough"},
		`{"command":"rm -rf /","more":1}`:         {Verdict: pawl.Refuse, Reason: "dangerous command"},
		`{"command":"rm -rf /","Command":"ls"}`:   {Verdict: pawl.Refuse, Reason: "dangerous command"}, // exact names
		`{"command":""}`:                          {Verdict: pawl.Refuse},
		`{"command":"ls","command":"rm -rf /"}`:   {Verdict: pawl.Refuse},
		`{"command":["rm","-rf"]}`:                {Verdict: pawl.Refuse},
		`not json`:                                {Verdict: pawl.Refuse},
		`{"Command":"ls"}`:                        {Verdict: pawl.Refuse}, // another name is no command
		"{\"command\":\"ls \xff\"}":               {Verdict: pawl.Refuse},
		`{"command":"ls","nested":{"a":1,"a":2}}`: {Verdict: pawl.Refuse},
	} {
		t.Run(input, func(t *testing.T) {
			d := fire(t, reg, shell(input)).Decision()
			require.Equal(t, want.Verdict, d.Verdict)
			if want.Reason != "" {
				require.Equal(t, want.Reason, d.Reason)
			}
		})
	}
	require.Equal(t, pawl.Pass, fire(t, reg, pawl.Event{Trigger: pawl.ToolBefore, Tool: "glob", Input: raw(`not json`)}).Verdict, "only shell is asked about")
}

func TestTheShapeOfAFuncIsWhatItMayDo(t *testing.T) {
	nothing := func(context.Context, *pawl.Event) (on.Ruling, error) { return on.Ruling{}, nil }
	for _, c := range []struct {
		hook pawl.Hook
		may  pawl.Effect
	}{
		{on.Observe("h", pawl.TurnAfter, func(context.Context, *pawl.Event) {}), 0},
		{on.ObserveAs("h", pawl.TurnAfter, func(context.Context, *pawl.Event, int) {}), 0},
		{on.ObserveChild("h", pawl.TurnAfter, func(context.Context, *pawl.Event, string, int) {}), 0},
		{on.CacheBreak("h", func(context.Context, *pawl.Event, on.Sections) {}), 0},
		{on.CacheDrift("h", func(context.Context, *pawl.Event, on.Sections) {}), 0},
		{on.Note("h", pawl.SessionStart, func(context.Context, *pawl.Event) (string, error) { return "", nil }), pawl.MayNote},
		{on.Check("h", pawl.ToolBefore, nothing), pawl.MayRefuse | pawl.MayHalt | pawl.MayAsk},
		{on.Check("h", pawl.PromptSubmit, nothing), pawl.MayRefuse | pawl.MayHalt},
		{on.Check("h", pawl.TurnStop, nothing), pawl.MayRefuse | pawl.MayHalt},
		{on.Check("h", pawl.ToolFailed, nothing), pawl.MayRefuse},
		{on.Approve("h", nil), pawl.MayAllow | pawl.MayRefuse},
		{on.Substitute[string]("h", nil), pawl.MayReplace},
		{on.Unknown[string]("h", nil), pawl.MayReplace},
		{on.Transform[string]("h", nil), pawl.MayReplace},
		{on.TransformText("h", nil), pawl.MayReplace},
		{on.ErrorText("h", nil), pawl.MayReplace},
		{on.Input[command]("h", nil), pawl.MayRewrite},
		{on.Prompt("h", nil), pawl.MayRewrite},
		{on.Messages[[]string]("h", nil), pawl.MayRewrite},
		{on.Request[int]("h", nil), pawl.MayRewrite},
	} {
		require.Equal(t, c.may, c.hook.Effects, c.hook.On)
		if c.hook.Handler == nil { // it was made of a nil func, since the effects alone matter here
			c.hook.Handler = pawl.HandlerFunc(func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) { return pawl.Decision{}, nil })
		}
		registry(t, c.hook)
	}
}

func TestWhatATriggerCannotCarryIsALoadError(t *testing.T) {
	_, err := pawl.New(pawl.Options{},
		on.Note("a", pawl.ToolCancelled, func(context.Context, *pawl.Event) (string, error) { return "", nil }),
		on.Check("b", "my.own", func(context.Context, *pawl.Event) (on.Ruling, error) { return on.Ruling{}, nil }),
		on.ObserveChild("c", pawl.AgentDone, func(context.Context, *pawl.Event, string, int) {}),
	)
	require.ErrorContains(t, err, "tool.cancelled cannot note")
	require.ErrorContains(t, err, `unknown trigger "my.own"`)
	require.ErrorContains(t, err, `unknown trigger "child.agent.done"`)
	require.ErrorContains(t, err, "on/on_test.go:", "the fault says where the hook was written")
}

func TestEveryHelperServesACustomTrigger(t *testing.T) {
	table := pawl.DefaultTriggers()
	table["my.plan"] = pawl.Contract{Can: pawl.MayRefuse | pawl.MayRewrite | pawl.MayNote, Bubbles: true}
	var seen []string
	reg, err := pawl.New(pawl.Options{Triggers: table},
		on.Rewrite("rewrite", "my.plan", func(_ context.Context, _ *pawl.Event, steps []string) ([]string, error) {
			return append(steps, "test"), nil
		}),
		on.Check("check", "my.plan", func(_ context.Context, ev *pawl.Event) (on.Ruling, error) { return on.Refuse(string(ev.Input)), nil }),
		on.Note("note", "my.plan", func(context.Context, *pawl.Event) (string, error) { return "n", nil }),
		on.Observe("see", "my.plan", func(_ context.Context, ev *pawl.Event) { seen = append(seen, ev.Verdict.String()) }),
		on.ObserveChild("child", "my.plan", func(_ context.Context, ev *pawl.Event, id string, depth int) {
			seen = append(seen, fmt.Sprint(ev.Trigger, id, depth))
		}),
	)
	require.NoError(t, err)
	out := fire(t, reg, pawl.Event{Trigger: "my.plan", Input: raw(`["code"]`), Agent: pawl.Agent{ID: "kid", Depth: 2}})
	require.Equal(t, `["code","test"]`, out.Decision().Reason)
	require.Equal(t, []string{"n"}, out.Decision().Notes)
	require.Equal(t, []string{"refuse", "child.my.plankid2"}, seen)
}

// Block wins if both are set, whichever came first.
func TestBlockBeatsResult(t *testing.T) {
	known := on.Substitute("known", func(context.Context, *pawl.Event) (string, bool, error) { return "no-op", true, nil })
	block := on.Check("block", pawl.ToolBefore, func(context.Context, *pawl.Event) (on.Ruling, error) { return on.Refuse("no"), nil })
	for _, hooks := range [][]pawl.Hook{{known, block}, {block, known}} {
		out := fire(t, registry(t, hooks...), shell(`{}`))
		require.Equal(t, pawl.Refuse, out.Verdict)
		require.Nil(t, out.Decision().Output)
	}
	out := fire(t, registry(t, known), shell(`{}`))
	require.Equal(t, `"no-op"`, string(out.Event().Output), "a result alone answers the call")
}

// A later handler cannot lift an earlier one's refusal: the difference to zidane, where the last write wins.
func TestDenyIsSticky(t *testing.T) {
	rule := func(name string, r on.Ruling) pawl.Hook {
		return on.Check(name, pawl.ToolBefore, func(context.Context, *pawl.Event) (on.Ruling, error) { return r, nil })
	}
	out := fire(t, registry(t, rule("block", on.Refuse("no")), rule("fine", on.Ruling{}), rule("ask", on.Ask("sure?"))), shell(`{}`))
	require.Equal(t, pawl.Refuse, out.Verdict)
	require.Equal(t, "no", out.Decision().Reason)
}

func TestALaterHandlerSeesAnEarlierOnesChange(t *testing.T) {
	add := func(name string) pawl.Hook {
		return on.Input(name, func(_ context.Context, _ *pawl.Event, c command) (command, error) {
			c.Command += " " + name
			return c, nil
		})
	}
	out := fire(t, registry(t, add("a"), add("b")), shell(`{"command":"x"}`))
	require.JSONEq(t, `{"command":"x a b"}`, string(out.Event().Input))
}

func TestARewriteDropsNoMemberItDoesNotKnow(t *testing.T) {
	typed := on.Input("typed", func(_ context.Context, _ *pawl.Event, c command) (command, error) { return c, nil })
	open := on.Input("open", func(_ context.Context, _ *pawl.Event, m map[string]json.RawMessage) (map[string]json.RawMessage, error) {
		m["command"] = raw(`"ls"`)
		return m, nil
	})
	require.Equal(t, pawl.Refuse, fire(t, registry(t, typed), shell(`{"command":"x","id":9007199254740993}`)).Verdict)
	out := fire(t, registry(t, open), shell(`{"command":"x","id":9007199254740993}`))
	require.Equal(t, `{"command":"ls","id":9007199254740993}`, string(out.Event().Input)) // O09
}

func TestTransformLeavesAloneWhatItDoesNotChange(t *testing.T) {
	reg := registry(t, on.TransformText("mask", func(_ context.Context, _ *pawl.Event, s string) (string, error) {
		return strings.ReplaceAll(s, "secret", "<redacted> & gone"), nil
	}))
	for output, want := range map[string]string{
		`"a secret"`:     `"a <redacted> & gone"`, // O07: not <
		`"nothing"`:      `"nothing"`,
		`"\u0041"`:       `"\u0041"`,
		`{"a":"secret"}`: `{"a":"secret"}`,
		`17`:             `17`,
		``:               ``,
	} {
		ev := pawl.Event{Trigger: pawl.ToolAfter, Tool: "t"}
		if output != "" {
			ev.Output = raw(output)
		}
		out := fire(t, reg, ev)
		require.Equal(t, want, string(out.Event().Output))
		require.Equal(t, output != want, out.Runs()[0].Effects == pawl.MayReplace)
	}
}

func TestTransformGeneric(t *testing.T) {
	type page struct {
		Items []int `json:"items"`
	}
	reg := registry(t, on.Transform("first", func(_ context.Context, _ *pawl.Event, p page) (page, error) {
		p.Items = p.Items[:1]
		return p, nil
	}))
	out := fire(t, reg, pawl.Event{Trigger: pawl.ToolAfter, Tool: "t", Output: raw(`{"items":[1,2]}`)})
	require.Equal(t, `{"items":[1]}`, string(out.Event().Output))
	for _, bad := range []string{`{"items":[]}`, `{"items":[1],"next":2}`, `"text"`} { // a panic, a member it lacks, another type
		out := fire(t, reg, pawl.Event{Trigger: pawl.ToolAfter, Tool: "t", Output: raw(bad)})
		require.Equal(t, pawl.Refuse, out.Verdict, bad)
		require.Empty(t, out.Event().Output, "what a broken transform saw is withheld")
	}
}

func TestTransformOfRawBytesInPlace(t *testing.T) {
	reg := registry(t, on.Transform("raw", func(_ context.Context, _ *pawl.Event, v json.RawMessage) (json.RawMessage, error) {
		v[1] = 'B'
		return v, nil
	}))
	require.Equal(t, `"B"`, string(fire(t, reg, pawl.Event{Trigger: pawl.ToolAfter, Tool: "t", Output: raw(`"A"`)}).Event().Output))
}

func TestUnknownToolIsAnswered(t *testing.T) {
	reg := registry(t, on.Unknown("plan", func(_ context.Context, ev *pawl.Event) (string, bool, error) {
		return "EnterPlanMode is not available.", ev.Tool == "EnterPlanMode", nil
	}))
	out := fire(t, reg, pawl.Event{Trigger: pawl.ToolUnknown, Tool: "EnterPlanMode", Failed: true})
	require.Equal(t, `"EnterPlanMode is not available."`, string(out.Event().Output))
	require.False(t, out.Event().Failed, "the error is suppressed")
	out = fire(t, reg, pawl.Event{Trigger: pawl.ToolUnknown, Tool: "Else", Failed: true})
	require.Nil(t, out.Event().Output)
	require.True(t, out.Event().Failed)
}

func TestErrorTextIsReplaced(t *testing.T) {
	reg := registry(t, on.ErrorText("plain", func(context.Context, *pawl.Event, string) (string, error) { return "it failed", nil }))
	out := fire(t, reg, pawl.Event{Trigger: pawl.ToolFailed, Tool: "t", Failed: true, Output: raw(`"panic at 0x17"`)})
	require.Equal(t, `"it failed"`, string(out.Event().Output))
	require.True(t, out.Event().Failed)
}

func TestMessagesAreTrimmedInPayloadOrInput(t *testing.T) {
	reg := registry(t, on.Messages("trim", func(_ context.Context, _ *pawl.Event, m []string) ([]string, error) {
		return append(m[:1], m[len(m)-2:]...), nil
	}))
	history := []string{"first", "b", "c", "d"}
	out := fire(t, reg, pawl.Event{Trigger: pawl.ContextTransform, Payload: history})
	require.Equal(t, []string{"first", "c", "d"}, out.Event().Payload)
	require.Equal(t, []string{"first", "b", "c", "d"}, history, "the runtime's own list stays whole")
	out = fire(t, reg, pawl.Event{Trigger: pawl.ContextTransform, Input: raw(`["first","b","c","d"]`)})
	require.Equal(t, `["first","c","d"]`, string(out.Event().Input))
	out = fire(t, reg, pawl.Event{Trigger: pawl.ContextTransform, Input: raw(`["first","b","c","d"]`), Payload: history})
	require.Equal(t, `["first","c","d"]`, string(out.Event().Input))
	require.Equal(t, []string{"first", "c", "d"}, out.Event().Payload, "both stay in line")
}

// A runtime's own list type is kept.
func TestMessagesOfANamedType(t *testing.T) {
	type history []string
	reg := registry(t, on.Messages("trim", func(_ context.Context, _ *pawl.Event, m history) (history, error) { return m[1:], nil }))
	require.Equal(t, history{"b"}, fire(t, reg, pawl.Event{Trigger: pawl.ContextTransform, Payload: history{"a", "b"}}).Event().Payload)
}

// The page's list of what a parent hears of its children, and nothing else.
func TestExactlyThePagesMomentsBubble(t *testing.T) {
	bubbles := map[pawl.Trigger]bool{}
	for _, t := range strings.Fields("stream.text stream.thinking stream.end stream.error stream.retry stream.server_tool " +
		"tool.dispatched tool.started tool.after tool.failed tool.cancelled validation.reject repeat-guard.exceeded " +
		"background.* turn.after artifact.recorded spawn.queued spawn.before spawn.complete spawn.error") {
		bubbles[pawl.Trigger(t)] = true
	}
	for _, row := range pawl.TriggerRows() {
		var got []string
		h := on.ObserveChild("child", row.Trigger, func(_ context.Context, ev *pawl.Event, id string, depth int) {
			got = append(got, fmt.Sprint(ev.Trigger, " ", id, " ", depth))
		})
		reg, err := pawl.New(pawl.Options{}, h)
		require.Equal(t, bubbles[row.Trigger], err == nil, row.Trigger)
		if err != nil {
			continue
		}
		fired := pawl.Trigger(strings.ReplaceAll(string(row.Trigger), "*", "build.done"))
		for _, who := range []pawl.Agent{{}, {ID: "kid", Depth: 1}, {ID: "grandkid", Depth: 2}} {
			fire(t, reg, pawl.Event{Trigger: fired, Tool: "t", Agent: who})
		}
		require.Equal(t, []string{"child." + string(fired) + " kid 1", "child." + string(fired) + " grandkid 2"}, got, "one prefix at any depth")
	}
}

// A parent's plain gate hears its children's calls: the difference to zidane, where it does not.
func TestAPlainGateCoversSubAgents(t *testing.T) {
	reg := registry(t, on.CheckInput("no-rm-rf", noRemove))
	ev := shell(`{"command":"rm -rf /"}`)
	ev.Agent = pawl.Agent{ID: "kid", Depth: 1}
	require.Equal(t, pawl.Refuse, fire(t, reg, ev).Verdict)
	only := on.Only(on.CheckInput("main-only", noRemove), pawl.Agents("main"))
	require.Equal(t, pawl.Pass, fire(t, registry(t, only), ev).Verdict)
}

func TestAnObserverOfAStreamLeavesNoRecord(t *testing.T) {
	var deltas []string
	n := 0
	log := pawl.LogFunc(func(_ context.Context, recs ...pawl.Record) error { n += len(recs); return nil })
	reg, err := pawl.New(pawl.Options{Log: log}, on.ObserveAs("text", pawl.StreamText, func(_ context.Context, _ *pawl.Event, d string) { deltas = append(deltas, d) }))
	require.NoError(t, err)
	for _, d := range []any{"H", "i", 17} {
		fire(t, reg, pawl.Event{Trigger: pawl.StreamText, Payload: d})
	}
	require.Equal(t, []string{"H", "i"}, deltas, "in order, one after the other")
	require.Equal(t, 1, n, "only the one that broke")
}

func TestPromptAndRequest(t *testing.T) {
	type options struct{ Temperature float64 }
	reg := registry(t,
		on.Prompt("concise", func(_ context.Context, ev *pawl.Event, s string) (string, error) {
			if ev.Step > 1 {
				s += "\n\nKeep it short."
			}
			return s, nil
		}),
		on.Request("cool", func(_ context.Context, _ *pawl.Event, o options) (options, error) {
			o.Temperature = 0
			return o, nil
		}))
	require.Equal(t, "You help.", fire(t, reg, pawl.Event{Trigger: pawl.SystemTransform, Step: 1, Payload: "You help."}).Event().Payload)
	require.Equal(t, `"You help.\n\nKeep it short."`, string(fire(t, reg, pawl.Event{Trigger: pawl.SystemTransform, Step: 2, Input: raw(`"You help."`)}).Event().Input))
	require.Equal(t, options{}, fire(t, reg, pawl.Event{Trigger: pawl.TurnBefore, Payload: options{1}}).Event().Payload)
	require.Equal(t, pawl.Refuse, fire(t, reg, pawl.Event{Trigger: pawl.TurnBefore, Payload: "another type"}).Verdict)
}

func TestPayloadsAsTheirType(t *testing.T) {
	var usage []int
	reg := registry(t,
		on.ObserveAs("usage", pawl.TurnAfter, func(_ context.Context, _ *pawl.Event, n int) { usage = append(usage, n) }),
		on.CheckAs("odd", pawl.PromptSubmit, func(_ context.Context, _ *pawl.Event, n int) (on.Ruling, error) {
			if n%2 == 1 {
				return on.Refuse("odd"), nil
			}
			return on.Ruling{}, nil
		}))
	fire(t, reg, pawl.Event{Trigger: pawl.TurnAfter, Payload: 17})
	out := fire(t, reg, pawl.Event{Trigger: pawl.TurnAfter, Payload: "x"})
	require.Equal(t, []int{17}, usage)
	var broken *pawl.PanicError
	require.ErrorAs(t, out.Runs()[0].Err, &broken)
	require.EqualError(t, broken.Value.(*on.TypeError), "the payload of turn.after is string, want int")
	require.Equal(t, pawl.Refuse, fire(t, reg, pawl.Event{Trigger: pawl.PromptSubmit, Payload: 1}).Verdict)
	require.Equal(t, pawl.Pass, fire(t, reg, pawl.Event{Trigger: pawl.PromptSubmit, Payload: 2}).Verdict)
	require.Equal(t, pawl.Refuse, fire(t, reg, pawl.Event{Trigger: pawl.PromptSubmit}).Verdict, "a check that did not happen")
}

func TestCacheMomentsCarryTheirSections(t *testing.T) {
	var got on.Sections
	reg := registry(t, on.CacheDrift("drift", func(_ context.Context, _ *pawl.Event, s on.Sections) { got = s }))
	want := on.Sections{"skills", "tools", "mcp", "rules", "static", "dynamic"}
	fire(t, reg, pawl.Event{Trigger: pawl.CacheDrift, Payload: want})
	require.Equal(t, want, got)
	b, err := json.Marshal(on.Sections{})
	require.NoError(t, err)
	require.JSONEq(t, `{"skillsCatalog":"","toolsCatalog":"","mcpInstructions":"","rules":"","hostStatic":"","hostDynamic":""}`, string(b))
}

func TestApprove(t *testing.T) {
	reg := registry(t, on.Approve("tests", func(_ context.Context, ev *pawl.Event) (on.Answer, error) {
		switch ev.Tool {
		case "test":
			return on.Yes("it changes nothing"), nil
		case "deploy":
			return on.No("not on a Friday"), nil
		case "broken":
			return on.Yes(""), errors.New("broken")
		}
		return on.Answer{}, nil
	}))
	for tool, want := range map[string]pawl.Verdict{"test": pawl.Allow, "deploy": pawl.Refuse, "other": pawl.Pass, "broken": pawl.Refuse} {
		require.Equal(t, want, fire(t, reg, pawl.Event{Trigger: pawl.ToolApproval, Tool: tool}).Verdict, tool)
	}
}

func TestNotesAreForTheModel(t *testing.T) {
	reg := registry(t, on.Note("hint", pawl.ToolAfter, func(_ context.Context, ev *pawl.Event) (string, error) { return ev.Source, nil }))
	require.Equal(t, []string{"n"}, fire(t, reg, pawl.Event{Trigger: pawl.ToolAfter, Tool: "t", Source: "n"}).Decision().Notes)
	require.Empty(t, fire(t, reg, pawl.Event{Trigger: pawl.ToolAfter, Tool: "t"}).Decision().Notes)
}
