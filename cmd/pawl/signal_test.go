//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A TERM, an INT, a QUIT or a hangup ends the hooks of a running fire, all their processes, and it exits 2.
func TestASignalEndsTheHooksOfARunningFire(t *testing.T) {
	for name, sig := range map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt, "HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT} {
		t.Run(name, func(t *testing.T) {
			f := fireSlow(t, "true", "pawl")
			requireEnded(t, f, sig)
		})
	}
}

// What nohup made deaf to a hangup stays so, its hooks as well, and hears everything else. A hook that could be hung
// up would not get past the first line.
func TestAHangupThatIsIgnoredStaysIgnored(t *testing.T) {
	f := fireSlow(t, "kill -HUP $$", "sh", "-c", `trap "" HUP; exec "$@"`, "sh", "pawl")
	require.NoError(t, f.Process.Signal(syscall.SIGHUP))
	requireEnded(t, f, syscall.SIGTERM)
}

// A slowFire is a fire whose one hook runs until it is ended.
type slowFire struct {
	*exec.Cmd
	alive     *os.File // ends once no process of the hook is left
	out, errs strings.Builder
}

// fireSlow starts pawl, by the words that do so, and waits until its hook has done something first.
func fireSlow(t *testing.T, first string, words ...string) *slowFire {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "alive")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	write(t, dir, "hooks.toml", fmt.Sprintf(`
[[hooks]]
name = "slow"
on = "session.end"
run = ["sh", "-c", "exec 3>alive; %s; sleep 600 & echo started >&3; wait"]
output = "ignore"
`, first))
	write(t, dir, "event.json", `{"trigger":"session.end"}`)
	words = append(words, "fire", "--json", "--config", "hooks.toml", "--event", "event.json")
	f := &slowFire{Cmd: exec.Command(words[0], words[1:]...)}
	f.Dir, f.Stdout, f.Stderr = dir, &f.out, &f.errs
	require.NoError(t, f.Start())
	var err error
	f.alive, err = os.Open(fifo) // waits for the hook
	require.NoError(t, err)
	t.Cleanup(func() { f.alive.Close() })
	started := make([]byte, len("started"))
	_, err = io.ReadFull(f.alive, started)
	require.NoError(t, err, "the hook ended before it had started")
	return f
}

// requireEnded sends a signal and wants the hook ended by it, all its processes, and told as interrupted.
func requireEnded(t *testing.T, f *slowFire, sig os.Signal) {
	require.NoError(t, f.Process.Signal(sig))
	var exit *exec.ExitError
	require.True(t, errors.As(f.Wait(), &exit))
	require.Equal(t, exitFault, exit.ExitCode(), f.errs.String())
	require.Contains(t, f.out.String(), `"cause":"cancelled"`)
	require.Contains(t, f.errs.String(), "interrupted")
	_, err := io.Copy(io.Discard, f.alive)
	require.NoError(t, err)
}
