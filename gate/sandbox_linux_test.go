package gate_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
	"github.com/pawl-hooks/pawl/pawltest"
)

func init() {
	attach = func(pid int) error {
		err := syscall.PtraceAttach(pid)
		if err == nil {
			_ = syscall.PtraceDetach(pid)
		}
		return err
	}
}

// confined runs a test on each way to start a program, where this system can hold the sandbox.
func confined(t *testing.T, s gate.Sandbox, test func(t *testing.T, run func(pawl.Command) (pawl.Result, error))) {
	t.Helper()
	const grace = 10 * time.Second // a busy machine takes its time to end what was killed
	confinedFor(t, s, grace, test)
}

func confinedFor(t *testing.T, s gate.Sandbox, grace time.Duration, test func(t *testing.T, run func(pawl.Command) (pawl.Result, error))) {
	t.Helper()
	if err := s.Check(); err != nil {
		t.Skip(err)
	}
	onBoth(t, func(t *testing.T, e gate.Exec) {
		e.Grace = grace
		g := s.Wrap(e)
		test(t, func(cmd pawl.Command) (pawl.Result, error) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // no attack may outlive the test
			defer cancel()
			return g.Run(ctx, cmd)
		})
	})
}

func TestAConfinedProgramWritesOnlyWhereItMay(t *testing.T) {
	inside, outside := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(outside+"/kept", []byte("kept"), 0o666))
	require.NoError(t, os.Symlink(outside+"/kept", inside+"/link"))
	require.NoError(t, os.Symlink(outside, inside+"/dir"))
	up := "../" + filepath.Base(filepath.Dir(outside)) + "/" + filepath.Base(outside)
	if rel, err := filepath.Rel(inside, outside); err == nil {
		up = rel
	}
	confined(t, gate.Sandbox{Write: []string{"."}}, func(t *testing.T, run func(pawl.Command) (pawl.Result, error)) {
		for _, attack := range []string{
			"echo x > " + outside + "/new",
			"echo x > " + outside + "/kept",
			"rm " + outside + "/kept",
			"mv " + outside + "/kept " + inside,
			"ln " + outside + "/kept " + inside + "/hard",
			"mkdir " + outside + "/new",
			"echo x > link",
			"echo x > dir/new",
			"echo x > " + up + "/new",
			"echo x > /proc/self/root" + outside + "/new",
			"echo x > /proc/self/cwd/" + up + "/new",
			"ln -s " + outside + " fresh && echo x > fresh/new",
			"truncate -s 0 " + outside + "/kept",
			"mknod null c 1 3",
			"mount -t tmpfs none " + outside,
			"chroot " + inside + " /bin/true && false",
			"echo 0 > /proc/sys/kernel/core_uses_pid",
			"echo x > /proc/$PPID/comm",
		} {
			cmd := sh(attack)
			cmd.Dir = inside
			res, err := run(cmd)
			require.NoError(t, err, attack)
			require.NotZero(t, res.Code, attack)
			os.Remove(inside + "/fresh")
			kept, err := os.ReadFile(outside + "/kept")
			require.NoError(t, err, attack)
			require.Equal(t, "kept", string(kept), attack)
			require.NoFileExists(t, outside+"/new", attack)
			require.NoFileExists(t, inside+"/hard", attack)
		}
		cmd := sh("echo x > f && mkdir d && mv f d/g && cat d/g && rm -r d && echo x > /dev/null")
		cmd.Dir = inside
		res, err := run(cmd)
		require.NoError(t, err)
		require.Zero(t, res.Code, "%s", res.Stderr)
		require.Equal(t, "x\n", string(res.Stdout))
	})
}

func TestAConfinedProgramReadsOnlyWhatItMay(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"open/a", "open/b", "secrets/key", "token"} {
		script(t, dir, name, "text", 0o644)
	}
	require.NoError(t, os.Symlink("../secrets/key", dir+"/open/link"))
	reads := func(t *testing.T, run func(pawl.Command) (pawl.Result, error), path string) bool {
		cmd := pawl.Command{Args: []string{"cat", path}, Dir: dir}
		res, err := run(cmd)
		require.NoError(t, err)
		return string(res.Stdout) == "text"
	}
	confined(t, gate.Sandbox{Hide: []string{"secrets", "token"}}, func(t *testing.T, run func(pawl.Command) (pawl.Result, error)) {
		require.True(t, reads(t, run, "open/a"))
		require.True(t, reads(t, run, "open/b"))
		for _, path := range []string{"secrets/key", "token", "open/link", "open/../token", dir + "/token", "/proc/self/cwd/token", "/proc/self/root" + dir + "/token"} {
			require.False(t, reads(t, run, path), path)
		}
	})
	system := []string{"/usr", "/bin", "/lib", "/lib64", "/etc"}
	confined(t, gate.Sandbox{Read: append(system, "open")}, func(t *testing.T, run func(pawl.Command) (pawl.Result, error)) {
		require.True(t, reads(t, run, "open/a"))
		require.False(t, reads(t, run, "token"))
		require.False(t, reads(t, run, "open/link"))
	})
}

