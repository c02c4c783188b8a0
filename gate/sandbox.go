package gate

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/pawl-hooks/pawl"
)

// Sandbox is a [Middleware] that confines the programs of the [Exec] or [Workers] right behind it, on Linux. The zero
// Sandbox lets a program read and execute everything, write nothing but /dev/null, open no socket, and
// neither signal nor trace a process outside. Each field widens or narrows that. Do not change a Sandbox
// once it is in use; it may be used concurrently.
//
// It is strict: where the system cannot hold what is asked, the program does not start and the error is a
// [*StartError] of [CannotConfine]. Elsewhere than on Linux that is every program.
//
// Files, TCP ports, signals and tracing are held by Landlock, other system calls by a seccomp filter, both set on one
// locked thread that starts the program and then ends with its goroutine; no_new_privs is set with them,
// and all capabilities are given up, root's too: a program of root's can then read and write only what the
// modes of files let root's user.
// Sizes and times are held by resource limits, set while the program is stopped before its first
// instruction, and processes by a pids cgroup of the program's own, which binds root too and is emptied
// when the run is over: descendants in other sessions end with it, Linger or not.
//
// # Limits
//
// Memory is address space for each process, not what all of them use. Names in hidden folders can still be
// listed, and a hidden file can be read by a hard link or a mount elsewhere. Where Write grants anything,
// modes, owners, times and attributes can be changed of all files that the user owns. Unix sockets, once
// AnyNetwork is set, are as open as the files they stand for. Command lines of other processes can be read
// in /proc.
type Sandbox struct {
	// Read lists what may be read and executed: files, and folders with all below them. A relative path is
	// below the command's working directory. Nil: everything.
	Read []string
	// Write lists what may be read and written; in a folder, files may also be made and removed.
	Write []string
	// Hide lists what may not be read although Read covers it. Nothing in Write may hold it. Where something
	// is hidden, devices are too, but for the harmless ones: a disk holds every file.
	Hide []string

	Connect    []uint16 // TCP ports that may be connected to
	Bind       []uint16 // TCP ports that may be listened on; 0 stands for any free port
	AnyNetwork bool     // every socket, Unix sockets included
	// NetNamespace gives the program a network namespace of its own, with nothing in it. It needs
	// CAP_SYS_ADMIN.
	NetNamespace bool

	Limits Limits
	// Cgroup is a folder of the cgroup file system, with the pids controller, in which a cgroup can be made
	// for each program; empty: this process's own.
	Cgroup string

	// Verify is asked about the bytes of the program's file before it starts; its error keeps the program
	// from starting. What then runs is a sealed copy of the very bytes that were hashed, at
	// /proc/self/fd/3: a script finds that in $0. Nil: the file is executed where it is. The interpreter of
	// a script is not asked about. Verify may be called concurrently.
	Verify func(cmd pawl.Command, path string, sum [sha256.Size]byte) error

	// BestEffort lets a program start with what the system can hold, and without the rest.
	BestEffort bool
}

// Limits bound what one program may use. A zero field is no limit.
type Limits struct {
	FileSize  int64         // bytes of each file it writes
	Memory    int64         // bytes of address space of each process
	CPU       time.Duration // of each process, rounded up to seconds
	Files     int           // open descriptors of each process
	Processes int           // processes and threads at once, all descendants together
}

// A confiner is a gate that can start programs in a sandbox: Exec and Workers.
type confiner interface {
	runConfined(ctx context.Context, cmd pawl.Command, s *Sandbox) (pawl.Result, error)
}

// Wrap puts s around next, which must be an [Exec] or [Workers]: no other gate says how it starts programs. A
// program that Workers keep is confined from its start to its end, and asked through this Sandbox alone.
func (s Sandbox) Wrap(next pawl.Gate) pawl.Gate {
	inner, ok := next.(confiner)
	return pawl.GateFunc(func(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
		if !ok {
			return pawl.Result{}, cannotConfine(cmd, "the gate behind the sandbox is neither gate.Exec nor gate.Workers: put the sandbox last", nil)
		}
		return inner.runConfined(ctx, cmd, &s)
	})
}

func cannotConfine(cmd pawl.Command, detail string, err error) error {
	return &StartError{Kind: CannotConfine, Arg0: arg0(cmd), Detail: detail, Err: err}
}

func (e Exec) runConfined(ctx context.Context, cmd pawl.Command, s *Sandbox) (pawl.Result, error) {
	return e.runIn(ctx, cmd, s)
}
