package wire_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/wire"
)

// places are where a program may put its answer among other things that it prints. None is an answer that can be
// read.
var places = map[string]string{
	"behind text on its line":               `hello %s`,
	"amidst text":                           `hello %s bye`,
	"behind text, indented":                 "hello\n  %s",
	"behind what is no JSON":                "{not json}\n%s",
	"behind more lines than anybody counts": "hello\n" + strings.Repeat("{\"level\":\"info\"}\n", 1000) + "%s",
	"the last of a stream of objects":       strings.Repeat("{\"level\":\"info\"}\n", 1000) + "%s",
	"behind an object that breaks off":      "{\"a\":\n%s",
	"behind a decision that breaks off":     "{\"decision\":\n%s",
	"behind a list that breaks off":         "{\"a\":[{},\n%s",
	"behind a text that breaks off":         "{\"a\":\"b\n%s",
	"behind a word that is none":            `{"a": oops} %s`,
	"behind a quote too few":                "{\"a:\"b\"}\n%s",
	"in quotes that are not escaped":        `{"message":"the hook says {"x":1} %s"}`,
	"the first thing in such quotes":        `{"message":"%s"}`,
	"in a list":                             `[%s]`,
	"behind braces":                         "if (x) {{{ %s",
	"before what breaks off":                `%s {"a":`,
}

// says are codecs with ways to say no, and to say that the original must not stand, before a tool.
var says = []struct {
	codec    command.Codec
	refusals []string
	rewrites []string
}{
	{wire.JSON{}, []string{`{"verdict":"refuse"}`}, []string{`{"input":{"command":"x"}}`}},
	{wire.Codec{}, hostSays, hostRewrites},
	{wire.Codec{Flavour: wire.Claude}, hostSays, hostRewrites},
}

var (
	hostSays = []string{
		`{"decision":"block"}`, `{"continue":false}`, `{"reason":"r","permissionDecision":"deny"}`,
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`,
	}
	hostRewrites = []string{`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"x"}}}`}
)

// D05
func TestARestrictionCountsWhereverItStands(t *testing.T) {
	ev := &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash"}
	for place, format := range places {
		t.Run(place, func(t *testing.T) {
			for _, c := range says {
				for _, answer := range c.refusals {
					d, err := c.codec.Decode(ev, pawl.Result{Stdout: fmt.Appendf(nil, format, answer)})
					require.Equal(t, pawl.CauseOutput, causeOf(err), "%s: %s", c.codec, answer)
					require.GreaterOrEqual(t, d.Verdict, pawl.Refuse, "%s: %s", c.codec, answer)
				}
				for _, answer := range c.rewrites {
					d, err := c.codec.Decode(ev, pawl.Result{Stdout: fmt.Appendf(nil, format, answer)})
					require.Equal(t, pawl.CauseOutput, causeOf(err), "%s: %s", c.codec, answer)
					require.True(t, unusable(d.Input), "%s: %s", c.codec, answer)
				}
			}
		})
	}
}

// An answer behind a greeting that allows or says nothing is a failure all the same; one within an object that
// can be read is that object's.
func TestTextWithAnAnswerInItIsNoText(t *testing.T) {
	ev := &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash"}
	for _, out := range []string{
		`hello {"systemMessage":"m"}`, `hello {"decision":"approve"}`, `hello {"continue":true}`,
		`hello {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`, "hello\n{\"a\":1}",
	} {
		for _, flavour := range []wire.Flavour{wire.ZeroCode, wire.Claude} {
			d, err := wire.Codec{Flavour: flavour}.Decode(ev, pawl.Result{Stdout: []byte(out)})
			require.Equal(t, pawl.CauseOutput, causeOf(err), out)
			require.Equal(t, pawl.Decision{}, d, out)
		}
	}
	d, err := wire.Codec{}.Decode(ev, pawl.Result{Stdout: []byte(`called with {"arguments":{"decision":"block"}}`)})
	require.NoError(t, err)
	require.Equal(t, pawl.Pass, d.Verdict)
}

func TestTextThatMentionsJSONStaysText(t *testing.T) {
	for _, text := range []string{
		`use {"a":1}`, `{{ braces }} and {`, `the log has {"level":"info","reason":"timeout"}`, `func() { return }`,
		"example:\n  {\"a\": {\"decision\": \"block\"}}", `call it with {"hooks":[{"decision":"block"}]}`,
	} {
		for _, flavour := range []wire.Flavour{wire.ZeroCode, wire.Claude} {
			codec := wire.Codec{Flavour: flavour}
			if text[0] != '{' {
				for _, trigger := range []pawl.Trigger{pawl.SessionStart, pawl.PromptSubmit} {
					d, err := codec.Decode(&pawl.Event{Trigger: trigger}, pawl.Result{Stdout: []byte(text)})
					require.NoError(t, err, text)
					require.Equal(t, pawl.Decision{Notes: []string{text}}, d)
				}
			}
			d, err := codec.Decode(&pawl.Event{Trigger: pawl.ToolBefore}, pawl.Result{Stdout: []byte("note: " + text)})
			require.NoError(t, err, text)
			require.Equal(t, pawl.Pass, d.Verdict)
		}
	}
}

// What breaks off in many places, or restricts many times, is read once or twice and told once.
func TestFloodsAreReadInLinearTime(t *testing.T) {
	for _, line := range []string{
		"{", `{"`, `{"a":`, "{\"a\":[\n", `{"hookSpecificOutput":{`, `{"{":":{`, "{\n{\"continue\":1", `{"verdict":"ask","decision":"block","reason":"%d"}`,
	} {
		var out bytes.Buffer
		out.WriteString("x\n")
		for i := 0; out.Len() < 1<<16; i++ {
			out.WriteString(strings.Replace(line, "%d", fmt.Sprint(i), 1))
		}
		for _, c := range says {
			for _, trigger := range []pawl.Trigger{pawl.ToolBefore, pawl.ToolAfter} {
				d, err := c.codec.Decode(&pawl.Event{Trigger: trigger}, pawl.Result{Stdout: out.Bytes()})
				require.LessOrEqual(t, len(d.Reason), 1<<10)
				require.LessOrEqual(t, len(d.Notes), 64)
				if trigger == pawl.ToolBefore {
					require.Error(t, err)
				}
			}
		}
	}
}

func TestAReasonOfAnAnswerThatBreaksOffIsToldOnce(t *testing.T) {
	out := `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"`
	d, err := wire.Codec{}.Decode(&pawl.Event{Trigger: pawl.ToolApproval}, pawl.Result{Stdout: []byte(out)})
	require.Equal(t, pawl.CauseOutput, causeOf(err))
	require.Equal(t, pawl.Decision{Verdict: pawl.Refuse, Reason: "no"}, d)
}
