package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/config"
)

// plugged adds a plugin whose manifest names two files of hooks.
func (m *machine) plugged() string {
	dir := filepath.Join(filepath.Dir(m.home), "plugin")
	write(m.t, `{"name":"p","hooks":["./a.json","./b.json"]}`, dir, ".claude-plugin", "plugin.json")
	write(m.t, hooks("echo a"), dir, "a.json")
	write(m.t, hooks("echo b"), dir, "b.json")
	m.Plugins = []config.Plugin{{Name: "p", Dir: dir}}
	return dir
}

func TestAnAcceptedHookThatIsGoneIsMissed(t *testing.T) {
	const two = lint + "\n[[hooks]]\nname = \"vet\"\non = \"tool.before\"\nrun = [\"true\"]\noutput = \"refuse\"\n"
	remove := func(t *testing.T, name string) { require.NoError(t, os.RemoveAll(name)) }
	for name, c := range map[string]struct {
		write func(m *machine) (file string)
		lose  func(t *testing.T, m *machine, file string)
		want  string
	}{
		"a deleted file": {
			func(m *machine) string { return m.project(two, ".pawl", "hooks.toml") },
			func(t *testing.T, _ *machine, file string) { remove(t, file) },
			"lint, vet: the file is gone (put it back, or forget it: pawl trust revoke lint vet)",
		},
		"a deleted folder": {
			func(m *machine) string { return m.project(hooks("x"), ".claude", "settings.json") },
			func(t *testing.T, _ *machine, file string) { remove(t, filepath.Dir(file)) },
			"project-pre-tool-use-0-0: the file is gone (",
		},
		"the user's own": {
			func(m *machine) string { return m.user(lint, ".config", "pawl", "hooks.toml") },
			func(t *testing.T, _ *machine, file string) { remove(t, file) },
			"lint: the file is gone (",
		},
		"a hook taken out of its file": {
			func(m *machine) string { return m.project(two, ".pawl", "hooks.toml") },
			func(_ *testing.T, m *machine, _ string) { m.project(lint, ".pawl", "hooks.toml") },
			"vet: no longer in the file (",
		},
		"a hook at another trigger": {
			func(m *machine) string { return m.project(lint, ".pawl", "hooks.toml") },
			func(_ *testing.T, m *machine, _ string) {
				m.project(strings.NewReplacer("tool.before", "tool.after", "refuse", "ignore").Replace(lint), ".pawl", "hooks.toml")
			},
			"lint-2: no longer in the file (put it back, or forget it: pawl trust revoke lint-2)",
		},
		"inline hooks taken out of settings": {
			func(m *machine) string { return m.project(inline("x"), ".codex", "config.toml") },
			func(_ *testing.T, m *machine, _ string) { m.project("model = \"m\"\n", ".codex", "config.toml") },
			"project-pre-tool-use-0-0: no longer in the file (",
		},
		"a file in another format": {
			func(m *machine) string { return m.project(lint, ".pawl", "hooks.toml") },
			func(t *testing.T, m *machine, file string) {
				remove(t, file)
				m.project(`{"hooks":[]}`, ".pawl", "hooks.json")
			},
			"lint: the file is gone (",
		},
		"a folder that was a link": {
			func(m *machine) string {
				m.project(lint, "elsewhere", "hooks.toml")
				require.NoError(m.t, os.Symlink("elsewhere", filepath.Join(m.root, ".pawl")))
				return filepath.Join(m.root, ".pawl", "hooks.toml")
			},
			func(t *testing.T, _ *machine, file string) { remove(t, filepath.Dir(file)) },
			"lint: the file is gone (",
		},
		"a plugin's file": {
			func(m *machine) string { return filepath.Join(m.plugged(), "b.json") },
			func(t *testing.T, m *machine, file string) {
				remove(t, file)
				write(t, `{"name":"p","hooks":["./a.json"]}`, m.Plugins[0].Dir, ".claude-plugin", "plugin.json")
			},
			"plugin-pre-tool-use-0-0-2: the file is gone (",
		},
		"a plugin's file that its manifest leaves out": {
			func(m *machine) string { return filepath.Join(m.plugged(), "b.json") },
			func(t *testing.T, m *machine, _ string) {
				write(t, `{"name":"p","hooks":["./a.json"]}`, m.Plugins[0].Dir, ".claude-plugin", "plugin.json")
			},
			"plugin-pre-tool-use-0-0-2: the plugin no longer names the file (",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			file := c.write(m)
			set := m.review()
			require.Empty(t, set.Gone)
			require.Empty(t, texts(set.Issues))
			c.lose(t, m, file)

			set = m.load()
			require.NotEmpty(t, set.Gone)
			require.Len(t, texts(set.Issues), 1)
			require.Contains(t, set.Issues[0].String(), file+": warning: accepted, and no longer run: "+c.want)

			m.Strict = true
			set = m.load()
			require.NoError(t, set.Err(), "it is the event that is refused")
			out, _ := fire(t, set)
			require.Equal(t, pawl.Refuse, out.Verdict)
			require.Contains(t, out.Decision().Reason, "hook "+set.Gone[0].Hook.Name+" may not run: "+set.Gone[0].Reason)

			_, err := set.RevokeAll()
			require.NoError(t, err)
			require.Empty(t, m.load().Gone, "it is forgotten")
		})
	}
}

