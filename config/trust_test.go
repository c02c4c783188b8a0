package config_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/config"
	"github.com/stretchr/testify/require"
)

func storeOf(m *machine) string {
	return filepath.Join(m.home, ".local", "state", "pawl", "trust.json")
}

func TestHookGoesFromUntrustedToTrustedToModified(t *testing.T) {
	m := newMachine(t)
	file := m.user(hooks("echo 1"), ".zerotwo", "hooks.json")
	set := m.load()
	require.Empty(t, set.Hooks)
	require.Len(t, set.Pending, 1)
	e := set.Pending[0]
	require.Equal(t, config.Untrusted, e.Status)
	require.Equal(t, "it was not reviewed yet", e.Reason)
	require.Equal(t, file+":pre_tool_use:0:0", e.Key)

	changed, err := set.Accept("user-pre-tool-use-0-0@" + e.Digest)
	require.NoError(t, err)
	require.Equal(t, "echo 1", changed[0].Shown())
	require.Equal(t, "Bash", changed[0].Matcher)
	require.Equal(t, file, changed[0].Hook.Origin.File)
	require.Equal(t, config.Trusted, changed[0].Status)

	set = m.load()
	require.Len(t, set.Hooks, 1)
	require.Empty(t, set.Pending)
	require.Empty(t, set.Warnings)
	require.Equal(t, config.ByStore, set.Entries[0].By)

	for _, content := range []string{hooks("echo 2"), strings.Replace(hooks("echo 1"), "Bash", "Write", 1)} {
		m.user(content, ".zerotwo", "hooks.json")
		set = m.load()
		require.Empty(t, set.Hooks)
		require.Equal(t, config.Modified, set.Pending[0].Status)
		require.Equal(t, "its definition changed since it was accepted", set.Pending[0].Reason)
	}
	m.user(hooks("echo 1"), ".zerotwo", "hooks.json")
	require.Len(t, m.load().Hooks, 1)
}

func TestChangedScriptIsModified(t *testing.T) {
	m := newMachine(t)
	script := m.project("exit 0\n", ".zerotwo", "guard.sh")
	m.project(hooks(`sh "$(git rev-parse --show-toplevel)/.zerotwo/guard.sh"`), ".zerotwo", "hooks.json")
	set := m.review()
	require.Len(t, set.Hooks, 1)
	require.Equal(t, script, set.Entries[0].Scripts[0].File)
	require.NotEqual(t, set.Entries[0].Hash, set.Entries[0].Digest)

	require.NoError(t, os.WriteFile(script, []byte("exit 1\n"), 0o644))
	set = m.load()
	require.Empty(t, set.Hooks)
	require.Equal(t, config.Modified, set.Pending[0].Status)
	require.Contains(t, set.Pending[0].Reason, `guard.sh" changed`)

	faithful := m.Options
	faithful.DefinitionOnly = true
	set, err := config.Load(faithful)
	require.NoError(t, err)
	require.Len(t, set.Hooks, 1, "as its host would have it")

	require.NoError(t, os.Remove(script))
	require.Contains(t, m.load().Pending[0].Reason, `guard.sh" is gone`)
}

func TestScriptThatAppearsAfterItWasAcceptedIsModified(t *testing.T) {
	m := newMachine(t)
	m.user(hooks("~/later.sh"), ".zerotwo", "hooks.json")
	require.Len(t, m.review().Hooks, 1)
	m.user("exit 0\n", "later.sh")
	require.Contains(t, m.load().Pending[0].Reason, "~/later.sh is new")
}

func TestAcceptIsHeldToADigest(t *testing.T) {
	m := newMachine(t)
	m.user(hooks("echo a", "echo b"), ".zerotwo", "hooks.json")
	script := m.user("exit 0\n", "guard.sh")
	m.user(hooks("~/guard.sh"), ".codex", "hooks.json")
	set := m.load()
	seen := set.Pending[2].Digest

	// The script changes between the review and the acceptance.
	require.NoError(t, os.WriteFile(script, []byte("exit 1\n"), 0o644))
	set = m.load()
	_, err := set.Accept("user-pre-tool-use-0-1", "user-pre-tool-use-0-0-2@"+seen, "nobody")
	require.ErrorIs(t, err, config.ErrDigest)
	require.ErrorIs(t, err, config.ErrUnknown)
	_, near := set.Accept("user-pretool-use-0-1")
	require.ErrorContains(t, near, "did you mean `user-pre-tool-use-0-1`?")
	require.NoFileExists(t, storeOf(m), "one at fault, nothing written")

	_, err = set.Accept("user-pre-tool-use-0-0-2@" + set.Pending[2].Hash)
	require.ErrorIs(t, err, config.ErrDigest, "the definition's digest alone does not cover the script")

	_, err = set.Accept("user-pre-tool-use-0-0-2@" + strings.TrimPrefix(set.Pending[2].Digest, "sha256:"))
	require.NoError(t, err)
	require.Equal(t, []string{"echo a (waits)", "echo b (waits)", "~/guard.sh"}, commands(m.load()))
}

