package gate

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// awaitExit returns when the program has ended, without reaping it, and says whether a signal did it.
func awaitExit(cmd *exec.Cmd) (signaled bool) {
	kq, err := unix.Kqueue()
	if err != nil {
		return reapNow(cmd)
	}
	defer unix.Close(kq)
	unix.CloseOnExec(kq)
	watch := unix.Kevent_t{Fflags: unix.NOTE_EXIT | unix.NOTE_EXITSTATUS}
	unix.SetKevent(&watch, cmd.Process.Pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	var seen [1]unix.Kevent_t
	for {
		n, err := unix.Kevent(kq, []unix.Kevent_t{watch}, seen[:], nil)
		switch {
		case err == unix.EINTR:
		case err != nil || n == 0 || seen[0].Flags&unix.EV_ERROR != 0:
			return reapNow(cmd) // it was a zombie before we looked
		default:
			return unix.WaitStatus(seen[0].Data).Signaled()
		}
	}
}

func anyRunning(int) bool { return true }