func TestWhereNothingMayBeWrittenAttributesStay(t *testing.T) {
	dir := t.TempDir()
	file := script(t, dir, "f", "text", 0o640)
	before, err := os.Stat(file)
	require.NoError(t, err)
	confined(t, gate.Sandbox{}, func(t *testing.T, run func(pawl.Command) (pawl.Result, error)) {
		for _, attack := range []string{
			"chmod 777 " + file, "chown 1:1 " + file, "touch -d 2001-01-01 " + file,
			"python3 -c 'import os; os.setxattr(\"" + file + "\", \"user.a\", b\"b\")'",
			"python3 -c 'import os; os.chmod(\"" + file + "\", 0o777)'",
		} {
			res, err := run(sh(attack))
			require.NoError(t, err, attack)
			require.NotZero(t, res.Code, attack)
		}
		after, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, before.Mode(), after.Mode())
		require.Equal(t, before.ModTime(), after.ModTime())
	})
	confined(t, gate.Sandbox{Write: []string{dir}}, func(t *testing.T, run func(pawl.Command) (pawl.Result, error)) {
		res, err := run(sh("chmod 600 " + file + " && chmod 640 " + file))
		require.NoError(t, err)
		require.Zero(t, res.Code, "%s", res.Stderr)
	})
}

func TestWhereFilesAreHiddenDevicesAreToo(t *testing.T) {
	file, err := os.CreateTemp("/dev", "pawl-test") // stands for a disk, which holds every file
	if err != nil {
		t.Skip(err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	_, err = file.WriteString("text")
	require.NoError(t, err)
	for hidden, want := range map[string]string{t.TempDir(): "0\n16\nnull\n", "": "4\n16\nnull\n"} {
		s := gate.Sandbox{}
		if hidden != "" {
			s.Hide = []string{hidden}
		}
		confined(t, s, func(t *testing.T, run func(pawl.Command) (pawl.Result, error)) {
			res, err := run(sh("cat " + file.Name() + " | wc -c; head -c 16 /dev/urandom | wc -c; echo x > /dev/null && echo null"))
			require.NoError(t, err)
			require.Equal(t, want, string(res.Stdout), "%s", res.Stderr)
		})
	}
}

func TestWhatASandboxCannotMeanIsAnError(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/a", 0o755))
	for text, s := range map[string]gate.Sandbox{
		"Write: lstat /no: no such file":    {Write: []string{"/no/such"}},
		"Read: open /no/such: no such file": {Read: []string{"/no/such"}},
		"Hide: lstat /no: no such file":     {Hide: []string{"/no/such"}},
		"holds what is to be hidden":        {Hide: []string{dir + "/a"}, Write: []string{dir}},
	} {
		_, err := s.Wrap(gate.Exec{}).Run(t.Context(), sh("true"))
		require.Equal(t, gate.CannotConfine, startError(t, err).Kind)
		require.ErrorContains(t, err, text)
	}
	_, err := gate.Sandbox{}.Wrap(answering(pawl.Result{}, nil)).Run(t.Context(), sh("true"))
	require.ErrorContains(t, err, "put the sandbox last")
	_, err = gate.Sandbox{Limits: gate.Limits{Processes: 9}, Cgroup: dir + "/a/none"}.Wrap(gate.Exec{}).Run(t.Context(), sh("true"))
	require.Equal(t, gate.CannotConfine, startError(t, err).Kind)
	require.ErrorContains(t, err, "limit of processes needs a cgroup")
	res, err := gate.Sandbox{Limits: gate.Limits{Processes: 9}, Cgroup: dir + "/a/none", BestEffort: true}.Wrap(gate.Exec{}).Run(t.Context(), sh("echo ran"))
	require.NoError(t, err)
	require.Equal(t, "ran\n", string(res.Stdout))
}

func TestAConfinedProgramReachesNoNetwork(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer udp.Close()
	file := filepath.Join(t.TempDir(), "s")
	local, err := net.Listen("unix", file)
	require.NoError(t, err)
	defer local.Close()
	abstract, err := net.Listen("unix", fmt.Sprintf("@pawl-test-%d", os.Getpid()))
	require.NoError(t, err)
	defer abstract.Close()
	all := [][2]string{{"tcp", tcp.Addr().String()}, {"udp", udp.LocalAddr().String()}, {"unix", file}, {"unix", abstract.Addr().String()}}
	port := uint16(tcp.Addr().(*net.TCPAddr).Port)

	for name, c := range map[string]struct {
		sandbox gate.Sandbox
		reached []bool // in the order of all
	}{
		"nothing":     {gate.Sandbox{}, []bool{false, false, false, false}},
		"one port":    {gate.Sandbox{Connect: []uint16{port}}, []bool{true, false, false, false}},
		"other port":  {gate.Sandbox{Connect: []uint16{1}}, []bool{false, false, false, false}},
		"all":         {gate.Sandbox{AnyNetwork: true}, []bool{true, true, true, true}},
		"a namespace": {gate.Sandbox{AnyNetwork: true, NetNamespace: true}, []bool{false, false, true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			confined(t, c.sandbox, func(t *testing.T, run func(pawl.Command) (pawl.Result, error)) {
				for i, addr := range all {
					res, err := run(helper(t, "dial", addr[0], addr[1]))
					require.NoError(t, err)
					require.Equal(t, c.reached[i], string(res.Stdout) == "<nil>\n", "%v: %s%s", addr, res.Stdout, res.Stderr)
				}
			})
		})
	}
}

func TestAConfinedProgramCannotTouchItsParent(t *testing.T) {
	t.Setenv("PAWL_TEST_SECRET", "in-the-environment")
	confined(t, gate.Sandbox{}, func(t *testing.T, run func(pawl.Command) (pawl.Result, error)) {
		res, err := run(helper(t, "meddle"))
		require.NoError(t, err)
		require.Equal(t, "operation not permitted\noperation not permitted\n", string(res.Stdout))
		for _, name := range []string{"environ", "mem", "maps", "root/etc/passwd", "cwd/.", "fd/1", "task/*/environ"} {
			res, err = run(sh("cat /proc/$PPID/" + name))
			require.NoError(t, err)
			require.Empty(t, res.Stdout, name)
			require.NotZero(t, res.Code, name)
		}
		for range 50 { // the thread that started it must be gone
			res, err = run(sh("cat /proc/$PPID/task/*/environ"))
			require.NoError(t, err)
			require.Empty(t, res.Stdout)
		}
		res, err = run(sh("grep -e CapPrm -e CapEff -e CapInh /proc/self/status"))
		require.NoError(t, err)
		require.Equal(t, 3, strings.Count(string(res.Stdout), "\t0000000000000000\n"))
		res, err = run(sh("grep -e NoNewPrivs -e Seccomp: /proc/self/status"))
		require.NoError(t, err)
		require.Equal(t, "NoNewPrivs:\t1\nSeccomp:\t2\n", string(res.Stdout))
	})
}

func TestAStormOfProcessesStopsAtTheLimit(t *testing.T) {
	const limit = 50
	before := cgroups()
	s := gate.Sandbox{Limits: gate.Limits{Processes: limit}}
	confined(t, s, func(t *testing.T, run func(pawl.Command) (pawl.Result, error)) {
		res, err := run(helper(t, "storm", "200"))
		require.NoError(t, err)
		started := pidIn(t, res.Stdout)
		require.Positive(t, started)
		require.Less(t, started, limit)
		require.False(t, res.Orphans)
	})
	require.True(t, eventually(func() bool { return len(cgroups()) <= len(before) }), "%s, were %s", cgroups(), before)
}

// Without a cgroup one that let go of the pipes is not even seen (TestADescendantInAnotherSessionIsReported).
func TestADescendantInAnotherSessionEndsWithItsCgroup(t *testing.T) {
	s := gate.Sandbox{Limits: gate.Limits{Processes: 50}}
	confinedFor(t, s, 2*time.Second, func(t *testing.T, run func(pawl.Command) (pawl.Result, error)) {
		for _, holds := range []string{"1", "none"} {
			for _, linger := range []bool{false, true} {
				cmd := helper(t, "leaver", holds)
				cmd.Linger = linger
				res, err := run(cmd)
				require.NoError(t, err)
				require.False(t, res.Orphans)
				require.False(t, running(pidIn(t, res.Stderr)), "holds %s, linger %v", holds, linger)
			}
		}
	})
}

// cgroups lists those made for programs, by this process or another.
func cgroups() (list []string) {
	for _, dir := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} {
		found, _ := filepath.Glob(dir + "/pawl-*")
		list = append(list, found...)
	}
	return list
}

func TestAConfinedProgramKeepsToItsLimits(t *testing.T) {
	dir := t.TempDir()
	s := gate.Sandbox{Write: []string{dir}, Limits: gate.Limits{FileSize: 64 << 10, Memory: 256 << 20, CPU: 900 * time.Millisecond, Files: 32}}
	var spins sync.Once // a second of a core is enough
	confined(t, s, func(t *testing.T, run func(pawl.Command) (pawl.Result, error)) {
		res, err := run(sh("ulimit -f; ulimit -v; ulimit -t; ulimit -n; ulimit -H -t; ulimit -f unlimited"))
		require.NoError(t, err)
		require.Equal(t, []string{"128", "262144", "1", "32", "1"}, strings.Fields(string(res.Stdout))[:5])

		res, err = run(sh("head -c 1000000 /dev/zero > " + dir + "/big"))
		require.NoError(t, err)
		require.NotZero(t, res.Code)
		info, err := os.Stat(dir + "/big")
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(64<<10))

		spins.Do(func() {
			res, err := run(sh("while :; do :; done"))
			require.NoError(t, err)
			require.NotEmpty(t, res.Signal)
		})

		res, err = run(sh("head -c 600000000 /dev/zero | tail -n 1 | wc -c"))
		require.NoError(t, err)
		require.Contains(t, string(res.Stderr), "memory")
	})
}

