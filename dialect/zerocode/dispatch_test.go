package zerocode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/dialect/zerocode"
	"github.com/pawl-hooks/pawl/gate"
)

// document holds one group of command hooks for an event.
func document(event string, lines ...string) string {
	var handlers []string
	for _, l := range lines {
		command, err := json.Marshal(l)
		if err != nil {
			panic(err)
		}
		handlers = append(handlers, fmt.Sprintf(`{"type":"command","command":%s}`, command))
	}
	return one(event, "", strings.Join(handlers, ","))
}

// dispatch loads the lines as hooks of an event and reports ev to them through g.
func dispatch(t testing.TB, g pawl.Gate, strict bool, ev *pawl.Event, event string, lines ...string) pawl.Outcome {
	t.Helper()
	return dispatchWithin(t, g, strict, 0, ev, event, lines...)
}

func dispatchWithin(t testing.TB, g pawl.Gate, strict bool, limit time.Duration, ev *pawl.Event, event string, lines ...string) pawl.Outcome {
	t.Helper()
	entries, issues := zerocode.Load(dialect.Source{
		File: "hooks.json", Data: []byte(document(event, lines...)), Strict: strict, TempDir: t.TempDir(),
	})
	require.Empty(t, issues)
	var hooks []pawl.Hook
	for _, e := range entries {
		if limit > 0 {
			e.Hook.Timeout = limit
		}
		hooks = append(hooks, e.Hook)
	}
	r, err := pawl.New(pawl.Options{Gate: g, Grace: 400 * time.Millisecond}, hooks...)
	require.NoError(t, err)
	o, err := r.Dispatch(context.Background(), ev)
	require.NoError(t, err)
	return o
}

func real(t testing.TB) pawl.Gate {
	t.Helper()
	if _, err := exec.LookPath("/bin/sh"); err != nil {
		t.Skip("no /bin/sh")
	}
	return gate.Exec{Grace: 200 * time.Millisecond}
}

func bash(line string) *pawl.Event {
	in, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		panic(err)
	}
	return &pawl.Event{Trigger: pawl.ToolBefore, Session: "s", Call: "c", Tool: "Bash", Input: in}
}

// inOrder dispatches to scripted programs, whose command lines are what they print and which finish in the
// given order. No two lines may be alike.
func inOrder(t testing.TB, order []int, ev *pawl.Event, event string, lines ...string) pawl.Outcome {
	t.Helper()
	after, done := map[string]chan struct{}{}, map[string]chan struct{}{}
	before := make(chan struct{})
	close(before)
	for _, i := range order {
		after[lines[i]], done[lines[i]] = before, make(chan struct{})
		before = done[lines[i]]
	}
	g := pawl.GateFunc(func(ctx context.Context, c pawl.Command) (pawl.Result, error) {
		line := c.Args[2]
		select {
		case <-after[line]:
		case <-ctx.Done():
			return pawl.Result{}, ctx.Err()
		}
		defer close(done[line])
		return pawl.Result{Stdout: []byte(line)}, nil
	})
	return dispatch(t, g, false, ev, event, lines...)
}

func specific(event, body string) string {
	return `{"hookSpecificOutput":{"hookEventName":"` + event + `",` + body + `}}`
}

