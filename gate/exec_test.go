//go:build unix

package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

const helperVar = "PAWL_GATE_HELPER"

// helpers are programs that this test binary turns into when helperVar names one.
var helpers = map[string]func(args []string){
	// dial connects to args[1] over the network args[0] and says how that went.
	"dial": func(args []string) {
		conn, err := net.DialTimeout(args[0], args[1], 5*time.Second)
		if err == nil {
			_, err = conn.Write([]byte("x"))
		}
		fmt.Println(err)
	},
	// storm starts args[0] sleeps and says how many it could.
	"storm": func(args []string) {
		n, _ := strconv.Atoi(args[0])
		started := 0
		for range n {
			if exec.Command("sleep", "20").Start() == nil {
				started++
			}
		}
		fmt.Println(started)
	},
	// meddle does to its parent what it must not and says how that went.
	"meddle": func([]string) {
		runtime.LockOSThread()
		parent := os.Getppid()
		fmt.Println(syscall.Kill(parent, syscall.SIGURG)) // which a Go program does not mind
		fmt.Println(attach(parent))
	},
	// about prints what it was given, as JSON.
	"about": func(args []string) {
		dir, _ := os.Getwd()
		stdin, _ := io.ReadAll(os.Stdin)
		json.NewEncoder(os.Stdout).Encode(about{args, os.Environ(), dir, string(stdin)})
	},
	// flood prints args[0] bytes on stdout and args[1] on stderr.
	"flood": func(args []string) {
		for i, w := range []*os.File{os.Stdout, os.Stderr} {
			n, _ := strconv.ParseInt(args[i], 10, 64)
			io.CopyN(w, zeros{}, n)
		}
	},
	// deaf prints without pause and obeys nothing but KILL.
	"deaf": func(args []string) {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		os.WriteFile(args[0], nil, 0o600)
		io.Copy(os.Stdout, zeros{})
	},
	// tidy says when it is ready, and on TERM cleans up and exits 0.
	"tidy": func(args []string) {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		os.WriteFile(args[0], nil, 0o600)
		<-c
		fmt.Println("tidied")
	},
	// leaver starts a sleep in a session of its own, which inherits args[0] of our streams (1, 2 or none).
	"leaver": func(args []string) {
		cmd := exec.Command("sleep", "30")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if args[0] == "1" {
			cmd.Stdout = os.Stdout
		}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, cmd.Process.Pid)
	},
	// drip prints é, byte by byte.
	"drip": func(args []string) {
		n, _ := strconv.Atoi(args[0])
		for range n {
			os.Stdout.Write([]byte{0xc3})
			os.Stdout.Write([]byte{0xa9})
		}
	},
	// unwaited is a host to whose programs somebody else attends. It prints how each way to run one saw its end.
	"unwaited": func(args []string) {
		if args[0] == "ignored" {
			signal.Ignore(syscall.SIGCHLD)
		} else {
			go func() {
				for {
					_, _ = syscall.Wait4(-1, nil, 0, nil)
				}
			}()
		}
		ctx := context.Background()
		workers := &gate.Workers{}
		for range 20 {
			for _, e := range []gate.Exec{{}, {Portable: true}} {
				res, err := e.Run(ctx, pawl.Command{Args: []string{"sh", "-c", "exit 1"}})
				fmt.Println(res.Code, res.Signal, err)
			}
		}
		greets := `echo '{"pawl":"worker","version":1}'; while read -r l; do echo '{}'; done`
		_, err := workers.Run(ctx, pawl.Command{Args: []string{"sh", "-c", greets}, Stdin: []byte("{}"), Keep: true})
		fmt.Println("kept", err, workers.Close())
	},
	// descriptors prints the numbers of the descriptors that it was handed.
	"descriptors": func([]string) { fmt.Print(handedOn()) },
}

// handedOn lists the open descriptors that a program we start would get: those not closed on exec.
func handedOn() (fds []int) {
	for fd := range 1024 {
		flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0)
		if errno == 0 && flags&syscall.FD_CLOEXEC == 0 {
			fds = append(fds, fd)
		}
	}
	return fds
}

type about struct {
	Args, Env  []string
	Dir, Stdin string
}

