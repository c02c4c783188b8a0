//go:build unix

package gate_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/gate"
	"github.com/pawl-hooks/pawl/wire"
)

// keptAnswer is what the helper "kept" answers, beside doing what it was asked to.
type keptAnswer struct {
	PID, N   int
	Got, Var string
}

func init() {
	helpers["kept"] = func([]string) {
		fmt.Println(greeting)
		in := bufio.NewScanner(os.Stdin)
		in.Buffer(nil, 16<<20)
		for n := 1; in.Scan(); n++ {
			keptDoes(in.Text(), n)
		}
	}
}

// keptDoes does what the first word of a question says, and by default answers.
func keptDoes(question string, n int) {
	word, arg, _ := strings.Cut(question, " ")
	answer, _ := json.Marshal(keptAnswer{os.Getpid(), n, question, os.Getenv(gate.WorkerVar)})
	line := string(answer) + "\n"
	switch word {
	case "die":
		fmt.Fprintln(os.Stderr, "why it died")
		os.Exit(3)
	case "leave":
		os.Exit(0)
	case "half":
		fmt.Print(`{"verdict":"refuse","reason":"so far"}`)
		os.Exit(0)
	case "blank":
		line = "\n"
	case "twice":
		line += line
	case "flood":
		line = strings.Repeat("x", 1<<20) + "\n"
	case "large":
		line = `{"x":"` + strings.Repeat("x", len(question)-8) + "\"}\n"
	case "close":
		os.Stdout.Close()
		time.Sleep(time.Minute)
	case "chat":
		line = "checking...\n"
	case "hang":
		signal.Ignore(syscall.SIGTERM)
		_ = exec.Command("sleep", "60").Start()
		os.WriteFile(arg, nil, 0o600)
		select {}
	case "late":
		time.Sleep(time.Minute)
	case "wait": // for a file, beside one that says that it waits
		os.WriteFile(waits(arg), nil, 0o600)
		for _, err := os.Stat(arg); err != nil; _, err = os.Stat(arg) {
			time.Sleep(time.Millisecond)
		}
	case "warn":
		fmt.Fprint(os.Stderr, strings.Repeat("w", 1<<20))
	case "child":
		cmd := exec.Command("sleep", "60")
		_ = cmd.Start()
		line = fmt.Sprintln(cmd.Process.Pid)
	case "then-die":
		fmt.Print(line)
		os.Exit(1)
	case "then-speak":
		fmt.Print(line)
		for _, err := os.Stat(arg); err != nil; _, err = os.Stat(arg) {
			time.Sleep(time.Millisecond)
		}
		fmt.Println("unasked")
		os.Remove(arg)
		return
	}
	fmt.Print(line)
}

// waits names the file that the helper makes when it waits for another.
func waits(file string) string { return file + ".waits" }

// kept is a question to the helper.
func kept(t testing.TB, question string) pawl.Command {
	cmd := helper(t, "kept")
	cmd.Keep, cmd.Stdin = true, []byte(question)
	return cmd
}

// keeping runs a test on a Workers and looks for what it leaves behind.
func keeping(t *testing.T, w *gate.Workers, test func(t *testing.T)) {
	t.Helper()
	w.Exec.Grace = time.Second
	leakFree(t, func() {
		defer w.Close()
		test(t)
	})
}

func answered(t testing.TB, w pawl.Gate, question string) (a keptAnswer) {
	t.Helper()
	res, err := w.Run(t.Context(), kept(t, question))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(res.Stdout, &a), "%q", res.Stdout)
	return a
}

func workerError(t testing.TB, err error, kind gate.WorkerKind, cause pawl.Cause) *gate.WorkerError {
	t.Helper()
	var e *gate.WorkerError
	require.ErrorAs(t, err, &e)
	require.Equal(t, kind, e.Kind, err)
	var f *pawl.Failure
	require.ErrorAs(t, err, &f)
	require.Equal(t, cause, f.Cause)
	return e
}

