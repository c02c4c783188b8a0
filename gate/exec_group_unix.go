//go:build unix

package gate

import (
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// pipeTakes is what an empty pipe takes without waiting, however small the system made it: PIPE_BUF of Linux's pipe(7).
const pipeTakes = 4096

// A group is the process group that a program leads, known by the program's own process id. Signals may be
// sent until the program is reaped: so long the number belongs to it.
type group struct{ pid int }

func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return new(group)
}

func (g *group) start(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	g.pid = cmd.Process.Pid
	return nil
}

func (g *group) terminate() { _ = unix.Kill(-g.pid, unix.SIGTERM) } // an empty group is no error of ours
func (g *group) kill()      { _ = unix.Kill(-g.pid, unix.SIGKILL) }
func (g *group) close()     {}

// alive reports whether the group still has members, its leader having been reaped.
func (g *group) alive() bool { return unix.Kill(-g.pid, 0) != unix.ESRCH && anyRunning(g.pid) }

// exitOf says how a program ended; -1 without a signal: nobody knows, for somebody else reaped it.
func exitOf(state *os.ProcessState) (code int, signal string) {
	if state == nil {
		return -1, ""
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -1, ws.Signal().String()
	}
	return state.ExitCode(), ""
}

func hasSeparator(arg0 string) bool { return strings.Contains(arg0, "/") }

func executableNames(arg0 string, _ []string) []string { return []string{arg0} }

func mayExecute(path string, info fs.FileInfo) bool {
	return info.Mode()&0o111 != 0 && unix.Access(path, unix.X_OK) == nil
}

// refuseWords has no use here: the kernel hands on words as they are.
func refuseWords(string, []string) error { return nil }
