package wire_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/wire"
)

func failedBy(t require.TestingT, err error) pawl.Cause {
	var f *pawl.Failure
	require.ErrorAs(t, err, &f)
	return f.Cause
}

func TestTheProgramIsToldTheEventOnOneLine(t *testing.T) {
	ev := whole()
	msg, err := wire.JSON{}.Encode(ev)
	require.NoError(t, err)
	require.Equal(t, command.Message{Stdin: []byte(wholeJSON + "\n")}, msg)

	_, err = wire.JSON{}.Encode(&pawl.Event{Trigger: "t", Input: json.RawMessage("{")})
	require.ErrorContains(t, err, "input: it is not one JSON value")
}

func TestAnswersThatAreAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		out  string
		want pawl.Decision
	}{
		"nothing":              {"", pawl.Decision{}},
		"blanks":               {" \r\n\t", pawl.Decision{}},
		"an empty object":      {"{}\n", pawl.Decision{}},
		"pass":                 {`{"verdict":"pass"}`, pawl.Decision{}},
		"allow":                {`{"verdict":"allow"}`, pawl.Decision{Verdict: pawl.Allow}},
		"ask":                  {`{"verdict":"ask","reason":"sure?"}`, pawl.Decision{Verdict: pawl.Ask, Reason: "sure?"}},
		"refuse without words": {`{"verdict":"refuse"}`, pawl.Decision{Verdict: pawl.Refuse}},
		"halt over lines":      {"{\n \"reason\": \"é\\u00e9\",\n \"verdict\": \"halt\"\n}\n", pawl.Decision{Verdict: pawl.Halt, Reason: "éé"}},
		"notes":                {`{"notes":["a","b"]}`, pawl.Decision{Notes: []string{"a", "b"}}},
		"numbers stay as written": {`{"input":{"id":9007199254740993,"x":1.0,"y":1e400}}`,
			pawl.Decision{Input: json.RawMessage(`{"id":9007199254740993,"x":1.0,"y":1e400}`)}}, // O09
		"any output":            {`{"output":"x"}`, pawl.Decision{Output: json.RawMessage(`"x"`)}},
		"an output of null":     {`{"input":null,"output": null }`, pawl.Decision{}},
		"a reason of null":      {`{"verdict":"refuse","reason":null}`, pawl.Decision{Verdict: pawl.Refuse}},
		"a long reason, uncut":  {`{"verdict":"refuse","reason":"` + strings.Repeat("é", 100_000) + `"}`, pawl.Decision{Verdict: pawl.Refuse, Reason: strings.Repeat("é", 100_000)}}, // O11
		"what beyond its right": {`{"verdict":"refuse","input":1,"output":2}`, pawl.Decision{Verdict: pawl.Refuse, Input: json.RawMessage("1"), Output: json.RawMessage("2")}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := wire.JSON{}.Decode(nil, pawl.Result{Stdout: []byte(c.out), Stderr: []byte(`{"verdict":"halt"}`)}) // O13
			require.NoError(t, err)
			require.Equal(t, c.want, d)
		})
	}
}