// Aggregation is by configuration, whoever finishes first.
func TestJoinedAnswers(t *testing.T) {
	deny := func(why string) string {
		return specific("PreToolUse", `"permissionDecision":"deny","permissionDecisionReason":"`+why+`"`)
	}
	approval := &pawl.Event{Trigger: pawl.ToolApproval, Tool: "Bash", Session: "s", Input: json.RawMessage(`{"command":"ls"}`)}
	allow := specific("PermissionRequest", `"decision":{"behavior":"allow"}`)
	refuse := specific("PermissionRequest", `"decision":{"behavior":"deny","message":"no"}`)
	stop := &pawl.Event{Trigger: pawl.TurnStop, Session: "s"}
	for name, c := range map[string]struct {
		event   string
		ev      *pawl.Event
		answers []string
		verdict pawl.Verdict
		reason  string
		notes   []string
	}{
		"the first deny gives the reason":        {"PreToolUse", bash("x"), []string{deny("a"), deny("b")}, pawl.Refuse, "a", nil},
		"context of all, in order":               {"PreToolUse", bash("x"), []string{specific("PreToolUse", `"additionalContext":"1"`), deny("a"), specific("PreToolUse", `"additionalContext":"2"`)}, pawl.Refuse, "a", []string{"1", "2"}},
		"a deny beats an earlier allow":          {"PermissionRequest", approval, []string{allow, refuse}, pawl.Refuse, "no", nil},
		"a deny beats a later allow":             {"PermissionRequest", approval, []string{refuse, allow}, pawl.Refuse, "no", nil},
		"an allow where nobody denies":           {"PermissionRequest", approval, []string{"{}", allow}, pawl.Allow, "", nil},
		"no answer leaves the question":          {"PermissionRequest", approval, []string{"{}", "text"}, pawl.Pass, "", nil},
		"continuations are joined":               {"Stop", stop, []string{`{"decision":"block","reason":"one"}`, `{"decision":"block","reason":"two"}`}, pawl.Refuse, "one\n\ntwo", nil},
		"continue false beats continuations":     {"Stop", stop, []string{`{"decision":"block","reason":"one"}`, `{"continue":false,"stopReason":"enough"}`}, pawl.Halt, "enough", nil},
		"contexts of a session stay apart":       {"SessionStart", &pawl.Event{Trigger: pawl.SessionStart, Source: "startup"}, []string{"one", "two"}, pawl.Pass, "", []string{"one", "two"}},
		"feedback takes the place of a result":   {"PostToolUse", &pawl.Event{Trigger: pawl.ToolAfter, Tool: "Bash", Output: json.RawMessage(`"secret"`)}, []string{`{"decision":"block","reason":"one"}`, `{"decision":"block","reason":"two"}`}, pawl.Refuse, "one\n\ntwo", nil},
		"a halted prompt keeps everyone's notes": {"UserPromptSubmit", &pawl.Event{Trigger: pawl.PromptSubmit, Prompt: "p"}, []string{"one", `{"continue":false,"stopReason":"s"}`}, pawl.Halt, "s", []string{"one"}},
	} {
		t.Run(name, func(t *testing.T) {
			forward := make([]int, len(c.answers))
			for i := range forward {
				forward[i] = i
			}
			backward := slices.Clone(forward)
			slices.Reverse(backward)
			for _, order := range [][]int{forward, backward} {
				o := inOrder(t, order, c.ev, c.event, c.answers...)
				require.Equal(t, c.verdict, o.Verdict)
				require.Equal(t, c.reason, o.Decision().Reason)
				require.Equal(t, c.notes, o.Decision().Notes)
				require.Len(t, o.Runs(), len(c.answers))
			}
		})
	}
}

// D09: of two rewrites the later in the file stands, whichever program is quicker, and the checks are
// asked again about what will run.
func TestRewritesFollowTheFileNotTheClock(t *testing.T) {
	g := pawl.GateFunc(func(_ context.Context, c pawl.Command) (pawl.Result, error) {
		switch line := c.Args[2]; {
		case line == "guard" && strings.Contains(string(c.Stdin), `"command":"B"`):
			return pawl.Result{Code: 2, Stderr: []byte("not B")}, nil
		case line == "guard":
			return pawl.Result{}, nil
		default:
			return pawl.Result{Stdout: []byte(specific("PreToolUse", `"permissionDecision":"allow","updatedInput":{"command":"`+line+`"}`))}, nil
		}
	})
	for range 20 {
		o := dispatch(t, g, false, bash("x"), "PreToolUse", "A")
		require.Equal(t, `{"command":"A"}`, string(o.Event().Input))
		o = dispatch(t, g, false, bash("x"), "PreToolUse", "guard", "B")
		require.Equal(t, pawl.Refuse, o.Verdict, "the guard judged what would have run")
		require.Equal(t, "not B", o.Decision().Reason)
	}
}

