package wire_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/wire"
)

// inputs are the keys of each ZeroCode event's object outside of a sub-agent, sorted.
var inputs = map[string]string{
	"PreToolUse":        "cwd hook_event_name model permission_mode session_id tool_input tool_name tool_use_id transcript_path turn_id",
	"PermissionRequest": "cwd hook_event_name model permission_mode session_id tool_input tool_name transcript_path turn_id",
	"PostToolUse":       "cwd hook_event_name model permission_mode session_id tool_input tool_name tool_response tool_use_id transcript_path turn_id",
	"PreCompact":        "cwd hook_event_name model session_id transcript_path trigger turn_id",
	"PostCompact":       "cwd hook_event_name model session_id transcript_path trigger turn_id",
	"SessionStart":      "cwd hook_event_name model permission_mode session_id source transcript_path",
	"SessionEnd":        "cwd hook_event_name reason session_id transcript_path",
	"UserPromptSubmit":  "cwd hook_event_name model permission_mode prompt session_id transcript_path turn_id",
	"SubagentStart":     "agent_id agent_type cwd hook_event_name model permission_mode session_id transcript_path turn_id",
	"SubagentStop":      "agent_id agent_transcript_path agent_type cwd hook_event_name last_assistant_message model permission_mode session_id stop_hook_active transcript_path turn_id",
	"Stop":              "cwd hook_event_name last_assistant_message model permission_mode session_id stop_hook_active transcript_path turn_id",
}

func encode(t testing.TB, f wire.Flavour, ev *pawl.Event) string {
	t.Helper()
	m, err := wire.Codec{Flavour: f}.Encode(ev)
	require.NoError(t, err)
	require.Empty(t, m.Args)
	require.True(t, json.Valid(m.Stdin), "%s", m.Stdin)
	require.NotContains(t, string(m.Stdin), "\n")
	return string(m.Stdin)
}

func keysOf(t testing.TB, object string) []string {
	t.Helper()
	var m map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(object), &m))
	return slices.Sorted(maps.Keys(m))
}

func TestEveryEventHasItsKeysAndNoOthers(t *testing.T) {
	require.Len(t, wire.ZeroCode.Events(), 11)
	for _, e := range wire.ZeroCode.Events() {
		t.Run(e.Name, func(t *testing.T) {
			want := strings.Fields(inputs[e.Name])
			require.Equal(t, want, keysOf(t, encode(t, wire.ZeroCode, &pawl.Event{Trigger: e.Trigger})))

			inAgent := &pawl.Event{Trigger: e.Trigger, Agent: pawl.Agent{ID: "a1", Type: "explore", Depth: 1}}
			if e.Name != "SessionStart" && e.Name != "SessionEnd" && e.Name != "Stop" {
				want = append(want, "agent_id", "agent_type")
			}
			slices.Sort(want)
			require.Equal(t, slices.Compact(want), keysOf(t, encode(t, wire.ZeroCode, inAgent)))
		})
	}
}

// The reference schemas are no part of this project; PAWL_WIRE_SCHEMAS names their directory where they are
// at hand.
func TestInputsAgreeWithTheReferenceSchemas(t *testing.T) {
	dir := os.Getenv("PAWL_WIRE_SCHEMAS")
	if dir == "" {
		t.Skip("PAWL_WIRE_SCHEMAS is not set")
	}
	for _, e := range wire.ZeroCode.Events() {
		b, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(e.Label, "_", "-")+".command.input.schema.json"))
		require.NoError(t, err)
		var schema struct {
			Required   []string
			Properties map[string]json.RawMessage
		}
		require.NoError(t, json.Unmarshal(b, &schema))
		slices.Sort(schema.Required)
		out := encode(t, wire.ZeroCode, &pawl.Event{Trigger: e.Trigger})
		require.Equal(t, schema.Required, keysOf(t, out), e.Name)
		require.Contains(t, string(schema.Properties["hook_event_name"]), `"`+e.Name+`"`)
		full := encode(t, wire.ZeroCode, &pawl.Event{Trigger: e.Trigger, Agent: pawl.Agent{ID: "a", Type: "b"}})
		for _, k := range keysOf(t, full) {
			require.Contains(t, schema.Properties, k, e.Name)
		}
	}
}

