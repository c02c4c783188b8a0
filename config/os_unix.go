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

// private reports what keeps a file that grants trust from being believed: who else may write to it. Above is
// what stands over the file and its folder, where the user's own group may write, and everyone in a folder
// that lets them touch their own files alone.
func private(name string, info fs.FileInfo, above bool) error {
	s, ok := info.Sys().(*syscall.Stat_t)
	if ok && s.Uid != 0 && int(s.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user (uid %d), who may change it: chown it, or remove it and accept anew", name, s.Uid)
	}
	if above && info.Mode()&fs.ModeSticky != 0 {
		return nil
	}
	others := info.Mode().Perm() & 0o022
	if above && ok && s.Gid == s.Uid {
		others &= 0o002
	}
	if others != 0 {
		return fmt.Errorf("mode %04o of %s lets others write to it: chmod go-w %s", info.Mode().Perm(), name, shellWord(name))
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