func TestWhatIsNoAnswerFailsAndARestrictionInItStands(t *testing.T) {
	for name, c := range map[string]struct {
		out    string
		want   pawl.Verdict
		reason string
		says   string
	}{
		"plain text":              {"all good", 0, "", "no JSON object"}, // O05
		"an array":                {`["refuse"]`, 0, "", "no JSON object"},
		"a greeting before it":    {"Shell ready\n{\"verdict\":\"refuse\",\"reason\":\"x\"}", pawl.Refuse, "x", "no JSON object"}, // O05
		"an unknown key":          {`{"verdict":"pass","why":1}`, 0, "", `unknown key "why"`},
		"beside an unknown key":   {`{"why":1,"verdict":"refuse","reason":"x"}`, pawl.Refuse, "x", `unknown key "why"`}, // D05
		"a key of another case":   {`{"Verdict":"allow"}`, 0, "", `unknown key "Verdict"`},
		"a repeated key":          {`{"verdict":"halt","verdict":"pass"}`, pawl.Halt, "", "duplicate"},
		"a repeated key deeper":   {`{"verdict":"ask","input":{"a":1,"a":2}}`, pawl.Ask, "", "duplicate"},
		"a second document":       {`{"verdict":"pass"} {"verdict":"refuse","reason":"y"}`, pawl.Refuse, "y", "cannot be read"},
		"a second, on a line":     {"{\"verdict\":\"ask\"}\n{\"verdict\":\"pass\"}", pawl.Ask, "", "cannot be read"},
		"the strictest of many":   {`{"verdict":"ask","reason":"a"} {"verdict":"halt","reason":"z"} {"verdict":"refuse"}`, pawl.Halt, "z", "cannot be read"},
		"text behind":             {`{"verdict":"refuse"} done`, pawl.Refuse, "", "cannot be read"},
		"an unknown verdict":      {`{"verdict":"deny"}`, 0, "", `verdict "deny" is none of`},
		"a verdict's other case":  {`{"verdict":" Refuse ","reason":"x"}`, pawl.Refuse, "x", "is none of"},
		"a verdict of null":       {`{"verdict":null}`, 0, "", "verdict null is none of"},
		"a verdict of a number":   {`{"verdict":3}`, 0, "", "verdict 3 is none of"},
		"a reason that is a list": {`{"verdict":"refuse","reason":["x"]}`, pawl.Refuse, "", "the answer's reason has the wrong type"},
		"notes that are text":     {`{"notes":"x"}`, 0, "", "the answer's notes has the wrong type"},
		"it breaks off":           {`{"verdict":"refuse","reason":"because`, pawl.Refuse, "", "cannot be read"},
		"it breaks off in a key":  {`{"reason":"x","verdict":"halt","no`, pawl.Halt, "x", "cannot be read"},
		"it breaks off at once":   {`{`, 0, "", "cannot be read"},
		"no UTF-8":                {"{\"verdict\":\"refuse\",\"reason\":\"a\xff\"}", pawl.Refuse, "a\uFFFD", "UTF-8"},
		"an allow with a fault":   {`{"verdict":"allow","why":1}`, 0, "", "unknown key"},
		"an inner one is no word": {`{"input":{"verdict":"refuse"},"why":1}`, 0, "", "unknown key"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := wire.JSON{}.Decode(nil, pawl.Result{Stdout: []byte(c.out)})
			require.Equal(t, pawl.CauseOutput, failedBy(t, err))
			require.ErrorContains(t, err, c.says)
			require.Equal(t, pawl.Decision{Verdict: c.want, Reason: c.reason}, withoutRewrite(d))
		})
	}
}

// withoutRewrite is d without the rewrite that it asks for.
func withoutRewrite(d pawl.Decision) pawl.Decision {
	d.Input, d.Output = nil, nil
	return d
}

