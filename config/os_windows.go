package config

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// isNotDir tells a path below a file from one that cannot be looked at.
func isNotDir(err error) bool { return errors.Is(err, windows.ERROR_DIRECTORY) }

// private trusts the access list of the user's profile, which mode bits do not show.
func private(string, fs.FileInfo, bool) error { return nil }

// lock waits for the sole right to change what f stands for; closing f gives it up.
func lock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, new(windows.Overlapped))
}

// syncDir does nothing: a directory cannot be flushed here.
func syncDir(string) error { return nil }
