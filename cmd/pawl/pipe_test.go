//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where nobody reads the answer any more it could not be told, which is a fault of every command.
func TestAnAnswerThatNobodyReadsIsAFault(t *testing.T) {
	dir := refusing(t, "exit 1")
	for _, line := range []string{
		"check hooks.toml", "list --config hooks.toml", "explain --config hooks.toml --event event.json", "schema", "--help",
		"fire --config hooks.toml --event event.json", "fire --json --config hooks.toml --event event.json",
	} {
		t.Run(line, func(t *testing.T) {
			cmd := exec.Command("pawl", strings.Fields(line)...)
			var told strings.Builder
			cmd.Dir, cmd.Stdout, cmd.Stderr = dir, unread(t), &told
			require.Equal(t, exitFault, exitOf(t, cmd))
			require.Contains(t, told.String(), "broken pipe")
		})
	}
}

// What is said beside the answer may go unread: the verdict stands.
func TestARefusalStandsWhereNobodyReadsTheWarnings(t *testing.T) {
	cmd := exec.Command("pawl", "fire", "--policy", "policy.toml", "--config", "hooks.toml", "--event", "event.json")
	cmd.Dir, cmd.Stderr = refusing(t, "exit 1"), unread(t)
	write(t, cmd.Dir, "policy.toml", "[[rules]]\naction = \"exec.*\"\ndecision = \"deny\"\n")
	require.Equal(t, exitRefuse, exitOf(t, cmd))
}

// A hook's program still ends by the signal of a pipe that nobody reads, as everywhere.
func TestAHooksPipesAreAsEver(t *testing.T) {
	cmd := exec.Command("pawl", "fire", "--config", "hooks.toml", "--event", "event.json")
	cmd.Dir = refusing(t, "kill -PIPE $$; touch deaf")
	require.Equal(t, exitRefuse, exitOf(t, cmd))
	require.NoFileExists(t, filepath.Join(cmd.Dir, "deaf"))
}

// refusing is a folder with an event and a hook that does something and refuses it.
func refusing(t *testing.T, does string) string {
	dir := t.TempDir()
	write(t, dir, "event.json", `{"trigger":"session.start"}`)
	write(t, dir, "hooks.toml", `
[[hooks]]
name = "no"
on = "session.start"
run = ["sh", "-c", "`+does+`"]
output = "refuse"
`)
	return dir
}

// unread is the end to write to of a pipe that has none to read from.
func unread(t *testing.T) *os.File {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	t.Cleanup(func() { w.Close() })
	return w
}

func exitOf(t *testing.T, cmd *exec.Cmd) int {
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return cmd.ProcessState.ExitCode()
}
