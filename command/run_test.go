//go:build unix

package command_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/gate"
	"github.com/pawl-hooks/pawl/pawltest"
	"github.com/pawl-hooks/pawl/wire"
)

// These run real programs through a real gate and a whole dispatch.

var refuse = command.Flags{Output: command.OutputRefuse}

// guard is a hook that may do all that its trigger carries.
func guard(p command.Program) pawl.Hook {
	p.Name = "guard"
	return pawl.Hook{
		Name: "guard", On: pawl.ToolBefore, Handler: p, Timeout: 20 * time.Second,
		Effects: pawl.MayRefuse | pawl.MayHalt | pawl.MayNote | pawl.MayRewrite,
	}
}

func sh(codec command.Codec, line string) command.Program {
	return command.Program{Args: command.Shell(line), Codec: codec, Limit: 1 << 20}
}

// fire dispatches one call to one hook and returns what came of it, and the hook's record.
func fire(t *testing.T, h pawl.Hook, ev *pawl.Event) (pawl.Outcome, *pawl.Run) {
	t.Helper()
	log := &pawltest.Log{}
	r, err := pawl.New(pawl.Options{Gate: gate.Exec{}, Log: log, Grace: 30 * time.Second}, h)
	require.NoError(t, err)
	ev.Trigger, ev.Tool, ev.Call = pawl.ToolBefore, "Bash", "c1"
	if ev.Dir == "" {
		ev.Dir = t.TempDir()
	}
	o, err := r.Dispatch(t.Context(), ev)
	require.NoError(t, err)
	require.NotEmpty(t, log.Runs())
	return o, log.Runs()[0]
}

// L14, L06: the record has the code as it was received, and a signal is none.
func TestTheEndOfARealProgramIsItsAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		line   string
		want   pawl.Verdict
		code   int
		cause  pawl.Cause
		reason string
	}{
		"exit 0":               {`echo fine`, pawl.Pass, 0, "", ""},
		"exit 256 is 0":        {`exit 256`, pawl.Pass, 0, "", ""},
		"exit 1":               {`echo out; echo err >&2; exit 1`, pawl.Refuse, 1, "", "hook guard refused: out\nerr"},
		"exit 258 is 2":        {`exit 258`, pawl.Refuse, 2, "", "hook guard refused: exit code 2, and it printed nothing"},
		"exit 130 is no ^C":    {`exit 130`, pawl.Refuse, 130, "", "hook guard refused: exit code 130, and it printed nothing"},
		"killed":               {`kill -9 $$`, pawl.Refuse, -1, pawl.CauseSignal, ""},
		"a fault in memory":    {`kill -SEGV $$`, pawl.Refuse, -1, pawl.CauseSignal, ""},
		"told to end":          {`kill -TERM $$`, pawl.Refuse, -1, pawl.CauseSignal, ""},
		"a program of another": {`no-such-program-anywhere`, pawl.Refuse, 127, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o, run := fire(t, guard(sh(refuse, c.line)), &pawl.Event{})
			require.Equal(t, c.want, o.Verdict)
			require.Equal(t, pawl.Ran, run.Outcome)
			require.Equal(t, c.code, run.Code)
			require.Equal(t, c.cause, run.Cause)
			require.Equal(t, c.code != 0, run.Errored)
			if c.reason != "" {
				require.Equal(t, c.reason, o.Decision().Reason)
			}
			if c.want == pawl.Refuse {
				require.Contains(t, o.Decision().Reason, "guard") // G05
			}
		})
	}
}

// H5: nothing parses a word.
func TestAWordReachesTheProgramAsOneArgument(t *testing.T) {
	word := "; touch PWNED `touch PWNED` $(touch PWNED) \"'"
	dir := t.TempDir()
	p := command.Program{Args: []string{"/bin/sh", "-c", `printf '[%s]' "$@"; exit 1`, "sh", word}, Codec: command.Flags{Inputs: []string{"tool"}, Output: command.OutputRefuse}}
	o, _ := fire(t, guard(p), &pawl.Event{Dir: dir})
	require.Equal(t, "hook guard refused: ["+word+"][--tool][Bash]", o.Decision().Reason)
	require.NoFileExists(t, filepath.Join(dir, "PWNED"))
}