// attach begins to trace a process, where the system can.
var attach = func(pid int) error { return errors.ErrUnsupported }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

var used sync.Map

func TestMain(m *testing.M) {
	if name := os.Getenv(helperVar); name != "" {
		helpers[name](os.Args[1:])
		os.Exit(0)
	}
	code := m.Run()
	if runtime.GOOS != "linux" {
		for _, name := range []string{"dial", "storm", "meddle"} {
			used.Store(name, true)
		}
	}
	if code == 0 && !filtered() {
		for name := range helpers {
			if _, ok := used.Load(name); !ok {
				fmt.Println("helper never used:", name)
				code = 1
			}
		}
	}
	os.Exit(code)
}

func filtered() bool {
	for _, a := range os.Args[1:] {
		if strings.HasPrefix(a, "-test.run") || strings.HasPrefix(a, "-test.skip") || strings.HasPrefix(a, "-test.list") ||
			strings.HasPrefix(a, "-test.short") {
			return true
		}
	}
	return false
}

// Where nobody knows how a program ended, it has not ended well.
func TestAProgramThatSomebodyElseWaitedFor(t *testing.T) {
	for _, how := range []string{"ignored", "reaped"} {
		t.Run(how, func(t *testing.T) {
			res, err := gate.Exec{}.Run(t.Context(), helper(t, "unwaited", how))
			require.NoError(t, err)
			require.Zero(t, res.Code, "%s", res.Stderr)
			lines := strings.Split(strings.TrimSpace(string(res.Stdout)), "\n")
			require.Len(t, lines, 41)
			for _, line := range lines[:40] {
				if how == "ignored" {
					require.Equal(t, "-1  <nil>", line)
				}
				require.Contains(t, []string{"-1  <nil>", "1  <nil>"}, line)
			}
			require.Equal(t, "kept <nil> <nil>", lines[40])
		})
	}
}

func helper(t testing.TB, name string, args ...string) pawl.Command {
	t.Helper()
	require.Contains(t, helpers, name)
	used.Store(name, true)
	self, err := os.Executable()
	require.NoError(t, err)
	return pawl.Command{Args: append([]string{self}, args...), Env: []string{helperVar + "=" + name, "GORACE=atexit_sleep_ms=0"}}
}

func sh(script string) pawl.Command { return pawl.Command{Args: []string{"sh", "-c", script}} }

// onBoth runs a test on each way to start a program, and then looks for what was left behind.
func onBoth(t *testing.T, test func(t *testing.T, e gate.Exec)) {
	t.Helper()
	ways := map[string]gate.Exec{"portable": {Portable: true}}
	if runtime.GOOS == "linux" {
		ways["linux"] = gate.Exec{}
	}
	for name, e := range ways {
		t.Run(name, func(t *testing.T) {
			leakFree(t, func() { test(t, e) })
		})
	}
}

func leakFree(t testing.TB, do func()) {
	t.Helper()
	r, w, err := os.Pipe() // the first makes the runtime's poller, which has descriptors of its own
	require.NoError(t, err)
	require.NoError(t, errors.Join(r.SetDeadline(time.Time{}), r.Close(), w.Close()))
	goroutines, fds := runtime.NumGoroutine(), descriptors(t)
	do()
	ok := func() bool {
		return runtime.NumGoroutine() <= goroutines && descriptors(t) <= fds && len(children(t)) == 0
	}
	if !eventually(ok) {
		buf := make([]byte, 1<<16)
		t.Fatalf("left behind: goroutines %d -> %d, descriptors %d -> %d, children %v\n%s", goroutines,
			runtime.NumGoroutine(), fds, descriptors(t), children(t), buf[:runtime.Stack(buf, true)])
	}
}

// eventually polls for what the kernel or the scheduler does in its own time, which on a busy machine is long.
func eventually(ok func() bool) bool {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if ok() {
			return true
		}
	}
	return false
}

func descriptors(t testing.TB) int {
	if runtime.GOOS != "linux" {
		return 0
	}
	list, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(list)
}

// children lists our child processes, zombies included.
func children(t testing.TB) []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	var all []string
	for _, f := range tasks {
		list, _ := os.ReadFile(f)
		all = append(all, strings.Fields(string(list))...)
	}
	return all
}

