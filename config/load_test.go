package config_test

import (
	"testing"
	"testing/fstest"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/config"
	"github.com/stretchr/testify/require"
)

func TestWithoutAHomeOnlyNamedFilesLoad(t *testing.T) {
	m := newMachine(t)
	m.Home = ""
	_, err := config.Load(m.Options)
	require.ErrorContains(t, err, "$HOME is not an absolute path")

	m.Files = []string{m.project(lint, "hooks.toml")}
	set := m.load()
	require.NoError(t, set.Err())
	require.Len(t, set.Hooks, 1)
	_, err = set.Disable("lint")
	require.ErrorContains(t, err, "no home directory")
}

// Whatever stands in the files of user, project and plugin, nothing of it runs that nobody accepted, and
// every handler that was found waits or is off.
func FuzzNothingRunsUnreviewed(f *testing.F) {
	for _, text := range []string{
		hooks("x"), inline("x"), lint, "{}", "", "null", "[features]\nhooks = false\n", `{"hooks":["./a","./b"]}`,
		`{"disableAllHooks":true}`, "[projects.\"/w\"]\ntrust_level = \"trusted\"\n", "bypass_hook_trust = true",
		`[hooks.state."/h/.zerotwo/hooks.json:pre_tool_use:0:0"]` + "\nenabled = false\n", `{"hooks":{"hooks":{}}}`,
	} {
		f.Add([]byte(text), []byte(text))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		files := fstest.MapFS{"w/.git/HEAD": {}, "p/h.json": {Data: b}, "p/hooks/hooks.json": {Data: b}}
		for _, name := range []string{
			"h/.zerotwo/hooks.json", "w/.zerotwo/hooks.json", "w/.claude/settings.json", "w/.pawl/hooks.json",
			"h/.claude/settings.json", "p/.codex-plugin/plugin.json",
		} {
			files[name] = &fstest.MapFile{Data: a}
		}
		for _, name := range []string{"h/.zerotwo/config.toml", "w/.zerotwo/config.toml", "w/.pawl/hooks.toml", "h/.pawl/hooks.toml"} {
			files[name] = &fstest.MapFile{Data: b}
		}
		set, err := config.Load(config.Options{
			FS: files, Home: "/h", Root: "/w", Plugins: []config.Plugin{{Name: "p", Dir: "/p"}},
			Getenv: func(string) string { return "" },
		})
		require.NoError(t, err)
		require.Empty(t, set.Hooks)
		off := 0
		for _, e := range set.Entries {
			if !e.Enabled {
				off++
			}
		}
		require.Equal(t, len(set.Entries), len(set.Pending)+off)
		for _, e := range set.Pending {
			require.NotEmpty(t, e.Reason)
			require.NotEqual(t, pawl.Origin{}, e.Hook.Origin)
		}
	})
}

func TestEveryHandlerIsAHookOrWaitsOrIsNamedByAnIssue(t *testing.T) {
	const text = `{"hooks": {
		"PreToolUse": [{"matcher": "Bash", "hooks": [
			{"type": "command", "command": "accepted"},
			{"type": "prompt", "prompt": "x"},
			{"type": "agent"},
			{"type": "command", "command": "later", "async": true},
			{"type": "command", "command": "  "},
			{"type": "command", "command": "off"}
		]}],
		"FutureEvent": [{"hooks": [{"type": "command", "command": "unknown"}]}],
		"Stop": [{"hooks": [{"type": "command", "command": "waits"}]}]
	}}`
	m := newMachine(t)
	m.user(text, ".zerotwo", "hooks.json")
	set := m.load()
	_, err := set.Accept("user-pre-tool-use-0-0", "user-pre-tool-use-0-5")
	require.NoError(t, err)
	_, err = set.Disable("user-pre-tool-use-0-5")
	require.NoError(t, err)
	set = m.load()
	require.Equal(t, []string{"accepted", "off (off)", "waits (waits)"}, commands(set))
	var places []string
	for _, i := range set.Issues {
		require.NotZero(t, i.Line)
		require.NotZero(t, i.Column)
		places = append(places, i.Event+" "+i.Index)
	}
	require.Equal(t, []string{"PreToolUse 0.1", "PreToolUse 0.2", "PreToolUse 0.3", "PreToolUse 0.4", "FutureEvent 0.0"}, places)
}