func TestAHookThatIsGoneIsForgottenByName(t *testing.T) {
	m := newMachine(t)
	file := m.project(lint, ".pawl", "hooks.toml")
	m.user(strings.Replace(lint, `"lint"`, `"other"`, 1), ".pawl", "hooks.toml")
	m.review()
	require.NoError(t, os.Remove(file))
	set := m.load()
	require.Equal(t, config.Gone, set.Gone[0].Status)
	require.Equal(t, file, set.Gone[0].Listing().File)
	require.Equal(t, "project", set.Gone[0].Listing().Layer)
	require.Equal(t, "./scripts/lint --fast", set.Gone[0].Listing().Command)

	_, err := set.Accept("lint")
	require.ErrorIs(t, err, config.ErrGone)
	_, err = set.Disable("lint")
	require.ErrorIs(t, err, config.ErrGone)
	_, err = set.Revoke("lint@" + set.Gone[0].Digest)
	require.NoError(t, err)
	set = m.load()
	require.Empty(t, set.Gone)
	require.Len(t, set.Hooks, 1, "the others stay as they were")

	m.project(lint, ".pawl", "hooks.toml")
	require.Equal(t, config.Untrusted, m.load().Pending[0].Status)
}

func TestAHookThatComesBackIsTrustedAsItWas(t *testing.T) {
	m := newMachine(t)
	file := m.project(lint, ".pawl", "hooks.toml")
	m.review()
	require.NoError(t, os.Remove(file))
	require.Len(t, m.load().Gone, 1)
	m.project(lint, ".pawl", "hooks.toml")
	set := m.load()
	require.Empty(t, set.Gone)
	require.Len(t, set.Hooks, 1)
}

func TestNobodyMissesAHook(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, m *machine){
		"that was turned off": func(t *testing.T, m *machine) {
			set := m.load()
			_, err := set.Disable("lint")
			require.NoError(t, err)
			require.NoError(t, os.Remove(filepath.Join(m.root, ".pawl", "hooks.toml")))
		},
		"whose trust was revoked": func(t *testing.T, m *machine) {
			set := m.load()
			_, err := set.Revoke("lint")
			require.NoError(t, err)
			require.NoError(t, os.Remove(filepath.Join(m.root, ".pawl", "hooks.toml")))
		},
		"of a file that does not load, which is said": func(_ *testing.T, m *machine) {
			m.project("[[hooks]]\nname = 1\n", ".pawl", "hooks.toml")
		},
		"of another project": func(_ *testing.T, m *machine) { m.Root = filepath.Join(m.root, "deep") },
		"where files are named outright": func(t *testing.T, m *machine) {
			require.NoError(t, os.Remove(filepath.Join(m.root, ".pawl", "hooks.toml")))
			m.Files = []string{m.project(strings.Replace(lint, "lint", "given", 1), "given.toml")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.project(lint, ".pawl", "hooks.toml")
			m.project("", "deep", ".git")
			m.review()
			lose(t, m)
			require.Empty(t, m.load().Gone)
		})
	}
}

// What could not have refused is warned of, and refuses nothing.
func TestAHookWithoutASayIsMissedAndRefusesNothing(t *testing.T) {
	m := newMachine(t)
	file := m.project(strings.Replace(lint, `"refuse"`, `"note"`, 1), ".pawl", "hooks.toml")
	m.review()
	require.NoError(t, os.Remove(file))
	m.Strict = true
	set := m.load()
	require.Len(t, set.Gone, 1)
	require.Len(t, set.Issues, 1)
	require.Empty(t, set.Hooks)
}
