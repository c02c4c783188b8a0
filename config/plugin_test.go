package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-hooks/pawl/config"
	"github.com/stretchr/testify/require"
)

func TestPathsOfAPluginStayInside(t *testing.T) {
	for _, c := range []struct {
		path          string
		want, windows string // empty: refused
	}{
		{"./hooks/hooks.json", "hooks/hooks.json", "hooks/hooks.json"},
		{"./hooks/./a//b.json", "hooks/a/b.json", "hooks/a/b.json"},
		{"./..hooks/a...json", "..hooks/a...json", "..hooks/a...json"},
		{`./hooks\a.json`, `hooks\a.json`, "hooks/a.json"},
		{`./..\a.json`, `..\a.json`, ""},
		{`./C:\a.json`, `C:\a.json`, ""},
		{`./\a.json`, `\a.json`, ""},
		{"hooks/hooks.json", "", ""},
		{"/hooks.json", "", ""},
		{"./", "", ""},
		{"", "", ""},
		{".", "", ""},
		{".//etc/passwd", "", ""},
		{"./../outside.json", "", ""},
		{"./a/../b.json", "", ""},
	} {
		for _, windows := range []bool{false, true} {
			want := map[bool]string{false: c.want, true: c.windows}[windows]
			got, err := config.PluginPath(c.path, windows)
			if want == "" {
				require.Error(t, err, "%q on windows: %t", c.path, windows)
				continue
			}
			require.NoError(t, err, "%q on windows: %t", c.path, windows)
			require.Equal(t, want, got)
		}
	}
}

func withPlugin(t *testing.T, files map[string]string) *machine {
	m := newMachine(t)
	dir := filepath.Join(m.home, "plugin")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for name, content := range files {
		write(t, content, dir, name)
	}
	m.Plugins = []config.Plugin{{Name: "demo@market", Dir: dir}}
	return m
}