// running reports whether a process is there and no zombie.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return rest != "" && rest[0] != 'Z' && rest[0] != 'X'
}

func pidIn(t testing.TB, out []byte) int {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	require.NoError(t, err, "%q", out)
	return pid
}

func startError(t testing.TB, err error) *gate.StartError {
	t.Helper()
	var e *gate.StartError
	require.ErrorAs(t, err, &e)
	return e
}

func TestWordsReachTheProgramAsTheyAre(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		words := []string{"; rm -rf /", "$(id)", "`id`", "a b", "", "'\"", "*", "日本", "\xff\xfe", "-n"}
		cmd := helper(t, "about", words...)
		cmd.Stdin = []byte("in")
		res, err := e.Run(t.Context(), cmd)
		require.NoError(t, err)
		var got about
		require.NoError(t, json.Unmarshal(bytes.ReplaceAll(res.Stdout, []byte(`\ufffd\ufffd`), []byte(`bytes`)), &got))
		words[8] = "bytes"
		require.Equal(t, words, got.Args)
		require.Equal(t, "in", got.Stdin)
		require.Zero(t, res.Code)
		require.Positive(t, res.Elapsed)
	})
}

// L06, L14
func TestHowAProgramEndedIsToldAsItWas(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		for script, want := range map[string]pawl.Result{
			"exit 0":        {},
			"exit 2":        {Code: 2},
			"exit 130":      {Code: 130},
			"exit 255":      {Code: 255},
			"kill -9 $$":    {Code: -1, Signal: "killed"},
			"kill -SEGV $$": {Code: -1, Signal: "segmentation fault"},
			"kill -TERM $$": {Code: -1, Signal: "terminated"},
		} {
			res, err := e.Run(t.Context(), sh(script))
			require.NoError(t, err, script)
			require.Equal(t, want.Code, res.Code, script)
			require.Equal(t, want.Signal, res.Signal, script)
			require.False(t, res.Orphans, script)
		}
		for code, want := range map[string]int{"258": 2, "256": 0} {
			res, err := e.Run(t.Context(), pawl.Command{Args: []string{"bash", "-c", "exit " + code}})
			require.NoError(t, err)
			require.Equal(t, want, res.Code, code)
		}
	})
}

// G01
func TestBothStreamsAreKeptApart(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		res, err := e.Run(t.Context(), sh("echo out; echo WHY >&2; exit 1"))
		require.NoError(t, err)
		require.Equal(t, "out\n", string(res.Stdout))
		require.Equal(t, "WHY\n", string(res.Stderr))
		require.Equal(t, 1, res.Code)
	})
}

func TestOutputIsCutAtTheLimitAndCounted(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		for _, c := range []struct{ out, errs, limit, cut int }{
			{0, 0, 100, 0}, {99, 0, 100, 0}, {100, 100, 100, 0}, {101, 100, 100, 1}, {100, 102, 100, 2},
			{3 << 20, 2 << 20, 4096, 5<<20 - 2*4096}, {64 << 10, 64<<10 + 1, 0, 1}, {1, 0, 1, 0}, {4 << 20, 0, 8 << 20, 0},
		} {
			name := fmt.Sprint(c)
			cmd := helper(t, "flood", strconv.Itoa(c.out), strconv.Itoa(c.errs))
			cmd.Limit = c.limit
			res, err := e.Run(t.Context(), cmd)
			require.NoError(t, err, name)
			limit := c.limit
			if limit == 0 {
				limit = 64 << 10
			}
			require.Len(t, res.Stdout, min(c.out, limit), name)
			require.Len(t, res.Stderr, min(c.errs, limit), name)
			require.EqualValues(t, c.cut, res.Cut, name)
		}
	})
}

// O11
func TestRunesWrittenByteByByteStayWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		const n = 20_000
		cmd := helper(t, "drip", strconv.Itoa(n))
		cmd.Limit = 1 << 20
		res, err := e.Run(t.Context(), cmd)
		require.NoError(t, err)
		require.Equal(t, strings.Repeat("é", n), string(res.Stdout))
	})
}