func TestWhatIsAcceptedIsWhatWasShown(t *testing.T) {
	m := newMachine(t)
	script := m.user("exit 0\n", "guard.sh")
	m.user(hooks("~/guard.sh"), ".zerotwo", "hooks.json")
	set := m.load()
	require.NoError(t, os.WriteFile(script, []byte("exit 1\n"), 0o644))
	_, err := set.AcceptAll()
	require.NoError(t, err)
	require.Equal(t, config.Modified, m.load().Pending[0].Status)
}

func TestRevokeEnableDisable(t *testing.T) {
	m := newMachine(t)
	m.user(hooks("echo 1", "echo 2"), ".zerotwo", "hooks.json")
	set := m.review()

	_, err := set.Disable("user-pre-tool-use-0-0")
	require.NoError(t, err)
	set = m.load()
	require.Equal(t, []string{"echo 1 (off)", "echo 2"}, commands(set))
	require.Empty(t, set.Pending, "what is off does not wait")
	require.Equal(t, config.Trusted, set.Entries[0].Status, "trust is kept")

	all := m.Options
	all.Trust = config.TrustAll
	bypassed, err := config.Load(all)
	require.NoError(t, err)
	require.Equal(t, []string{"echo 1 (off)", "echo 2"}, commands(bypassed), "off stays off")

	_, err = set.Enable("user-pre-tool-use-0-0")
	require.NoError(t, err)
	require.Len(t, m.load().Hooks, 2)

	_, err = set.Revoke("user-pre-tool-use-0-1")
	require.NoError(t, err)
	set = m.load()
	require.Equal(t, []string{"echo 1", "echo 2 (waits)"}, commands(set))
	require.Equal(t, "its trust was revoked", set.Pending[0].Reason)

	_, err = set.RevokeAll()
	require.NoError(t, err)
	set = m.load()
	require.Empty(t, set.Hooks)
	_, err = set.Enable("user-pre-tool-use-0-0")
	require.NoError(t, err)
	require.Empty(t, m.load().Hooks, "to enable gives no trust")
}

func TestManagedHookIsNobodysToChange(t *testing.T) {
	m := newMachine(t)
	write(t, "[hooks]"+inline("required"), m.system, "requirements.toml")
	key := filepath.Join(m.system, "requirements.toml") + ":pre_tool_use:0:0"
	m.user("[hooks.state.'"+key+"']\nenabled = false\n", ".zerotwo", "config.toml")
	m.Trust = config.TrustNone
	set := m.load()
	require.Equal(t, []string{"required"}, commands(set))
	require.Equal(t, config.Managed, set.Entries[0].Status)
	for _, change := range []func(...string) ([]config.Entry, error){set.Disable, set.Revoke, set.Accept} {
		_, err := change("managed-pre-tool-use-0-0")
		require.ErrorIs(t, err, config.ErrManaged)
	}
	require.NoFileExists(t, storeOf(m))
}

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
	require.Contains(t, set.Warnings[0], "2 hooks wait and will not run until reviewed: project-pre-tool-use-0-0, project-pre-tool-use-0-0-2; see pawl trust list")

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

