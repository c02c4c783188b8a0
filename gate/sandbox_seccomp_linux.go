package gate

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data, see seccomp(2). Arguments are read by their lower halves: these are ints.
const (
	dataNumber = 0
	dataArch   = 4
	dataArg0   = 16
	dataArg1   = 24
	dataArg2   = 32

	x32Bit   = 0x40000000
	sockMask = 0xf // what of socket's second argument is the type

	verdictAllow = unix.SECCOMP_RET_ALLOW
	verdictDeny  = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
)

// A filterProgram is a BPF program being written.
type filterProgram []unix.SockFilter

func (p *filterProgram) load(offset uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset})
}

// onlyIf denies the call unless what was loaded is one of values.
func (p *filterProgram) onlyIf(values ...uint32) {
	for i, v := range values {
		*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: v, Jt: uint8(len(values) - i)})
	}
	p.end(verdictDeny)
}

// skipUnless passes over the next n instructions unless what was loaded is value.
func (p *filterProgram) skipUnless(value uint32, n int) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jf: uint8(n)})
}

func (p *filterProgram) end(verdict uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: verdict})
}

// socketFilter keeps a program from making sockets, or any but TCP's, where Landlock then holds the ports.
// io_uring could make them unseen, so it is closed; so are the system calls of another architecture.
func socketFilter(tcp bool) []unix.SockFilter {
	var p filterProgram
	p.load(dataArch)
	p.onlyIf(auditArch())
	p.load(dataNumber)
	if runtime.GOARCH == "amd64" {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: x32Bit, Jf: 1})
		p.end(verdictDeny)
	}
	p.skipUnless(unix.SYS_IO_URING_SETUP, 1)
	p.end(verdictDeny)

	var rest filterProgram // of a call to socket
	if tcp {
		rest.load(dataArg0)
		rest.onlyIf(unix.AF_INET, unix.AF_INET6)
		rest.load(dataArg1)
		rest = append(rest, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: sockMask})
		rest.onlyIf(unix.SOCK_STREAM)
		rest.load(dataArg2)
		rest.onlyIf(0, unix.IPPROTO_TCP)
		rest.end(verdictAllow)
	} else {
		rest.end(verdictDeny)
	}
	p.skipUnless(unix.SYS_SOCKET, len(rest))
	p = append(p, rest...)
	p.end(verdictAllow)
	return p
}

func auditArch() uint32 {
	switch runtime.GOARCH {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64
	case "riscv64":
		return unix.AUDIT_ARCH_RISCV64
	}
	return 0 // matches nothing: the program cannot do anything
}

// setFilter binds the calling thread to a filter, and what it starts.
func setFilter(filter []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	return errnoErr(errno)
}