// O01
func TestAProgramThatNeverReadsIsStoppedOnTime(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		e.Grace = 2 * time.Second
		res := stopped(t, e, func(ready string) pawl.Command {
			cmd := sh("touch " + ready + "; exec sleep 600")
			cmd.Stdin = bytes.Repeat([]byte("x"), 1<<20)
			return cmd
		})
		require.Equal(t, "terminated", res.Signal)
	})
}

func TestAProgramNeedNotReadItsInput(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		for _, script := range []string{"exec <&-; echo ok; sleep 0.05", "echo ok", "head -c 1 >/dev/null; echo ok", "exec <&-; echo ok; exec >&-; sleep 0.05"} {
			cmd := sh(script)
			cmd.Stdin = bytes.Repeat([]byte("x"), 4<<20)
			res, err := e.Run(t.Context(), cmd)
			require.NoError(t, err, script)
			require.Equal(t, "ok\n", string(res.Stdout), script)
			require.Zero(t, res.Code, script)
		}
	})
}

func TestInputAndOutputLargerThanThePipesPass(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		in := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
		cmd := pawl.Command{Args: []string{"cat"}, Stdin: in, Limit: 1 << 21}
		res, err := e.Run(t.Context(), cmd)
		require.NoError(t, err)
		require.True(t, bytes.Equal(in, res.Stdout))
	})
}

func TestNoInputIsAnEmptyInput(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		res, err := e.Run(t.Context(), pawl.Command{Args: []string{"cat"}})
		require.NoError(t, err)
		require.Empty(t, res.Stdout)
	})
}

// O03
func TestEachOfManySeesTheEndOfItsOwnInput(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				cmd := sh("payload=$(cat); echo $payload")
				cmd.Stdin = fmt.Appendf(nil, "payload %d", i)
				res, err := e.Run(t.Context(), cmd)
				if err != nil || string(res.Stdout) != fmt.Sprintf("payload %d\n", i) {
					t.Errorf("run %d: %q %v", i, res.Stdout, err)
				}
			})
		}
		wg.Wait()
	})
}

func TestAProgramGetsNoDescriptorOfOursButThree(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		cmd := helper(t, "descriptors")
		cmd.Stdin = []byte("x")
		res, err := e.Run(t.Context(), cmd)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(handedOn()), string(res.Stdout)) // what was handed to us, we cannot close
	})
}

// L02
func TestABackgroundChildDoesNotHoldUpAProgramThatEnded(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		for script, code := range map[string]int{
			"sleep 30 & echo $!; exit 0":                       0,
			"sleep 30 & echo $!; exit 2":                       2,
			"sleep 30 >/dev/null 2>&1 & echo $!":               0,
			"trap '' TERM; (trap '' TERM; sleep 30) & echo $!": 0,
		} {
			res, err := e.Run(t.Context(), sh(script))
			require.NoError(t, err, script)
			require.Equal(t, code, res.Code, script)
			require.Less(t, res.Elapsed, 10*time.Second, script)
			require.False(t, res.Orphans, script)
			pid := pidIn(t, res.Stdout)
			require.True(t, eventually(func() bool { return !running(pid) }), "%s left %d", script, pid)
		}
	})
}

func TestALateChildMayFinishItsOutput(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		e.Grace = 10 * time.Second // its tenth is ample
		cmd := sh("(until [ -e early ]; do sleep 0.01; done; sleep 0.05; echo late) & echo early; : >early")
		cmd.Dir = t.TempDir()
		res, err := e.Run(t.Context(), cmd)
		require.NoError(t, err)
		require.Equal(t, "early\nlate\n", string(res.Stdout))
	})
}

func TestUnderLingerOnlyAChildThatLetGoLivesOn(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		for script, lives := range map[string]bool{
			"sleep 30 >/dev/null 2>&1 & echo $!":             true,
			"sleep 30 & echo $!":                             false, // holds the pipes
			"sleep 30 >/dev/null 2>&1 & echo $!; kill -9 $$": false, // did not end well
		} {
			cmd := sh(script)
			cmd.Linger = true
			res, err := e.Run(t.Context(), cmd)
			require.NoError(t, err, script)
			pid := pidIn(t, res.Stdout)
			require.Equal(t, lives, res.Orphans, script)
			if lives {
				require.True(t, running(pid), script)
				require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
			}
			require.True(t, eventually(func() bool { return !running(pid) }), script)
		}
		res, err := e.Run(t.Context(), pawl.Command{Args: []string{"true"}, Linger: true})
		require.NoError(t, err)
		require.False(t, res.Orphans)
	})
}

