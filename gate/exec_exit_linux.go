package gate

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
)

const cldExited = 1 // CLD_EXITED of sigaction(2): it ended by itself

// awaitExit returns when the program has ended, without reaping it, and says whether a signal did it.
func awaitExit(cmd *exec.Cmd) (signaled bool) {
	return awaitID(unix.P_PID, cmd.Process.Pid)
}

func awaitID(kind, id int) (signaled bool) {
	var info unix.Siginfo
	for {
		err := unix.Waitid(kind, id, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil && info.Code != cldExited
		}
	}
}

// anyRunning reports whether a process of the group is more than a zombie. It reads /proc, and is asked
// only where a group is known to have members.
func anyRunning(pgid int) bool {
	dir, err := os.Open("/proc")
	if err != nil {
		return true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return true
	}
	for _, name := range names {
		if _, err := strconv.Atoi(name); err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // gone meanwhile
		}
		// pid (comm) state ppid pgrp …; comm may hold anything, see proc_pid_stat(5)
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) > 2 && string(fields[2]) == strconv.Itoa(pgid) && fields[0][0] != 'Z' && fields[0][0] != 'X' {
			return true
		}
	}
	return false
}
