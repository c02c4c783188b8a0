package wire_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/wire"
)

// note returns what the model gets of text that a hook printed as context.
func note(t testing.TB, c wire.Codec, session, text string) string {
	t.Helper()
	d, err := c.Decode(&pawl.Event{Trigger: pawl.SessionStart, Session: session}, pawl.Result{Stdout: []byte(text)})
	require.NoError(t, err)
	require.Len(t, d.Notes, 1)
	return d.Notes[0]
}

func number(n int) *int { return &n }

var saved = regexp.MustCompile(`\n\nFull hook output saved to: (.+)$`)

func savedPath(t testing.TB, note string) string {
	t.Helper()
	m := saved.FindStringSubmatch(note)
	require.NotNil(t, m, "no path in %q", note)
	return m[1]
}

func TestSmallOutputStaysAndMakesNoDirectory(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("a", 4*wire.DefaultLimit)
	require.Equal(t, text, note(t, wire.Codec{Spill: wire.Spill{Dir: dir}}, "s", text))
	require.NoDirExists(t, filepath.Join(dir, "hook_outputs"))
}

func TestLargeOutputIsSavedWholeAndShortened(t *testing.T) {
	dir := t.TempDir()
	text := "BEGIN\n" + strings.Repeat("line\n", 4000) + "END"
	got := note(t, wire.Codec{Spill: wire.Spill{Dir: dir}}, "thr_1", text)

	path := savedPath(t, got)
	require.Regexp(t, `^`+regexp.QuoteMeta(filepath.Join(dir, "hook_outputs", "thr_1"))+
		`/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.txt$`, path)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text, string(b))
	for p, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(p)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm())
	}
	require.True(t, strings.HasPrefix(got, "Warning: truncated output (original token count: 5003)\nTotal output lines: 4002\n\nBEGIN\n"))
	require.True(t, strings.HasSuffix(got, "END\n\nFull hook output saved to: "+path))
}

func TestTheArithmeticOfThePreview(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a file in the way")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	text := strings.Repeat("0123456789", 10) // 100 bytes, 25 tokens
	for name, c := range map[string]struct {
		limit int
		want  string
	}{
		"no limit":      {0, text},
		"it just fits":  {25, text},
		"one too many":  {24, "01234567890123456789012345678901234567890123456701" + "…1 tokens truncated…" + "x"},
		"a small limit": {5, "0123456789…20 tokens truncated…0123456789"},
		"one":           {1, "01…24 tokens truncated…89"},
	} {
		t.Run(name, func(t *testing.T) {
			got := note(t, wire.Codec{Limit: &c.limit, Spill: wire.Spill{Dir: file}}, "s", text)
			if name == "one too many" {
				c.want = text[:48] + "…1 tokens truncated…" + text[52:]
			}
			if c.want != text {
				c.want = "Warning: truncated output (original token count: 25)\nTotal output lines: 1\n\n" + c.want
			}
			require.Equal(t, c.want, got, "a write that failed still previews, without a footer")
		})
	}
}

func TestALimitSmallerThanTheFooterLeavesTheMarker(t *testing.T) {
	got := note(t, wire.Codec{Limit: number(1), Spill: wire.Spill{Dir: t.TempDir()}}, "s", strings.Repeat("a", 100))
	require.Contains(t, got, "\n\n…25 tokens truncated…\n\nFull hook output saved to: ")
}

func TestEachHookHasItsOwnLimit(t *testing.T) {
	text := strings.Repeat("a", 4*wire.DefaultLimit+1)
	spill := wire.Spill{Dir: t.TempDir()}
	require.Equal(t, text, note(t, wire.Codec{Limit: number(0), Spill: spill}, "s", text))
	require.Equal(t, text, note(t, wire.Codec{Limit: number(5000), Spill: spill}, "s", text))
	savedPath(t, note(t, wire.Codec{Spill: spill}, "s", text))
}

func TestClaudesLimitCountsCharacters(t *testing.T) {
	spill := wire.Spill{Dir: t.TempDir()}
	text := strings.Repeat("é", 10_000)
	require.Equal(t, text, note(t, wire.Codec{Flavour: wire.Claude, Spill: spill}, "s", text))
	savedPath(t, note(t, wire.Codec{Flavour: wire.Claude, Spill: spill}, "s", text+"é"))
}