func TestBypassIsVisible(t *testing.T) {
	m := newMachine(t)
	m.user(hooks("user"), ".zerotwo", "hooks.json")
	m.project(hooks("project"), ".zerotwo", "hooks.json")
	for name, set := range map[string]func(){
		"by option":           func() { m.Trust = config.TrustAll },
		"by session override": func() { m.Trust, m.Session = "", []string{"bypass_hook_trust = true"} },
	} {
		t.Run(name, func(t *testing.T) {
			set()
			set := m.load()
			require.Equal(t, []string{"user", "project"}, commands(set))
			require.Equal(t, config.Untrusted, set.Entries[0].Status, "the listing still says so")
			require.Len(t, set.Warnings, 1)
			require.Contains(t, set.Warnings[0], "hook trust is bypassed")
			require.NoFileExists(t, storeOf(m), "it is never written down")
		})
	}
	m.user("bypass_hook_trust = true\n", ".zerotwo", "config.toml")
	m.Trust, m.Session = "", nil
	require.Empty(t, m.load().Hooks, "it is for one run, not for a file")
}

func TestNothingIsTrustedWhereTheCallerSaysSo(t *testing.T) {
	m := newMachine(t)
	m.user(hooks("user"), ".zerotwo", "hooks.json")
	m.review()
	m.Trust = config.TrustNone
	m.Session = []string{"bypass_hook_trust = true"}
	set := m.load()
	require.Equal(t, []string{"user (waits)"}, commands(set))
	require.Equal(t, config.Trusted, set.Pending[0].Status)
}

