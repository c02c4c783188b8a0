package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/config"
)

// What was meant for hooks and stands where nothing reads it is told, never passed over.
func TestHooksInTheWrongPlaceAreTold(t *testing.T) {
	events := strings.TrimSuffix(strings.TrimPrefix(hooks("x"), `{"hooks":{`), `}}`)
	for name, c := range map[string]struct{ file, text, want string }{
		"a misspelt key":             {".claude/settings.json", `{"model":"m","Hooks":{` + events + `}}`, `"Hooks" is not hooks: what is in it does not run (did you mean`},
		"an event outside of hooks":  {".claude/settings.json", `{` + events + `}`, "PreToolUse stands outside of hooks: what is in it does not run"},
		"beside hooks":               {".claude/settings.json", `{"hooks":{},"hook":{` + events + `}}`, `"hook" is not hooks`},
		"a misspelt table":           {".codex/config.toml", strings.ReplaceAll(inline("x"), "hooks.Pre", "hook.Pre"), `"hook" is not hooks`},
		"an event of TOML":           {".codex/config.toml", strings.ReplaceAll(inline("x"), "hooks.Pre", "Pre"), "PreToolUse stands outside of hooks"},
		"a misspelt file":            {".codex/hook.json", hooks("x"), "this file is not read (ZeroCode's is called hooks.json)"},
		"another misspelt file":      {".claude/setting.json", hooks("x"), "this file is not read (Claude Code's is called settings.json)"},
		"a file of another host":     {".claude/hooks.json", hooks("x"), "this file is not read (Claude Code's is called settings.json)"},
		"a misspelt native file":     {".pawl/hook.toml", lint, "this file is not read (a native file is called hooks.toml)"},
		"a native file of YAML":      {".pawl/hooks.yaml", lint, "this file is not read (a native file is called hooks.toml)"},
		"settings that only hold it": {".claude/settings.json", `{"permissions":{"hook":1},"bookmarks":[1],"books":1}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			file := m.project(c.text, strings.Split(c.file, "/")...)
			set := m.load()
			require.Empty(t, set.Entries)
			require.NoError(t, set.Err())
			m.Strict = true
			if c.want == "" {
				require.Empty(t, set.Issues)
				require.NoError(t, m.load().Err())
				return
			}
			require.Len(t, set.Issues, 1)
			require.Equal(t, file, set.Issues[0].File)
			require.Contains(t, set.Issues[0].String(), c.want)
			require.ErrorContains(t, m.load().Err(), c.want, "a check that is not read has not passed")
		})
	}
}

func TestACopyBesideAFileIsNoSlip(t *testing.T) {
	m := newMachine(t)
	m.Strict = true
	for _, name := range []string{".claude/settings.json", ".codex/hooks.json"} {
		m.project(hooks("x"), strings.Split(name, "/")...)
		m.project(hooks("y"), strings.Split(name+".bak", "/")...)
	}
	m.user(`{}`, ".claude", "settings.json")
	m.user(hooks("y"), ".claude", "settings.json~")
	require.Empty(t, m.load().Issues)

	m.project(lint, ".pawl", "hooks.toml")
	m.project(lint, ".pawl", "hooks.toml~")
	set := m.load()
	require.NoError(t, set.Err(), "it is warned of")
	require.Len(t, set.Issues, 1)
}

func TestAPluginUnderTwoNamesLoadsOnce(t *testing.T) { // F02, F04
	m := newMachine(t)
	dir := m.plugged()
	m.Plugins = append(m.Plugins, config.Plugin{Name: "q", Dir: dir + "/../plugin/"})
	set := m.load()
	require.Equal(t, []string{"echo a (waits)", "echo b (waits)"}, commands(set))
	require.Len(t, set.Issues, 1)
	require.Contains(t, set.Issues[0].Message, "plugin q is in the folder of one before it: its hooks load once")
}

func TestAProjectInTheHomeFolderHasItsLocalSettings(t *testing.T) { // F02
	m := newMachine(t)
	m.Root = m.home
	m.user(hooks("settings"), ".claude", "settings.json")
	m.user(hooks("local"), ".claude", "settings.local.json")
	set := m.load()
	require.Equal(t, []string{"settings (waits)", "local (waits)"}, commands(set))
	require.Equal(t, "user", set.Entries[0].Hook.Origin.Layer)
	require.Equal(t, "project", set.Entries[1].Hook.Origin.Layer)
	require.Equal(t, filepath.Join(m.home, ".claude", "settings.local.json"), set.Entries[1].Hook.Origin.File)
}