func TestASessionThatIsNoPathElementIsHashed(t *testing.T) {
	text := strings.Repeat("a", 4*wire.DefaultLimit+1)
	for _, session := range []string{"", ".", "..", "../../x", "a/b", `a\b`, "/etc", "a\x00b", "a\nb", strings.Repeat("x", 300)} {
		dir := t.TempDir()
		path := savedPath(t, note(t, wire.Codec{Spill: wire.Spill{Dir: dir}}, session, text))
		rel, err := filepath.Rel(filepath.Join(dir, "hook_outputs"), path)
		require.NoError(t, err)
		require.Regexp(t, `^[0-9a-f]{64}/[^/]+\.txt$`, rel)
	}
}

func TestALinkInTheWayIsNotFollowed(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, "hook_outputs")))
	got := note(t, wire.Codec{Spill: wire.Spill{Dir: dir}}, "s", strings.Repeat("a", 4*wire.DefaultLimit+1))
	require.NotRegexp(t, saved, got)
	left, err := os.ReadDir(elsewhere)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestRedactionComesBeforeTheCut(t *testing.T) {
	secret := "SECRET-0123456789"
	redact := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(secret), []byte("[gone]")) }
	text := strings.Repeat("a", 4990) + secret + strings.Repeat("b", 20_000)
	got := note(t, wire.Codec{Spill: wire.Spill{Dir: t.TempDir(), Redact: redact}}, "s", text)
	require.NotContains(t, got, "SECRET")
	b, err := os.ReadFile(savedPath(t, got))
	require.NoError(t, err)
	require.NotContains(t, string(b), "SECRET")
}

// Every reason is a message to the model, whichever way it was given and at whatever event.
func TestEveryReasonForTheModelIsSpilled(t *testing.T) {
	reason := strings.Repeat("r", 4*wire.DefaultLimit+1)
	deny, block := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"`+reason+`"}}`,
		`{"decision":"block","reason":"`+reason+`"}`
	byCode := pawl.Result{Code: 2, Stderr: []byte(reason)}
	for name, x := range map[string]struct {
		trigger pawl.Trigger
		res     pawl.Result
	}{
		"after a tool":              {pawl.ToolAfter, byCode},
		"at the end of a turn":      {pawl.TurnStop, byCode},
		"at the end of a sub-agent": {pawl.AgentStop, byCode},
		"before a tool":             {pawl.ToolBefore, byCode},
		"a deny before a tool":      {pawl.ToolBefore, pawl.Result{Stdout: []byte(deny)}},
		"at a request for approval": {pawl.ToolApproval, byCode},
		"at a prompt":               {pawl.PromptSubmit, byCode},
		"a block at a prompt":       {pawl.PromptSubmit, pawl.Result{Stdout: []byte(block)}},
		"a deny in a cut answer":    {pawl.ToolBefore, pawl.Result{Stdout: []byte(block + "xxx"), Cut: 9}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, flavour := range []wire.Flavour{wire.ZeroCode, wire.Claude} {
				if flavour == wire.Claude && x.trigger == pawl.ToolAfter {
					continue // a note there
				}
				c := wire.Codec{Flavour: flavour, Limit: number(0), Spill: wire.Spill{Dir: t.TempDir()}}
				d, _ := c.Decode(&pawl.Event{Trigger: x.trigger, Session: "s"}, x.res)
				require.Equal(t, pawl.Refuse, d.Verdict)
				b, err := os.ReadFile(savedPath(t, d.Reason))
				require.NoError(t, err)
				require.Equal(t, reason, string(b))
			}
		})
	}
}

// Claude spills what it tells the person too.
func TestClaudesMessagesToThePersonAreSpilled(t *testing.T) {
	text := strings.Repeat("é", 10_000)
	for _, more := range []string{"", "é"} {
		c := wire.Codec{Flavour: wire.Claude, Spill: wire.Spill{Dir: t.TempDir()}}
		d, err := c.Decode(&pawl.Event{Trigger: pawl.PromptSubmit, Session: "s"},
			pawl.Result{Stdout: []byte(`{"continue":false,"stopReason":"` + text + more + `","systemMessage":"` + text + more + `"}`)})
		require.NoError(t, err)
		require.Equal(t, pawl.Halt, d.Verdict)
		for _, told := range append(d.Warnings, d.Reason) {
			if more == "" {
				require.Equal(t, text, told)
				continue
			}
			savedPath(t, told)
		}
		require.Len(t, d.Warnings, 1)
	}
}

// A restriction that can be read in an answer that was cut stands, wherever the cut is behind it (guarantee 2).
func TestARestrictionBeforeTheCutStands(t *testing.T) {
	for _, said := range []string{
		`{"decision":"block","reason":"`, `{"decision":"block","systemMessage":"xxx`, `{"decision":"block",`,
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"xx`,
		`{"hookSpecificOutput":{"permissionDecision":"deny","x":{"y":[`, "hello\n" + `{"decision":"block","x":"`,
	} {
		for _, flavour := range []wire.Flavour{wire.ZeroCode, wire.Claude} {
			d, err := wire.Codec{Flavour: flavour}.Decode(&pawl.Event{Trigger: pawl.ToolBefore}, pawl.Result{Stdout: []byte(said), Cut: 1 << 20})
			require.Error(t, err, said)
			require.Equal(t, pawl.Refuse, d.Verdict, said)
		}
	}
}