// D01, D13: what a program says by exit code 2 holds for every tool; silence is no opinion.
func TestExitTwoRefusesForEveryTool(t *testing.T) {
	g := real(t)
	for _, tool := range []string{"Bash", "Write", "Task", "mcp__a__b"} {
		o := dispatch(t, g, false, &pawl.Event{Trigger: pawl.ToolBefore, Tool: tool, Session: "s"}, "PreToolUse",
			"cat >/dev/null; echo no >&2; exit 2")
		require.Equal(t, pawl.Refuse, o.Verdict)
		require.Equal(t, "no", o.Decision().Reason)
	}
	o := dispatch(t, g, true, &pawl.Event{Trigger: pawl.TurnStop}, "Stop", "exit 0")
	require.Equal(t, pawl.Pass, o.Verdict)
	require.Empty(t, o.Decision().Warnings)
}

// D07
func TestARefusalWithoutWordsNamesItsHook(t *testing.T) {
	g := real(t)
	for _, line := range []string{"exit 2", `echo '{"decision":"block","reason":" "}'`, `echo '` + specific("PreToolUse", `"permissionDecision":"deny"`) + `'`} {
		o := dispatch(t, g, false, bash("x"), "PreToolUse", line)
		require.Equal(t, pawl.Refuse, o.Verdict)
		require.Contains(t, o.Decision().Reason, "config-pre-tool-use-0-0")
	}
}

// D03, L06, L12, L14, O05: each way a check can fail, in both modes.
func TestAFailedCheck(t *testing.T) {
	g := real(t)
	for name, c := range map[string]struct {
		line     string
		cause    pawl.Cause
		code     int
		refusing bool // in the faithful mode too
	}{
		"it refused":           {"exit 2", "", 2, true},
		"it said nothing":      {"exit 0", "", 0, false},
		"it is not there":      {"./no-such-hook", pawl.CauseExit, 127, false},
		"it may not be run":    {"touch h && ./h", pawl.CauseExit, 126, false},
		"it failed":            {"echo WHY >&2; exit 1", pawl.CauseExit, 1, false},
		"exit 258 is 2":        {`bash -c "exit 258"`, "", 2, true},
		"exit 256 is 0":        {`bash -c "exit 256"`, "", 0, false},
		"exit -1 is 255":       {`bash -c "exit -1"`, pawl.CauseExit, 255, false},
		"130 is a plain code":  {"exit 130", pawl.CauseExit, 130, false},
		"killed":               {"kill -9 $$", pawl.CauseSignal, -1, false},
		"terminated":           {"kill -TERM $$", pawl.CauseSignal, -1, false},
		"crashed":              {"kill -SEGV $$", pawl.CauseSignal, -1, false},
		"half an answer":       {`printf '{"decision":'`, pawl.CauseOutput, 0, false},
		"a greeting before it": {`printf 'Shell ready\n{"systemMessage":"x"}\n'`, pawl.CauseOutput, 0, false},
		"a deny, then killed":  {`echo '{"decision":"block","reason":"no"}'; kill -9 $$`, pawl.CauseSignal, -1, true},
		"a deny, then failed":  {`echo '{"decision":"block","reason":"no"}'; exit 1`, pawl.CauseExit, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, strict := range []bool{false, true} {
				ev := bash("x")
				ev.Dir = t.TempDir()
				o := dispatch(t, g, strict, ev, "PreToolUse", c.line)
				run := o.Runs()[0]
				require.Equal(t, c.cause, run.Cause, "%v", run.Err)
				require.Equal(t, c.code, run.Code)
				refuses := c.refusing || strict && c.cause != ""
				require.Equal(t, refuses, o.Verdict == pawl.Refuse, "strict %v: %v", strict, o.Verdict)
				require.Equal(t, !refuses && c.cause != "", run.PassedOpen)
				if run.PassedOpen {
					require.NotEmpty(t, o.Decision().Warnings, "what failed is never silent")
				}
			}
		})
	}
}

