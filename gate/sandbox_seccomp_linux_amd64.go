package gate

import "golang.org/x/sys/unix"

// oldAttributeCalls are those that newer architectures never had.
func oldAttributeCalls() []uint32 {
	return []uint32{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
}
