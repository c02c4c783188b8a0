package config_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/config"
	"github.com/stretchr/testify/require"
)

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
	require.Equal(t, "echo 1", changed[0].Listing().Command)
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

// fakeGate runs nothing and remembers what it was asked to run.
type fakeGate struct{ ran []string }

func (g *fakeGate) Run(_ context.Context, cmd pawl.Command) (pawl.Result, error) {
	g.ran = append(g.ran, cmd.Args[len(cmd.Args)-1])
	return pawl.Result{}, nil
}

func fire(t *testing.T, set config.Set) (pawl.Outcome, []string) {
	t.Helper()
	return fireIn(t, set, "")
}

func fireIn(t *testing.T, set config.Set, dir string) (pawl.Outcome, []string) {
	t.Helper()
	g := &fakeGate{}
	r, err := pawl.New(pawl.Options{Gate: g, Parallel: 1}, set.Hooks...)
	require.NoError(t, err)
	out, err := r.Dispatch(context.Background(), &pawl.Event{
		Trigger: pawl.ToolBefore, Tool: "Bash", Dir: dir, Input: []byte(`{"command":"ls"}`),
	})
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

func TestLiveRegistryFollowsTheStore(t *testing.T) {
	m := newMachine(t)
	m.user(hooks("echo 1"), ".zerotwo", "hooks.json")
	g := &fakeGate{}
	registry := func() (*pawl.Registry, config.Set) {
		set := m.load()
		r, err := pawl.New(pawl.Options{Gate: g}, set.Hooks...)
		require.NoError(t, err)
		return r, set
	}
	base, set := registry()
	live := pawl.NewLive(base)
	ran := func() int {
		g.ran = nil
		_, err := live.Registry().Dispatch(context.Background(), &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash", Input: []byte(`{}`)})
		require.NoError(t, err)
		return len(g.ran)
	}
	reload := func() {
		var next *pawl.Registry
		next, set = registry()
		require.NoError(t, live.Replace(next))
	}
	require.Zero(t, ran(), "untrusted")

	_, err := set.AcceptAll()
	require.NoError(t, err)
	require.Zero(t, ran(), "a registry is what it was made of")
	reload()
	require.Equal(t, 1, ran(), "trusted")

	m.user(strings.Replace(hooks("echo 1"), `"type"`, `"statusMessage":"now with words","type"`, 1), ".zerotwo", "hooks.json")
	reload()
	require.Zero(t, ran(), "modified")
	require.Equal(t, config.Modified, set.Pending[0].Status)
}

func TestHookOfAnotherWorkingDirectorySaysSo(t *testing.T) {
	for _, command := range []string{"sh ./guard.sh", `sh "$PWD/guard.sh"`, `sh "$(pwd)/guard.sh"`} {
		m := newMachine(t)
		m.user(hooks(command), ".zerotwo", "hooks.json")
		m.project("exit 0\n", "guard.sh")
		require.Len(t, m.review().Hooks, 1)

		first := m.root
		m.Root = filepath.Join(filepath.Dir(first), "other")
		write(t, "exit 1\n", m.Root, "guard.sh")
		reason := m.load().Pending[0].Reason
		require.Contains(t, reason, "it was accepted in "+first+" and names other files in the working directory "+m.Root)
		require.NoError(t, os.Remove(filepath.Join(m.Root, "guard.sh")))
		require.Contains(t, m.load().Pending[0].Reason, "is gone")

		m.Root = first
		require.Len(t, m.load().Hooks, 1)
		m.project("exit 2\n", "guard.sh")
		require.Contains(t, m.load().Pending[0].Reason, "a script changed since it was accepted")
	}
}
