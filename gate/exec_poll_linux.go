package gate

import (
	"time"

	"golang.org/x/sys/unix"
)

// follow serves the program until it and its streams have ended or it is time to leave them.
func (s *spawned) follow() {
	for !s.ends.exited || s.poll[pollOut].Fd != noFD || s.poll[pollErr].Fd != noFD {
		if _, err := unix.Ppoll(s.poll[:], s.timeout(), nil); err == nil {
			s.serve()
		} // else EINTR: the runtime's own signals end every poll
		if s.ends.killAt.IsZero() {
			continue
		}
		kill, leave := s.ends.due(time.Now())
		if kill {
			s.signal(unix.SIGKILL)
		}
		if leave {
			return
		}
	}
}

// timeout returns how long to poll; nil is for ever.
func (s *spawned) timeout() *unix.Timespec {
	at, ok := s.ends.next()
	if !ok {
		return nil
	}
	ts := unix.NsecToTimespec(max(0, time.Until(at).Nanoseconds()))
	return &ts
}

// serve does what the poll found.
func (s *spawned) serve() {
	if s.poll[pollWake].Revents != 0 {
		s.poll[pollWake].Fd = noFD // its waker closes it
		if s.ends.cancel(time.Now()) {
			s.signal(unix.SIGTERM)
		}
	}
	if s.poll[pollIn].Revents != 0 {
		s.write()
	}
	if s.poll[pollOut].Revents != 0 {
		s.read(pollOut, s.stdout)
	}
	if s.poll[pollErr].Revents != 0 {
		s.read(pollErr, s.stderr)
	}
	if s.poll[pollExit].Revents != 0 {
		s.shut(pollExit)
		s.ends.exit(time.Now())
	}
}

func (s *spawned) shut(slot int) {
	closeFD(int(s.poll[slot].Fd))
	s.poll[slot] = unix.PollFd{Fd: noFD}
}

// write hands over what the pipe takes. A program that closed its input has had enough of it.
func (s *spawned) write() {
	for len(s.rest) > 0 {
		n, err := unix.Write(int(s.poll[pollIn].Fd), s.rest)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return
		case err != nil:
			s.rest = nil
		default:
			s.rest = s.rest[n:]
		}
	}
	s.shut(pollIn)
}

// read takes what a stream holds: one read, so that no stream starves another.
func (s *spawned) read(slot int, c *capture) {
	buf, direct := c.room(), true
	if buf == nil {
		if s.scratch == nil {
			s.scratch = make([]byte, 64<<10) // what a pipe holds
		}
		buf, direct = s.scratch, false
	}
	n, err := unix.Read(int(s.poll[slot].Fd), buf)
	switch {
	case err == unix.EINTR || err == unix.EAGAIN:
	case err != nil || n == 0:
		s.shut(slot)
	case direct:
		c.grow(n)
	default:
		c.write(buf[:n])
	}
}
