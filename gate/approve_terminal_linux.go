package gate

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput drops what was typed and not read yet. Where f is no terminal nothing happens.
func flushInput(f *os.File) {
	_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
