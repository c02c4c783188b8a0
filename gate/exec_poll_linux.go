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
		s.read(pollOut, &s.stdout)
	}
	if s.poll[pollErr].Revents != 0 {
		s.read(pollErr, &s.stderr)
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

// read takes what a stream holds: one read, so that no stream starves another. What is neither kept nor
// filtered never enters this process: the kernel moves it to /dev/null.
func (s *spawned) read(slot int, c *capture) {
	fd := int(s.poll[slot].Fd)
	var n int
	var err error
	switch buf := c.room(); {
	case !c.begun:
		n, err = unix.Read(fd, s.first[:])
		c.write(s.first[:max(n, 0)])
	case buf != nil:
		n, err = unix.Read(fd, buf)
		c.grow(max(n, 0))
	case c.full() && !s.noSplice:
		n, err = s.discard(fd)
		c.skip(max(n, 0))
	default:
		if s.scratch == nil {
			s.scratch = make([]byte, 64<<10) // what a pipe holds
		}
		n, err = unix.Read(fd, s.scratch)
		c.write(s.scratch[:max(n, 0)])
	}
	if n == 0 && err == nil || err != nil && err != unix.EINTR && err != unix.EAGAIN {
		s.shut(slot)
	}
}

// discard drops what a stream holds, unseen. Where the kernel cannot do that, it says EAGAIN and is not
// asked again.
func (s *spawned) discard(fd int) (n int, err error) {
	if s.null == noFD {
		s.null, err = unix.Open("/dev/null", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	}
	if err == nil {
		var moved int64
		moved, err = unix.Splice(fd, nil, s.null, nil, 1<<20, unix.SPLICE_F_NONBLOCK)
		n = int(moved)
	}
	if err != nil && err != unix.EINTR && err != unix.EAGAIN {
		s.noSplice, err = true, unix.EAGAIN
	}
	return n, err
}