// What the codec tells as arguments are the shell's own behind a line, which sees them as $1: a line that goes
// without its shell does not get them either, and one that asks for them keeps its shell.
func TestALineGetsTheSameArgumentsWithoutItsShell(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "show"), []byte("#!/bin/sh\nprintf '[%s]' \"$@\"; exit 1\n"), 0o755)
	for line, want := range map[string]string{`./show a`: "[a]", `./show a "$@"`: "[a][Bash]"} {
		for _, direct := range [][]string{nil, command.Direct(line)} {
			p := command.Program{Args: command.Shell(line), Direct: direct, Codec: command.Flags{Inputs: []string{"tool"}, Output: command.OutputRefuse}}
			o, _ := fire(t, guard(p), &pawl.Event{Dir: dir})
			require.Equal(t, "hook guard refused: "+want, o.Decision().Reason, "%s %q", line, direct)
		}
	}
	require.NotNil(t, command.Direct(`./show a`))
}

// H19, L12: the end of the time is the end of the check, whatever the program says of it.
func TestATimeoutRefusesThoughTheProgramExitsWith0(t *testing.T) {
	for name, line := range map[string]string{
		"it goes in peace":    `trap 'exit 0' TERM; while :; do sleep 0.01; done`,
		"it does not go":      `trap '' TERM; while :; do sleep 0.01; done`,
		"it answered before":  `echo '{"verdict":"allow"}'; exec sleep 600`,
		"it never reads":      `exec sleep 600`, // O01
		"its child has pipes": `sleep 600 & sleep 600`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := guard(sh(wire.JSON{}, line))
			h.Timeout = 300 * time.Millisecond
			start := time.Now()
			o, run := fire(t, h, &pawl.Event{Input: json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)})
			require.Less(t, time.Since(start), 30*time.Second)
			require.Equal(t, pawl.Refuse, o.Verdict)
			require.Equal(t, pawl.CauseTimeout, run.Cause)
			require.True(t, run.TimedOut)
		})
	}
}

// H9, E10: a program that is not there could not run, and says which.
func TestAProgramThatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "bin", "nvm-like-tool"), []byte("#!/bin/sh\necho found; exit 1\n"), 0o755)
	p := command.Program{Args: []string{"nvm-like-tool"}, Codec: refuse}
	o, run := fire(t, guard(p), &pawl.Event{})
	require.Equal(t, pawl.Refuse, o.Verdict)
	require.Equal(t, pawl.CouldNotRun, run.Outcome)
	require.Equal(t, pawl.CauseStart, run.Cause)
	require.Contains(t, o.Decision().Reason, "nvm-like-tool")

	p.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":/usr/bin:/bin"}
	o, run = fire(t, guard(p), &pawl.Event{})
	require.Equal(t, pawl.Ran, run.Outcome, "the hook's own PATH is the one it is looked up on")
	require.Equal(t, "hook guard refused: found", o.Decision().Reason)
}

// T08, E02, E08: a directory's name is no shell code and finds its script.
func TestADirectoryOfAnyNameIsADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `x$(touch PWNED)"; touch PWNED2; "'`+"\n(1)")
	write(t, filepath.Join(dir, "h.sh"), []byte("#!/bin/sh\npwd; exit 1\n"), 0o755)
	for name, p := range map[string]command.Program{
		"an argument":            {Args: []string{filepath.Join(dir, "h.sh")}},
		"below the event's":      {Args: []string{"./h.sh"}},
		"a variable of the line": {Args: command.Shell(`"$PROJECT_DIR"/h.sh`), Env: []string{"PROJECT_DIR=" + dir}},
	} {
		t.Run(name, func(t *testing.T) {
			p.Codec = refuse
			o, run := fire(t, guard(p), &pawl.Event{Dir: dir})
			require.Equal(t, "hook guard refused: "+dir, o.Decision().Reason)
			require.Equal(t, 1, run.Code)
			files, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, files, 1)
		})
	}
	// The variable without quotes is the author's slip, and never a success.
	p := sh(refuse, `$PROJECT_DIR/h.sh`)
	p.Env = []string{"PROJECT_DIR=" + dir}
	o, run := fire(t, guard(p), &pawl.Event{Dir: t.TempDir()})
	require.Equal(t, pawl.Refuse, o.Verdict)
	require.NotZero(t, run.Code)
	require.NotEmpty(t, run.Stderr)
}

