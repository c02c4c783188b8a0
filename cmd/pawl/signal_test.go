//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A TERM or an INT ends the hooks of a running fire, all their processes, and it exits 2.
func TestASignalEndsTheHooksOfARunningFire(t *testing.T) {
	for name, sig := range map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt, "HUP": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fifo := filepath.Join(dir, "alive")
			require.NoError(t, syscall.Mkfifo(fifo, 0o600))
			write(t, dir, "hooks.toml", `
[[hooks]]
name = "slow"
on = "session.end"
run = ["sh", "-c", "exec 3>alive; sleep 600 & echo started >&3; wait"]
output = "ignore"
`)
			write(t, dir, "event.json", `{"trigger":"session.end"}`)
			cmd := exec.Command("pawl", "fire", "--json", "--config", "hooks.toml", "--event", "event.json")
			cmd.Dir = dir
			var out, errs strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &errs
			require.NoError(t, cmd.Start())
			alive, err := os.Open(fifo) // waits for the hook; ends once no process of it is left
			require.NoError(t, err)
			defer alive.Close()
			started := make([]byte, len("started"))
			_, err = io.ReadFull(alive, started)
			require.NoError(t, err)

			require.NoError(t, cmd.Process.Signal(sig))
			var exit *exec.ExitError
			require.True(t, errors.As(cmd.Wait(), &exit))
			require.Equal(t, exitFault, exit.ExitCode(), errs.String())
			require.Contains(t, out.String(), `"cause":"cancelled"`)
			require.Contains(t, errs.String(), "interrupted")
			_, err = io.Copy(io.Discard, alive)
			require.NoError(t, err)
		})
	}
}
