//go:build unix && !linux

package gate

import (
	"os/exec"
	"syscall"
)

// reapNow waits for the program and reaps it. From then on its group's number may in theory be given to
// another group before we signal it.
func reapNow(cmd *exec.Cmd) (signaled bool) {
	_ = cmd.Wait() // ProcessState says it better
	ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && ws.Signaled()
}
