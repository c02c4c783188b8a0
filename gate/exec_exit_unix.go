//go:build unix && !linux

package gate

import "os/exec"

// reapNow waits for the program, reaps it, and says whether it ended otherwise than by an exit code. From then on its
// group's number may in theory be given to another group before we signal it.
func reapNow(cmd *exec.Cmd) (signaled bool) {
	_ = cmd.Wait() // ProcessState says it better
	code, _ := exitOf(cmd.ProcessState)
	return code < 0
}
