package wire_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/wire"
)

// whole has a value in every field that the JSON carries.
func whole() *pawl.Event {
	return &pawl.Event{
		Trigger: "tool.before", Session: "s1", Turn: "t1", Call: "c1", Step: 3,
		Agent: pawl.Agent{ID: "a1", Type: "explore", Depth: 1, Transcript: "/a"},
		Tool:  "Bash", Aliases: []string{"Shell", "sh"}, Source: "startup", Action: "call.bash",
		Paths: []string{"/w/a"}, Dir: "/w",
		Input: json.RawMessage(`{"command":"ls"}`), Output: json.RawMessage(`[1]`), Failed: true, OutputBytes: 9,
		Prompt: "p", Model: "m", PermissionMode: "default", Transcript: "/t", LastMessage: "l",
		StopActive: true, Verdict: pawl.Ask, Recheck: true, StandIn: true,
		Extra: map[string]json.RawMessage{"b": json.RawMessage(`1`), "a": json.RawMessage(`null`)},
	}
}

const wholeJSON = `{"trigger":"tool.before","session":"s1","turn":"t1","step":3,"call":"c1","tool":"Bash",` +
	`"aliases":["Shell","sh"],"action":"call.bash","paths":["/w/a"],"dir":"/w","input":{"command":"ls"},"output":[1],` +
	`"failed":true,"output_bytes":9,"source":"startup","agent":{"id":"a1","type":"explore","depth":1,"transcript":"/a"},` +
	`"prompt":"p","model":"m","permission_mode":"default","transcript":"/t","last_message":"l","stop_active":true,` +
	`"verdict":"ask","recheck":true,"stand_in":true,"extra":{"a":null,"b":1}}`

func TestEveryFieldOfAnEventIsTold(t *testing.T) {
	ev := whole()
	for i, v := 0, reflect.ValueOf(*ev); i < v.NumField(); i++ {
		if f := v.Type().Field(i); f.IsExported() && f.Name != "Payload" {
			require.False(t, v.Field(i).IsZero(), "%s has no value here, so nothing is tested of it", f.Name)
		}
	}
	b, err := wire.EncodeEvent(ev)
	require.NoError(t, err)
	require.Equal(t, wholeJSON, string(b))
	got, err := wire.DecodeEvent("f", b)
	require.NoError(t, err)
	require.Equal(t, ev, got)
}

func TestKeysWithoutAValueAreLeftOut(t *testing.T) {
	b, err := wire.EncodeEvent(&pawl.Event{Trigger: "session.start", Payload: 1, Aliases: []string{}, Extra: map[string]json.RawMessage{}})
	require.NoError(t, err)
	require.Equal(t, `{"trigger":"session.start"}`, string(b))
}

