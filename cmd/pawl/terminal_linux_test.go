package main

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// On a terminal there are colours and a line that says what is waited for; NO_COLOR takes the colours away.
func TestOnATerminal(t *testing.T) {
	dir := refusing(t, "sleep 1.6; exit 1")
	write(t, dir, "bad.toml", "colour = 1\n")
	require.Contains(t, onTerminal(t, dir, nil, "check", "bad.toml"), "\x1b[31mbad.toml:1:1: error: ")
	require.Contains(t, onTerminal(t, dir, nil, "check", "bad.toml"), "    colour = 1\r\n    ^\r\n")
	require.NotContains(t, onTerminal(t, dir, []string{"NO_COLOR=1"}, "check", "bad.toml"), "\x1b")
	require.NotContains(t, onTerminal(t, dir, []string{"TERM=dumb"}, "check", "bad.toml"), "\x1b")

	fired := onTerminal(t, dir, nil, "fire", "--config", "hooks.toml", "--event", "event.json")
	require.Regexp(t, `\r\x1b\[Kwaiting for hook no \ds`, fired)
	require.Contains(t, fired, "\r\x1b[K\x1b[31mrefuse\x1b[0m\r\n")
}

// A person at the terminal answers what the policy leaves open; what is not a yes is a refusal.
func TestAPersonAtTheTerminalIsAsked(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "event.json", `{"trigger":"session.start"}`)
	write(t, dir, "policy.toml", "[[rules]]\naction = \"exec.path.*\"\ndecision = \"ask\"\n")
	write(t, dir, "hooks.toml", `
[[hooks]]
name = "check"
on = "session.start"
run = ["true"]
output = "refuse"
`)
	for answer, want := range map[string]string{"y\n": "pass", "n\n": "refuse"} {
		term := openTerminal(t)
		end := term.start(t, dir, nil, "fire", "--config", "hooks.toml", "--event", "event.json", "--policy", "policy.toml")
		shown := term.until(t, "exec.path.true", "? ")
		_, err := io.WriteString(term.master, answer)
		require.NoError(t, err)
		rest, _ := io.ReadAll(term.master)
		require.Contains(t, string(rest), want, shown)
		require.Equal(t, want == "refuse", end() != nil)
	}
}

// A terminal is a pair of ends: what is written to one is read at the other.
type terminal struct {
	master *os.File
	name   string
}

func openTerminal(t *testing.T) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	return &terminal{master, "/dev/pts/" + strconv.Itoa(n)}
}

// start runs the command on the terminal; the func it returns waits for it.
func (term *terminal) start(t *testing.T, dir string, env []string, args ...string) (wait func() error) {
	t.Helper()
	tty, err := os.OpenFile(term.name, os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer tty.Close()
	cmd := exec.Command("pawl", args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, tty, tty, tty
	cmd.Env = append(append(os.Environ(), "TERM=xterm", "NO_COLOR="), env...)
	require.NoError(t, cmd.Start())
	return cmd.Wait
}

// until reads what is shown until all of texts were, in order.
func (term *terminal) until(t *testing.T, texts ...string) string {
	t.Helper()
	shown, from := "", 0
	one := make([]byte, 1)
	for len(texts) > 0 {
		_, err := term.master.Read(one)
		require.NoError(t, err, shown)
		shown += string(one)
		if at := strings.Index(shown[from:], texts[0]); at >= 0 {
			from, texts = from+at+len(texts[0]), texts[1:]
		}
	}
	return shown
}

// onTerminal returns what the command shows on a terminal.
func onTerminal(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	term := openTerminal(t)
	wait := term.start(t, dir, env, args...)
	shown, _ := io.ReadAll(term.master) // ends in EIO once nobody holds the terminal
	require.Error(t, wait())
	return string(shown)
}
