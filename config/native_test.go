package config_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/config"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/stretchr/testify/require"
)

const lint = `
[[hooks]]
name = "lint"
on = "tool.before"
tool = "Bash"
run = ["./scripts/lint", "--fast"]
output = "refuse"
timeout_ms = 5000
`

func TestNativeFilesOfUserAndProject(t *testing.T) {
	m := newMachine(t)
	script := m.project("#!/bin/sh\n", "scripts", "lint")
	file := m.project(lint, ".pawl", "hooks.toml")
	m.user(strings.Replace(lint, `"lint"`, `"first"`, 1), ".config", ".pawl", "hooks.toml")
	first := m.user(lint, ".pawl", "hooks.toml")
	set := m.review()
	require.Equal(t, []string{file + ":2:3: warning: the name \"lint\" is taken by the hook at " + first +
		":2:3: this one is called \"lint-2\" (give one of the two another name)"}, texts(set.Issues))
	require.Len(t, set.Hooks, 3)
	require.Equal(t, []string{"first", "lint", "lint-2"}, []string{set.Hooks[0].Name, set.Hooks[1].Name, set.Hooks[2].Name})

	l := set.Entries[2].Listing()
	require.Equal(t, config.Listing{
		Name: "lint-2", Trigger: "tool.before", Matcher: "Bash", Layer: "project", File: file, Line: 2,
		Trust: config.Trusted, TrustedBy: config.ByStore, Enabled: true,
		Command: "./scripts/lint --fast", TimeoutMS: 5000, Digest: l.Digest,
		Scripts: []config.Script{{Word: "./scripts/lint", File: script, Digest: l.Scripts[0].Digest}},
	}, l)

	r, err := pawl.New(pawl.Options{Gate: pawl.GateFunc(func(context.Context, pawl.Command) (pawl.Result, error) {
		return pawl.Result{Code: 1, Stdout: []byte("no")}, nil
	})}, set.Hooks[2])
	require.NoError(t, err)
	out, err := r.Dispatch(context.Background(), &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash"})
	require.NoError(t, err)
	require.Contains(t, out.Decision().Reason, "lint-2", "the new name is the one that speaks")

	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nexit 0\n"), 0o644))
	set = m.load()
	require.Len(t, set.Pending, 3, "the user's hooks name the same script")
	require.Equal(t, config.Modified, set.Pending[1].Status)
}

func TestNativeHookMayBeMovedWithinItsFile(t *testing.T) {
	m := newMachine(t)
	other := strings.NewReplacer(`"lint"`, `"other"`, "--fast", "--slow").Replace(lint)
	m.project(lint, ".pawl", "hooks.toml")
	m.review()
	m.project(other+lint, ".pawl", "hooks.toml")
	set := m.load()
	require.Len(t, set.Hooks, 1)
	require.Equal(t, "lint", set.Hooks[0].Name)

	for _, change := range []string{
		strings.Replace(lint, "refuse", "note", 1), strings.Replace(lint, `"Bash"`, `"Write"`, 1),
		strings.Replace(lint, "5000", "6000", 1), strings.Replace(lint, "--fast", "--slow", 1),
		lint + "fail_open = true\n", lint + "shadow = true\n", lint + "env = { A = \"1\" }\n", lint + "dir = \"scripts\"\n",
	} {
		m.project(change, ".pawl", "hooks.toml")
		set = m.load()
		require.Empty(t, set.Hooks, change)
		require.Equal(t, config.Modified, set.Pending[0].Status, change)
	}
}

func TestNativeFileMayBeInAnyOfItsFormats(t *testing.T) {
	for name, text := range map[string]string{
		"hooks.toml": lint,
		"hooks.json": `{"hooks":[{"name":"lint","on":"session.end","run":["lint"]}]}`,
		"hooks.zon":  `.{ .hooks = .{ .{ .name = "lint", .on = "session.end", .run = .{"lint"} } } }`,
	} {
		m := newMachine(t)
		m.Trust = config.TrustAll
		m.project(text, ".pawl", name)
		m.project("echo", ".pawl", "check.sh")
		set := m.load()
		require.NoError(t, set.Err(), name)
		require.Empty(t, set.Issues, name)
		require.Len(t, set.Hooks, 1, name)
	}
}

func TestTwoNativeFilesInOneFolderAreAnError(t *testing.T) {
	m := newMachine(t)
	m.Trust = config.TrustAll
	m.project(lint, ".pawl", "hooks.toml")
	m.project(`{"hooks":[]}`, ".pawl", "hooks.json")
	m.user(strings.Replace(lint, `"lint"`, `"mine"`, 1), ".pawl", "hooks.toml")
	set := m.load()
	require.ErrorContains(t, set.Err(), "one folder has one hooks file")
	require.Len(t, set.Hooks, 1)
	require.Equal(t, "mine", set.Hooks[0].Name)
}

func TestMisspeltNativeFileIsReported(t *testing.T) {
	m := newMachine(t)
	m.project(lint, ".pawl", "hook.toml")
	set := m.load()
	require.Len(t, set.Issues, 1)
	require.Contains(t, set.Issues[0].String(), "this file is not read (a native file is called hooks.toml)")
}

func TestNativeFileGivenOutright(t *testing.T) {
	m := newMachine(t)
	m.Files = []string{m.project(lint, "my-hooks.toml"), m.project(`{"hooks":[{"name":"j","on":"session.end","run":["true"]}]}`, "other.json")}
	set := m.load()
	require.NoError(t, set.Err())
	require.Equal(t, []string{"./scripts/lint", "true"}, commands(set))
	require.Equal(t, "config", set.Hooks[0].Origin.Layer)
	require.Equal(t, filepath.Join(m.root, "my-hooks.toml"), set.Hooks[0].Origin.File)
}

func TestPendingNativeCheckRefusesUnderStrict(t *testing.T) {
	m := newMachine(t)
	m.project(lint+strings.NewReplacer(`"lint"`, `"watch"`, `"refuse"`, `"ignore"`).Replace(lint), ".pawl", "hooks.toml")
	m.Strict = true
	set := m.load()
	require.Len(t, set.Pending, 2)
	require.Len(t, set.Hooks, 1, "an observer could not have refused")
	out, ran := fire(t, set)
	require.Equal(t, pawl.Refuse, out.Verdict)
	require.Equal(t, pawl.CauseUntrusted, out.Runs()[0].Cause)
	require.Empty(t, ran)

	m.project(lint+"fail_open = true\n", ".pawl", "hooks.toml")
	out, _ = fire(t, m.load())
	require.Equal(t, pawl.Refuse, out.Verdict, "that the hook may fail open is its author's word, and nobody reviewed it")
	m.project(lint+"shadow = true\n", ".pawl", "hooks.toml")
	require.Empty(t, m.load().Hooks, "a shadow refuses nothing")
}

func texts(issues []dialect.Issue) []string {
	var out []string
	for _, i := range issues {
		out = append(out, i.String())
	}
	return out
}

func TestANameThatAPlaceGivesIsTakenInSilenceAndOneThatAPersonGivesIsNot(t *testing.T) {
	m := newMachine(t)
	m.user(hooks("a"), ".zerotwo", "hooks.json")
	m.user(hooks("b"), ".codex", "hooks.json")
	require.Empty(t, m.load().Issues, "hosts' hooks are numbered by their places")
	m.user(strings.Replace(lint, `"lint"`, `"user-pre-tool-use-0-0"`, 1), ".pawl", "hooks.toml")
	set := m.load()
	require.Len(t, set.Issues, 2)
	require.Contains(t, set.Issues[0].Message, `the name "user-pre-tool-use-0-0" is taken`)
	require.Contains(t, set.Issues[0].Message, `this one is called "user-pre-tool-use-0-0-2"`)
}