func TestTheExampleOfThePage(t *testing.T) {
	require.Equal(t, `{"session_id":"thr_123","transcript_path":"/workspace/.zerotwo/rollout.jsonl","cwd":"/workspace",`+
		`"hook_event_name":"SessionEnd","reason":"other"}`,
		encode(t, wire.ZeroCode, &pawl.Event{
			Trigger: pawl.SessionEnd, Session: "thr_123", Transcript: "/workspace/.zerotwo/rollout.jsonl",
			Dir: "/workspace", Model: "gpt", PermissionMode: "default", Turn: "t",
		}))
}

// O07, O09
func TestValuesTravelByteForByte(t *testing.T) {
	for name, input := range map[string]string{
		"large and odd numbers":        `{"id":9007199254740993,"x":1.0,"y":1e400,"z":-0}`,
		"characters that HTML escapes": `{"command":"a && b > /etc/x <y"}`,
		"line separators":              "{\"s\":\"\u2028\u2029\"}",
		"escapes as written":           `{"s":"\u0041\/\u00e9"}`,
		"blanks":                       `{ "a" : [ 1 , 2 ] }`,
		"a list":                       `[1,"x",null]`,
		"a string":                     `"x"`,
		"null":                         `null`,
		"a repeated name":              `{"a":1,"a":2}`,
	} {
		t.Run(name, func(t *testing.T) {
			out := encode(t, wire.ZeroCode, &pawl.Event{
				Trigger: pawl.ToolAfter, Tool: "Bash", Input: json.RawMessage(input), Output: json.RawMessage(input),
			})
			require.Contains(t, out, `"tool_input":`+input+`,`)
			require.Contains(t, out, `"tool_response":`+input+`}`)
		})
	}
}

func TestStringsEscapeOnlyWhatTheyMust(t *testing.T) {
	out := encode(t, wire.ZeroCode, &pawl.Event{
		Trigger: pawl.PromptSubmit, Prompt: "<a> && \"b\" \\ é \u2028 \x01\n \xff",
	})
	require.Contains(t, out, "\"prompt\":\"<a> && \\\"b\\\" \\\\ é \u2028 \\u0001\\n \uFFFD\"")
}

