package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-hooks/pawl/config"
	"github.com/stretchr/testify/require"
)

func storeOf(m *machine) string {
	return filepath.Join(m.home, ".local", "state", "pawl", "trust.json")
}

func TestStoreThatCannotBeBelievedTrustsNothingAloud(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"not JSON":                           func(t *testing.T, path string) { write(t, "{", path) },
		"empty":                              func(t *testing.T, path string) { write(t, "", path) },
		"a key twice":                        func(t *testing.T, path string) { write(t, `{"version":1,"version":1}`, path) },
		"an unknown key":                     func(t *testing.T, path string) { write(t, `{"version":1,"hooks":{},"denied":{}}`, path) },
		"two documents":                      func(t *testing.T, path string) { write(t, `{"version":1} {"version":1}`, path) },
		"another version":                    func(t *testing.T, path string) { write(t, `{"version":2}`, path) },
		"no version":                         func(t *testing.T, path string) { write(t, `{"hooks":{}}`, path) },
		"another's to write":                 func(t *testing.T, path string) { require.NoError(t, os.Chmod(path, 0o666)) },
		"in a folder others may write to":    func(t *testing.T, path string) { require.NoError(t, os.Chmod(filepath.Dir(path), 0o777)) },
		"in a folder the group may write to": func(t *testing.T, path string) { require.NoError(t, os.Chmod(filepath.Dir(path), 0o770)) },
		"below a folder others may write to": func(t *testing.T, path string) { require.NoError(t, os.Chmod(filepath.Dir(filepath.Dir(path)), 0o777)) },
		"in a sticky folder others write to": func(t *testing.T, path string) { require.NoError(t, os.Chmod(filepath.Dir(path), 0o777|os.ModeSticky)) },
		"another's file":                     func(t *testing.T, path string) { giveAway(t, path) },
		"in another's folder":                func(t *testing.T, path string) { giveAway(t, filepath.Dir(path)) },
		"below another's folder":             func(t *testing.T, path string) { giveAway(t, filepath.Dir(filepath.Dir(path))) },
		"a link into a folder others write to": func(t *testing.T, path string) {
			open := filepath.Join(filepath.Dir(filepath.Dir(path)), "open", "trust.json")
			require.NoError(t, os.Mkdir(filepath.Dir(open), 0o755))
			require.NoError(t, os.Rename(path, open))
			require.NoError(t, os.Symlink(open, path))
			require.NoError(t, os.Chmod(filepath.Dir(open), 0o777))
		},
		"a directory": func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Mkdir(path, 0o700))
		},
		"a link to nowhere": func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Symlink("nowhere", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			file := m.user(hooks("user", "off"), ".zerotwo", "hooks.json")
			write(t, hooks("system"), m.system, "zerotwo", "hooks.json")
			set := m.review()
			m.user(fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = %q\n", file+":pre_tool_use:0:0", set.Entries[1].Hash), ".zerotwo", "config.toml")
			_, err := set.Disable("user-pre-tool-use-0-1")
			require.NoError(t, err)
			spoil(t, storeOf(m))
			for _, trust := range []config.Trust{config.TrustStore, config.TrustAll} {
				m.Trust = trust
				set = m.load()
				require.Equal(t, []string{"system", "user (waits)", "off (waits)"}, commands(set))
				require.ErrorContains(t, set.Err(), storeOf(m))
				require.Contains(t, set.Issues[0].Message, "the trust store cannot be read")
			}
			var bad *config.StoreError
			_, err = set.AcceptAll()
			require.ErrorAs(t, err, &bad, "it is not written over either")
			_, err = set.Projects()
			require.ErrorAs(t, err, &bad)
		})
	}
}

// giveAway makes a file another user's, which root alone can do.
func giveAway(t *testing.T, name string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not root")
	}
	require.NoError(t, os.Chown(name, 4321, -1))
}

func TestStoreThatOthersMayChangeSaysWhatToDo(t *testing.T) {
	m := newMachine(t)
	m.user(hooks("user"), ".zerotwo", "hooks.json")
	dir := filepath.Dir(storeOf(m))
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.Chmod(dir, 0o777))
	set := m.load()
	require.NoError(t, set.Err(), "there is no store yet")
	_, err := set.AcceptAll()
	require.ErrorContains(t, err, "chmod go-w "+dir)
	require.NoFileExists(t, storeOf(m))
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Chmod(m.home, 0o777|os.ModeSticky))
	require.Equal(t, []string{"user"}, commands(m.review()), "a sticky folder above it is no door")
}

func TestAStoreThatDoesNotReadIsToldAtItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\"version\": 1,\n}":                            ":2:13: error: the trust store cannot be read: a comma before the closing bracket (",
		`{"version":1,"version":1}`:                        `:1:14: error: the trust store cannot be read: duplicate key "version" (`,
		`{"version":1,"hooks":{"k":{"scripts":{},"x":1}}}`: `:1:41: error: the trust store cannot be read: unknown key "x" (`,
		`{"version":1,"hooks":{"k":{"enabled":"no"}}}`:     `:1:28: error: the trust store cannot be read: "enabled" is of another kind than in a trust store (`,
		`{"version":2}`:                                    ": error: the trust store cannot be read: version 2, want 1",
		"":                                                 ":1:1: error: the trust store cannot be read: the file is empty (",
	} {
		m := newMachine(t)
		require.NoError(t, os.MkdirAll(filepath.Dir(storeOf(m)), 0o700))
		require.NoError(t, os.WriteFile(storeOf(m), []byte(text), 0o600))
		set := m.load()
		require.Len(t, set.Issues, 1)
		require.True(t, strings.HasPrefix(set.Issues[0].String(), storeOf(m)+want), set.Issues[0].String())
		_, err := set.AcceptProject(m.root)
		require.ErrorContains(t, err, "trust store")
		require.ErrorContains(t, err, storeOf(m))
	}
}

func TestStoreIsPrivateAndWhole(t *testing.T) {
	m := newMachine(t)
	m.user(hooks("echo 1"), ".zerotwo", "hooks.json")
	m.review()
	info, err := os.Stat(storeOf(m))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	info, err = os.Stat(filepath.Dir(storeOf(m)))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	left, err := filepath.Glob(filepath.Join(filepath.Dir(storeOf(m)), ".trust-*"))
	require.NoError(t, err)
	require.Empty(t, left)

	elsewhere := filepath.Join(m.home, "state")
	m.Getenv = func(name string) string { return map[string]string{"XDG_STATE_HOME": elsewhere}[name] }
	require.Len(t, m.load().Pending, 1, "another store, another trust")
	m.review()
	require.FileExists(t, filepath.Join(elsewhere, "pawl", "trust.json"))
	m.Getenv = func(name string) string { return map[string]string{"XDG_STATE_HOME": "relative"}[name] }
	set := m.load()
	require.Equal(t, storeOf(m), set.StorePath())
}

func TestDecisionsMadeAtOnceAreAllKept(t *testing.T) {
	m := newMachine(t)
	var all []string
	for i := range 16 {
		all = append(all, fmt.Sprintf("echo %d", i))
	}
	m.user(hooks(all...), ".zerotwo", "hooks.json")
	var wg sync.WaitGroup
	for i := range all {
		set := m.load()
		wg.Go(func() {
			_, err := set.Accept(fmt.Sprintf("user-pre-tool-use-0-%d", i))
			require.NoError(t, err)
		})
	}
	wg.Wait()
	require.Len(t, m.load().Hooks, len(all))
}
