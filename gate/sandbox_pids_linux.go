package gate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// pidsGroup returns the folder in which a cgroup for a program can be made: Cgroup, or our own of the
// hierarchy that counts processes.
func (s *Sandbox) pidsGroup() (string, error) {
	dirs := []string{s.Cgroup}
	if s.Cgroup == "" {
		dirs = ownCgroups()
	}
	for _, dir := range dirs {
		controllers, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		counts := os.IsNotExist(err) || bytes.Contains(controllers, []byte("pids")) // version 1 has no such file
		if counts && unix.Access(dir, unix.W_OK|unix.X_OK) == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("a limit of processes needs a cgroup with the pids controller that can be written; looked at %s",
		strings.Join(dirs, ", "))
}

// ownCgroups returns where this process's cgroups for pids may be, by version; see cgroups(7).
func ownCgroups() (dirs []string) {
	list, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(list)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(f) < 3:
		case f[1] == "pids":
			dirs = append(dirs, filepath.Join("/sys/fs/cgroup/pids", f[2]))
		case f[0] == "0":
			dirs = append(dirs, filepath.Join("/sys/fs/cgroup", f[2]), filepath.Join("/sys/fs/cgroup/unified", f[2]))
		}
	}
	return dirs
}

// A pidsGroup is the cgroup of one program.
type pidsGroup struct {
	dir   string
	procs *os.File // opened before the thread that writes to it is restricted
}

func (c *cage) newPidsGroup() (*pidsGroup, error) {
	parent, err := c.pidsGroup()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent, "pawl-")
	if err != nil {
		return nil, err
	}
	g := &pidsGroup{dir: dir}
	err = os.WriteFile(filepath.Join(dir, "pids.max"), strconv.AppendInt(nil, int64(c.Limits.Processes), 10), 0)
	if err == nil {
		g.procs, err = os.OpenFile(filepath.Join(dir, "cgroup.procs"), os.O_WRONLY, 0)
	}
	if err != nil {
		return nil, errors.Join(err, g.remove(0))
	}
	return g, nil
}

func (g *pidsGroup) add(pid int) error {
	_, err := g.procs.Write(strconv.AppendInt(nil, int64(pid), 10))
	return err
}

// kill kills all members. Those it forks meanwhile are left to the next call.
func (g *pidsGroup) kill() {
	if os.WriteFile(filepath.Join(g.dir, "cgroup.kill"), []byte("1"), 0) == nil { // version 2, since Linux 5.14
		return
	}
	members, _ := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
	for _, word := range strings.Fields(string(members)) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// remove kills all members and removes the cgroup. It gives the kernel the time wait to be done with them.
func (g *pidsGroup) remove(wait time.Duration) error {
	if g.procs != nil {
		g.procs.Close()
	}
	err := os.Remove(g.dir)
	for deadline := time.Now().Add(wait); errors.Is(err, unix.EBUSY) && time.Now().Before(deadline); {
		g.kill()
		time.Sleep(time.Millisecond)
		err = os.Remove(g.dir)
	}
	return err
}
