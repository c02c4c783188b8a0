//go:build unix

package wire

import (
	"io/fs"
	"os"
	"syscall"
)

// owned reports whether the file is this user's and nobody else may write to it.
func owned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}
