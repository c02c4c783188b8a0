//go:build unix

package pawltest

import (
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A beacon is a named pipe that a helper program and its descendants hold open as long as they live.
type beacon struct {
	path string
	fd   int
}

// newBeacon makes one in dir, or returns nil where the system has none.
func newBeacon(dir string) (*beacon, error) {
	b := &beacon{path: filepath.Join(dir, "fifo")}
	if err := unix.Mkfifo(b.path, 0o600); err != nil {
		return nil, err
	}
	var err error
	b.fd, err = unix.Open(b.path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	return b, err
}

func (b *beacon) close() { _ = unix.Close(b.fd) }

// wait returns once the pipe has something to read or its last writer has gone, or a little later.
func (b *beacon) wait() {
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(b.fd), Events: unix.POLLIN}}, 20)
}

// lit waits until the program runs; it gives up when stop is closed.
func (b *beacon) lit(stop <-chan struct{}) bool {
	for {
		var one [1]byte
		if n, _ := unix.Read(b.fd, one[:]); n == 1 {
			return true
		}
		select {
		case <-stop:
			return false
		case <-time.After(time.Millisecond): // before there is a writer, Poll does not wait
			b.wait()
		}
	}
}

// gone waits until everyone who held the pipe is; it gives up after a while. A pipe that nobody opened yet
// counts as left.
func (b *beacon) gone(within time.Duration) bool {
	for end := time.Now().Add(within); ; b.wait() {
		var some [512]byte
		if n, err := unix.Read(b.fd, some[:]); n == 0 && err == nil {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

const hasSignals = true