func TestAKeptProgramAnswersLineByLine(t *testing.T) {
	w := new(gate.Workers)
	keeping(t, w, func(t *testing.T) {
		first := answered(t, w, "one\n")
		require.Equal(t, keptAnswer{first.PID, 1, "one", "1"}, first)
		for i := range 100 {
			require.Equal(t, keptAnswer{first.PID, 2 + i, "more", "1"}, answered(t, w, "more"))
		}
		require.Len(t, children(t), 1)
		big := "large " + strings.Repeat("y", 4<<20)
		cmd := kept(t, big)
		cmd.Limit = 5 << 20
		res, err := w.Run(t.Context(), cmd)
		require.NoError(t, err)
		require.Len(t, res.Stdout, len(big))
		require.Zero(t, res.Cut)
		require.Positive(t, res.Elapsed)
	})
}

func TestOneProgramForEachOfWhatStartsIt(t *testing.T) {
	w := new(gate.Workers)
	keeping(t, w, func(t *testing.T) {
		seen := map[int]string{}
		for name, change := range map[string]func(*pawl.Command){
			"same":      func(*pawl.Command) {},
			"arguments": func(c *pawl.Command) { c.Args = append(c.Args, "x") },
			"directory": func(c *pawl.Command) { c.Dir = os.TempDir() },
			"variables": func(c *pawl.Command) { c.Env = append(c.Env, "A=1") },
			"inherits":  func(c *pawl.Command) { c.Inherit = true },
			"limit":     func(c *pawl.Command) { c.Limit = 4096 },
		} {
			cmd := kept(t, "q")
			change(&cmd)
			for n := 1; n <= 2; n++ {
				res, err := w.Run(t.Context(), cmd)
				require.NoError(t, err)
				var a keptAnswer
				require.NoError(t, json.Unmarshal(res.Stdout, &a))
				require.Equal(t, n, a.N, name)
				require.Contains(t, []string{"", name}, seen[a.PID])
				seen[a.PID] = name
			}
		}
	})
}

// Who asked for marks is believed in nothing else, whoever printed it: here the program, before its answer.
func TestOfAWorkerThatEchoesOnlyALineWithItsMarkIsAnAnswer(t *testing.T) {
	w := new(gate.Workers)
	script := `echo '{"pawl":"worker","version":1,"echo":true}'; while read -r mark event; do case $event in
stray) echo '{"verdict":"allow"}'; echo "$mark {}";;
glued) printf Loading; echo "$mark {}";;
unmarked) echo '{"verdict":"allow"}';;
last) echo "$last {}";;
two) printf '%s {}\n' "$mark" "$mark";;
blank) echo "$mark ";;
large) head -c 65528 /dev/zero | tr '\0' x | sed "s/.*/$mark {\"x\":\"&\"}/"; echo;;
larger) head -c 65529 /dev/zero | tr '\0' x | sed "s/.*/$mark {\"x\":\"&\"}/"; echo;;
chat) echo "$mark checking...";;
half) printf '%s' "$mark {}"; exit;;
*) echo "$mark {\"to\":\"$event\",\"mark\":${#mark}}";; esac; last=$mark; done`
	keeping(t, w, func(t *testing.T) {
		ask := func(text string) (pawl.Result, error) {
			return w.Run(t.Context(), pawl.Command{Args: []string{"sh", "-c", script}, Keep: true, Stdin: []byte(text)})
		}
		good := func() {
			for range 2 {
				res, err := ask("a question")
				require.NoError(t, err)
				require.Equal(t, `{"to":"a question","mark":16}`, string(res.Stdout))
			}
		}
		for text, kind := range map[string]gate.WorkerKind{
			"stray": gate.SpokeUnasked, "glued": gate.SpokeUnasked, "unmarked": gate.SpokeUnasked, "last": gate.SpokeUnasked, "two": gate.SpokeUnasked,
			"blank": gate.NoAnswer, "chat": gate.NoAnswer, "larger": gate.TooMuch, "half": gate.NoAnswer,
		} {
			good()
			_, err := ask(text)
			workerError(t, err, kind, pawl.CauseOutput)
		}
		good()
		res, err := ask("large")
		require.NoError(t, err)
		require.Len(t, res.Stdout, 65536, "the mark is not counted")
		good()
	})
}

