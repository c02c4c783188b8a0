package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-hooks/pawl/config"
	"github.com/stretchr/testify/require"
)

func TestHostsStoreIsHonoured(t *testing.T) {
	m := newMachine(t)
	script := m.user("exit 0\n", "guard.sh")
	file := m.user(hooks("~/guard.sh", "echo 2", "echo 3"), ".zerotwo", "hooks.json")
	set := m.load()
	state := ""
	entry := func(handler int, text string) {
		state += fmt.Sprintf("[hooks.state.%q]\n%s\n", fmt.Sprintf("  %s:pre_tool_use:0:%d ", file, handler), text)
	}
	entry(0, fmt.Sprintf("trusted_hash = %q", set.Entries[0].Hash))
	entry(1, fmt.Sprintf("trusted_hash = %q\nenabled = \"yes\"", set.Entries[1].Hash)) // dropped whole
	entry(2, `trusted_hash = "sha256:0000"`)
	m.user(state, ".zerotwo", "config.toml")

	set = m.load()
	require.Equal(t, []string{"~/guard.sh", "echo 2 (waits)", "echo 3 (waits)"}, commands(set))
	require.Equal(t, config.ByHost, set.Entries[0].By, "trusted by definition only")
	require.Equal(t, config.Untrusted, set.Entries[1].Status)
	require.Equal(t, config.Modified, set.Entries[2].Status)
	require.Len(t, set.Issues, 1)
	require.Contains(t, set.Issues[0].Message, "enabled")

	require.NoError(t, os.WriteFile(script, []byte("exit 1\n"), 0o644))
	require.Equal(t, config.ByHost, m.load().Entries[0].By, "a host does not look into scripts")

	_, err := set.Revoke("user-pre-tool-use-0-0")
	require.NoError(t, err)
	require.Empty(t, m.load().Hooks, "pawl's own store knows better")
}

func TestHostsStateIsMergedFieldByField(t *testing.T) {
	m := newMachine(t)
	file := m.user(hooks("echo 1"), ".zerotwo", "hooks.json")
	hash := m.load().Entries[0].Hash
	key := file + ":pre_tool_use:0:0"
	m.user(fmt.Sprintf("[hooks.state.%q]\nenabled = false\n", key), ".zerotwo", "config.toml")
	m.user(fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = %q\n", key, hash), ".zerotwo", "work.config.toml")
	m.Profile = "work"
	require.Equal(t, []string{"echo 1 (off)"}, commands(m.load()))
	m.Session = []string{fmt.Sprintf("hooks.state.%q.enabled = true", key)}
	require.Equal(t, []string{"echo 1"}, commands(m.load()))
}

// The digests are those of the page's rule, worked out by hand: a store that a host wrote is good here.
func TestHostsDigestIsComputedAsTheHostDoes(t *testing.T) {
	const (
		bash = "sha256:a21682d1d8bd642be06966a9f238a743ce8c0dc6568e86c606cb5874ced76cd3"
		stop = "sha256:f2aa169c7a1cf9b7cc9b61ce5ecec0315e0f7d13ac35935b1aa74440f9a839f8"
	)
	m := newMachine(t)
	file := filepath.Join(m.home, ".codex", "config.toml")
	m.user(fmt.Sprintf(`
[[hooks.PreToolUse]]
matcher = "^Bash$"
[[hooks.PreToolUse.hooks]]
type = "command"
command = "echo hi"
[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = "echo hi"
[hooks.state.%q]
trusted_hash = %q
[hooks.state.%q]
trusted_hash = %q
`, file+":pre_tool_use:0:0", bash, file+":stop:0:0", stop), ".codex", "config.toml")
	require.Equal(t, []string{"echo hi", "echo hi"}, commands(m.load()))
}

func TestHostsKeyOfAUsersFolderBehindALink(t *testing.T) {
	m := newMachine(t)
	m.user(hooks("echo 1"), "dotfiles", "zerotwo", "hooks.json")
	require.NoError(t, os.Symlink(filepath.Join("dotfiles", "zerotwo"), filepath.Join(m.home, ".zerotwo")))
	e := m.load().Entries[0]
	require.Equal(t, filepath.Join(m.home, "dotfiles", "zerotwo", "hooks.json")+":pre_tool_use:0:0", e.Key)
	for _, folder := range []string{".zerotwo", "dotfiles/zerotwo"} {
		key := filepath.Join(m.home, folder, "hooks.json") + ":pre_tool_use:0:0"
		m.user(fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = %q\n", key, e.Hash), ".zerotwo", "config.toml")
		require.Equal(t, []string{"echo 1"}, commands(m.load()), "a host spells it %s", folder)
	}
}