// O01, L12: the clock runs while a program that never reads is written to; what it would do later it never does.
func TestATimeoutEndsAHookThatNeverReads(t *testing.T) {
	g := real(t)
	dir := t.TempDir()
	ev := &pawl.Event{Trigger: pawl.ToolAfter, Tool: "Bash", Dir: dir, Output: json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)}
	for _, strict := range []bool{false, true} {
		start := time.Now()
		o := dispatchWithin(t, g, strict, 150*time.Millisecond, ev, "PostToolUse", "sleep 30; touch LATE")
		require.Less(t, time.Since(start), 5*time.Second)
		require.Equal(t, pawl.CauseTimeout, o.Runs()[0].Cause)
		require.True(t, o.Runs()[0].TimedOut)
		require.Equal(t, strict, o.Verdict == pawl.Refuse)
	}
	require.NoFileExists(t, filepath.Join(dir, "LATE"))
}

// O03: every one of many hooks sees the end of its own input at once.
func TestManyHooksAtOnceEachSeeTheirInputEnd(t *testing.T) {
	lines := slices.Repeat([]string{`payload=$(cat); test ${#payload} -gt 100000 && echo read`}, 20)
	ev := &pawl.Event{Trigger: pawl.PromptSubmit, Prompt: strings.Repeat("p", 100_000)}
	o := dispatch(t, real(t), true, ev, "UserPromptSubmit", lines...)
	require.Equal(t, pawl.Pass, o.Verdict, "%v", o.Decision())
	require.Equal(t, slices.Repeat([]string{"read"}, 20), o.Decision().Notes)
}

// O05: no profile is read, so none prints into the answer.
func TestNoLoginShell(t *testing.T) {
	home := t.TempDir()
	for _, f := range []string{".profile", ".bashrc", ".bash_profile"} {
		require.NoError(t, os.WriteFile(filepath.Join(home, f), []byte("echo 'Shell ready'\n"), 0o600))
	}
	t.Setenv("HOME", home)
	t.Setenv("SHELL", "/bin/bash")
	o := dispatch(t, real(t), true, bash("x"), "PreToolUse", `echo '{"decision":"block","reason":"x"}'`)
	require.Equal(t, pawl.Refuse, o.Verdict)
	require.Equal(t, "x", o.Decision().Reason)
	require.Empty(t, o.Runs()[0].Cause)
}

// O07, O13, T10
func TestAGuardGetsTheExactBytes(t *testing.T) {
	g := real(t)
	o := dispatch(t, g, false, bash("a && b > /etc/x <y"), "PreToolUse", `grep -q "&& b > /etc" && exit 2; exit 0`)
	require.Equal(t, pawl.Refuse, o.Verdict)
	o = dispatch(t, g, false, bash(`cu""rl x`), "PreToolUse", `grep -q 'curl' && exit 2; exit 0`)
	require.Equal(t, pawl.Pass, o.Verdict, "the limit that is stated: a text guard sees text")
	o = dispatch(t, g, false, bash("x"), "PreToolUse", `echo '{"decision":"block","reason":"x"}' >&2; exit 0`)
	require.Equal(t, pawl.Pass, o.Verdict, "standard error is no answer")
}

// C01: hooks run beside each other; a refusal keeps none from starting.
func TestARefusalSilencesNobody(t *testing.T) {
	ev := bash("x")
	ev.Dir = t.TempDir()
	o := dispatch(t, real(t), false, ev, "PreToolUse", "exit 2", "touch RAN")
	require.Equal(t, pawl.Refuse, o.Verdict)
	require.FileExists(t, filepath.Join(ev.Dir, "RAN"))
	require.Len(t, o.Runs(), 2)
}