// A program that fails as a worker fails its hook, and another stands in its place for the next question.
func TestAWorkerThatFailsFailsItsHookAndIsStartedAgain(t *testing.T) {
	for question, want := range map[string]struct {
		res    pawl.Result
		kind   gate.WorkerKind // of the error; empty: the result says it
		says   string
		stdout string
	}{
		"die":   {res: pawl.Result{Code: 3, Stderr: []byte("why it died\n")}},
		"leave": {kind: gate.NoAnswer, says: "ended with exit code 0"},
		"half":  {kind: gate.NoAnswer, says: "ended with exit code 0", stdout: `{"verdict":"refuse","reason":"so far"}`},
		"blank": {kind: gate.NoAnswer, says: "an empty line; {} is"},
		"close": {kind: gate.NoAnswer, says: "closed its standard output and went on"},
		"chat":  {kind: gate.NoAnswer, says: `printed "checking...", which is no JSON object`},
		"twice": {kind: gate.SpokeUnasked, says: "behind its answer it printed"},
		"flood": {kind: gate.TooMuch, says: "more than the 65536 bytes", stdout: strings.Repeat("x", 64<<10)},
	} {
		t.Run(question, func(t *testing.T) {
			w := new(gate.Workers)
			keeping(t, w, func(t *testing.T) {
				before := answered(t, w, "q")
				res, err := w.Run(t.Context(), kept(t, question))
				if want.kind == "" {
					require.NoError(t, err)
					require.Equal(t, want.res.Code, res.Code)
					require.Equal(t, string(want.res.Stderr), string(res.Stderr))
				} else {
					require.ErrorContains(t, err, want.says)
					workerError(t, err, want.kind, pawl.CauseOutput)
				}
				if want.stdout != "" {
					require.Equal(t, want.stdout, string(res.Stdout))
				}
				require.False(t, running(before.PID))
				after := answered(t, w, "q")
				require.NotEqual(t, before.PID, after.PID)
				require.Equal(t, 1, after.N)
			})
		})
	}
}

func TestAProgramThatIsNoWorkerIsToldWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		kind   gate.WorkerKind
		says   []string
	}{
		"answers at once":       {`echo '{"verdict":"pass"}'; cat`, gate.NoGreeting, []string{`printed "{\"verdict\":\"pass\"}"`, `{"pawl":"worker","version":1}`, "must not ask for it"}},
		"prints words":          {"echo Loading; cat", gate.NoGreeting, []string{`"Loading"`}},
		"prints lines":          {"printf '{\n}\n'; cat", gate.NoGreeting, []string{`printed "{"`}},
		"prints without an end": {"head -c 100000 /dev/zero | tr '\\0' x; cat", gate.NoGreeting, []string{"xxx"}},
		"reads all its input":   {"cat >/dev/null; echo '{}'", gate.NoGreeting, []string{"did not greet within", `{"pawl":"worker","version":1}`}},
		"ends":                  {"echo oops >&2; exit 7", gate.NoGreeting, []string{"exit status: 7", `it said "oops"`}},
		"ends well":             {"exit 0", gate.NoGreeting, []string{"exit status: 0"}},
		"is killed":             {"kill -9 $$", gate.NoGreeting, []string{"killed by signal: killed"}},
		"half a greeting":       {`printf '{"pawl":"worker"'`, gate.NoGreeting, []string{"before it greeted", `{\"pawl\"`}},
		"is too new":            {`echo '{"pawl":"worker","version":2}'; cat`, gate.WrongVersion, []string{"in version 2", "version 1 is spoken"}},
		"names no version":      {`echo '{"pawl":"worker"}'; cat`, gate.WrongVersion, []string{"in version 0"}},
		"says more":             {"echo '" + greeting + "\n{}'; cat", gate.SpokeUnasked, []string{`printed "{}\n"`}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &gate.Workers{Greeting: 200 * time.Millisecond}
			if !strings.Contains(c.script, "/dev/null") {
				w.Greeting = 0
			}
			keeping(t, w, func(t *testing.T) {
				cmd := sh(c.script)
				cmd.Keep, cmd.Stdin = true, []byte("{}\n")
				res, err := w.Run(t.Context(), cmd)
				cause := pawl.CauseStart
				if c.kind == gate.SpokeUnasked {
					cause = pawl.CauseOutput
				}
				e := workerError(t, err, c.kind, cause)
				require.Equal(t, "sh", e.Arg0)
				for _, says := range c.says {
					require.ErrorContains(t, err, says)
				}
				require.Empty(t, res.Stdout, "an answer that nobody asked for")
			})
		})
	}
}

