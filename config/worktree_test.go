package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/config"
	"github.com/pawl-hooks/pawl/dialect"
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

func TestAWorktreesHooksThatAreNotReadAreToldAndAnErrorUnderStrict(t *testing.T) {
	m := newMachine(t)
	require.NoError(t, os.RemoveAll(filepath.Join(m.root, ".git")))
	m.project(hooks("a", "b"), ".claude", "settings.json")
	m.project(inline("c"), ".codex", "config.toml")
	m.project(lint, ".pawl", "hooks.toml")
	m.Root = worktrees(t, m.root)
	for name, c := range map[string]struct {
		file, text string
		told       bool
	}{
		"as it is there":                     {".claude/settings.json", hooks("a", "b"), false},
		"another hook":                       {".claude/settings.json", hooks("a", "x"), true},
		"fewer hooks":                        {".claude/settings.json", hooks("b"), false},
		"other settings":                     {".claude/settings.json", strings.Replace(hooks("a", "b"), "{", `{"model":"m",`, 1), false},
		"a file that is not there":           {".claude/settings.local.json", hooks("x"), true},
		"a file that is not there, no hooks": {".claude/settings.local.json", `{"permissions":{}}`, false},
		"a file that does not read":          {".claude/settings.local.json", `{`, true},
		"inline hooks":                       {".codex/config.toml", inline("x"), true},
		"inline hooks, other settings":       {".codex/config.toml", "model = 'm'\n" + inline("c"), false},
		"the native file":                    {".pawl/hooks.toml", strings.Replace(lint, "--fast", "--slow", 1), true},
		"the native file, a comment":         {".pawl/hooks.toml", "# a\n" + lint, false},
		"the native file, written as JSON":   {".pawl/hooks.json", `{"hooks":[{"name":"x","on":"session.end","run":["x"]}]}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			elements := append([]string{m.Root}, strings.Split(c.file, "/")...)
			was, err := os.ReadFile(filepath.Join(elements...))
			write(t, c.text, elements...)
			defer func() {
				require.NoError(t, os.Remove(filepath.Join(elements...)))
				if err == nil {
					write(t, string(was), elements...)
				}
			}()
			for strict, severity := range map[bool]dialect.Severity{false: dialect.Warning, true: dialect.Error} {
				m.Strict = strict
				set, err := config.Load(m.Options)
				require.NoError(t, err)
				if !c.told {
					require.Empty(t, set.Issues)
					continue
				}
				require.Len(t, set.Issues, 1)
				require.Equal(t, severity, set.Issues[0].Severity)
				require.Equal(t, filepath.Join(elements...), set.Issues[0].File)
				require.Contains(t, set.Issues[0].Message, "its hooks are not read")
			}
		})
	}
}

// Whatever keeps hooks that were written from being read is an error under Strict.
func TestHooksThatAreNotReadAreAnErrorUnderStrict(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(m *machine)
		want string
	}{
		"a name that is almost one": {func(m *machine) { m.project(lint, ".pawl", "hook.toml") }, "this file is not read"},
		"a switch":                  {func(m *machine) { m.user(`{"disableAllHooks":true,"hooks":{}}`, ".claude", "settings.json") }, "hooks are turned off"},
		"a path out of the plugin": {func(m *machine) {
			write(m.t, `{"name":"p","hooks":["./a.json","../b.json"]}`, m.plugged(), ".claude-plugin", "plugin.json")
		}, "it is left out"},
		"a plugin's hooks of another kind": {func(m *machine) {
			write(m.t, `{"name":"p","hooks":1}`, m.plugged(), ".claude-plugin", "plugin.json")
		}, "ignoring hooks"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			c.set(m)
			set := m.load()
			require.NoError(t, set.Err())
			require.Len(t, set.Issues, 1)
			require.Contains(t, set.Issues[0].String(), c.want)
			m.Strict = true
			require.ErrorContains(t, m.load().Err(), c.want)
		})
	}
}
