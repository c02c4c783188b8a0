//go:build unix

package gate

import (
	"os"

	"golang.org/x/sys/unix"
)

const canKeep = true

// pending returns what a pipe holds at this moment, without waiting for more.
func pending(f *os.File, buf []byte) (said []byte, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, errEnded
	}
	n := 0
	readErr := raw.Read(func(fd uintptr) bool {
		for {
			if n, err = unix.Read(int(fd), buf); err != unix.EINTR {
				return true
			}
		}
	})
	switch {
	case err == unix.EAGAIN:
		return nil, nil
	case readErr != nil:
		return nil, errInterrupted
	case err != nil || n == 0:
		return nil, errEnded
	}
	return buf[:n], nil
}
