//go:build unix

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// isNotDir tells a path below a file from one that cannot be looked at.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// private reports what keeps a file that grants trust from being believed.
func private(info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("mode %04o lets others write to it: chmod 600", mode)
	}
	return nil
}

// lock waits for the sole right to change what f stands for; closing f gives it up.
func lock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return err
		}
	}
}

// syncDir makes a rename in dir durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