// G07: a result keeps its shape on the way to the program.
func TestAResultKeepsItsShape(t *testing.T) {
	for _, shape := range []string{`"text"`, `{"stdout":"a","stderr":""}`, `[1,2]`, `null`, `12.50`} {
		ev := &pawl.Event{Trigger: pawl.ToolAfter, Tool: "Bash", Output: json.RawMessage(shape)}
		o := dispatch(t, real(t), false, ev, "PostToolUse", `sed 's/.*"tool_response"://; s/}$//' >&2; exit 2`)
		require.Equal(t, shape, o.Decision().Reason)
	}
}

func TestARewriteOfHugeNumbersComesBackAsItWent(t *testing.T) { // O09
	ev := &pawl.Event{Trigger: pawl.ToolBefore, Tool: "mcp__a__b", Input: json.RawMessage(`{"id":9007199254740993,"x":1.0,"y":1e400}`)}
	o := dispatch(t, real(t), true, ev, "PreToolUse",
		`in=$(sed 's/.*"tool_input"://; s/,"tool_use_id".*//'); printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":%s}}' "$in"`)
	require.Equal(t, pawl.Pass, o.Verdict, "%v", o.Decision())
	require.Equal(t, `{"id":9007199254740993,"x":1.0,"y":1e400}`, string(o.Event().Input))
}

// Scripts that were written for the host, in the languages that people write them in.
func TestScriptsOfEveryKind(t *testing.T) {
	g := real(t)
	dir := t.TempDir()
	python := "import json,sys\nd=json.load(sys.stdin)\nif 'rm -rf' in d['tool_input']['command']:\n" +
		" print(json.dumps({'hookSpecificOutput':{'hookEventName':'PreToolUse','permissionDecision':'deny','permissionDecisionReason':'destructive'}}))\n"
	node := "let s='';process.stdin.on('data',c=>s+=c).on('end',()=>{const d=JSON.parse(s);" +
		"if(d.tool_input.command.includes('rm -rf')){process.stderr.write('destructive');process.exit(2)}})\n"
	shell := "#!/bin/sh\ncase $(cat) in *'rm -rf'*) echo destructive >&2; exit 2;; esac\n"
	for name, content := range map[string]string{"h.py": python, "h.js": node, "h.sh": shell} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o755))
	}
	for program, line := range map[string]string{"sh": "sh h.sh", "bash": "bash ./h.sh", "python3": "python3 h.py", "node": "node h.js"} {
		t.Run(program, func(t *testing.T) {
			if _, err := exec.LookPath(program); err != nil {
				t.Skip("not installed")
			}
			for command, want := range map[string]pawl.Verdict{"rm -rf /": pawl.Refuse, "ls": pawl.Pass} {
				ev := bash(command)
				ev.Dir = dir
				o := dispatch(t, g, true, ev, "PreToolUse", line)
				require.Equal(t, want, o.Verdict, "%v", o.Decision())
				if want == pawl.Refuse {
					require.Equal(t, "destructive", o.Decision().Reason)
				}
			}
		})
	}
}

// D13: a hook that never lets a turn stop is told that it is going on already, and is let go at the cap.
func TestAStopThatIsAlwaysRefusedEnds(t *testing.T) {
	var told []string
	g := pawl.GateFunc(func(_ context.Context, c pawl.Command) (pawl.Result, error) {
		var in struct {
			Active json.RawMessage `json:"stop_hook_active"`
		}
		require.NoError(t, json.Unmarshal(c.Stdin, &in))
		told = append(told, string(in.Active))
		return pawl.Result{Stdout: []byte(`{"decision":"block","reason":"go on"}`)}, nil
	})
	entries, issues := load(document("Stop", "check"))
	r, err := pawl.New(pawl.Options{Gate: g}, only(t, entries, issues).Hook)
	require.NoError(t, err)
	ev := pawl.Event{Trigger: pawl.TurnStop, Session: "s", Turn: "t"}
	for n := range 20 {
		o, err := r.Dispatch(context.Background(), &ev)
		require.NoError(t, err)
		if o.Verdict != pawl.Refuse {
			require.Equal(t, 8, n)
			require.True(t, o.Runs()[0].PassedOpen)
			require.NotEmpty(t, o.Decision().Warnings)
			require.Equal(t, []string{"false", "true", "true"}, told[:3])
			return
		}
		require.Equal(t, "go on", o.Decision().Reason)
		ev.StopActive = true
	}
	t.Fatal("it never ends")
}

