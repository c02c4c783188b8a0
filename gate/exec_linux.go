package gate

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/internal/clock"
)

func (l *launch) run(ctx context.Context, portable bool) (pawl.Result, error) {
	if portable {
		return l.runPortable(ctx)
	}
	s := newSpawned(l)
	defer s.close()
	if err := s.pipes(); err != nil {
		return pawl.Result{}, l.explain(err)
	}
	if err := s.start(ctx); err != nil {
		return pawl.Result{}, err
	}
	if err := s.watch(ctx); err != nil {
		return s.give(err)
	}
	s.follow()
	return s.finish()
}

// A spawned is a program started by the bare system calls and served by one poll loop in the goroutine of
// its caller: no goroutine of its own, no buffer but what is kept.
type spawned struct {
	*launch
	pid            int
	poll           [5]unix.PollFd
	theirs         [3]int // the program's ends of its streams
	rest           []byte // of the input, not yet written
	stdout, stderr capture
	ends           ending
	waker          waker
	null           int       // /dev/null, once something is to be dropped
	noSplice       bool      // it cannot be moved there
	first          [512]byte // what comes first passes through it: most streams hold no more
	scratch        []byte    // what is filtered passes through it

	files [4]uintptr // what the program inherits
	sys   syscall.SysProcAttr
	pidfd int
}

// The slots of spawned.poll. Each holds our descriptor, or noFD, which poll passes over.
const (
	pollIn = iota
	pollOut
	pollErr
	pollExit
	pollWake

	noFD = -1
)

func newSpawned(l *launch) *spawned {
	s := &spawned{launch: l, rest: l.stdin, ends: ending{grace: l.grace}}
	l.ready(&s.stdout)
	l.ready(&s.stderr)
	for i := range s.poll {
		s.poll[i] = unix.PollFd{Fd: noFD, Events: unix.POLLIN}
	}
	s.poll[pollIn].Events = unix.POLLOUT
	s.theirs, s.null = [3]int{noFD, noFD, noFD}, noFD
	return s
}

// pipes makes the three streams. Input that fits into its pipe is written before the program is there to
// read it, which saves waking up for it.
func (s *spawned) pipes() error {
	if len(s.rest) == 0 {
		null, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		s.theirs[0] = null
	} else {
		r, w, err := pipe()
		if err != nil {
			return err
		}
		s.theirs[0], s.poll[pollIn].Fd = r, int32(w)
		if len(s.rest) > pipeTakes {
			if err := unix.SetNonblock(w, true); err != nil {
				return err
			}
		}
		s.write()
	}
	for i, slot := range [...]int{pollOut, pollErr} {
		r, w, err := pipe()
		if err != nil {
			return err
		}
		s.poll[slot].Fd, s.theirs[1+i] = int32(r), w
	}
	return nil
}

func pipe() (r, w int, err error) {
	var p [2]int
	err = unix.Pipe2(p[:], unix.O_CLOEXEC)
	return p[0], p[1], err
}

// start starts the program, again for a while if its file is still open for writing somewhere.
func (s *spawned) start(ctx context.Context) error {
	delay := time.Millisecond
	for {
		err := s.forkExec()
		if !errors.Is(err, syscall.ETXTBSY) || delay > maxBusyDelay {
			for i, fd := range s.theirs {
				closeFD(fd)
				s.theirs[i] = noFD
			}
			if err != nil {
				return s.explain(err)
			}
			return nil
		}
		if err := sleep(ctx, delay); err != nil {
			return err
		}
		delay *= 2
	}
}

func (s *spawned) forkExec() (err error) {
	s.pidfd = noFD
	s.sys = syscall.SysProcAttr{Setpgid: true, PidFD: &s.pidfd}
	files := s.files[:0]
	for _, fd := range s.theirs {
		files = append(files, uintptr(fd))
	}
	if s.cage == nil {
		s.pid, err = s.fork(files)
	} else {
		err = s.confined(files)
	}
	s.poll[pollExit].Fd = int32(s.pidfd)
	if err != nil && s.pid > 0 { // started, and then not to be limited
		s.reap()
	}
	return err
}