func TestTheBytesThatWereTrustedRun(t *testing.T) {
	dir := t.TempDir()
	good := "#!/bin/sh\necho good $1\n"
	for _, swap := range []string{"rewrite", "replace"} {
		s := gate.Sandbox{Verify: func(_ pawl.Command, path string, sum [sha256.Size]byte) error {
			if sum != sha256.Sum256([]byte(good)) {
				return errors.New("its digest is not the trusted one")
			}
			if swap == "replace" { // the moment an attacker waits for
				_ = os.Remove(path)
			}
			return os.WriteFile(path, []byte("#!/bin/sh\necho evil\n"), 0o755)
		}}
		confined(t, s, func(t *testing.T, run func(pawl.Command) (pawl.Result, error)) {
			script(t, dir, "h", good, 0o755)
			res, err := run(pawl.Command{Args: []string{"./h", "arg"}, Dir: dir})
			require.NoError(t, err)
			require.Equal(t, "good arg\n", string(res.Stdout), "%s", res.Stderr)

			_, err = run(pawl.Command{Args: []string{"./h", "arg"}, Dir: dir})
			require.Equal(t, gate.NotWhatWasAsked, startError(t, err).Kind)
			require.ErrorContains(t, err, "its digest is not the trusted one")

			_, err = run(pawl.Command{Args: []string{"./none"}, Dir: dir})
			require.Equal(t, gate.NotFound, startError(t, err).Kind)
			_, err = run(pawl.Command{Args: []string{dir}})
			require.Equal(t, gate.IsDirectory, startError(t, err).Kind)
		})
	}
	s := gate.Sandbox{Verify: func(pawl.Command, string, [sha256.Size]byte) error { return nil }}
	confined(t, s, func(t *testing.T, run func(pawl.Command) (pawl.Result, error)) {
		res, err := run(pawl.Command{Args: []string{"cat"}, Stdin: []byte("a program, not a script")})
		require.NoError(t, err)
		require.Equal(t, "a program, not a script", string(res.Stdout))
	})
}

