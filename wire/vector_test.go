package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/wire"
)

// A vector is one answer of a program and what it comes to. Its file is a header, an empty line, and the
// bytes of standard output. The directory names the event.
type vector struct {
	event   wire.Event
	flavour wire.Flavour
	strict  bool
	tool    string
	res     pawl.Result

	expect   pawl.Verdict
	cause    pawl.Cause
	reason   *string // nil: not looked at
	notes    []string
	warnings []string
	input    string
	output   string
	unusable string // input or output: what cannot be applied
	fail     string
}

func (v vector) codec() wire.Codec { return wire.Codec{Flavour: v.flavour, Strict: v.strict} }

func (v vector) ev() *pawl.Event {
	return &pawl.Event{Trigger: v.event.Trigger, Session: "s", Tool: v.tool, Input: json.RawMessage(`{"command":"ls"}`)}
}

func (v vector) decode() (pawl.Decision, error) { return v.codec().Decode(v.ev(), v.res) }

func readVector(t testing.TB, file string) vector {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	head, body, ok := bytes.Cut(b, []byte("\n\n"))
	require.True(t, ok, "no empty line behind the header")
	v := vector{tool: "Bash"}
	v.res.Stdout = body
	seen := map[string]bool{}
	for line := range strings.SplitSeq(string(head), "\n") {
		key, value, ok := strings.Cut(line, ":")
		require.True(t, ok, "header line %q", line)
		value = strings.TrimPrefix(value, " ")
		require.True(t, !seen[key] || key == "note" || key == "warning", "%s is given twice", key)
		seen[key] = true
		v.header(t, key, value)
	}
	require.True(t, seen["expect"], "no expect")
	v.event, ok = eventOf(v.flavour, filepath.Base(filepath.Dir(file)))
	require.True(t, ok, "%s has no such event", v.flavour)
	return v
}

func (v *vector) header(t testing.TB, key, value string) {
	t.Helper()
	var err error
	switch key {
	case "expect":
		err = v.expect.UnmarshalText([]byte(value))
	case "flavour":
		v.flavour = map[string]wire.Flavour{"claude": wire.Claude, "zerocode": wire.ZeroCode}[value]
	case "strict":
		v.strict, err = strconv.ParseBool(value)
	case "tool":
		v.tool = value
	case "code":
		v.res.Code, err = strconv.Atoi(value)
	case "signal":
		v.res.Signal = value
	case "cut":
		v.res.Cut, err = strconv.ParseInt(value, 10, 64)
	case "stderr":
		v.res.Stderr = []byte(unescape(value))
	case "cause":
		v.cause = pawl.Cause(value)
	case "reason":
		s := unescape(value)
		v.reason = &s
	case "note":
		v.notes = append(v.notes, unescape(value))
	case "warning":
		v.warnings = append(v.warnings, value)
	case "input":
		v.input = value
	case "output":
		v.output = value
	case "unusable":
		v.unusable = value
	case "fail":
		v.fail = value
	default:
		t.Fatalf("unknown header key %q", key)
	}
	require.NoError(t, err, key)
}

// unescape reads a quoted value, and \n in one that is not.
func unescape(s string) string {
	if strings.HasPrefix(s, `"`) {
		if u, err := strconv.Unquote(s); err == nil {
			return u
		}
	}
	return strings.ReplaceAll(s, `\n`, "\n")
}

func eventOf(f wire.Flavour, dir string) (wire.Event, bool) {
	for _, e := range f.Events() {
		if strings.ReplaceAll(e.Label, "_", "-") == dir {
			return e, true
		}
	}
	return wire.Event{}, false
}

// vectors runs f for every file of the corpus.
func vectors(t *testing.T, f func(t *testing.T, v vector)) {
	t.Helper()
	files, err := filepath.Glob("../testdata/wire/*/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file)) + "/" + strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) { f(t, readVector(t, file)) })
	}
}

func TestAnswers(t *testing.T) {
	vectors(t, func(t *testing.T, v vector) {
		d, err := v.decode()
		require.Equal(t, v.cause, causeOf(err), "%v", err)
		require.Equal(t, v.expect.String(), d.Verdict.String())
		if v.reason != nil {
			require.Equal(t, *v.reason, d.Reason)
		}
		require.Equal(t, v.notes, d.Notes)
		require.Equal(t, v.warnings, d.Warnings)
		require.Equal(t, v.unusable == "input", unusable(d.Input))
		require.Equal(t, v.unusable == "output", unusable(d.Output))
		require.Equal(t, v.input, string(d.Input))
		require.Equal(t, v.output, string(d.Output))
		fail := ""
		if d.Fail != nil {
			fail = fmt.Sprint(*d.Fail)
		}
		require.Equal(t, v.fail, fail)
		require.Zero(t, d.Effects()&^v.event.Effects, "beyond the event's effects: %s", d.Effects()&^v.event.Effects)
	})
}

// unusable reports a rewrite that was asked for and cannot be applied: beside an error it refuses.
func unusable(raw json.RawMessage) bool { return raw != nil && !json.Valid(raw) }