func TestStoreThatCannotBeBelievedTrustsNothingAloud(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"not JSON":           func(t *testing.T, path string) { write(t, "{", path) },
		"empty":              func(t *testing.T, path string) { write(t, "", path) },
		"a key twice":        func(t *testing.T, path string) { write(t, `{"version":1,"version":1}`, path) },
		"an unknown key":     func(t *testing.T, path string) { write(t, `{"version":1,"hooks":{},"denied":{}}`, path) },
		"two documents":      func(t *testing.T, path string) { write(t, `{"version":1} {"version":1}`, path) },
		"another version":    func(t *testing.T, path string) { write(t, `{"version":2}`, path) },
		"no version":         func(t *testing.T, path string) { write(t, `{"hooks":{}}`, path) },
		"another's to write": func(t *testing.T, path string) { require.NoError(t, os.Chmod(path, 0o666)) },
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

// fakeGate runs nothing and remembers what it was asked to run.
type fakeGate struct{ ran []string }

func (g *fakeGate) Run(_ context.Context, cmd pawl.Command) (pawl.Result, error) {
	g.ran = append(g.ran, cmd.Args[len(cmd.Args)-1])
	return pawl.Result{}, nil
}

func fire(t *testing.T, set config.Set) (pawl.Outcome, []string) {
	t.Helper()
	g := &fakeGate{}
	r, err := pawl.New(pawl.Options{Gate: g, Parallel: 1}, set.Hooks...)
	require.NoError(t, err)
	out, err := r.Dispatch(context.Background(), &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash", Input: []byte(`{"command":"ls"}`)})
	require.NoError(t, err)
	return out, g.ran
}

func TestWhatIsListedIsWhatRunsAndRunningWritesNoTrust(t *testing.T) { // T02
	m := newMachine(t)
	m.user(hooks("accepted", "new"), ".zerotwo", "hooks.json")
	m.project(hooks("project"), ".zerotwo", "hooks.json")
	set := m.load()
	_, err := set.Accept("user-pre-tool-use-0-0")
	require.NoError(t, err)
	before, err := os.ReadFile(storeOf(m))
	require.NoError(t, err)

	set = m.load()
	_, ran := fire(t, set)
	require.Equal(t, []string{"accepted"}, ran)
	var listed []string
	for _, e := range set.Entries {
		if l := e.Listing(); l.Enabled && l.Reason == "" {
			listed = append(listed, l.Command)
		}
	}
	require.Equal(t, ran, listed)

	after, err := os.ReadFile(storeOf(m))
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
	require.Len(t, m.load().Pending, 2)
}

func TestPendingHookThatCouldHaveRefusedRefusesUnderStrict(t *testing.T) {
	m := newMachine(t)
	m.project(hooks("guard"), ".zerotwo", "hooks.json")
	out, ran := fire(t, m.load())
	require.Equal(t, pawl.Pass, out.Verdict, "faithful: its host skips it")
	require.Empty(t, ran)

	m.Strict = true
	set := m.load()
	require.Len(t, set.Pending, 1)
	out, ran = fire(t, set)
	require.Equal(t, pawl.Refuse, out.Verdict)
	require.Empty(t, ran, "an untrusted hook is never run")
	require.Equal(t, pawl.CauseUntrusted, out.Runs()[0].Cause)
	require.Contains(t, out.Decision().Reason, "project-pre-tool-use-0-0")

	m.Trust = config.TrustAll
	out, ran = fire(t, m.load())
	require.Equal(t, pawl.Pass, out.Verdict)
	require.Equal(t, []string{"guard"}, ran)
}

func TestListingHasWhatAListingShows(t *testing.T) {
	m := newMachine(t)
	file := m.user(hooks("echo 1"), ".zerotwo", "hooks.json")
	l := m.load().Entries[0].Listing()
	require.Equal(t, config.Listing{
		Name: "user-pre-tool-use-0-0", Trigger: "tool.before", Matcher: "Bash", Layer: "user", File: file, Line: 1,
		Trust: config.Untrusted, Enabled: true, Command: "echo 1", TimeoutMS: 600000,
		Digest: l.Digest, Reason: "it was not reviewed yet",
	}, l)
	require.Regexp(t, `^sha256:[0-9a-f]{64}$`, l.Digest)
}

func TestScriptChangedWhileTheRegistryLivesIsNotRun(t *testing.T) {
	m := newMachine(t)
	script := m.project("exit 0\n", "guard.sh")
	m.project(hooks(`sh ./guard.sh`, "echo"), ".zerotwo", "hooks.json")
	m.Strict = true
	m.review()
	set := m.load()
	_, ran := fire(t, set)
	require.Len(t, ran, 2)

	require.NoError(t, os.WriteFile(script, []byte("exit 1\n"), 0o644))
	out, ran := fire(t, set)
	require.Equal(t, []string{"echo"}, ran)
	require.Equal(t, pawl.Refuse, out.Verdict)
	require.Equal(t, pawl.CauseUntrusted, out.Runs()[0].Cause)
	require.Contains(t, out.Decision().Reason, script+" changed since it was accepted")

	require.NoError(t, os.WriteFile(script, []byte("exit 0\n"), 0o644))
	_, ran = fire(t, set)
	require.Len(t, ran, 2, "what it was accepted as, it may be again")

	m.DefinitionOnly = true
	set = m.load()
	require.NoError(t, os.WriteFile(script, []byte("exit 1\n"), 0o644))
	_, ran = fire(t, set)
	require.Len(t, ran, 2, "as its host would have it")
}

func TestScriptOfAHookThatItsHostTrustsIsNotHeld(t *testing.T) {
	m := newMachine(t)
	script := m.user("exit 0\n", "guard.sh")
	file := m.user(hooks("~/guard.sh"), ".zerotwo", "hooks.json")
	m.user(fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = %q\n", file+":pre_tool_use:0:0", m.load().Entries[0].Hash), ".zerotwo", "config.toml")
	set := m.load()
	require.NoError(t, os.WriteFile(script, []byte("exit 1\n"), 0o644))
	_, ran := fire(t, set)
	require.Equal(t, []string{"~/guard.sh"}, ran)
}

func TestLargeProgramIsReadAgainWhenItLooksDifferent(t *testing.T) {
	m := newMachine(t)
	content := make([]byte, 2<<20)
	program := filepath.Join(m.root, "guard")
	require.NoError(t, os.WriteFile(program, content, 0o755))
	m.project(hooks("./guard"), ".zerotwo", "hooks.json")
	m.review()
	set := m.load()
	content[1<<20] = 1
	require.NoError(t, os.WriteFile(program, content, 0o755))
	require.NoError(t, os.Chtimes(program, time.Unix(1, 0), time.Unix(1, 0)))
	_, ran := fire(t, set)
	require.Empty(t, ran)
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

func TestHugeFileIsNotReadAndItsSizeIsHeld(t *testing.T) {
	m := newMachine(t)
	huge := m.project("", "huge.sh")
	require.NoError(t, os.Truncate(huge, 1<<40))
	m.project(hooks("sh ./huge.sh"), ".zerotwo", "hooks.json")
	set := m.review()
	require.Equal(t, "unreadable: 1099511627776 bytes", set.Entries[0].Scripts[0].Digest)
	_, ran := fire(t, set)
	require.Len(t, ran, 1)
	require.NoError(t, os.Truncate(huge, 1<<40+1))
	_, ran = fire(t, set)
	require.Empty(t, ran)
	require.Equal(t, config.Modified, m.load().Pending[0].Status)
}