// Whatever confines a thread must stay on it: while many programs are started in sandboxes, every other
// thread of this process goes on writing files and opening sockets.
func TestADomainNeverLeaks(t *testing.T) {
	dir := t.TempDir()
	s := gate.Sandbox{Limits: gate.Limits{Files: 64}}
	confined(t, s, func(t *testing.T, run func(pawl.Command) (pawl.Result, error)) {
		ctx, cancel := context.WithCancel(t.Context())
		var free, caged sync.WaitGroup
		for i := range 4 {
			free.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), []byte("x"), 0o600); err != nil {
						t.Error(err)
						return
					}
					l, err := net.Listen("tcp", "127.0.0.1:0")
					if err != nil {
						t.Error(err)
						return
					}
					l.Close()
				}
			})
		}
		for range 4 {
			caged.Go(func() {
				for range 25 {
					res, err := run(sh("echo x > " + dir + "/caged"))
					if err != nil || res.Code == 0 {
						t.Errorf("not confined: %d %v", res.Code, err)
					}
				}
			})
		}
		caged.Wait()
		cancel()
		free.Wait()
		require.NoFileExists(t, dir+"/caged")
		threads, err := filepath.Glob("/proc/self/task/*/status")
		require.NoError(t, err)
		for _, file := range threads {
			status, err := os.ReadFile(file)
			if err != nil {
				continue // ended meanwhile
			}
			require.Contains(t, string(status), "NoNewPrivs:\t0", file)
			require.Contains(t, string(status), "Seccomp:\t0", file)
			require.Contains(t, string(status), ownCapabilities(t), file)
		}
	})
}