// A hook that is no worker and says so by silence is told what to do, in the place of a timeout, with how it
// was ended.
func TestAHookThatNeverGreetsIsToldWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		script, says   string
		greets, limits time.Duration
	}{
		"it reads all of its input": {`cat >/dev/null; echo '{"verdict":"pass"}'`, "did not greet within", 300 * time.Millisecond, time.Minute},
		// three quarters of its hook's time
		"its answer has no end of line": {`printf '{"verdict":"pass"}'; exec sleep 60`, `it printed "{\"verdict\":\"pass\"}"`, 0, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			w := &gate.Workers{Greeting: c.greets}
			keeping(t, w, func(t *testing.T) {
				p := command.Program{Name: "check", Args: []string{"sh", "-c", c.script}, Keep: true, Codec: wire.JSON{}}
				r, err := pawl.New(pawl.Options{Gate: w}, pawl.Hook{Name: "check", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Timeout: c.limits, Handler: p})
				require.NoError(t, err)
				out, err := r.Dispatch(t.Context(), call("s", "x"))
				require.NoError(t, err)
				require.Equal(t, pawl.Refuse, out.Verdict)
				require.Contains(t, out.Decision().Reason, c.says)
				require.Contains(t, out.Decision().Reason, `{"pawl":"worker","version":1}`)
				require.Contains(t, out.Decision().Reason, "drop keep")
				run := out.Runs()[0]
				require.Equal(t, pawl.CauseStart, run.Cause)
				if c.says != "did not greet within" { // that one ends well at the end of its input, if TERM is not there first
					require.Equal(t, "terminated", run.Signal)
				}
			})
		})
	}
}

func TestAProgramThatCannotStartIsNamedAsByExec(t *testing.T) {
	w := new(gate.Workers)
	keeping(t, w, func(t *testing.T) {
		for range 5 { // and is not rested
			_, err := w.Run(t.Context(), pawl.Command{Args: []string{"/no/such"}, Keep: true, Stdin: []byte("{}")})
			require.Equal(t, gate.NotFound, startError(t, err).Kind)
		}
	})
}

func TestAQuestionIsOneLine(t *testing.T) {
	w := new(gate.Workers)
	for _, text := range []string{"", "\n", "a\nb", "a\n\n", "a\rb", "a\r\n"} {
		_, err := w.Run(t.Context(), kept(t, text))
		workerError(t, err, gate.NoLine, pawl.CauseStart)
	}
	_, err := w.Run(t.Context(), pawl.Command{Keep: true})
	workerError(t, err, gate.NoLine, pawl.CauseStart)
}

func TestExecKeepsNothing(t *testing.T) {
	for _, e := range []pawl.Gate{gate.Exec{}, gate.Exec{Portable: true}, gate.Sandbox{BestEffort: true}.Wrap(gate.Exec{})} {
		_, err := e.Run(t.Context(), kept(t, "q"))
		require.Equal(t, gate.CannotKeep, startError(t, err).Kind)
		require.ErrorContains(t, err, "put gate.Workers in its place")
	}
}

func TestWhatIsNotToBeKeptRunsOnce(t *testing.T) {
	w := new(gate.Workers)
	keeping(t, w, func(t *testing.T) {
		res, err := w.Run(t.Context(), sh("cat; exit 4"))
		require.NoError(t, err)
		require.Equal(t, 4, res.Code)
		require.NoError(t, w.Close())
		_, err = w.Run(t.Context(), sh("exit 0"))
		require.NoError(t, err)
	})
}

// The group of a hung program is killed, children included, within the grace of any program.
func TestAHungWorkerIsKilledWithItsGroup(t *testing.T) {
	w := new(gate.Workers)
	keeping(t, w, func(t *testing.T) {
		before := answered(t, w, "q")
		ready := filepath.Join(t.TempDir(), "ready")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var since time.Time
		go func() {
			eventually(func() bool { _, err := os.Stat(ready); return err == nil })
			since = time.Now()
			cancel()
		}()
		res, err := w.Run(ctx, kept(t, "hang "+ready))
		require.NoError(t, err)
		require.Equal(t, "killed", res.Signal)
		require.Equal(t, -1, res.Code)
		require.Less(t, time.Since(since), w.Exec.Grace)
		require.False(t, running(before.PID))
		require.Empty(t, children(t))
		require.NotEqual(t, before.PID, answered(t, w, "q").PID)
	})
}

