package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/wire"
)

// members are what may stand beside a restriction: known keys with values of every kind, unknown ones, an
// allow, and another document's worth of hookSpecificOutput.
var members = []string{
	`"continue":true`, `"continue":null`, `"systemMessage":"m"`, `"systemMessage":5`, `"suppressOutput":true`,
	`"stopReason":"s"`, `"reason":""`, `"reason":"r"`, `"reason":[]`, `"decision":"approve"`, `"decision":"perhaps"`,
	`"decision":null`, `"decision":{"behavior":"allow"}`, `"unknown":{"decision":"approve"}`, `"Decision":"approve"`,
	`"permissionDecision":"allow"`, `"hookSpecificOutput":null`, `"hookSpecificOutput":"x"`,
	`"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"x"}}`,
	`"hookSpecificOutput":{"permissionDecision":"ask"}`, `"é":"\ud83d\ude00"`,
}

// restrictions are the ways to say no at PreToolUse.
var restrictions = []string{
	`"continue":false`, `"decision":"block"`,
	`"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}`,
	`"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no","zz":1}`,
	`"hookSpecificOutput":{"permissionDecision":"allow","permissionDecision":"deny"}`,
}

// D05, D07: whatever else a program prints, before or behind, and however it ends.
func TestNothingPrintedBesideARestrictionLosesIt(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(members), 0, 6).Draw(r, "beside")
		at := rapid.IntRange(0, len(parts)).Draw(r, "at")
		parts = append(parts[:at:at], append([]string{rapid.SampledFrom(restrictions).Draw(r, "restriction")}, parts[at:]...)...)
		out := "{" + strings.Join(parts, ", ") + "}"
		out = rapid.SampledFrom([]string{"", "\n ", "\uFEFF", "hello\n", "hello ", "hi\n ", "{not json}\n", "{\"a\":\n", "{}", "{}\n{\"decision\":\"approve\"}"}).Draw(r, "before") + out +
			rapid.SampledFrom([]string{"", "\n", "{}", " bye", "\n{\"decision\":\"approve\"}", "\x00\xff"}).Draw(r, "behind")
		c := wire.Codec{
			Flavour: rapid.SampledFrom([]wire.Flavour{wire.ZeroCode, wire.Claude}).Draw(r, "flavour"),
			Strict:  rapid.Bool().Draw(r, "strict"),
		}
		res := pawl.Result{Stdout: []byte(out), Code: rapid.SampledFrom([]int{0, 1, 2, 3, 255}).Draw(r, "code")}
		if rapid.Bool().Draw(r, "killed") {
			res.Code, res.Signal = -1, "killed"
		}
		if rapid.Bool().Draw(r, "cut") {
			res.Cut = 1
		}
		d, _ := c.Decode(&pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash"}, res)
		require.GreaterOrEqual(r, d.Verdict, pawl.Refuse, "%s", out)
		require.Nil(r, d.Input)
	})
}

// Only an answer that is whole, known to the last key and printed by a program that ended well allows.
func TestAnAllowIsNeverGuessed(t *testing.T) {
	allow := `"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}`
	ev := &pawl.Event{Trigger: pawl.ToolApproval, Tool: "Bash"}
	d, err := wire.Codec{}.Decode(ev, pawl.Result{Stdout: []byte("{" + allow + "}")})
	require.NoError(t, err)
	require.Equal(t, pawl.Allow, d.Verdict)
	rapid.Check(t, func(r *rapid.T) {
		c := wire.Codec{Flavour: rapid.SampledFrom([]wire.Flavour{wire.ZeroCode, wire.Claude}).Draw(r, "flavour")}
		res := pawl.Result{}
		switch rapid.IntRange(0, 5).Draw(r, "wrong") {
		case 0:
			res.Stdout = []byte(`{"zz":` + rapid.SampledFrom([]string{"1", "null", "{}"}).Draw(r, "value") + "," + allow + "}")
		case 1:
			res.Stdout = []byte("{" + allow + "," + allow + "}")
		case 2:
			res.Stdout = []byte(rapid.SampledFrom([]string{"hi\n", "{}", "[]\n"}).Draw(r, "before") + "{" + allow + "}")
		case 3:
			res.Stdout, res.Cut = []byte("{"+allow+"}"), 1
		case 4:
			res.Stdout, res.Code = []byte("{"+allow+"}"), 2
		case 5:
			res.Stdout, res.Code, res.Signal = []byte("{"+allow+"}"), -1, "killed"
		}
		d, _ := c.Decode(ev, res)
		require.NotEqual(r, pawl.Allow, d.Verdict, "%s", res.Stdout)
	})
}