// O07, O09: what the tool would be given reaches the program byte for byte, and comes back so.
func TestTheEventArrivesByteForByte(t *testing.T) {
	input := json.RawMessage(`{"command":"a && b > /etc/x <y` + "\u2028" + `","id":9007199254740993,"x":1.0,"y":1e400}`)
	grep := `grep -q '&& b > /etc/x <y` + "\u2028" + `' && echo '{"verdict":"refuse","reason":"seen"}'`
	o, _ := fire(t, guard(sh(wire.JSON{}, grep)), &pawl.Event{Input: input})
	require.Equal(t, "hook guard refused: seen", o.Decision().Reason)

	echo := `sed 's/.*"input":\(.*\)}$/{"input":\1}/; s/"command":"[^"]*"/"command":"changed"/'`
	o, run := fire(t, guard(sh(wire.JSON{}, echo)), &pawl.Event{Input: input})
	require.Empty(t, run.Cause, run.Err)
	require.Equal(t, `{"command":"changed","id":9007199254740993,"x":1.0,"y":1e400}`, string(o.Event().Input))
}

// O05: a greeting is no answer, and no silence either.
func TestATextBeforeTheAnswerFailsAndTheRefusalStands(t *testing.T) {
	h := guard(sh(wire.JSON{}, `printf 'Shell ready\n{"verdict":"refuse","reason":"x"}\n'`))
	h.FailOpen = true
	o, run := fire(t, h, &pawl.Event{})
	require.Equal(t, pawl.CauseOutput, run.Cause)
	require.Equal(t, pawl.Refuse, o.Verdict)
	require.Equal(t, "hook guard refused: x", o.Decision().Reason)

	o, run = fire(t, guard(sh(wire.JSON{}, `echo Shell ready`)), &pawl.Event{})
	require.Equal(t, pawl.CauseOutput, run.Cause)
	require.Equal(t, pawl.Refuse, o.Verdict)
}

// O11: characters may be written in pieces.
func TestManyCharactersInPieces(t *testing.T) {
	pieces := `printf '{"verdict":"refuse","reason":"'; i=0; while [ $i -lt 500 ]; do printf '\303'; printf '\251'; i=$((i+1)); done; printf '"}'`
	o, _ := fire(t, guard(sh(wire.JSON{}, pieces)), &pawl.Event{})
	require.Equal(t, "hook guard refused: "+strings.Repeat("é", 500), o.Decision().Reason)
}

// O13, G01: standard error is told and never read.
func TestStandardErrorIsNoAnswer(t *testing.T) {
	o, run := fire(t, guard(sh(wire.JSON{}, `echo '{"verdict":"halt"}' >&2`)), &pawl.Event{})
	require.Equal(t, pawl.Pass, o.Verdict)
	require.Contains(t, run.Stderr, "halt")

	o, run = fire(t, guard(sh(wire.JSON{}, `echo WHY >&2; exit 3`)), &pawl.Event{})
	require.Equal(t, pawl.Refuse, o.Verdict)
	require.Equal(t, pawl.CauseExit, run.Cause)
	require.Contains(t, o.Decision().Reason, "exit code 3: WHY")
	require.Contains(t, run.Stderr, "WHY")
}

// O03: every hook sees the end of its own payload.
func TestManyProgramsAtOnceReadTheirInputToTheEnd(t *testing.T) {
	log := &pawltest.Log{}
	var hooks []pawl.Hook
	for i := range 20 {
		h := guard(sh(wire.JSON{}, `payload=$(cat); printf '{"notes":["%s"]}' "${#payload}"`))
		h.Name = fmt.Sprint("hook-", i)
		hooks = append(hooks, h)
	}
	r, err := pawl.New(pawl.Options{Gate: gate.Exec{}, Log: log}, hooks...)
	require.NoError(t, err)
	ev := &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash", Dir: t.TempDir(), Input: json.RawMessage(`"` + strings.Repeat("x", 200_000) + `"`)}
	o, err := r.Dispatch(t.Context(), ev)
	require.NoError(t, err)
	line, err := wire.EncodeEvent(ev)
	require.NoError(t, err)
	require.Len(t, o.Decision().Notes, 20)
	for _, note := range o.Decision().Notes {
		require.Equal(t, fmt.Sprint(len(line)), note)
	}
}

// E04: a Windows path written without quotes says which program was looked for.
func TestAPathThatLostItsBackslashesIsShownAsItWasRun(t *testing.T) {
	words, err := command.SplitFor(`C:\hooks\guard.exe --x`, false)
	require.NoError(t, err)
	o, run := fire(t, guard(command.Program{Args: words, Codec: refuse}), &pawl.Event{})
	require.Equal(t, pawl.CouldNotRun, run.Outcome)
	require.Equal(t, pawl.Refuse, o.Verdict)
	require.Contains(t, o.Decision().Reason, "C:hooksguard.exe")
}