// A rewrite that cannot be applied says all the same that the original must not stand: what comes of it is no
// JSON value, so that no runner goes on with it, and beside an error it refuses.
func TestAskingForARewriteIsNotLost(t *testing.T) {
	for name, c := range map[string]struct {
		res           pawl.Result
		input, output bool
	}{
		"a repeated key":          {pawl.Result{Stdout: []byte(`{"input":{"a":2,"a":3}}`)}, true, false},
		"no UTF-8":                {pawl.Result{Stdout: []byte("{\"input\":{\"a\":\"\xff\"}}")}, true, false},
		"it breaks off":           {pawl.Result{Stdout: []byte(`{"input":{"a":2`)}, true, false},
		"it breaks off at once":   {pawl.Result{Stdout: []byte(`{"input"`)}, true, false},
		"cut by the limit":        {pawl.Result{Stdout: []byte(`{"input":{"a":"xxx`), Cut: 100}, true, false},
		"an unknown key":          {pawl.Result{Stdout: []byte(`{"input":{"a":2},"foo":1}`)}, true, false},
		"an exit code":            {pawl.Result{Stdout: []byte(`{"input":{"a":2}}`), Code: 1}, true, false},
		"a signal":                {pawl.Result{Stdout: []byte(`{"output":1}`), Code: -1, Signal: "killed"}, false, true},
		"a greeting":              {pawl.Result{Stdout: []byte("hi\n{\"output\":{}}")}, false, true},
		"in another case":         {pawl.Result{Stdout: []byte(`{"Input":{}}`)}, true, false},
		"both, in two objects":    {pawl.Result{Stdout: []byte("{\"output\":1}\n{\"input\":1}")}, true, true},
		"null is none":            {pawl.Result{Stdout: []byte(`{"input":null,"output":null,"foo":1}`)}, false, false},
		"one deeper is no answer": {pawl.Result{Stdout: []byte(`{"foo":{"input":1}}`)}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := wire.JSON{}.Decode(nil, c.res)
			failedBy(t, err)
			require.Equal(t, c.input, unusable(d.Input))
			require.Equal(t, c.output, unusable(d.Output))
			require.False(t, json.Valid(d.Input) || json.Valid(d.Output))
		})
	}
}

// L06, L14: whatever else it printed, a program that did not end by exit code 0 has not passed.
func TestAnotherEndThanExitZeroFails(t *testing.T) {
	for name, c := range map[string]struct {
		res  pawl.Result
		want pawl.Cause
		says string
	}{
		"exit 2":                            {pawl.Result{Code: 2, Stderr: []byte("\n why\nmore")}, pawl.CauseExit, "exit code 2: why"},
		"exit 130":                          {pawl.Result{Code: 130}, pawl.CauseExit, "exit code 130"},
		"a signal":                          {pawl.Result{Code: -1, Signal: "killed"}, pawl.CauseSignal, "killed"},
		"a code below zero, with no signal": {pawl.Result{Code: -1}, pawl.CauseExit, "exit code -1"},
	} {
		t.Run(name, func(t *testing.T) {
			c.res.Stdout = []byte(`{"verdict":"allow","notes":["n"],"input":1}`)
			d, err := wire.JSON{}.Decode(nil, c.res)
			require.Equal(t, c.want, failedBy(t, err))
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "more")
			require.Zero(t, withoutRewrite(d))

			c.res.Stdout = []byte(`{"verdict":"halt","reason":"stop","input":1}`)
			d, err = wire.JSON{}.Decode(nil, c.res)
			require.Equal(t, c.want, failedBy(t, err))
			require.Equal(t, pawl.Decision{Verdict: pawl.Halt, Reason: "stop"}, withoutRewrite(d))
		})
	}
}

func TestACutAnswerFailsAndACutComplaintDoesNot(t *testing.T) {
	answer := []byte(`{"verdict":"allow"}`)
	d, err := wire.JSON{}.Decode(nil, pawl.Result{Stdout: answer, Cut: 1})
	require.Equal(t, pawl.CauseOutput, failedBy(t, err))
	require.ErrorContains(t, err, "cut")
	require.Zero(t, d)

	d, err = wire.JSON{}.Decode(nil, pawl.Result{Stdout: answer, Stderr: make([]byte, len(answer)+1), Cut: 1})
	require.NoError(t, err)
	require.Equal(t, pawl.Allow, d.Verdict)

	d, err = wire.JSON{}.Decode(nil, pawl.Result{Stdout: []byte(`{"verdict":"refuse","reason":"a lo`), Cut: 1000})
	require.Equal(t, pawl.CauseOutput, failedBy(t, err))
	require.Equal(t, pawl.Refuse, d.Verdict)
}

