package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinkedWorktreesShareTheRootCheckoutsHooksAndTrust(t *testing.T) { // T04
	m := newMachine(t)
	require.NoError(t, os.RemoveAll(filepath.Join(m.root, ".git")))
	m.project("exit 0\n", ".zerotwo", "guard.sh")
	m.project(hooks(`sh "$(git rev-parse --show-toplevel)/.zerotwo/guard.sh"`), ".zerotwo", "hooks.json")
	m.project(hooks("local"), "a", ".codex", "hooks.json")
	m.project(hooks("claude"), ".claude", "settings.json")
	linked := worktrees(t, m.root)
	m.project(hooks("personal"), ".claude", "settings.local.json") // in no commit

	m.Root, m.Dir = linked, filepath.Join(linked, "a")
	set := m.load()
	require.Len(t, set.Pending, 4)
	require.Contains(t, set.Pending[0].Reason, "--project "+m.root, "trust is given to the root checkout")
	require.Equal(t, filepath.Join(m.root, ".zerotwo", "hooks.json"), set.Pending[0].Hook.Origin.File)
	require.Equal(t, filepath.Join(linked, ".zerotwo", "guard.sh"), set.Pending[0].Scripts[0].File, "what would run here")
	_, err := set.AcceptAll()
	require.NoError(t, err)
	folder, err := set.AcceptProject(linked)
	require.NoError(t, err)
	require.Equal(t, m.root, folder)

	for _, root := range []string{linked, m.root} {
		m.Root, m.Dir = root, filepath.Join(root, "a")
		set = m.load()
		require.Len(t, set.Hooks, 4, root)
		require.Empty(t, set.Issues)
	}

	// The worktree's own declarations count for nothing; its own script does.
	m.Root, m.Dir = linked, linked
	write(t, hooks("branch"), linked, ".zerotwo", "hooks.json")
	write(t, "exit 2\n", linked, ".zerotwo", "guard.sh")
	set = m.load()
	require.Len(t, set.Entries, 3)
	require.Len(t, set.Pending, 1)
	require.Contains(t, set.Pending[0].Reason, `guard.sh" changed`)
	require.Equal(t, filepath.Join(linked, ".zerotwo", "hooks.json"), set.Issues[0].File, "and it is said so")

	require.NoError(t, os.RemoveAll(filepath.Join(linked, ".zerotwo")))
	require.Len(t, m.load().Entries, 3, "a branch without the folder has the hooks as well")
}

func TestWorktreesOwnSettingsStand(t *testing.T) {
	m := newMachine(t)
	require.NoError(t, os.RemoveAll(filepath.Join(m.root, ".git")))
	m.project(inline("root"), ".zerotwo", "config.toml")
	linked := worktrees(t, m.root)
	m.review()
	m.Root = linked
	require.Equal(t, []string{"root"}, commands(m.load()))
	write(t, "[features]\nhooks = false\n"+inline("branch"), linked, ".zerotwo", "config.toml")
	set := m.load()
	require.Empty(t, commands(set))
	require.Equal(t, filepath.Join(linked, ".zerotwo", "config.toml"), set.Issues[0].File)
	require.Contains(t, set.Issues[0].Message, "its hooks are not read")
	m.Root = m.root
	require.Equal(t, []string{"root"}, commands(m.load()))

	m.project("[features]\nhooks = false\n"+inline("root"), ".zerotwo", "config.toml")
	write(t, inline("branch"), linked, ".zerotwo", "config.toml")
	m.Root = linked
	require.Equal(t, []string{"root"}, commands(m.load()), "the root checkout's settings are not the worktree's")
}