// stopped runs cmd and ends its context once the program has made the file that cmd was given.
func stopped(t testing.TB, e gate.Exec, cmd func(ready string) pawl.Command) pawl.Result {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	go func() {
		eventually(func() bool { _, err := os.Stat(ready); return err == nil })
		cancel()
	}()
	res, err := e.Run(ctx, cmd(ready))
	require.NoError(t, err)
	require.FileExists(t, ready, "it did not even get going")
	return res
}

// L04
func TestADescendantInAnotherSessionIsReported(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		e.Grace = 100 * time.Millisecond
		res, err := e.Run(t.Context(), helper(t, "leaver", "1"))
		require.NoError(t, err)
		require.True(t, res.Orphans)
		require.Zero(t, res.Code)
		require.NoError(t, syscall.Kill(pidIn(t, res.Stderr), syscall.SIGKILL))

		start := time.Now()
		res = stopped(t, e, func(ready string) pawl.Command {
			return sh("setsid sh -c 'echo $$; touch " + ready + "; exec sleep 30' & wait")
		})
		require.True(t, res.Orphans)
		require.Less(t, time.Since(start), 10*time.Second)
		require.NoError(t, syscall.Kill(pidIn(t, res.Stdout), syscall.SIGKILL))

		start = time.Now()
		res, err = e.Run(t.Context(), helper(t, "leaver", "none"))
		require.NoError(t, err)
		require.Less(t, time.Since(start), 10*time.Second)
		require.False(t, res.Orphans, "one that let go of the pipes is not seen; a sandbox with a limit of processes ends it")
		require.NoError(t, syscall.Kill(pidIn(t, res.Stderr), syscall.SIGKILL), "it lives on")
	})
}

// L12, C09
func TestAProgramThatObeysNothingIsKilled(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		e.Grace = time.Second
		res := stopped(t, e, func(ready string) pawl.Command { return helper(t, "deaf", ready) })
		require.Equal(t, "killed", res.Signal)
		require.Equal(t, -1, res.Code)
		require.False(t, res.Orphans)

		late := filepath.Join(t.TempDir(), "LATE")
		e.Grace = 100 * time.Millisecond
		stopped(t, e, func(ready string) pawl.Command {
			return sh("trap '' TERM; touch " + ready + "; sleep 3; touch " + late)
		})
		require.NoFileExists(t, late)
	})
}

func TestAProgramHasHalfTheGraceToObey(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		e.Grace = 20 * time.Second
		res := stopped(t, e, func(ready string) pawl.Command {
			return sh("trap 'echo tidied; exit 3' TERM; touch " + ready + "; while :; do sleep 0.01; done")
		})
		require.Equal(t, 3, res.Code)
		require.Equal(t, "tidied\n", string(res.Stdout))
	})
}

func TestAProgramThatEndsWellOnTermShowsItsExitCode(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		e.Grace = 20 * time.Second
		res := stopped(t, e, func(ready string) pawl.Command { return helper(t, "tidy", ready) })
		require.Equal(t, "tidied\n", string(res.Stdout))
		require.Zero(t, res.Code)
	})
}

func TestNothingStartsUnderAnEndedContext(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		ran := filepath.Join(t.TempDir(), "RAN")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := e.Run(ctx, sh("touch "+ran))
		require.ErrorIs(t, err, context.Canceled)
		require.NoFileExists(t, ran)
	})
}