func (s *spawned) confined(files []uintptr) error {
	if s.cage.image != nil {
		files = append(files, s.cage.image.Fd())
	}
	return s.cage.start(&s.sys, func() (int, error) {
		var err error
		s.pid, err = s.fork(files)
		return s.pid, err
	})
}

func (s *spawned) fork(files []uintptr) (int, error) {
	return syscall.ForkExec(s.executable(), s.args, &syscall.ProcAttr{Dir: s.dir, Env: s.env, Files: files, Sys: &s.sys})
}

// watch arms what wakes the loop beside the program's own doings.
func (s *spawned) watch(ctx context.Context) error {
	if s.poll[pollExit].Fd == noFD { // before Linux 5.3
		pidfd, err := exitEvent(s.pid)
		if err != nil {
			return err
		}
		s.poll[pollExit].Fd = int32(pidfd)
	}
	if _, bounded := ctx.Deadline(); !bounded && ctx.Done() == nil { // a bounded one may not need its channel
		return nil
	}
	fd, err := s.waker.arm(ctx)
	s.poll[pollWake].Fd = int32(fd)
	return err
}

// exitEvent returns a descriptor that can be read once the process has ended.
func exitEvent(pid int) (fd int, err error) {
	r, w, err := pipe()
	if err != nil {
		return noFD, err
	}
	go func() {
		awaitID(unix.P_PID, pid)
		unix.Close(w)
	}()
	return r, nil
}

// give ends a program that was started and cannot be watched.
func (s *spawned) give(err error) (pawl.Result, error) {
	s.signal(unix.SIGKILL)
	s.reap()
	return pawl.Result{}, s.explain(err)
}

func (s *spawned) signal(sig syscall.Signal) {
	_ = unix.Kill(-s.pid, sig) // an empty group is no error
	if sig == unix.SIGKILL {
		s.cage.kill()
	}
}

// reap takes in how the program ended; known is false where somebody else did, or the kernel was told to keep it
// from all.
func (s *spawned) reap() (ws unix.WaitStatus, known bool) {
	for {
		if _, err := unix.Wait4(s.pid, &ws, 0, nil); err != unix.EINTR {
			return ws, err == nil
		}
	}
}

// finish kills what is left, reaps the program and gathers what it said.
func (s *spawned) finish() (pawl.Result, error) {
	var res pawl.Result
	gone := s.ends.exited
	held := s.poll[pollOut].Fd != noFD || s.poll[pollErr].Fd != noFD
	linger := s.linger && gone && !held && !s.ends.cancelled && !s.ends.killed && !awaitID(unix.P_PID, s.pid)
	if !linger {
		s.signal(unix.SIGKILL)
	}
	res.Code = -1
	if gone {
		if ws, known := s.reap(); known {
			res.Code = ws.ExitStatus() // -1 where a signal did it
			if ws.Signaled() {
				res.Signal = ws.Signal().String()
			}
		}
	} else {
		go s.reap() // whenever the kernel lets go of it
	}
	g := group{s.pid}
	res.Orphans = held || !gone || linger && g.alive()
	return gather(res, &s.stdout, &s.stderr)
}

func (s *spawned) close() {
	s.waker.disarm()
	s.poll[pollWake].Fd = noFD
	for i := range s.poll {
		closeFD(int(s.poll[i].Fd))
	}
	for _, fd := range s.theirs {
		closeFD(fd)
	}
	closeFD(s.null)
}

func closeFD(fd int) {
	if fd != noFD {
		unix.Close(fd)
	}
}

// A waker is a descriptor that becomes readable when a context ends.
type waker struct {
	mu   sync.Mutex
	fd   int
	live bool
	stop func() bool
}

func (w *waker) arm(ctx context.Context) (fd int, err error) {
	if w.fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return noFD, err
	}
	w.live = true
	w.stop = clock.AfterFunc(ctx, w.wake)
	return w.fd, nil
}

func (w *waker) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.live { // else the number may be another file's by now
		_, _ = unix.Write(w.fd, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}

func (w *waker) disarm() {
	if w.stop == nil {
		return
	}
	w.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live = false
	unix.Close(w.fd)
}