func TestEscapesForHTMLAreUndone(t *testing.T) { // O07
	in, err := json.Marshal(map[string]any{"command": "a && b <c> \u2028 \\u0026", "n": json.Number("1.0")})
	require.NoError(t, err)
	require.Contains(t, string(in), `\u0026\u0026`)
	out := encode(t, wire.ZeroCode, &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash", Input: in})
	require.Contains(t, out, "\"tool_input\":{\"command\":\"a && b <c> \u2028 \\\\u0026\",\"n\":1.0}")
}

func TestInputOnSeveralLinesBecomesOne(t *testing.T) {
	in := json.RawMessage("{\n  \"id\": 1.0,\r\n  \"s\": \"\\u0041\"\n}\n")
	out := encode(t, wire.ZeroCode, &pawl.Event{Trigger: pawl.ToolBefore, Tool: "x", Input: in})
	require.Contains(t, out, `"tool_input":{"id":1.0,"s":"\u0041"}`)
	require.Equal(t, "{\n", string(in[:2]), "the caller's bytes were changed")
	require.NotContains(t, encode(t, wire.ZeroCode, &pawl.Event{Trigger: pawl.ToolBefore, Input: json.RawMessage("{\r}")}), "\r")
}

func TestMissingAndUnparsableInput(t *testing.T) {
	require.Contains(t, encode(t, wire.ZeroCode, &pawl.Event{Trigger: pawl.ToolAfter}), `"tool_input":{},"tool_use_id":"","tool_response":null`)
	require.Contains(t, encode(t, wire.ZeroCode, &pawl.Event{Trigger: pawl.ToolBefore, Input: json.RawMessage(`{"a`)}), `"tool_input":"{\"a"`)
}

func TestASubagentsCallNamesTheAgent(t *testing.T) { // T06
	out := encode(t, wire.ZeroCode, &pawl.Event{
		Trigger: pawl.ToolBefore, Tool: "Bash", Session: "root", Agent: pawl.Agent{ID: "a1", Type: "explore", Depth: 1},
	})
	require.Contains(t, out, `"session_id":"root"`)
	require.Contains(t, out, `"agent_id":"a1","agent_type":"explore"`)
}

func TestAnAliasNeverReachesTheProgram(t *testing.T) { // M07
	out := encode(t, wire.ZeroCode, &pawl.Event{
		Trigger: pawl.ToolBefore, Tool: "apply_patch", Aliases: []string{"Write", "Edit"},
		Input: json.RawMessage(`{"command":"*** Begin Patch"}`),
	})
	require.Contains(t, out, `"tool_name":"apply_patch"`)
	require.NotContains(t, out, "Write")
}

func TestAHostsFurtherKeysAreHandedOn(t *testing.T) {
	ev := &pawl.Event{Trigger: pawl.TurnStop, Extra: map[string]json.RawMessage{
		"prompt_id": json.RawMessage(`"p"`), "effort": json.RawMessage(`{"level":1.50}`),
		"background_tasks": json.RawMessage(`[1]`), "session_id": json.RawMessage(`"other"`),
	}}
	out := encode(t, wire.Claude, ev)
	require.Contains(t, out, `"background_tasks":[1],"effort":{"level":1.50},"prompt_id":"p"}`)
	require.Contains(t, out, `"session_crons":[]`)
	require.NotContains(t, out, "other")
}

func TestClaudesDeltas(t *testing.T) {
	out := encode(t, wire.Claude, &pawl.Event{Trigger: pawl.ToolFailed, Tool: "Bash", Output: json.RawMessage(`"it broke"`), Turn: "t", Model: "m"})
	require.Contains(t, out, `"hook_event_name":"PostToolUseFailure"`)
	require.Contains(t, out, `"error":"it broke"`)
	require.NotContains(t, out, "turn_id")
	require.NotContains(t, out, "model")

	out = encode(t, wire.Claude, &pawl.Event{Trigger: pawl.CompactBefore, Source: "manual", Prompt: "keep names"})
	require.Contains(t, out, `"trigger":"manual","custom_instructions":"keep names"`)
	require.NotContains(t, encode(t, wire.Claude, &pawl.Event{Trigger: pawl.AgentStart}), "permission_mode")

	m, err := wire.Codec{Flavour: wire.Claude}.Encode(&pawl.Event{Trigger: pawl.TurnStop, Dir: "/w x", Session: "s"})
	require.NoError(t, err)
	require.Equal(t, []string{"CLAUDE_PROJECT_DIR=/w x", "CLAUDE_CODE_SESSION_ID=s"}, m.Env)
}

func TestATriggerWithoutAnEventIsAnError(t *testing.T) {
	_, err := wire.Codec{}.Encode(&pawl.Event{Trigger: pawl.TurnAfter})
	require.ErrorContains(t, err, "zerocode has no event for turn.after")
	_, err = wire.Codec{}.Decode(&pawl.Event{Trigger: pawl.ToolFailed}, pawl.Result{})
	require.Equal(t, pawl.CauseOutput, causeOf(err))
}

func TestAHostsOwnObjectComesBackAsItWas(t *testing.T) {
	for _, f := range []wire.Flavour{wire.ZeroCode, wire.Claude} {
		for _, e := range f.Events() {
			t.Run(f.String()+"/"+e.Name, func(t *testing.T) {
				ev := &pawl.Event{
					Trigger: e.Trigger, Session: "s", Turn: "t", Call: "c", Tool: "apply_patch", Source: "startup", Dir: "/w",
					Agent: pawl.Agent{ID: "a", Type: "b", Depth: 1, Transcript: "/t"}, Input: json.RawMessage(`{"n":1.0}`),
					Output: json.RawMessage(`"out"`), Prompt: "p", Model: "m", PermissionMode: "plan", Transcript: "/x",
					LastMessage: "last", StopActive: true, Extra: map[string]json.RawMessage{"zz": json.RawMessage(`1.0`)},
				}
				sent := encode(t, f, ev)
				got, err := wire.ReadEvent([]byte(sent))
				require.NoError(t, err)
				require.Equal(t, e.Trigger, got.Trigger)
				require.Equal(t, json.RawMessage(`1.0`), got.Extra["zz"])
				if f == wire.ZeroCode {
					require.Len(t, got.Extra, 1)
				}
				require.Equal(t, sent, encode(t, f, got))
			})
		}
	}
}

func TestReadingAHostsEvent(t *testing.T) {
	ev, err := wire.ReadEvent([]byte(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/w","tool_name":"apply_patch",
		"tool_input":{"command":"x"},"transcript_path":null,"prompt_id":"p"}`))
	require.NoError(t, err)
	require.Equal(t, []string{"Write", "Edit"}, ev.Aliases)
	require.Equal(t, "p", strings.Trim(string(ev.Extra["prompt_id"]), `"`))
	require.Empty(t, ev.Transcript)

	ev, err = wire.ReadEvent([]byte(`{"hook_event_name":"PostToolUseFailure","tool_name":"Bash","error":"e"}`))
	require.NoError(t, err)
	require.True(t, ev.Failed)
	require.Equal(t, `"e"`, string(ev.Output))

	ev, err = wire.ReadEvent([]byte(`{"hook_event_name":"SessionStart","source":"startup","agent_type":"reviewer"}`))
	require.NoError(t, err)
	require.Zero(t, ev.Agent, "a profile is no sub-agent")
	require.Contains(t, encode(t, wire.Claude, ev), `"agent_type":"reviewer"`)
}

func TestAHostsEventThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"nothing":           {"", "empty"},
		"no object":         {"[]", "not a JSON object"},
		"half":              {`{"hook_event_name":"Stop"`, "unexpected EOF"},
		"two documents":     {`{"hook_event_name":"Stop"}{}`, "more than one JSON value"},
		"a repeated name":   {`{"hook_event_name":"Stop","cwd":"/a","cwd":"/b"}`, `duplicate`},
		"no event name":     {`{"cwd":"/"}`, "no hook_event_name"},
		"an unknown event":  {`{"hook_event_name":"Notification"}`, `"Notification" has no trigger`},
		"case":              {`{"hook_event_name":"stop"}`, `"stop" has no trigger`},
		"a number for text": {`{"hook_event_name":"Stop","cwd":5}`, "cwd: expected a string, found 5"},
		"text for a truth":  {`{"hook_event_name":"Stop","stop_hook_active":"yes"}`, "expected true or false"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := wire.ReadEvent([]byte(c.in))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func FuzzReadEvent(f *testing.F) {
	for _, e := range wire.Claude.Events() {
		f.Add([]byte(`{"hook_event_name":"` + e.Name + `","tool_name":"Bash","tool_input":{"a":1.0},"x":[]}`))
	}
	f.Add([]byte(`{"hook_event_name":"Stop","hook_event_name":"Stop"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		ev, err := wire.ReadEvent(data)
		if err != nil {
			return
		}
		for _, fl := range []wire.Flavour{wire.ZeroCode, wire.Claude} {
			if m, err := (wire.Codec{Flavour: fl}).Encode(ev); err == nil {
				require.True(t, json.Valid(m.Stdin), "%s", m.Stdin)
				_, err := wire.ReadEvent(m.Stdin)
				require.NoError(t, err)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	ev := &pawl.Event{
		Trigger: pawl.ToolBefore, Session: "s", Tool: "Bash", Dir: "/w",
		Input: json.RawMessage(`{"command":"` + strings.Repeat("x", 1024) + `"}`),
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (wire.Codec{}).Encode(ev); err != nil {
			b.Fatal(err)
		}
	}
}
