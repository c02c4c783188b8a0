package main

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// On a terminal there are colours and a line that says what is waited for; NO_COLOR takes the colours away.
func TestOnATerminal(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "bad.toml", "colour = 1\n")
	write(t, dir, "event.json", `{"trigger":"session.start"}`)
	write(t, dir, "hooks.toml", `
[[hooks]]
name = "slow"
on = "session.start"
run = ["sh", "-c", "sleep 1.6; exit 1"]
output = "refuse"
`)
	require.Contains(t, onTerminal(t, dir, nil, "check", "bad.toml"), "\x1b[31mbad.toml:1:1: error: ")
	require.Contains(t, onTerminal(t, dir, nil, "check", "bad.toml"), "    colour = 1\r\n    ^\r\n")
	require.NotContains(t, onTerminal(t, dir, []string{"NO_COLOR=1"}, "check", "bad.toml"), "\x1b")
	require.NotContains(t, onTerminal(t, dir, []string{"TERM=dumb"}, "check", "bad.toml"), "\x1b")

	fired := onTerminal(t, dir, nil, "fire", "--config", "hooks.toml", "--event", "event.json")
	require.Contains(t, fired, "\r\x1b[Kwaiting for hook slow 1s")
	require.Contains(t, fired, "\r\x1b[K\x1b[31mrefuse\x1b[0m\r\n")
}

// onTerminal returns what the command shows on a terminal.
func onTerminal(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	defer master.Close()
	fd := int(master.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	cmd := exec.Command("pawl", args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, tty, tty, tty
	cmd.Env = append(append(os.Environ(), "TERM=xterm", "NO_COLOR="), env...)
	require.NoError(t, cmd.Start())
	tty.Close()
	shown, _ := io.ReadAll(master) // ends in EIO once nobody holds the terminal
	require.Error(t, cmd.Wait())
	return string(shown)
}