func TestPluginSources(t *testing.T) {
	object := hooks("inline")
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string // commands, with the beginning of their keys
		say   string   // in an issue
	}{
		{"no manifest", map[string]string{"hooks/hooks.json": hooks("default")}, []string{"default hooks/hooks.json"}, ""},
		{"nothing at all", nil, nil, ""},
		{"no entry", map[string]string{".codex-plugin/plugin.json": `{"name":"demo"}`, "hooks/hooks.json": hooks("default")},
			[]string{"default hooks/hooks.json"}, ""},
		{"a path", map[string]string{".codex-plugin/plugin.json": `{"hooks":"./hooks/one.json"}`, "hooks/one.json": hooks("one"), "hooks/hooks.json": hooks("default")},
			[]string{"one hooks/one.json"}, ""},
		{"two paths in place of the default", map[string]string{
			".codex-plugin/plugin.json": `{"hooks":["./hooks/one.json","./two.json"]}`,
			"hooks/one.json":            hooks("one"), "two.json": hooks("two"), "hooks/hooks.json": hooks("default")},
			[]string{"one hooks/one.json", "two two.json"}, ""},
		{"an object", map[string]string{".codex-plugin/plugin.json": `{"hooks":` + object + `}`, "hooks/hooks.json": hooks("default")},
			[]string{"inline plugin.json#hooks[0]"}, ""},
		{"two objects", map[string]string{".codex-plugin/plugin.json": `{"hooks":[` + object + `,` + object + `]}`},
			[]string{"inline plugin.json#hooks[0]", "inline plugin.json#hooks[1]"}, ""},
		{"Claude's manifest", map[string]string{".claude-plugin/plugin.json": `{"hooks":"./one.json"}`, "one.json": hooks("one")},
			[]string{"one one.json"}, ""},
		{"Claude's manifest, inline without the inner key", map[string]string{".claude-plugin/plugin.json": `{"name":"demo",` + hooks("bare")[1:]},
			[]string{"bare plugin.json#hooks[0]"}, ""},
		{"ZeroCode's manifest beside Claude's", map[string]string{
			".codex-plugin/plugin.json": `{"hooks":"./one.json"}`, ".claude-plugin/plugin.json": `{"hooks":"./two.json"}`,
			"one.json": hooks("one"), "two.json": hooks("two")},
			[]string{"one one.json"}, ""},
		{"a wrong kind falls back", map[string]string{".codex-plugin/plugin.json": `{"hooks":7}`, "hooks/hooks.json": hooks("default")},
			[]string{"default hooks/hooks.json"}, "ignoring hooks: expected a string, string array, object, or object array; found"},
		{"mixed kinds fall back", map[string]string{".codex-plugin/plugin.json": `{"hooks":["./one.json",{}]}`, "hooks/hooks.json": hooks("default")},
			[]string{"default hooks/hooks.json"}, "ignoring hooks"},
		{"an empty list falls back", map[string]string{".codex-plugin/plugin.json": `{"hooks":[]}`, "hooks/hooks.json": hooks("default")},
			[]string{"default hooks/hooks.json"}, ""},
		{"a bad path is dropped, the other stays", map[string]string{
			".codex-plugin/plugin.json": `{"hooks":["../one.json","./two.json"]}`, "two.json": hooks("two")},
			[]string{"two two.json"}, `does not begin with "./"`},
		{"only bad paths fall back", map[string]string{".codex-plugin/plugin.json": `{"hooks":["./a/../../x.json"]}`, "hooks/hooks.json": hooks("default")},
			[]string{"default hooks/hooks.json"}, `holds ".."`},
		{"a key in the wrong case", map[string]string{".codex-plugin/plugin.json": `{"Hooks":"./extra.json"}`, "extra.json": hooks("extra"), "hooks/hooks.json": hooks("default")},
			[]string{"default hooks/hooks.json"}, "plugin.json:1:2: warning: \"Hooks\" is not hooks: what it names does not run (did you mean `hooks`?)"},
		{"a misspelt key beside the right one", map[string]string{".codex-plugin/plugin.json": `{"hooks":"./one.json","hook":"./two.json"}`, "one.json": hooks("one")},
			[]string{"one one.json"}, `"hook" is not hooks`},
		{"a broken file", map[string]string{".codex-plugin/plugin.json": `{"hooks":"./one.json"}`, "one.json": `{"hooks":`},
			nil, "one.json:1:"},
		{"a file that is not there", map[string]string{".codex-plugin/plugin.json": `{"hooks":"./one.json"}`},
			nil, "one.json: error: cannot read the file"},
		{"a broken manifest", map[string]string{".codex-plugin/plugin.json": `{`, "hooks/hooks.json": hooks("default")},
			nil, "plugin.json:1:"},
		{"a manifest that is no object", map[string]string{".codex-plugin/plugin.json": `[]`, "hooks/hooks.json": hooks("default")},
			nil, "plugin.json:1:1: error: expected a plugin manifest, an object; found"},
		{"the default file named as well", map[string]string{ // F04
			".codex-plugin/plugin.json": `{"hooks":"./hooks/hooks.json"}`, "hooks/hooks.json": hooks("default")},
			[]string{"default hooks/hooks.json"}, ""},
		{"a file named twice", map[string]string{ // F04
			".codex-plugin/plugin.json": `{"hooks":["./hooks/hooks.json","./extra.json","./hooks/./hooks.json"]}`,
			"hooks/hooks.json":          hooks("default"), "extra.json": hooks("extra")},
			[]string{"default hooks/hooks.json", "extra extra.json"}, "is listed twice; its hooks load once"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := withPlugin(t, c.files)
			set := m.load()
			var got []string
			for _, e := range set.Pending {
				require.Equal(t, "plugin", e.Hook.Origin.Layer)
				key, ok := strings.CutPrefix(e.Key, "demo@market:")
				require.True(t, ok, e.Key)
				rel, ok := strings.CutSuffix(key, ":pre_tool_use:0:0")
				require.True(t, ok, e.Key)
				got = append(got, e.Command+" "+rel)
			}
			require.Equal(t, c.want, got)
			require.Equal(t, len(c.want), len(set.Entries))
			if c.say == "" {
				require.Empty(t, set.Issues)
				return
			}
			require.Contains(t, strings.Join(m.messages(set.Issues), "\n"), c.say)
		})
	}
}

func TestPluginFileBehindALinkOutOfThePluginIsRefused(t *testing.T) {
	m := withPlugin(t, map[string]string{".codex-plugin/plugin.json": `{"hooks":"./hooks/one.json"}`})
	outside := m.user(hooks("outside"), "elsewhere", "one.json")
	require.NoError(t, os.Symlink(filepath.Dir(outside), filepath.Join(m.home, "plugin", "hooks")))
	set := m.load()
	require.Empty(t, set.Entries)
	require.ErrorContains(t, set.Err(), "leads out of the plugin")
}

func TestPluginThatIsNotThereIsAnError(t *testing.T) {
	m := newMachine(t)
	m.Plugins = []config.Plugin{{Name: "gone", Dir: filepath.Join(m.home, "gone")}}
	require.ErrorContains(t, m.load().Err(), "plugin gone has no such directory")
}

func TestPluginsDataDirectoryIsMadeOnceItsHooksRun(t *testing.T) {
	m := withPlugin(t, map[string]string{"hooks/hooks.json": hooks("${PLUGIN_ROOT}/x.sh"), "x.sh": "exit 0\n"})
	data := filepath.Join(m.home, ".local", "state", "pawl", "plugins", "demo@market")
	set := m.load()
	require.NoDirExists(t, data)
	require.Equal(t, filepath.Join(m.home, "plugin", "x.sh"), set.Entries[0].Scripts[0].File)
	m.review()
	info, err := os.Stat(data)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	m.Plugins[0].Data = filepath.Join(m.home, "own")
	m.load()
	require.NoDirExists(t, m.Plugins[0].Data, "a caller's own directory is the caller's to make")
}
