//go:build unix

package pawltest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/pawl-hooks/pawl"
)

// A model is the plainest gate that keeps the contract, with switches to break it from within.
type model struct {
	soft    bool // only asks a program to end
	alone   bool // kills the program and not its group
	patient bool // waits for every holder of the pipes
}

func (m model) Run(ctx context.Context, c pawl.Command) (pawl.Result, error) {
	if len(c.Args) == 0 {
		return pawl.Result{}, errors.New("no words")
	}
	if err := ctx.Err(); err != nil {
		return pawl.Result{}, err
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env = c.Dir, append([]string{"PATH=" + os.Getenv("PATH")}, c.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdin = bytes.NewReader(c.Stdin)
	out, err := capture(&cmd.Stdout, c.Limit)
	if err != nil {
		return pawl.Result{}, err
	}
	errs, err := capture(&cmd.Stderr, c.Limit)
	if err != nil {
		return pawl.Result{}, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		out.finish(true)
		errs.finish(true)
		return pawl.Result{}, err
	}
	stop := context.AfterFunc(ctx, func() { m.kill(cmd.Process.Pid) })
	_ = cmd.Wait() // an early close of the input is an error of its own, and none of ours
	stop()
	if !m.alone {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	res := pawl.Result{Code: cmd.ProcessState.ExitCode(), Elapsed: time.Since(start)}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		res.Signal = ws.Signal().String()
	}
	out.finish(!m.patient)
	errs.finish(!m.patient)
	res.Stdout, res.Stderr, res.Cut = out.kept, errs.kept, out.cut+errs.cut
	return res, nil
}

func (m model) kill(pid int) {
	signal := syscall.SIGKILL
	if m.soft {
		signal = syscall.SIGTERM
	}
	if m.alone {
		_ = syscall.Kill(pid, signal)
		return
	}
	_ = syscall.Kill(-pid, signal)
}

// A stream is one pipe being read: its first limit bytes kept, the others counted.
type stream struct {
	kept     []byte
	cut      int64
	limit    int
	r, w     *os.File
	finished sync.WaitGroup
}

func capture(to *io.Writer, limit int) (*stream, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if limit == 0 {
		limit = 64 << 10
	}
	s := &stream{limit: limit, r: r, w: w}
	*to = w
	s.finished.Go(func() { _, _ = io.Copy(s, r) })
	return s, nil
}

func (s *stream) Write(b []byte) (int, error) {
	n := min(len(b), s.limit-len(s.kept))
	s.kept = append(s.kept, b[:n]...)
	s.cut += int64(len(b) - n)
	return len(b), nil
}

// finish drains the pipe; when bounded it waits for its other holders only a while.
func (s *stream) finish(bounded bool) {
	_ = s.w.Close()
	if bounded {
		_ = s.r.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
	}
	s.finished.Wait()
	_ = s.r.Close()
}
