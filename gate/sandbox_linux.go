package gate

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-hooks/pawl"
)

// Check reports everything of s that this system cannot hold, or nil. It starts nothing.
func (s Sandbox) Check() error {
	c := &cage{Sandbox: &s}
	errs := []error{c.checkLandlock()}
	if s.NetNamespace && unix.Geteuid() != 0 {
		errs = append(errs, errors.New("a network namespace needs CAP_SYS_ADMIN"))
	}
	if s.Limits.Processes > 0 {
		_, err := s.pidsGroup()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// A cage is what a sandbox comes to for one program.
type cage struct {
	*Sandbox
	ruleset *os.File          // nil: no Landlock
	filter  []unix.SockFilter // of system calls
	pids    *pidsGroup        // nil: no limit
	wait    time.Duration     // for what is in pids to end, once killed
	image   *os.File          // the verified program; nil: the file itself
}

// newCage prepares all that can be prepared before the thread is restricted, and points l at what is to
// be executed.
func newCage(l *launch, cmd pawl.Command, s *Sandbox) (*cage, error) {
	c := &cage{Sandbox: s}
	err := c.prepare(l)
	if err == nil && s.Verify != nil {
		err = c.verify(l, cmd)
	}
	if err == nil {
		return c, nil
	}
	c.close()
	var start *StartError
	if errors.As(err, &start) {
		return nil, err
	}
	return nil, cannotConfine(cmd, err.Error(), err)
}

func (c *cage) prepare(l *launch) error {
	if err := c.checkLandlock(); err == nil {
		if c.ruleset, err = c.rules(l.dir); err != nil {
			return err
		}
	} else if !c.BestEffort {
		return err
	}
	c.filter = c.callFilter()
	if c.Limits.Processes > 0 {
		pids, err := c.newPidsGroup()
		if err != nil && !c.BestEffort {
			return err
		}
		c.pids, c.wait = pids, l.grace/4
		l.grace -= c.wait // so that both end with it
	}
	return nil
}

// start starts a program by fork, from a thread that is restricted first and given up afterwards.
//
// The program must not run while that thread is there: the two have one Landlock domain, so the program
// could trace the thread, and by it read all of our memory. So the program begins stopped, and goes on when
// the thread is gone.
func (c *cage) start(attr *syscall.SysProcAttr, fork func() (pid int, err error)) (err error) {
	attr.Ptrace = true
	var pid int
	thread := onLostThread(func() {
		if err = c.restrict(); err != nil {
			err = &StartError{Kind: CannotConfine, Detail: "the thread to start it from: " + err.Error(), Err: err}
			return
		}
		if pid, err = fork(); err == nil {
			err = c.hold(pid)
		}
	})
	if err != nil {
		return err
	}
	if !ended(thread) {
		_ = unix.Kill(pid, unix.SIGKILL)
		return &StartError{Kind: CannotConfine, Detail: "the thread it was started from does not end"}
	}
	return unix.Kill(pid, unix.SIGCONT)
}

// onLostThread runs do on a thread that ends with it, and returns the thread's number. The runtime makes no
// thread from a locked one, so that what do does to its own thread stays there. The main thread cannot end,
// so it is passed over.
func onLostThread(do func()) (thread int) {
	done := make(chan struct{})
	var run func()
	run = func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			go run()
			<-done
			runtime.UnlockOSThread()
			return
		}
		defer close(done)
		thread = unix.Gettid()
		do()
	}
	go run()
	<-done
	return thread
}

// ended returns once a thread of this process is gone; false: it does not go.
func ended(thread int) bool {
	for deadline := time.Now().Add(threadWait); time.Now().Before(deadline); runtime.Gosched() {
		if unix.Tgkill(unix.Getpid(), thread, 0) == unix.ESRCH {
			return true
		}
	}
	return false
}

const threadWait = 5 * time.Second // far more than the microseconds it takes