// ownCapabilities returns the line that says what the main thread may do.
func ownCapabilities(t *testing.T) string {
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(status), "CapEff:")
	line, _, _ := strings.Cut(rest, "\n")
	return "CapEff:" + line
}

func TestTheWholeChainWithASandboxKeepsTheContractOfAGate(t *testing.T) {
	dir := t.TempDir()
	box := gate.Sandbox{Write: []string{dir}, Limits: gate.Limits{Processes: 100, Files: 256}}
	if err := box.Check(); err != nil {
		t.Skip(err)
	}
	require.NoError(t, pawltest.TestGate(pawltest.GateKit{
		Dir: dir,
		New: func() pawl.Gate {
			policy := &gate.Policy{Rules: []gate.Rule{act("exec.*", gate.Allow)}}
			return gate.Chain(gate.Record{Log: new(lines)}.Wrap, policy.Wrap, box.Wrap)(gate.Exec{Grace: brief})
		},
	}))
}

func TestEachAttackIsRecorded(t *testing.T) {
	outside := t.TempDir()
	log := new(lines)
	box := gate.Sandbox{Limits: gate.Limits{Processes: 50}}
	if err := box.Check(); err != nil {
		t.Skip(err)
	}
	g := gate.Chain(gate.Record{Log: log}.Wrap, box.Wrap)(gate.Exec{})
	attacks := []string{"echo x > " + outside + "/f", "cat /proc/$PPID/environ", "kill -URG $PPID", "exec 3<>/dev/tcp/127.0.0.1/9"}
	for i, attack := range attacks {
		cmd := pawl.Command{ID: fmt.Sprint("hook:attack:", i), Args: []string{"bash", "-c", attack}}
		_, err := g.Run(t.Context(), cmd)
		require.NoError(t, err)
		require.Len(t, log.text, 2*i+2, attack)
		require.Contains(t, log.text[2*i], cmd.ID)
		require.Contains(t, log.text[2*i+1], `"is_error":true`, attack)
	}
	require.NoFileExists(t, outside+"/f")
}

func TestASandboxNobodyCanHoldIsNotPretended(t *testing.T) {
	require.NoError(t, gate.Sandbox{BestEffort: true}.Check())
	err := gate.Sandbox{Limits: gate.Limits{Processes: 1}, Cgroup: t.TempDir() + "/none"}.Check()
	require.ErrorContains(t, err, "limit of processes")
}

// A kept program is confined from its start on, and asked by the same sandbox alone.
func TestAKeptProgramIsConfined(t *testing.T) {
	w := new(gate.Workers)
	keeping(t, w, func(t *testing.T) {
		if err := (gate.Sandbox{}).Check(); err != nil {
			t.Skip(err)
		}
		dir := t.TempDir()
		cmd := sh(`echo '` + greeting + `'; while read -r line; do touch "$line" 2>/dev/null && echo '{"yes":1}' || echo '{"no":1}'; done`)
		cmd.Keep, cmd.Stdin = true, []byte(filepath.Join(dir, "file"))
		confined := gate.Sandbox{}.Wrap(w)
		for _, c := range []struct {
			gate pawl.Gate
			want string
		}{{confined, `{"no":1}`}, {w, `{"yes":1}`}, {confined, `{"no":1}`}, {gate.Sandbox{Write: []string{dir}}.Wrap(w), `{"yes":1}`}} {
			res, err := c.gate.Run(t.Context(), cmd)
			require.NoError(t, err)
			require.Equal(t, c.want, string(res.Stdout))
		}
		require.Len(t, children(t), 3)
		_, err := gate.Sandbox{Read: []string{"/no/such"}}.Wrap(w).Run(t.Context(), cmd)
		require.Equal(t, gate.CannotConfine, startError(t, err).Kind)
	})
}