func TestAFailureTellsTheFirstLineAndNoBookOfIt(t *testing.T) {
	long := []byte(strings.Repeat("é", 1<<20) + "\nsecond")
	for name, codec := range map[string]command.Codec{
		"zerocode": wire.Codec{}, "claude": wire.Codec{Flavour: wire.Claude}, "json": wire.JSON{},
	} {
		_, err := codec.Decode(&pawl.Event{Trigger: pawl.ToolBefore}, pawl.Result{Code: 1, Stderr: long})
		require.ErrorContains(t, err, "exit code 1: é", name)
		require.Less(t, len(err.Error()), 1<<10, name)
		require.NotContains(t, err.Error(), "second", name)
	}
}

// Whatever an event's answers may put in place of its input or result, under whatever key.
func TestNoRewritingKeyIsLostInAnAnswerThatFails(t *testing.T) {
	for _, c := range []struct {
		flavour wire.Flavour
		event   string
		key     string
		trigger pawl.Trigger
	}{
		{wire.ZeroCode, "PreToolUse", "updatedInput", pawl.ToolBefore},
		{wire.Claude, "PreToolUse", "updatedInput", pawl.ToolBefore},
		{wire.Claude, "PostToolUse", "updatedToolOutput", pawl.ToolAfter},
		{wire.Claude, "PostToolUse", "updatedMCPToolOutput", pawl.ToolAfter},
	} {
		specific := fmt.Sprintf(`"hookSpecificOutput":{"hookEventName":%q,%q:{"command":"x"}`, c.event, c.key)
		for failed, res := range map[string]pawl.Result{
			"text behind it":              {Stdout: []byte("{" + specific + "}} done")},
			"text before it":              {Stdout: []byte("hi {" + specific + "}}")},
			"cut by one brace":            {Stdout: []byte("{" + specific + "}")},
			"cut by the limit":            {Stdout: []byte("{" + specific + "}}"), Cut: 1},
			"a repeated key":              {Stdout: []byte(`{"continue":true,"continue":true,` + specific + "}}")},
			"itself repeated, then null":  {Stdout: []byte("{" + specific + `,"` + c.key + `":null}}`)},
			"a sibling of the wrong kind": {Stdout: []byte(`{"systemMessage":5,` + specific + "}}")},
			"killed afterwards":           {Stdout: []byte("{" + specific + "}}"), Code: -1, Signal: "killed"},
		} {
			ev := &pawl.Event{Trigger: c.trigger, Tool: "mcp__a__b"}
			d, err := wire.Codec{Flavour: c.flavour}.Decode(ev, res)
			require.Error(t, err, "%s, %s", c.key, failed)
			require.True(t, unusable(d.Input) || unusable(d.Output), "%s, %s", c.key, failed)
			require.False(t, json.Valid(d.Input) || json.Valid(d.Output))
		}
	}
	ev := &pawl.Event{Trigger: pawl.ToolAfter, Tool: "Bash"} // whose result that key is not for
	d, err := wire.Codec{Flavour: wire.Claude}.Decode(ev, pawl.Result{
		Stdout: []byte(`{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedMCPToolOutput":1}`),
	})
	require.Error(t, err)
	require.Nil(t, d.Output)
}

func TestAWordInAnotherCaseFailsAndItsRestrictionStands(t *testing.T) {
	for _, c := range []struct {
		trigger pawl.Trigger
		out     string
		want    pawl.Verdict
	}{
		{pawl.ToolBefore, `{"decision":"Block"}`, pawl.Refuse},
		{pawl.PromptSubmit, `{"decision":"BLOCK\n"}`, pawl.Refuse},
		{pawl.ToolBefore, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"DENY"}}`, pawl.Refuse},
		{pawl.ToolBefore, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":" deny"}}`, pawl.Refuse},
		{pawl.ToolBefore, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"Ask"}}`, pawl.Ask},
		{pawl.ToolApproval, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"Deny"}}}`, pawl.Refuse},
		{pawl.ToolApproval, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"Allow"}}}`, pawl.Pass},
	} {
		for _, flavour := range []wire.Flavour{wire.ZeroCode, wire.Claude} {
			d, err := wire.Codec{Flavour: flavour}.Decode(&pawl.Event{Trigger: c.trigger, Tool: "Bash"}, pawl.Result{Stdout: []byte(c.out)})
			require.Equal(t, pawl.CauseOutput, causeOf(err), c.out)
			require.Equal(t, c.want, d.Verdict, c.out)
		}
	}
}