// restrict binds the calling thread, and so what it starts. Capabilities go too, root's included: with them
// a program could look into its parent's memory, load a kernel module, and more.
func (c *cage) restrict() error {
	steps := []func() error{
		func() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) },
	}
	if c.NetNamespace {
		steps = append(steps, func() error { return unix.Unshare(unix.CLONE_NEWNET) })
	}
	if c.ruleset != nil {
		steps = append(steps, func() error {
			_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, c.ruleset.Fd(), 0, 0)
			return errnoErr(errno)
		})
	}
	steps = append(steps, func() error { return setFilter(c.filter) }, dropCapabilities)
	for _, step := range steps {
		if err := step(); err != nil && !c.BestEffort {
			return err
		}
	}
	return nil
}

// dropCapabilities leaves the calling thread none. Under no_new_privs nothing it starts gets them back.
func dropCapabilities() error {
	var none [2]unix.CapUserData
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
}

func errnoErr(errno syscall.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

type limit struct {
	resource int
	value    uint64
}

// limits returns the resource limits that are asked for. They are those of setrlimit(2).
func (c *cage) limits() (list []limit) {
	add := func(resource int, value int64) {
		if value > 0 {
			list = append(list, limit{resource, uint64(value)})
		}
	}
	add(unix.RLIMIT_FSIZE, c.Limits.FileSize)
	add(unix.RLIMIT_AS, c.Limits.Memory)
	add(unix.RLIMIT_CPU, int64((c.Limits.CPU+999_999_999)/1_000_000_000))
	add(unix.RLIMIT_NOFILE, int64(c.Limits.Files))
	return list
}

// hold limits a program that asked to be traced, and leaves it stopped: the kernel halted it when its image
// was in place and before its first instruction. Only the thread that started it can let it go.
func (c *cage) hold(pid int) error {
	var ws unix.WaitStatus
	_, err := unix.Wait4(pid, &ws, unix.WALL, nil)
	for err == unix.EINTR {
		_, err = unix.Wait4(pid, &ws, unix.WALL, nil)
	}
	if err == nil && !ws.Stopped() {
		return &StartError{Kind: CannotConfine, Detail: "it ended before it could be limited"}
	}
	for _, lim := range c.limits() {
		if err == nil {
			err = unix.Prlimit(pid, lim.resource, &unix.Rlimit{Cur: lim.value, Max: lim.value}, nil)
		}
	}
	if err == nil && c.pids != nil {
		err = c.pids.add(pid)
	}
	if err != nil && !c.BestEffort {
		_ = unix.Kill(pid, unix.SIGKILL)
		_ = unix.PtraceDetach(pid)
		return &StartError{Kind: CannotConfine, Detail: "its limits: " + err.Error(), Err: err}
	}
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(pid), 0, uintptr(unix.SIGSTOP), 0, 0)
	return errnoErr(errno)
}

// kill kills what the cage holds, beside the process group.
func (c *cage) kill() {
	if c != nil && c.pids != nil {
		c.pids.kill()
	}
}

// close empties and removes the cage, and reports whether something lives on in it.
func (c *cage) close() (left bool) {
	if c == nil {
		return false
	}
	if c.ruleset != nil {
		c.ruleset.Close()
	}
	if c.image != nil {
		c.image.Close()
	}
	return c.pids != nil && c.pids.remove(c.wait) != nil
}

// startPortable is start for os/exec.
func (c *cage) startPortable(cmd *exec.Cmd, g *group) error {
	if c == nil {
		return g.start(cmd)
	}
	if c.image != nil {
		cmd.ExtraFiles = []*os.File{c.image}
	}
	err := c.start(cmd.SysProcAttr, func() (int, error) {
		err := g.start(cmd)
		return g.pid, err
	})
	if err != nil && g.pid != 0 {
		_ = cmd.Wait()
	}
	return err
}

// relativeTo returns path as it is seen from dir.
func relativeTo(dir, path string) string {
	if dir == "" || strings.HasPrefix(path, "/") {
		return path
	}
	return dir + "/" + path
}
