package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-hooks/pawl/config"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/stretchr/testify/require"
)

// A machine is a home, a system folder and a project, all empty.
type machine struct {
	t                  *testing.T
	home, system, root string
	config.Options
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	base := tempDir(t)
	m := &machine{t: t, home: filepath.Join(base, "home"), system: filepath.Join(base, "etc"), root: filepath.Join(base, "repo")}
	for _, dir := range []string{m.home, m.system, filepath.Join(m.root, ".git")} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	m.Options = config.Options{
		Root: m.root, Home: m.home, System: m.system,
		Getenv: func(string) string { return "" },
	}
	return m
}

func (m *machine) load() config.Set {
	m.t.Helper()
	set, err := config.Load(m.Options)
	require.NoError(m.t, err)
	return set
}

// review loads, accepts everything and the project's folder, and loads again.
func (m *machine) review() config.Set {
	m.t.Helper()
	set := m.load()
	_, err := set.AcceptAll()
	require.NoError(m.t, err)
	_, err = set.AcceptProject(m.root)
	require.NoError(m.t, err)
	return m.load()
}

func (m *machine) user(content string, elements ...string) string {
	return write(m.t, content, append([]string{m.home}, elements...)...)
}

func (m *machine) project(content string, elements ...string) string {
	return write(m.t, content, append([]string{m.root}, elements...)...)
}

// hooks is a hooks.json with one hook a command.
func hooks(commands ...string) string {
	var handlers []map[string]any
	for _, c := range commands {
		handlers = append(handlers, map[string]any{"type": "command", "command": c})
	}
	data, _ := json.Marshal(map[string]any{"hooks": map[string]any{
		"PreToolUse": []any{map[string]any{"matcher": "Bash", "hooks": handlers}},
	}})
	return string(data)
}

// inline is the same in TOML.
func inline(commands ...string) string {
	var b strings.Builder
	b.WriteString("\n[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n")
	for _, c := range commands {
		b.WriteString("\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = '''" + c + "'''\n")
	}
	return b.String()
}

// commands lists what was found, in order: those that run as they are, the others with their fate.
func commands(set config.Set) []string {
	runs := map[string]bool{}
	for _, h := range set.Hooks {
		runs[h.Name] = true
	}
	waits := map[string]bool{}
	for _, e := range set.Pending {
		waits[e.Hook.Name] = true
	}
	var out []string
	for _, e := range set.Entries {
		switch {
		case waits[e.Hook.Name]:
			out = append(out, e.Command+" (waits)")
		case !e.Enabled && !runs[e.Hook.Name]:
			out = append(out, e.Command+" (off)")
		case runs[e.Hook.Name]:
			out = append(out, e.Command)
		default:
			out = append(out, e.Command+" (once)")
		}
	}
	return out
}

// messages lists what is said about files, the machine's own folder cut out.
func (m *machine) messages(issues []dialect.Issue) []string {
	var out []string
	for _, i := range issues {
		out = append(out, strings.ReplaceAll(i.String(), filepath.Dir(m.home)+"/", ""))
	}
	return out
}
