//go:build unix

package gate

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const canKeep = true

// A polled waits on the pipes of a program in the goroutine of who asks: the way through the runtime's poller
// takes longer than many an answer.
type polled struct {
	in, out, stop int // descriptors; out and in do not block
	stopR, stopW  *os.File
}

func newLine(in, out *os.File) (_ line, err error) {
	l := new(polled)
	if l.stopR, l.stopW, err = os.Pipe(); err != nil {
		return l, err
	}
	for fd, f := range map[*int]*os.File{&l.in: in, &l.out: out, &l.stop: l.stopR} {
		raw, rawErr := f.SyscallConn()
		if rawErr == nil {
			rawErr = raw.Control(func(n uintptr) { *fd = int(n) })
		}
		err = errors.Join(err, rawErr)
	}
	if err != nil {
		l.close()
	}
	return l, err
}

func (l *polled) close() {
	l.stopR.Close()
	l.stopW.Close()
}

func (l *polled) interrupt() { _, _ = l.stopW.Write([]byte{1}) }

func (l *polled) read(buf []byte) (n int, err error) {
	for {
		if err := l.await(l.out, unix.POLLIN); err != nil {
			return 0, err
		}
		n, err = l.pending(buf)
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (l *polled) pending(buf []byte) (n int, err error) {
	for {
		n, err = unix.Read(l.out, buf)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return 0, nil
		case err != nil || n == 0:
			return 0, errEnded
		default:
			return n, nil
		}
	}
}

func (l *polled) write(text []byte) error {
	for len(text) > 0 {
		n, err := unix.Write(l.in, text)
		switch {
		case err == unix.EAGAIN:
			if err := l.await(l.in, unix.POLLOUT); err != nil {
				return err
			}
		case err == unix.EINTR:
		case err != nil:
			return errEnded
		default:
			text = text[n:]
		}
	}
	return nil
}

func (l *polled) await(fd int, what int16) error {
	fds := [...]unix.PollFd{{Fd: int32(fd), Events: what}, {Fd: int32(l.stop), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds[:], -1)
		switch {
		case err == unix.EINTR: // the runtime's own signals end every poll
		case err != nil:
			return errEnded
		case fds[1].Revents != 0:
			return errInterrupted
		default:
			return nil
		}
	}
}