// An answer to an earlier question cannot come late: who did not answer in time is no more.
func TestALateAnswerIsNobodys(t *testing.T) {
	w := new(gate.Workers)
	keeping(t, w, func(t *testing.T) {
		before := answered(t, w, "q")
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		res, err := w.Run(ctx, kept(t, "late"))
		require.NoError(t, err)
		require.Empty(t, res.Stdout)
		require.NotZero(t, res.Code)
		after := answered(t, w, "q")
		require.NotEqual(t, before.PID, after.PID)
		require.Equal(t, "q", after.Got)
	})
}

func TestAWorkerThatSpeaksBeforeItIsAskedFailsTheNextQuestion(t *testing.T) {
	w := new(gate.Workers)
	keeping(t, w, func(t *testing.T) {
		said := filepath.Join(t.TempDir(), "said")
		answered(t, w, "then-speak "+said)
		require.NoError(t, os.WriteFile(said, nil, 0o600))
		require.True(t, eventually(func() bool { _, err := os.Stat(said); return err != nil }))
		_, err := w.Run(t.Context(), kept(t, "q"))
		e := workerError(t, err, gate.SpokeUnasked, pawl.CauseOutput)
		require.Contains(t, e.Detail, "unasked")
		require.Equal(t, 1, answered(t, w, "q").N)
	})
}

func TestAWorkerThatEndsBetweenQuestionsIsReplaced(t *testing.T) {
	w := new(gate.Workers)
	keeping(t, w, func(t *testing.T) {
		reaped := func(pid int) {
			t.Helper()
			require.True(t, eventually(func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }), "it is reaped without being asked")
		}
		for range 4 {
			a := answered(t, w, "then-die")
			require.Equal(t, 1, a.N)
			reaped(a.PID)
		}
		a := answered(t, w, "q")
		require.NoError(t, syscall.Kill(a.PID, syscall.SIGKILL))
		reaped(a.PID)
		require.Equal(t, 1, answered(t, w, "q").N)
	})
}

func TestOneThatFailsAgainAndAgainRests(t *testing.T) {
	w := &gate.Workers{Backoff: 700 * time.Millisecond} // then twice that, which is not waited for
	keeping(t, w, func(t *testing.T) {
		began, tries := time.Now(), 0
		for ; ; tries++ {
			_, err := w.Run(t.Context(), kept(t, "blank"))
			if e := (*gate.WorkerError)(nil); errors.As(err, &e) && e.Kind == gate.Resting {
				require.Regexp(t, fmt.Sprintf(`failed %d times in a row and rests for another \d\.\d+s; the last time it gave no answer: it printed an empty line`, tries), err.Error())
				break
			}
			workerError(t, err, gate.NoAnswer, pawl.CauseOutput)
		}
		require.GreaterOrEqual(t, tries, 3, "a single failure is no pause, and a short one is waited for")
		require.Greater(t, time.Since(began), w.Backoff)
		other := kept(t, "q")
		other.Args = append(other.Args, "other")
		_, err := w.Run(t.Context(), other)
		require.NoError(t, err, "another command does not rest")
	})
}

// overdue is a context whose time is over when it is done.
type overdue struct {
	context.Context
	done chan struct{}
}

func (c overdue) Done() <-chan struct{} { return c.done }

func (c overdue) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestOneThatRestsIsNamedAlsoWhereItWasLate(t *testing.T) {
	w := &gate.Workers{Backoff: time.Hour}
	keeping(t, w, func(t *testing.T) {
		for i := range 2 {
			asked := filepath.Join(t.TempDir(), "asked")
			ctx := overdue{t.Context(), make(chan struct{})}
			go func() {
				eventually(func() bool { _, err := os.Stat(asked); return err == nil })
				close(ctx.done)
			}()
			_, err := w.Run(ctx, kept(t, "hang "+asked))
			require.NoError(t, err, "what is late is judged by the hook's clock: %d", i)
		}
		_, err := w.Run(t.Context(), kept(t, "q"))
		workerError(t, err, gate.Resting, pawl.CauseStart)
		require.ErrorContains(t, err, kept(t, "q").Args[0])
		require.ErrorContains(t, err, "the last time: it did not answer in time")
	})
}

