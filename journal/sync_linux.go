package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

// dataSync is fdatasync: the size counts as data, the times do not.
func dataSync(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var syncErr error
	err = conn.Control(func(fd uintptr) {
		for {
			if syncErr = unix.Fdatasync(int(fd)); syncErr != unix.EINTR {
				return
			}
		}
	})
	if err != nil {
		return f.Sync() // which names the error as os does
	}
	return syncErr
}
