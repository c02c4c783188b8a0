package config_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/config"
	"github.com/pawl-hooks/pawl/gate"
	"github.com/stretchr/testify/require"
)

func TestNamesOfFoldersNeverBecomeShellText(t *testing.T) { // T08
	if runtime.GOOS == "windows" {
		t.Skip("such names cannot be given there")
	}
	const name = "x$(touch PWNED)\"; touch PWNED2; \"' `touch PWNED3`\n*"
	m := newMachine(t)
	m.root = filepath.Join(filepath.Dir(m.root), name)
	m.Root, m.Trust = m.root, config.TrustAll
	script := "#!/bin/sh\ncat >/dev/null\necho ran >> \"$1\"\n"
	m.project(script, "h.sh")
	require.NoError(t, os.Chmod(filepath.Join(m.root, "h.sh"), 0o755))
	ran := filepath.Join(m.home, "ran")
	m.project(hooks(`"$CLAUDE_PROJECT_DIR"/h.sh `+ran), ".claude", "settings.json")
	plugin := filepath.Join(m.home, name)
	require.NoError(t, os.Chmod(write(t, script, plugin, "h.sh"), 0o755))
	write(t, hooks(`"${PLUGIN_ROOT}/h.sh" `+ran), plugin, "hooks", "hooks.json")
	m.Plugins = []config.Plugin{{Name: "p", Dir: plugin}}

	set := m.load()
	require.Len(t, set.Hooks, 2)
	for _, e := range set.Entries {
		require.Len(t, e.Scripts, 1, "the script that would run is seen")
	}
	cwd := filepath.Join(m.home, "cwd")
	require.NoError(t, os.MkdirAll(cwd, 0o755))
	r, err := pawl.New(pawl.Options{Gate: &gate.Exec{}}, set.Hooks...)
	require.NoError(t, err)
	out, err := r.Dispatch(context.Background(), &pawl.Event{
		Trigger: pawl.ToolBefore, Session: name, Tool: "Bash", Prompt: name, Dir: cwd, Input: []byte(`{"command":"ls"}`),
	})
	require.NoError(t, err)
	for _, run := range out.Runs() {
		require.Equal(t, pawl.Ran, run.Outcome)
		require.Zero(t, run.Code, run.Stderr)
	}
	content, err := os.ReadFile(ran)
	require.NoError(t, err)
	require.Equal(t, "ran\nran\n", string(content))
	for _, dir := range []string{cwd, m.root, plugin, m.home} {
		left, err := filepath.Glob(filepath.Join(dir, "PWNED*"))
		require.NoError(t, err)
		require.Empty(t, left)
	}
}
