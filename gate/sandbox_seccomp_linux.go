package gate

import (
	"runtime"
	"slices"
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

// callFilter refuses system calls that Landlock does not hold. Sockets are refused, or all but TCP's, of
// which Landlock then holds the ports; io_uring could make them unseen, so it is closed; so are the calls of
// another architecture. Where nothing may be written, modes, owners, times and attributes stay too.
func (c *cage) callFilter() []unix.SockFilter {
	var p filterProgram
	p.load(dataArch)
	p.onlyIf(auditArch())
	p.load(dataNumber)
	if runtime.GOARCH == "amd64" {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: x32Bit, Jf: 1})
		p.end(verdictDeny)
	}
	if !c.AnyNetwork {
		p.skipUnless(unix.SYS_IO_URING_SETUP, 1)
		p.end(verdictDeny)
		rest := socketRules(len(c.Connect)+len(c.Bind) > 0)
		p.skipUnless(unix.SYS_SOCKET, len(rest))
		p = append(p, rest...)
	}
	if len(c.Write) == 0 {
		calls := append(attributeCalls(), oldAttributeCalls()...)
		slices.Sort(calls)
		return append(p, refuseAll(calls)...)
	}
	p.end(verdictAllow)
	return p
}

// refuseAll denies the calls, which are sorted, and allows all others. It halves them at each step: the
// kernel tries out every call there is when it is given a filter, so a long walk would cost more than the
// rest of the sandbox.
func refuseAll(calls []uint32) (p filterProgram) {
	if len(calls) == 1 {
		p.skipUnless(calls[0], 1)
		p.end(verdictDeny)
		p.end(verdictAllow)
		return p
	}
	low, high := refuseAll(calls[:len(calls)/2]), refuseAll(calls[len(calls)/2:])
	p = append(p, unix.SockFilter{
		Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: calls[len(calls)/2], Jt: uint8(len(low)),
	})
	return append(append(p, low...), high...)
}

// socketRules judges a call to socket.
func socketRules(tcp bool) (p filterProgram) {
	if !tcp {
		p.end(verdictDeny)
		return p
	}
	p.load(dataArg0)
	p.onlyIf(unix.AF_INET, unix.AF_INET6)
	p.load(dataArg1)
	p = append(p, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: sockMask})
	p.onlyIf(unix.SOCK_STREAM)
	p.load(dataArg2)
	p.onlyIf(0, unix.IPPROTO_TCP)
	p.end(verdictAllow)
	return p
}

// attributeCalls change what is known of a file and not its bytes. The last four are too new for names:
// fchmodat2, setxattrat, removexattrat, file_setattr; since 2019 numbers are the same everywhere.
func attributeCalls() []uint32 {
	return []uint32{
		unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
		452, 463, 466, 469,
	}
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
	return 0 // matches nothing: the program can do nothing
}

// setFilter binds the calling thread to a filter, and what it starts.
func setFilter(filter []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	return errnoErr(errno)
}