func TestTheEnvironmentIsWhatIsGranted(t *testing.T) {
	host := []string{"PATH=/usr/bin:/bin", "HOME=/h", "LC_ALL=C", "LC_=x", "SECRET=s", "PATHS=no", "PWD=/elsewhere", "TZ=UTC"}
	onBoth(t, func(t *testing.T, e gate.Exec) {
		dir := t.TempDir()
		for name, c := range map[string]struct {
			exec gate.Exec
			cmd  pawl.Command
			want []string
		}{
			"the allow-list":       {want: []string{"PATH=/usr/bin:/bin", "HOME=/h", "LC_ALL=C", "LC_=x", "TZ=UTC"}},
			"and the command's":    {cmd: pawl.Command{Env: []string{"HOME=/mine", "A=1", "A=2"}}, want: []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "LC_=x", "TZ=UTC", "HOME=/mine", "A=2"}},
			"a list of one's own":  {exec: gate.Exec{Grant: []string{"PATH*"}}, want: []string{"PATH=/usr/bin:/bin", "PATHS=no"}},
			"nothing":              {exec: gate.Exec{Grant: []string{}}, cmd: pawl.Command{Env: []string{"PATH=/bin"}}, want: []string{"PATH=/bin"}},
			"everything":           {cmd: pawl.Command{Inherit: true}, want: host},
			"everything elsewhere": {cmd: pawl.Command{Inherit: true, Dir: dir}, want: append(append([]string{}, host[:6]...), "PWD="+dir, "TZ=UTC")},
		} {
			c.exec.Host, c.exec.Portable = host, e.Portable
			c.cmd.Args = []string{"env"}
			res, err := c.exec.Run(t.Context(), c.cmd)
			require.NoError(t, err, name)
			require.ElementsMatch(t, c.want, strings.Split(strings.TrimSpace(string(res.Stdout)), "\n"), name)
		}
		e.RefuseInherit = true
		_, err := e.Run(t.Context(), pawl.Command{Args: []string{"env"}, Inherit: true})
		require.ErrorIs(t, err, pawl.ErrRefused)
	})
}

func script(t testing.TB, dir, name, text string, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), mode))
	require.NoError(t, os.Chmod(path, mode))
	return path
}

// E10
func TestTheLookupUsesThePathTheProgramGets(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	onBoth(t, func(t *testing.T, e gate.Exec) {
		script(t, dir, "tools/nvm-like-tool", "#!/bin/sh\necho found\n", 0o755)
		script(t, dir, "here", "#!/bin/sh\necho here\n", 0o755)
		script(t, dir, "flat/nvm-like-tool", "", 0o644)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "folder/nvm-like-tool"), 0o755))
		e.Host = []string{"PATH=/usr/bin:/bin"}
		e.Dir = dir

		_, err := e.Run(t.Context(), pawl.Command{Args: []string{"nvm-like-tool"}})
		require.Equal(t, gate.NotFound, startError(t, err).Kind)
		require.ErrorContains(t, err, `cannot start "nvm-like-tool": not found: looked in PATH /usr/bin:/bin`)

		path := strings.Join([]string{dir + "/none", dir + "/folder", dir + "/flat", dir + "/tools"}, ":")
		res, err := e.Run(t.Context(), pawl.Command{Args: []string{"nvm-like-tool"}, Env: []string{"PATH=" + path}})
		require.NoError(t, err)
		require.Equal(t, "found\n", string(res.Stdout))

		for _, path := range []string{"", ".", ":/bin", "tools:./tools"} {
			for _, name := range []string{"here", "nvm-like-tool", ".", ".."} {
				_, err = e.Run(t.Context(), pawl.Command{Args: []string{name}, Env: []string{"PATH=" + path}})
				require.Equal(t, gate.NotFound, startError(t, err).Kind, "%s in %s", name, path)
			}
		}
		_, err = e.Run(t.Context(), pawl.Command{Args: []string{"nvm-like-tool"}, Env: []string{"PATH=" + dir + "/flat"}})
		require.Equal(t, gate.NotExecutable, startError(t, err).Kind)

		for _, word := range []string{"./here", dir + "/here", "tools/../here"} {
			res, err = e.Run(t.Context(), pawl.Command{Args: []string{word}})
			require.NoError(t, err, word)
			require.Equal(t, "here\n", string(res.Stdout))
		}
	})
}