func TestAGoodAnswerEndsTheRest(t *testing.T) {
	w := &gate.Workers{Backoff: time.Hour}
	keeping(t, w, func(t *testing.T) {
		for range 3 {
			_, err := w.Run(t.Context(), kept(t, "blank"))
			workerError(t, err, gate.NoAnswer, pawl.CauseOutput)
			answered(t, w, "q")
		}
	})
}

func TestManyQuestionsWaitForTheirTurn(t *testing.T) {
	w := &gate.Workers{Each: 2, Max: 3}
	keeping(t, w, func(t *testing.T) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		pids := map[int]int{}
		for i := range 60 {
			wg.Go(func() {
				cmd := kept(t, fmt.Sprint("q", i))
				cmd.Args = append(cmd.Args, fmt.Sprint(i%4))
				res, err := w.Run(context.Background(), cmd)
				var a keptAnswer
				if err != nil || json.Unmarshal(res.Stdout, &a) != nil || a.Got != fmt.Sprint("q", i) {
					t.Errorf("%d: %v %s", i, err, res.Stdout)
				}
				mu.Lock()
				pids[a.PID]++
				mu.Unlock()
			})
		}
		wg.Wait()
		require.NotEmpty(t, pids)
		require.LessOrEqual(t, len(children(t)), 4)
	})
}

// A question that would wait long gets a program of its own, up to Each.
func TestABusyWorkerGetsHelp(t *testing.T) {
	w := &gate.Workers{Each: 2}
	keeping(t, w, func(t *testing.T) {
		first := answered(t, w, "q")
		goOn := busy(t, w)
		require.NotEqual(t, first.PID, answered(t, w, "q").PID)
		require.Len(t, children(t), 2)
		require.Equal(t, first.PID, goOn().PID)
	})
}

// busy lets the program that is kept wait until goOn is called.
func busy(t *testing.T, w *gate.Workers) (goOn func() keptAnswer) {
	file := filepath.Join(t.TempDir(), "go")
	done := make(chan keptAnswer)
	go func() {
		defer close(done) // also where it fails
		done <- answered(t, w, "wait "+file)
	}()
	require.True(t, eventually(func() bool { _, err := os.Stat(waits(file)); return err == nil }))
	return func() keptAnswer {
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		return <-done
	}
}

// An impatient context ends when somebody begins to wait for its end.
type impatient struct {
	context.Context
	cancel func()
}

func (c impatient) Done() <-chan struct{} {
	c.cancel()
	return c.Context.Done()
}

func TestWhoWaitsForATurnGivesUpWithItsContext(t *testing.T) {
	w := &gate.Workers{Each: 1}
	keeping(t, w, func(t *testing.T) {
		first := answered(t, w, "q")
		goOn := busy(t, w)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := w.Run(impatient{ctx, cancel}, kept(t, "q"))
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, first.PID, goOn().PID)
	})
}

func TestAnIdleWorkerIsEnded(t *testing.T) {
	w := &gate.Workers{Idle: 20 * time.Millisecond}
	keeping(t, w, func(t *testing.T) {
		answered(t, w, "q")
		require.True(t, eventually(func() bool { return len(children(t)) == 0 }))
		require.Equal(t, 1, answered(t, w, "q").N)
	})
}

func TestTheOneIdleForLongestMakesRoom(t *testing.T) {
	w := &gate.Workers{Max: 2}
	keeping(t, w, func(t *testing.T) {
		ask := func(which string) (a keptAnswer) {
			cmd := kept(t, "q")
			cmd.Args = append(cmd.Args, which)
			res, err := w.Run(t.Context(), cmd)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(res.Stdout, &a))
			return a
		}
		a := ask("a")
		ask("b")
		ask("c")
		require.True(t, eventually(func() bool { return !running(a.PID) && len(children(t)) == 2 }))
		require.Equal(t, 2, ask("b").N)
		require.Equal(t, 1, ask("a").N)
	})
}

func TestStandardErrorIsDrainedAndCut(t *testing.T) {
	w := new(gate.Workers)
	keeping(t, w, func(t *testing.T) {
		answered(t, w, "warn")
		res, err := w.Run(t.Context(), kept(t, "q"))
		require.NoError(t, err)
		require.LessOrEqual(t, len(res.Stderr), 64<<10)
		answered(t, w, "warn")
	})
}

