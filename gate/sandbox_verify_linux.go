package gate

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pawl-hooks/pawl"
)

// imagePath is where a program finds the sealed copy of its file: the first descriptor after the streams.
const imagePath = "/proc/self/fd/3"

// verify copies the program's file, asks Verify about the copy, seals it and has it executed in place of
// the file: whatever happens to that from now on.
func (c *cage) verify(l *launch, cmd pawl.Command) error {
	path := l.file()
	f, err := os.Open(path)
	if err != nil {
		return l.explain(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || !mayExecute(path, info) {
		return l.explain(unix.EACCES)
	}
	if c.image, err = memoryFile(); err != nil {
		return fmt.Errorf("a sealed copy of the program: %w", err)
	}
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(c.image, hash), f); err != nil {
		return err
	}
	const seals = unix.F_SEAL_WRITE | unix.F_SEAL_GROW | unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(c.image.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		return fmt.Errorf("a sealed copy of the program: %w", err)
	}
	if err := c.Verify(cmd, path, [sha256.Size]byte(hash.Sum(nil))); err != nil {
		return &StartError{Kind: NotWhatWasAsked, Arg0: l.args[0], Path: path, Detail: err.Error(), Err: err}
	}
	l.image = imagePath
	return nil
}

func memoryFile() (*os.File, error) {
	const mfdExec = 0x10 // MFD_EXEC, since Linux 6.3
	fd, err := unix.MemfdCreate("program", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|mfdExec)
	if err == unix.EINVAL {
		fd, err = unix.MemfdCreate("program", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "program"), nil
}