// Nothing replaces anything: the same handler in two groups runs twice.
func TestTheSameHandlerTwiceRunsTwice(t *testing.T) {
	entries, issues := load(`{"hooks":{"Stop":[{"hooks":[` + echo + `]},{"hooks":[` + echo + `]}],
		"SessionStart":[{"matcher":"startup","hooks":[` + echo + `]},{"matcher":"startup|resume","hooks":[` + echo + `]}]}}`)
	require.Empty(t, issues)
	require.Len(t, fires(t, &pawl.Event{Trigger: pawl.TurnStop}, entries...), 2)
	require.Equal(t, []string{"project-session-start-0-0", "project-session-start-1-0"},
		fires(t, &pawl.Event{Trigger: pawl.SessionStart, Source: "startup"}, entries...))
	require.Len(t, fires(t, &pawl.Event{Trigger: pawl.SessionStart, Source: "resume"}, entries...), 1)
}

func TestWhatBecomesOfAResult(t *testing.T) {
	ev := func() *pawl.Event {
		return &pawl.Event{Trigger: pawl.ToolAfter, Tool: "Bash", Session: "s", Output: json.RawMessage(`"SECRET"`), Failed: true}
	}
	print := func(answer string) pawl.Gate {
		return pawl.GateFunc(func(context.Context, pawl.Command) (pawl.Result, error) {
			return pawl.Result{Stdout: []byte(answer)}, nil
		})
	}
	o := dispatch(t, print(`{"continue":false,"stopReason":"enough"}`), false, ev(), "PostToolUse", "x")
	require.Equal(t, pawl.Pass, o.Verdict)
	require.Equal(t, `"enough"`, string(o.Event().Output))
	require.False(t, o.Event().Failed, "not an error")

	for _, answer := range []string{`{"decision":"block","reason":"no"}`, `{"continue":false,"continue":false,"stopReason":"no"}`} {
		o = dispatch(t, print(answer), false, ev(), "PostToolUse", "x")
		require.Equal(t, pawl.Refuse, o.Verdict)
		require.Contains(t, o.Decision().Reason, "no")
		require.NotContains(t, string(o.Event().Output), "SECRET")
	}
}

// An allow answers the question that the policy left open, and no other.
func TestAnAllowNeverCoversAnAsk(t *testing.T) {
	g := pawl.GateFunc(func(context.Context, pawl.Command) (pawl.Result, error) {
		return pawl.Result{Stdout: []byte(specific("PermissionRequest", `"decision":{"behavior":"allow"}`))}, nil
	})
	ev := &pawl.Event{Trigger: pawl.ToolApproval, Tool: "Bash", Session: "s"}
	require.Equal(t, pawl.Allow, dispatch(t, g, false, ev, "PermissionRequest", "x").Verdict)
	ev.Verdict = pawl.Ask
	require.NotEqual(t, pawl.Allow, dispatch(t, g, false, ev, "PermissionRequest", "x").Verdict)
}

// An event is encoded once, however many hooks are told of it.
func TestAnEventIsEncodedOnceForAllHooks(t *testing.T) {
	seen := make(chan *byte, 8)
	g := pawl.GateFunc(func(_ context.Context, c pawl.Command) (pawl.Result, error) {
		seen <- &c.Stdin[0]
		return pawl.Result{}, nil
	})
	dispatch(t, g, false, bash("x"), "PreToolUse", "a", "b", "c")
	first := <-seen
	require.Same(t, first, <-seen)
	require.Same(t, first, <-seen)
}