func TestTheAnswerPassesTheRedactor(t *testing.T) {
	w := &gate.Workers{Exec: gate.Exec{Redact: (&gate.Redactor{Shapes: true}).Filter}}
	keeping(t, w, func(t *testing.T) {
		res, err := w.Run(t.Context(), kept(t, "ghp_0123456789abcdefghijABCDEFGHIJ012345"))
		require.NoError(t, err)
		require.NotContains(t, string(res.Stdout), "ghp_0123456789")
		require.Contains(t, string(res.Stdout), "redacted")
	})
}

func TestCloseEndsWhoIsAsked(t *testing.T) {
	w := new(gate.Workers)
	keeping(t, w, func(t *testing.T) {
		answered(t, w, "q")
		failed := make(chan error)
		go func() {
			_, err := w.Run(context.Background(), kept(t, "late"))
			failed <- err
		}()
		require.False(t, eventuallyWithin(30*time.Millisecond, func() bool { return len(failed) > 0 }))
		go w.Close()
		workerError(t, <-failed, gate.Stopped, pawl.CauseStart)
		require.NoError(t, w.Close())
		require.Empty(t, children(t))
		_, err := w.Run(t.Context(), kept(t, "q"))
		workerError(t, err, gate.Stopped, pawl.CauseStart)
	})
}

func eventuallyWithin(limit time.Duration, ok func() bool) bool {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if ok() {
			return true
		}
	}
	return false
}

func TestNothingIsKeptUnderAnEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := new(gate.Workers).Run(ctx, kept(t, "q"))
	require.ErrorIs(t, err, context.Canceled)
}

// asking makes a registry with one kept hook, the helper's answers in pawl's JSON.
func asking(t testing.TB, g pawl.Gate, log pawl.Log, w *gate.Workers, hooks ...pawl.Hook) *pawl.Registry {
	script := `echo '` + greeting + `'; n=0; while read -r line; do n=$((n+1)); case $line in
*'"command":"bad"'*) echo '{"verdict":"refuse","reason":"no '$n' depth '$HOOK_DEPTH'"}';;
*'"command":"two"'*) printf '{"verdict":"refuse","reason":"first"}\n{}\n';;
*'"command":"die"'*) echo dying >&2; exit 9;;
*'"command":"hang"'*) sleep 60;;
*) echo '{}';; esac; done`
	program := command.Program{Name: "check", Args: []string{"sh", "-c", script}, Keep: true, Codec: wire.JSON{}}
	hooks = append(hooks,
		pawl.Hook{Name: "check", On: pawl.ToolBefore, Match: pawl.Names("Bash"), Effects: pawl.MayRefuse, Timeout: time.Minute, Handler: program},
		pawl.Hook{Name: "check-soon", On: pawl.ToolBefore, Match: pawl.Names("Soon"), Effects: pawl.MayRefuse, Timeout: 300 * time.Millisecond, Handler: program},
		pawl.Hook{Name: "bye", On: pawl.SessionEnd, Handler: program}, w.SessionEnd())
	r, err := pawl.New(pawl.Options{Gate: g, Log: log}, hooks...)
	require.NoError(t, err)
	return r
}

func call(session, text string) *pawl.Event {
	in, _ := json.Marshal(map[string]string{"command": text})
	return &pawl.Event{Trigger: pawl.ToolBefore, Session: session, Call: "c1", Tool: "Bash", Input: in}
}