// O07, O09, G07: what a guard greps for is there as it was written, on one line.
func TestValuesStandAsTheyWereGiven(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"shell signs":         {`{"command":"a && b > /etc/x <y"}`, ""},
		"numbers":             {`{"id":9007199254740993,"x":1.0,"y":1e400,"z":-0}`, ""},
		"blanks":              {`{ "a" : [ 1, 2 ] , "b":  {} }`, ""},
		"escapes":             {`"é\u00e9\/\u2028` + "\u2028" + `\ud83d\ude00"`, ""},
		"repeated names":      {`{"a":1,"a":2}`, ""},
		"null":                {`null`, ""},
		"a string":            {`"x"`, ""},
		"an array":            {`[null]`, ""},
		"newlines are taken":  {"{\n  \"a\": 1.0,\r\n  \"b\": \"x\\ny\\u00e9\"\n}", `{"a":1.0,"b":"x\ny\u00e9"}`},
		"repeats on newlines": {"{\"a\":1,\n\"a\":2}", `{"a":1,"a":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want == "" {
				c.want = c.raw
			}
			for key, ev := range map[string]*pawl.Event{
				"input":  {Trigger: "t", Input: json.RawMessage(c.raw)},
				"output": {Trigger: "t", Output: json.RawMessage(c.raw)},
			} {
				b, err := wire.EncodeEvent(ev)
				require.NoError(t, err)
				require.Equal(t, `{"trigger":"t","`+key+`":`+c.want+`}`, string(b))
			}
		})
	}
	b, err := wire.EncodeEvent(&pawl.Event{Trigger: "t", Prompt: "a && <b>\u2028\n\x1b\"\xff"})
	require.NoError(t, err)
	require.Equal(t, `{"trigger":"t","prompt":"a && <b>`+"\u2028"+`\n\u001b\"`+"\uFFFD"+`"}`, string(b))
}

func TestAValueThatIsNoJSONIsNotSpliced(t *testing.T) {
	for _, raw := range []string{``, ` `, `1,"verdict":"allow"`, `{}}`, `{} {}`, `{"a":}`, "\"\xff\"", `'x'`} {
		for key, ev := range map[string]*pawl.Event{
			"input":  {Trigger: "t", Input: json.RawMessage(raw)},
			"output": {Trigger: "t", Output: json.RawMessage(raw)},
			"extra":  {Trigger: "t", Extra: map[string]json.RawMessage{"x": json.RawMessage(raw)}},
		} {
			b, err := wire.EncodeEvent(ev)
			require.ErrorContains(t, err, key+": ", "%q", raw)
			require.Empty(t, b)
		}
	}
}

func TestAnEventThatIsNoneIsRefusedWithEveryFault(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []string // parts of each fault, in order
	}{
		"nothing":               {``, []string{"f:1:1: the file is empty"}},
		"a list":                {`[]`, []string{"f:1:1: expected a table, found"}},
		"no trigger":            {` {"tool":"x"}`, []string{"f:1:2: `trigger` is missing (every event names its trigger:"}},
		"an empty trigger":      {`{"trigger":""}`, []string{"f:1:12: `trigger` is empty"}},
		"a trigger of a number": {`{"trigger":1}`, []string{"f:1:12: `trigger`: expected a string"}},
		"a key twice":           {`{"trigger":"t","tool":"a","tool":"b"}`, []string{"f:1:27: "}},
		"a key twice, deeper":   {`{"trigger":"t","input":{"a":[{"b":1,"b":2}]}}`, []string{"f:1:37: "}},
		"a second document":     {`{"trigger":"t"} {}`, []string{"f:1:17: something follows"}},
		"no UTF-8":              {"{\"trigger\":\"\xff\"}", []string{"f:1:13: byte 0xFF is not valid UTF-8"}},
		"a byte order mark":     {"\uFEFF{}", []string{"f:1:1: the file begins with a byte order mark"}},
		"another case":          {`{"trigger":"t","Tool":"x"}`, []string{"f:1:16: unknown key \"Tool\" (did you mean `tool`?)"}},
		"an agent's other key":  {`{"trigger":"t","agent":{"name":"x"}}`, []string{"f:1:25: unknown key \"name\" (the keys are id, type, depth, transcript)"}},
		"a null":                {`{"trigger":"t","tool":null}`, []string{"f:1:23: `tool`: expected a string"}},
		"half a step":           {`{"trigger":"t","step":1.5}`, []string{"f:1:23: `step`: expected an integer"}},
		"a step below zero":     {`{"trigger":"t","step":-1}`, []string{"f:1:23: `step` is out of range"}},
		"an unknown verdict":    {`{"trigger":"t","verdict":"deny"}`, []string{"f:1:26: unknown `verdict` \"deny\""}},
		"aliases as text":       {`{"trigger":"t","aliases":"x"}`, []string{"f:1:26: `aliases`: expected a list"}},
		"extra as a list":       {`{"trigger":"t","extra":[]}`, []string{"f:1:24: `extra`: expected a table"}},
		"all at once": {"{\n\"tool\": 1,\n \"stop_active\": \"yes\",\n \"x\": 1\n}", []string{
			"f:1:1: `trigger` is missing", "f:2:9: `tool`: expected a string", "f:3:17: `stop_active`: expected true or false", "f:4:2: unknown key \"x\"",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ev, err := wire.DecodeEvent("f", []byte(c.in))
			require.Nil(t, ev)
			require.Error(t, err)
			lines := strings.Split(err.Error(), "\n")
			require.Len(t, lines, len(c.want), err)
			for i, want := range c.want {
				require.Contains(t, lines[i], want)
			}
			var fault *wire.EventFault
			require.True(t, errors.As(err, &fault))
			require.Positive(t, fault.Line)
		})
	}
}

// O01: a tool's result may be larger than a configuration file may be.
func TestALargeEventIsRead(t *testing.T) {
	in, err := wire.EncodeEvent(&pawl.Event{Trigger: "t", Output: json.RawMessage(`"` + strings.Repeat("x", 3<<20) + `"`)})
	require.NoError(t, err)
	ev, err := wire.DecodeEvent("f", in)
	require.NoError(t, err)
	require.Len(t, ev.Output, 3<<20+2)
	clear(in)
	require.Equal(t, byte('x'), ev.Output[1], "the event does not share the bytes it was read from")
}

func TestAnyEventComesBackAsItWas(t *testing.T) {
	word := rapid.StringOf(rapid.RuneFrom([]rune{'a', 'é', '"', '\\', '<', '&', '\n', 0, 0x1b, 0x2028, 0x1F600}))
	raw := rapid.Custom(func(t *rapid.T) json.RawMessage {
		quoted, err := json.Marshal(word.Draw(t, "text"))
		require.NoError(t, err)
		return json.RawMessage(rapid.SampledFrom([]string{"null", "1e400", `{"a": [ ]}`, string(quoted)}).Draw(t, "raw"))
	})
	rapid.Check(t, func(t *rapid.T) {
		ev := whole()
		ev.Prompt, ev.Session, ev.Tool = word.Draw(t, "prompt"), word.Draw(t, "session"), word.Draw(t, "tool")
		ev.Aliases = rapid.SliceOfN(word, 1, 3).Draw(t, "aliases")
		ev.Input, ev.Output = raw.Draw(t, "input"), raw.Draw(t, "output")
		ev.Extra = rapid.MapOfN(word, raw, 1, 3).Draw(t, "extra")
		ev.Step, ev.Failed = rapid.IntRange(0, 9).Draw(t, "step"), rapid.Bool().Draw(t, "failed")
		ev.Verdict = rapid.SampledFrom([]pawl.Verdict{pawl.Pass, pawl.Allow, pawl.Ask, pawl.Refuse, pawl.Halt}).Draw(t, "verdict")
		b, err := wire.EncodeEvent(ev)
		require.NoError(t, err)
		require.True(t, json.Valid(b))
		require.NotContains(t, string(b), "\n")
		got, err := wire.DecodeEvent("f", b)
		require.NoError(t, err)
		require.Equal(t, ev, got)
	})
}

func FuzzDecodeEvent(f *testing.F) {
	f.Add([]byte(wholeJSON))
	f.Add([]byte("{\n\"trigger\":\"t\",\"input\":{\"a\":1,\n\"b\":[]}} "))
	f.Add([]byte(`{"trigger":"t","trigger":"u"}`))
	f.Add([]byte(`{"trigger":1,"x":[}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		ev, err := wire.DecodeEvent("f", in)
		if err != nil {
			require.Nil(t, ev)
			var fault *wire.EventFault
			require.ErrorAs(t, err, &fault)
			return
		}
		require.NotEmpty(t, ev.Trigger)
		b, err := wire.EncodeEvent(ev)
		require.NoError(t, err)
		require.True(t, utf8.Valid(b))
		require.NotContains(t, string(b), "\n")
		again, err := wire.DecodeEvent("f", b)
		require.NoError(t, err, "%s", b)
		b2, err := wire.EncodeEvent(again)
		require.NoError(t, err)
		require.Equal(t, string(b), string(b2))
	})
}

func BenchmarkEncodeEvent(b *testing.B) {
	ev := &pawl.Event{
		Trigger: "tool.before", Session: "s1", Turn: "t1", Call: "c1", Tool: "Bash", Action: "call.bash", Dir: "/w",
		Input: json.RawMessage(`{"command":"` + strings.Repeat("x", 900) + `"}`),
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.EncodeEvent(ev); err != nil {
			b.Fatal(err)
		}
	}
}