func TestARefusalIsToldUnderTheHooksName(t *testing.T) {
	p := command.Program{Name: "guard", Args: []string{"x"}, Codec: wire.JSON{}}
	gate := pawl.GateFunc(func(_ context.Context, cmd pawl.Command) (pawl.Result, error) {
		require.Equal(t, "{\"trigger\":\"tool.before\"}\n", string(cmd.Stdin))
		return pawl.Result{Stdout: []byte(`{"verdict":"refuse","reason":"not on a Friday"}`)}, nil
	})
	d, err := p.Handle(t.Context(), &pawl.Event{Trigger: pawl.ToolBefore}, gate)
	require.NoError(t, err)
	require.Equal(t, "hook guard refused: not on a Friday", d.Reason)
}

// Said stays said: nothing that goes wrong around a restriction takes it back.
func TestARestrictionIsNeverLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		verdict := rapid.SampledFrom([]pawl.Verdict{pawl.Ask, pawl.Refuse, pawl.Halt}).Draw(t, "verdict")
		said := `"verdict":"` + verdict.String() + `"`
		junk := rapid.SliceOfN(rapid.SampledFrom([]string{
			`"x":1`, `"reason":"r"`, `"reason":2`, `"notes":"n"`, `"verdict":"allow"`, `"verdict":"pass"`, `"verdict":7`, `"input":{"a":1,"a":2}`, `"verdict":{}`,
		}), 0, 4)
		keys := append(append(junk.Draw(t, "before"), said), junk.Draw(t, "after")...)
		text := rapid.SampledFrom([]string{"", "hello\n", "hello ", "{not json}\n", "{\"a\":[\n", "{}\n", "{\"verdict\":\"allow\"}\n", "\uFEFF"}).Draw(t, "head") +
			"{" + strings.Join(keys, ",") + rapid.SampledFrom([]string{"}", "", ",", "} x", "}\n{\"verdict\":\"allow\"}", "} {"}).Draw(t, "tail")
		res := pawl.Result{Stdout: []byte(text), Cut: int64(rapid.IntRange(0, 1).Draw(t, "cut"))}
		switch rapid.IntRange(0, 2).Draw(t, "end") {
		case 1:
			res.Code = 1
		case 2:
			res.Code, res.Signal = -1, "killed"
		}
		d, _ := wire.JSON{}.Decode(nil, res)
		require.GreaterOrEqual(t, d.Verdict, verdict, text)
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"verdict":"refuse","reason":"x","notes":["n"],"input":{"a":1},"output":[null]}`), 0)
	f.Add([]byte("hello\n{\"verdict\":\"halt\",\"verdict\":\"pass\"} {\"x\":1}"), 0)
	f.Add([]byte(`{"verdict":"ask","reason":"bro`), 1)
	f.Add([]byte("hello {\"a\":\n{\"verdict\":\"refuse\"} {\"b\":\"{\"input\":1}\"}"), 0)
	f.Add([]byte("{\"notes\":[\"\xff\"]}"), -1)
	f.Fuzz(func(t *testing.T, out []byte, code int) {
		d, err := wire.JSON{}.Decode(nil, pawl.Result{Stdout: out, Code: code})
		if err != nil {
			failedBy(t, err)
			require.NotEqual(t, pawl.Allow, d.Verdict)
			require.Equal(t, pawl.Decision{Verdict: d.Verdict, Reason: d.Reason}, withoutRewrite(d), "a failure leaves a restriction and no more")
			require.False(t, json.Valid(d.Input) || json.Valid(d.Output))
			return
		}
		require.Zero(t, code)
		text := strings.TrimSpace(string(out))
		require.True(t, text == "" || json.Valid([]byte(text)))
		for _, raw := range []json.RawMessage{d.Input, d.Output} {
			require.True(t, raw == nil || json.Valid(raw))
		}
		require.LessOrEqual(t, d.Verdict, pawl.Halt)
	})
}