// L10, E04
func TestWhyAProgramCouldNotStartIsSaid(t *testing.T) {
	dir := t.TempDir()
	script(t, dir, "plain", "echo hi\n", 0o755)
	script(t, dir, "empty", "", 0o755)
	script(t, dir, "bom", "\xef\xbb\xbf#!/bin/sh\necho hi\n", 0o755)
	script(t, dir, "crlf", "#!/bin/sh\r\necho hi\r\n", 0o755)
	script(t, dir, "crlf-env", "#!/usr/bin/env sh\r\necho hi\r\n", 0o755)
	script(t, dir, "lost", "#!/no/such/interpreter -x\n", 0o755)
	script(t, dir, "flat", "#!/bin/sh\n", 0o644)
	script(t, dir, "binary", "\x00\x01\x02", 0o755)
	script(t, dir, "file", "", 0o644)
	long := strings.Repeat("x", 128<<10)
	for name, c := range map[string]struct {
		cmd  pawl.Command
		kind gate.StartKind
		text string
	}{
		"no words":            {pawl.Command{}, gate.NoProgram, "no words"},
		"an empty word":       {pawl.Command{Args: []string{"", "x"}}, gate.NoProgram, "empty"},
		"a NUL in a word":     {pawl.Command{Args: []string{"true", "a\x00b"}}, gate.BadText, "word 1 has a NUL byte at offset 1"},
		"a NUL in the name":   {pawl.Command{Args: []string{"tr\x00ue"}}, gate.BadText, "word 0"},
		"a NUL in a variable": {pawl.Command{Args: []string{"true"}, Env: []string{"A=\x00"}}, gate.BadText, `"A"`},
		"no variable":         {pawl.Command{Args: []string{"true"}, Env: []string{"novalue"}}, gate.BadText, `"novalue"`},
		"no name":             {pawl.Command{Args: []string{"true"}, Env: []string{"=x"}}, gate.BadText, `"=x"`},
		"a NUL in the folder": {pawl.Command{Args: []string{"true"}, Dir: "\x00"}, gate.BadDir, "NUL"},
		"not on PATH":         {pawl.Command{Args: []string{`C:toolsguard.exe`}}, gate.NotFound, `"C:toolsguard.exe"`},
		"no such file":        {pawl.Command{Args: []string{"./none"}}, gate.NotFound, dir + "/./none"},
		"below a file":        {pawl.Command{Args: []string{"./file/none"}}, gate.NotFound, "file/none"},
		"not executable":      {pawl.Command{Args: []string{"./flat"}}, gate.NotExecutable, "chmod +x"},
		"a directory":         {pawl.Command{Args: []string{dir}}, gate.IsDirectory, dir},
		"no #! line":          {pawl.Command{Args: []string{"./plain"}}, gate.NoShebang, "no #! line: exec format error"},
		"an empty file":       {pawl.Command{Args: []string{"./empty"}}, gate.BadFormat, "empty, no #! line"},
		"a byte order mark":   {pawl.Command{Args: []string{"./bom"}}, gate.ByteOrderMark, "without one"},
		"CRLF":                {pawl.Command{Args: []string{"./crlf"}}, gate.CarriageReturn, "Unix line endings"},
		"CRLF behind env":     {pawl.Command{Args: []string{"./crlf-env"}}, gate.CarriageReturn, "Unix line endings"},
		"no interpreter":      {pawl.Command{Args: []string{"./lost"}}, gate.NoInterpreter, `"/no/such/interpreter -x"`},
		"not for this system": {pawl.Command{Args: []string{"./binary"}}, gate.BadFormat, "no program for this system"},
		"a folder gone":       {pawl.Command{Args: []string{"true"}, Dir: dir + "/gone"}, gate.BadDir, dir + "/gone"},
		"a file as folder":    {pawl.Command{Args: []string{"true"}, Dir: dir + "/file"}, gate.BadDir, "not a directory"},
		"a word too long":     {pawl.Command{Args: []string{"true", long}}, gate.TooLong, "word 1 has 131072 bytes"},
		"a variable too long": {pawl.Command{Args: []string{"true"}, Env: []string{"A=" + long}}, gate.TooLong, "variable A"},
		"a name too long":     {pawl.Command{Args: []string{"./" + long[:5000]}}, gate.TooLong, "name has 5002 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, e gate.Exec) {
				e.Dir = dir
				res, err := e.Run(t.Context(), c.cmd)
				start := startError(t, err)
				require.Equal(t, c.kind, start.Kind, "%s: %v", name, err)
				require.ErrorContains(t, err, c.text, name)
				require.Zero(t, res)
			})
		})
	}
}

