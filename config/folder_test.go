package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-hooks/pawl/config"
	"github.com/stretchr/testify/require"
)

func TestProjectCannotGrantItselfTrust(t *testing.T) {
	m := newMachine(t)
	file := m.project(hooks("evil"), ".zerotwo", "hooks.json")
	e := m.load().Entries[0]
	m.project(fmt.Sprintf("bypass_hook_trust = true\n[projects.%q]\ntrust_level = \"trusted\"\n[hooks.state.%q]\ntrusted_hash = %q\n",
		m.root, file+":pre_tool_use:0:0", e.Hash), ".zerotwo", "config.toml")
	m.project(`{"version":1,"hooks":{},"projects":{"`+m.root+`":{"trusted":true}}}`, ".local", "state", "pawl", "trust.json")
	require.Equal(t, []string{"evil (waits)"}, commands(m.load()))
	require.Contains(t, m.load().Pending[0].Reason, "is not trusted")

	set := m.load()
	_, err := set.AcceptProject(m.root)
	require.NoError(t, err)
	require.Equal(t, []string{"evil (waits)"}, commands(m.load()), "nor in a folder that is trusted")
	require.Equal(t, "it was not reviewed yet", m.load().Pending[0].Reason)
}

func TestUntrustedProjectWaitsWhileTheUsersHooksRun(t *testing.T) { // F06
	m := newMachine(t)
	m.user(hooks("guard"), ".zerotwo", "hooks.json")
	m.project(hooks("project"), ".zerotwo", "hooks.json")
	m.project(hooks("local"), "a", ".codex", "hooks.json")
	m.Dir = filepath.Join(m.root, "a")
	set := m.load()
	_, err := set.AcceptAll()
	require.NoError(t, err)

	set = m.load()
	require.Equal(t, []string{"guard", "project (waits)", "local (waits)"}, commands(set))
	require.Equal(t, config.Trusted, set.Pending[0].Status, "its definition was accepted")
	require.Equal(t, "the folder "+m.root+" is not trusted: pawl trust accept --project "+m.root, set.Pending[0].Reason)
	require.Len(t, set.Warnings, 1, "one warning a load")
	require.Contains(t, set.Warnings[0], "2 hooks wait and will not run, though reviewed, until the folder "+m.root+" is trusted: project-pre-tool-use-0-0, project-pre-tool-use-0-0-2; pawl trust accept --project "+m.root)

	// The nearest decision counts: the outer folder is trusted, the inner one is not.
	m.user(fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n[projects.%q]\ntrust_level = \"untrusted\"\n", m.root, m.Dir), ".zerotwo", "config.toml")
	set = m.load()
	require.Equal(t, []string{"guard", "project", "local (waits)"}, commands(set))
	require.Contains(t, set.Pending[0].Reason, "marked as untrusted")

	_, err = set.AcceptProject(m.Dir + "/../a/")
	require.NoError(t, err)
	require.Equal(t, []string{"guard", "project", "local"}, commands(m.load()))
	_, err = set.RevokeProject(m.root)
	require.NoError(t, err)
	require.Equal(t, []string{"guard", "project (waits)", "local"}, commands(m.load()))
	folders, err := set.Projects()
	require.NoError(t, err)
	require.Equal(t, map[string]bool{m.root: false, m.Dir: true}, folders)
}

func TestOneIdentityForOneRealDirectory(t *testing.T) { // T04
	m := newMachine(t)
	m.project(hooks("project"), ".zerotwo", "hooks.json")
	link := filepath.Join(filepath.Dir(m.root), "link")
	require.NoError(t, os.Symlink(m.root, link))
	m.Root = link
	set := m.load()
	_, err := set.AcceptAll()
	require.NoError(t, err)
	_, err = set.AcceptProject(link)
	require.NoError(t, err)
	for _, spelled := range []string{link, link + "/", m.root, m.root + "/", m.root + "/../repo", link + "/.git/.."} {
		m.Root = spelled
		require.Equal(t, []string{"project"}, commands(m.load()), spelled)
	}

	// The link is made to lead elsewhere: to a folder that looks just the same.
	other := filepath.Join(filepath.Dir(m.root), "other")
	write(t, hooks("project"), other, ".zerotwo", "hooks.json")
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink(other, link))
	m.Root = link
	set = m.load()
	require.Equal(t, []string{"project (waits)"}, commands(set), "trust went along with a link")
	require.Equal(t, config.Untrusted, set.Pending[0].Status)

	// Nor does a folder's trust that was written down by way of the link.
	m.user(fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", link), ".zerotwo", "config.toml")
	_, err = set.AcceptAll()
	require.NoError(t, err)
	require.Equal(t, []string{"project (waits)"}, commands(m.load()))
}

func TestTrustThatWasWrittenDownThroughALinkOfAnotherCaseIsNone(t *testing.T) { // T04
	m := newMachine(t)
	base := filepath.Dir(m.root)
	m.Root = filepath.Join(base, "up", "repo")
	write(t, hooks("project"), m.Root, ".zerotwo", "hooks.json")
	if _, err := os.Stat(filepath.Join(base, "UP")); err == nil {
		t.Skip("this file system does not tell the two apart")
	}
	require.NoError(t, os.Symlink("up", filepath.Join(base, "UP")))
	m.user(fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", filepath.Join(base, "UP", "repo")), ".zerotwo", "config.toml")
	require.Contains(t, m.load().Pending[0].Reason, "is not trusted")
}

func TestLettersOfAnotherCaseAreTheSameFolderWhereTheyAre(t *testing.T) { // T04
	m := newMachine(t)
	m.project(hooks("project"), ".zerotwo", "hooks.json")
	other := filepath.Join(filepath.Dir(m.root), "REPO")
	if _, err := os.Stat(other); err != nil {
		t.Skip("this file system tells the two apart")
	}
	m.review()
	m.Root = other
	require.Equal(t, []string{"project"}, commands(m.load()))
}

func TestTrueCaseIsTheFoldersOwn(t *testing.T) {
	folders := map[string][]string{"/": {"Users"}, "/Users": {"ann", "Ann", "bob"}, "/Users/Ann": {"Repo"}}
	list := func(dir string) []string { return folders[dir] }
	for name, want := range map[string]string{
		"/users/Ann/repo": "/Users/Ann/Repo", "/Users/ann": "/Users/ann", "/USERS/BOB": "/Users/bob",
		"/Users/bob/Secret/x": "/Users/bob/Secret/x", "/": "/", "/other": "/other",
	} {
		require.Equal(t, want, config.TrueCase(name, list), name)
	}
}

func TestFolderSwappedForALinkIsNotTrusted(t *testing.T) { // T04
	m := newMachine(t)
	m.project(hooks("project"), ".zerotwo", "hooks.json")
	m.review()
	evil := filepath.Join(filepath.Dir(m.root), "evil")
	require.NoError(t, os.Rename(m.root, m.root+".old"))
	write(t, hooks("project"), evil, ".zerotwo", "hooks.json")
	require.NoError(t, os.Symlink(evil, m.root))
	require.Equal(t, []string{"project (waits)"}, commands(m.load()))
}