func causeOf(err error) pawl.Cause {
	var f *pawl.Failure
	if errors.As(err, &f) {
		return f.Cause
	}
	if err != nil {
		return pawl.CauseError
	}
	return ""
}

// rank orders verdicts by strictness.
func rank(v pawl.Verdict) int {
	return map[pawl.Verdict]int{pawl.Allow: 0, pawl.Pass: 1, pawl.Ask: 2, pawl.Refuse: 3, pawl.Halt: 4}[v]
}

// settled is what a hook comes to: what it said, under the rule for a failure.
func settled(v vector, d pawl.Decision, err error) int {
	said := rank(d.Verdict)
	if unusable(d.Input) || unusable(d.Output) {
		return max(said, rank(pawl.Refuse))
	}
	if err == nil {
		return said
	}
	return max(said, failed(v))
}

func failed(v vector) int {
	if v.strict && v.event.Effects&(pawl.MayRefuse|pawl.MayHalt) != 0 {
		return rank(pawl.Refuse)
	}
	return rank(pawl.Pass)
}

// D05
func TestAnUnknownFieldNeverLoosensAnAnswer(t *testing.T) {
	vectors(t, func(t *testing.T, v vector) {
		out := v.res.Stdout
		if len(out) == 0 || out[0] != '{' {
			t.Skip("no object")
		}
		for _, field := range []string{`"zz":1`, `"zz":{"permissionDecision":"allow"}`, `"Decision":"approve"`} {
			for _, v.strict = range []bool{false, true} {
				v.res.Stdout = out
				before, errBefore := v.decode()
				was := settled(v, before, errBefore)
				more := "{" + field
				if !bytes.HasPrefix(bytes.TrimSpace(out[1:]), []byte("}")) {
					more += ","
				}
				v.res.Stdout = append([]byte(more), out[1:]...)
				d, err := v.decode()
				require.GreaterOrEqual(t, settled(v, d, err), min(was, failed(v)))
				if was > rank(pawl.Pass) {
					require.GreaterOrEqual(t, settled(v, d, err), was, "a restriction was lost")
				}
				if v.res.Code == 0 && v.event.Name != "SessionEnd" {
					require.GreaterOrEqual(t, settled(v, d, err), failed(v))
				}
			}
		}
	})
}

func TestATruncatedAnswerNeverLoosens(t *testing.T) {
	vectors(t, func(t *testing.T, v vector) {
		out := v.res.Stdout
		if len(out) == 0 || out[0] != '{' || v.event.Name == "SessionEnd" || v.res.Code != 0 {
			t.Skip("no object that is the answer")
		}
		for _, v.strict = range []bool{false, true} {
			for n := 1; n < len(bytes.TrimSpace(out)); n++ {
				if json.Valid(out[:n]) {
					continue // the first of two documents
				}
				v.res.Stdout = out[:n]
				d, err := v.decode()
				require.GreaterOrEqual(t, settled(v, d, err), failed(v), "%s", out[:n])
				require.False(t, json.Valid(d.Input), "a rewrite from half an answer")
				require.False(t, json.Valid(d.Output))
				if bytes.Contains(out[:n], []byte(`"updatedInput"`)) && v.input != "" && v.event.Effects&pawl.MayRewrite != 0 {
					require.GreaterOrEqual(t, settled(v, d, err), rank(pawl.Refuse), "%s", out[:n])
				}
				require.NotEqual(t, pawl.Allow, d.Verdict)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("../testdata/wire/*/*.txt")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		v := readVector(f, file)
		f.Add(v.event.Name, v.flavour == wire.Claude, v.strict, v.res.Code, v.res.Stdout, v.res.Stderr)
	}
	f.Fuzz(func(t *testing.T, event string, claude, strict bool, code int, stdout, stderr []byte) {
		v := vector{strict: strict, tool: "Bash", res: pawl.Result{Code: code, Stdout: stdout, Stderr: stderr}}
		if claude {
			v.flavour = wire.Claude
		}
		e, ok := v.flavour.Event(event)
		if !ok {
			return
		}
		v.event = e
		codec := v.codec()
		codec.Spill.Dir = t.TempDir()
		d, err := codec.Decode(v.ev(), v.res)
		require.Zero(t, d.Effects()&^e.Effects)
		if err != nil {
			require.NotEmpty(t, causeOf(err))
			require.NotEqual(t, pawl.Allow, d.Verdict)
			require.False(t, json.Valid(d.Input))
			require.False(t, json.Valid(d.Output))
		}
		require.True(t, len(d.Input) == 0 || json.Valid(d.Input))
		require.True(t, len(d.Output) == 0 || json.Valid(d.Output))
	})
}

func BenchmarkDecode(b *testing.B) {
	ev := &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash"}
	res := pawl.Result{Stdout: []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"` +
		strings.Repeat("x", 900) + `"}}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (wire.Codec{}).Decode(ev, res); err != nil {
			b.Fatal(err)
		}
	}
}