// L10
func TestAShellRunsWhatTheKernelDoesNot(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		e.Dir = t.TempDir()
		script(t, e.Dir, "plain", "echo hi\n", 0o755)
		script(t, e.Dir, "empty", "", 0o755)
		res, err := e.Run(t.Context(), sh("./plain; ./empty"))
		require.NoError(t, err)
		require.Equal(t, "hi\n", string(res.Stdout))
		require.Zero(t, res.Code)
	})
}

// L08
func TestAScriptJustWrittenRuns(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for ctx.Err() == nil {
					_, _ = e.Run(ctx, pawl.Command{Args: []string{"true"}})
				}
			})
		}
		for i := range 40 {
			path := script(t, dir, fmt.Sprint("h", i), "#!/bin/sh\nexit 7\n", 0o755)
			res, err := e.Run(t.Context(), pawl.Command{Args: []string{path}})
			if err != nil || res.Code != 7 {
				t.Errorf("run %d: %+v %v", i, res, err)
			}
		}
		cancel()
		wg.Wait()
	})
}

func TestAScriptStillBeingWrittenIsWaitedForAndThenNamed(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		path := script(t, t.TempDir(), "h", "#!/bin/sh\nexit 7\n", 0o755)
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = e.Run(t.Context(), pawl.Command{Args: []string{path}})
		require.Equal(t, gate.Busy, startError(t, err).Kind)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err = e.Run(ctx, pawl.Command{Args: []string{path}})
		require.ErrorIs(t, err, context.DeadlineExceeded)

		go func() {
			time.Sleep(20 * time.Millisecond) // between two tries
			w.Close()
		}()
		res, err := e.Run(t.Context(), pawl.Command{Args: []string{path}})
		require.NoError(t, err)
		require.Equal(t, 7, res.Code)
	})
}

// secretFilter replaces one word, holding back what may be its beginning.
type secretFilter struct {
	secret string
	held   []byte
	panics bool
}

func (f *secretFilter) Write(p []byte) []byte {
	if f.panics {
		panic("boom")
	}
	all := strings.ReplaceAll(string(f.held)+string(p), f.secret, "[x]")
	n := len(all)
	for k := min(len(f.secret)-1, len(all)); k > 0; k-- {
		if strings.HasPrefix(f.secret, all[len(all)-k:]) {
			n = len(all) - k
			break
		}
	}
	f.held = []byte(all[n:])
	return []byte(all[:n])
}

func (f *secretFilter) Flush() []byte { return f.held }

func TestASecretAcrossTheCutLeavesNoFragment(t *testing.T) {
	const secret = "hunter2-hunter2"
	onBoth(t, func(t *testing.T, e gate.Exec) {
		e.Redact = func() gate.Filter { return &secretFilter{secret: secret} }
		for before := range 34 {
			cmd := sh(fmt.Sprintf("printf %%s %s; printf %%s hunter2- ; printf hunter2end >&2; printf hunter2-more", strings.Repeat("a", before)))
			cmd.Limit = 32
			res, err := e.Run(t.Context(), cmd)
			require.NoError(t, err)
			require.NotContains(t, string(res.Stdout), "hunter2-h", "%d", before)
			require.LessOrEqual(t, len(res.Stdout), 32)
			require.Equal(t, "hunter2end", string(res.Stderr), "no secret: it comes whole at the end")
			want := strings.Repeat("a", before) + "[x]"
			want = want[:min(32, len(want))]
			require.True(t, strings.HasPrefix(string(res.Stdout), want[:min(before, 29)]))
		}
	})
}

func TestAFilterThatPanicsPublishesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		e.Redact = func() gate.Filter { return &secretFilter{panics: true} }
		res, err := e.Run(t.Context(), sh("echo secret; sleep 0.01; echo more; exit 0"))
		require.ErrorContains(t, err, "boom")
		require.Zero(t, res)
	})
}

func TestManyStopsLeaveNothing(t *testing.T) { // C09
	if testing.Short() {
		t.Skip("starts a hundred programs")
	}
	onBoth(t, func(t *testing.T, e gate.Exec) {
		e.Grace = 50 * time.Millisecond
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 6 {
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
					res, err := e.Run(ctx, sh("trap '' TERM; while :; do echo y; done"))
					cancel()
					if err != nil && !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("code %d: %v", res.Code, err)
					}
				}
			})
		}
		wg.Wait()
	})
}
