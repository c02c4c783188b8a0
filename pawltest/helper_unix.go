//go:build unix

package pawltest

import (
	"os/exec"
	"syscall"
	"time"
)

const terminate = syscall.SIGTERM

func killSelf() {
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	time.Sleep(time.Minute) // until it arrives
}

func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
