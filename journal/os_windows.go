package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// The lock is a byte far behind any content, so that readers are not kept out.
const lockOffset = 1 << 30

func lockRange() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: lockOffset} }

// tryLock takes the exclusive lock of an open file if it is free.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, lockRange())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockRange())
}