// O05: reported, never an allow by silence.
func TestTextWhereADecisionIsDueIsReportedUnderItsHook(t *testing.T) {
	for _, said := range []string{"all fine", "null", "true", "5", `"deny"`} {
		for _, trigger := range []pawl.Trigger{pawl.ToolBefore, pawl.ToolApproval} {
			c := wire.Codec{Flavour: wire.Claude, Hook: "user-pre-tool-use-0-0"}
			d, err := c.Decode(&pawl.Event{Trigger: trigger}, pawl.Result{Stdout: []byte(said)})
			require.NoError(t, err)
			require.Equal(t, pawl.Pass, d.Verdict)
			require.Equal(t, []string{"hook user-pre-tool-use-0-0 printed text that is no JSON object: it decides nothing here"}, d.Warnings)
		}
	}
}

func TestAPreviewIsValidTextWithinItsBudget(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Repeat(rapid.StringN(1, 40, -1).Draw(r, "text"), rapid.IntRange(1, 200).Draw(r, "times"))
		limit := rapid.IntRange(1, 600).Draw(r, "limit")
		b, err := json.Marshal(map[string]any{"hookSpecificOutput": map[string]string{
			"hookEventName": "SessionStart", "additionalContext": text,
		}})
		require.NoError(r, err)
		c := wire.Codec{Limit: &limit, Spill: wire.Spill{Dir: filepath.Join(dir, "x\x00")}} // cannot be written
		d, err := c.Decode(&pawl.Event{Trigger: pawl.SessionStart}, pawl.Result{Stdout: b})
		require.NoError(r, err)
		for _, n := range d.Notes {
			require.True(r, utf8.ValidString(n))
			require.LessOrEqual(r, len(n), max(4*limit, 0)+150)
		}
	})
}

// O11
func TestALongReasonArrivesUncutUpToTheLimit(t *testing.T) {
	reason := strings.Repeat("é", 2*wire.DefaultLimit)
	d, err := wire.Codec{}.Decode(&pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash"},
		pawl.Result{Stdout: []byte(`{"decision":"block","reason":"` + reason + `"}`)})
	require.NoError(t, err)
	require.Equal(t, reason, d.Reason)
}

func TestAnAllowWarnsOncePerLoad(t *testing.T) {
	var warned atomic.Bool
	c := wire.Codec{Warned: &warned}
	out := pawl.Result{Stdout: []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`)}
	first, err := c.Decode(&pawl.Event{Trigger: pawl.ToolBefore}, out)
	require.NoError(t, err)
	second, err := c.Decode(&pawl.Event{Trigger: pawl.ToolBefore}, out)
	require.NoError(t, err)
	require.Len(t, first.Warnings, 1)
	require.Empty(t, second.Warnings)
}

func TestWhyAnAnswerCannotBeRead(t *testing.T) {
	for out, want := range map[string]string{
		`{"continue":true,"continue":true}`: "a name is repeated",
		"{\"systemMessage\":\"\xff\"}":      "not UTF-8",
		`{} {}`:                             "more than one JSON value",
		`{"a":`:                             "not valid JSON: ",
		`{"decision":"perhaps"}`:            `decision "perhaps" is unknown`,
		`{"ok":1,"well":2}`:                 "PreToolUse has no ok, well",
	} {
		_, err := wire.Codec{}.Decode(&pawl.Event{Trigger: pawl.ToolBefore}, pawl.Result{Stdout: []byte(out)})
		require.ErrorContains(t, err, want)
	}
}

func TestAFloodOfHalfAnswersIsReadInLinearTime(t *testing.T) {
	line := []byte("{\"a\":[\n")
	out := append([]byte("x\n"), bytes.Repeat(line, wire.MaxOutput/len(line))...)
	_, err := wire.Codec{}.Decode(&pawl.Event{Trigger: pawl.ToolBefore}, pawl.Result{Stdout: out})
	require.Equal(t, pawl.CauseOutput, causeOf(err))
}