func TestAKeptHookFailsLikeAnyHook(t *testing.T) {
	w := new(gate.Workers)
	log := new(lines)
	keeping(t, w, func(t *testing.T) {
		r := asking(t, gate.Chain(gate.Record{Log: log}.Wrap)(w), nil, w)
		for _, c := range []struct {
			text    string
			verdict pawl.Verdict
			cause   pawl.Cause
			reason  string
		}{
			{"good", pawl.Pass, "", ""},
			{"bad", pawl.Refuse, "", "hook check refused: no 2 depth 1"},
			{"two", pawl.Refuse, pawl.CauseOutput, "hook check refused: first"},
			{"bad", pawl.Refuse, "", "no 1 depth 1"},
			{"die", pawl.Refuse, pawl.CauseExit, "exit code 9: dying"},
			{"good", pawl.Pass, "", ""},
			{"hang", pawl.Refuse, pawl.CauseTimeout, "longer than its timeout"},
			{"good", pawl.Pass, "", ""},
		} {
			ev := call("s1", c.text)
			if c.text == "hang" {
				ev.Tool = "Soon" // whose hook, the same program, has little time
			}
			out, err := r.Dispatch(t.Context(), ev)
			require.NoError(t, err)
			require.Equal(t, c.verdict, out.Verdict, c.text)
			require.Equal(t, c.cause, out.Runs()[0].Cause, c.text)
			require.Equal(t, pawl.Ran, out.Runs()[0].Outcome)
			require.Contains(t, out.Decision().Reason, c.reason)
		}
		require.Regexp(t, `"worker":\{"pid":\d+,"uses":2,"restarts":0\}`, log.text[3])
		require.Regexp(t, `"worker":\{"pid":\d+,"uses":1,"restarts":3\}`, log.text[15])
	})
}

func TestTheEndOfASessionEndsItsWorkers(t *testing.T) {
	w := new(gate.Workers)
	keeping(t, w, func(t *testing.T) {
		r := asking(t, w, nil, w)
		for _, session := range []string{"s1", "s2"} {
			_, err := r.Dispatch(t.Context(), call(session, "good"))
			require.NoError(t, err)
		}
		require.Len(t, children(t), 2)
		_, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.SessionEnd, Session: "s1", Source: "other"})
		require.NoError(t, err)
		require.Len(t, children(t), 1)
		w.EndSession("none")
		w.EndSession("s2")
		require.Empty(t, children(t))
	})
}

// A program that is asked about the end of its session is gone once it has answered, whoever else cares.
func TestAWorkerDoesNotOutliveTheEndOfItsSession(t *testing.T) {
	w := new(gate.Workers)
	keeping(t, w, func(t *testing.T) {
		program := command.Program{Name: "bye", Args: []string{"sh", "-c", "echo '" + greeting + "'; while read -r l; do echo '{}'; done"}, Keep: true, Codec: wire.JSON{}}
		r, err := pawl.New(pawl.Options{Gate: w}, pawl.Hook{Name: "bye", On: pawl.SessionEnd, Handler: program})
		require.NoError(t, err)
		out, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.SessionEnd, Session: "s1", Source: "other"})
		require.NoError(t, err)
		require.Empty(t, out.Decision().Warnings)
		require.Empty(t, children(t))
	})
}

// The policy is asked again about every question, whoever was started before.
func TestThePolicyDecidesOnEveryQuestion(t *testing.T) {
	w := new(gate.Workers)
	keeping(t, w, func(t *testing.T) {
		promises := new(gate.Promises)
		policy := &gate.Policy{Rules: []gate.Rule{{Action: "exec.*", Decision: gate.Allow}}, Promises: promises}
		r := asking(t, gate.Chain(policy.Wrap)(w), nil, w)
		out, err := r.Dispatch(t.Context(), call("s", "good"))
		require.NoError(t, err)
		require.Equal(t, pawl.Pass, out.Verdict, out.Decision().Reason)
		require.NoError(t, promises.Add(gate.Rule{Action: "exec.*", Decision: gate.Deny}))
		out, err = r.Dispatch(t.Context(), call("s", "good"))
		require.NoError(t, err)
		require.Equal(t, pawl.Refuse, out.Verdict)
		require.Equal(t, pawl.CausePolicy, out.Runs()[0].Cause)
		require.Len(t, children(t), 1, "it is still kept")
	})
}

func TestAnAnswerByExitCodeCannotBeKept(t *testing.T) {
	p := command.Program{Name: "flags", Args: []string{"true"}, Keep: true}
	r, err := pawl.New(pawl.Options{Gate: new(gate.Workers)}, pawl.Hook{Name: "flags", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Handler: p})
	require.NoError(t, err)
	out, err := r.Dispatch(t.Context(), call("s", "x"))
	require.NoError(t, err)
	require.Equal(t, pawl.Refuse, out.Verdict)
	require.Contains(t, out.Decision().Reason, "answer in lines")
}
