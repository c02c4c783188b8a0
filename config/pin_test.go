package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/config"
	"github.com/stretchr/testify/require"
)

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

// An agent may leave its folder for one in which it wrote a script of the same name.
func TestScriptOfTheSameNameInAnotherFolderIsNotRun(t *testing.T) {
	m := newMachine(t)
	m.project("exit 2\n", "guard.sh")
	m.project(hooks(`sh ./guard.sh`), ".zerotwo", "hooks.json")
	m.Strict = true
	set := m.review()
	elsewhere := filepath.Join(m.root, "sub")
	require.NoError(t, os.MkdirAll(elsewhere, 0o755))

	_, ran := fireIn(t, set, elsewhere)
	require.Len(t, ran, 1, "there is none: the program finds nothing to run")

	write(t, "exit 2\n", elsewhere, "guard.sh")
	_, ran = fireIn(t, set, elsewhere)
	require.Len(t, ran, 1, "the same script")

	impostor := write(t, "exit 0\n", elsewhere, "guard.sh")
	out, ran := fireIn(t, set, elsewhere)
	require.Empty(t, ran)
	require.Equal(t, pawl.Refuse, out.Verdict)
	require.Equal(t, pawl.CauseUntrusted, out.Runs()[0].Cause)
	require.Contains(t, out.Decision().Reason, impostor+" is not the one that was accepted")
}

func TestScriptThatAppearsWhileTheRegistryLivesIsNotRun(t *testing.T) {
	m := newMachine(t)
	m.project(hooks(`./later.sh`), ".zerotwo", "hooks.json")
	m.Strict = true
	set := m.review()
	_, ran := fireIn(t, set, m.root)
	require.Len(t, ran, 1, "there is none")
	later := m.project("exit 0\n", "later.sh")
	out, ran := fireIn(t, set, m.root)
	require.Empty(t, ran)
	require.Contains(t, out.Decision().Reason, later+" was not there when the hook was accepted")
}

// Where a cd fails, what is named behind it is another file: nobody accepted that one.
func TestHookWhoseFolderIsNotWhereItRunsIsNotRun(t *testing.T) {
	m := newMachine(t)
	m.project("exit 2\n", "sub", "guard.sh")
	m.project(hooks("cd sub; ./guard.sh"), ".zerotwo", "hooks.json")
	set := m.review()
	_, ran := fireIn(t, set, m.root)
	require.Len(t, ran, 1)

	other := filepath.Join(m.home, "other")
	write(t, "exit 0\n", other, "guard.sh")
	out, ran := fireIn(t, set, other)
	require.Empty(t, ran)
	require.Equal(t, pawl.CauseUntrusted, out.Runs()[0].Cause)
}

func TestScriptOfANativeHookIsHeldWhereverItRuns(t *testing.T) {
	m := newMachine(t)
	m.project("exit 1\n", "guard.sh")
	m.project("[[hooks]]\nname = \"guard\"\non = \"tool.before\"\nrun = [\"sh\", \"./guard.sh\"]\noutput = \"refuse\"\n", ".pawl", "hooks.toml")
	set := m.review()
	elsewhere := filepath.Join(m.root, "sub")
	write(t, "exit 0\n", elsewhere, "guard.sh")
	out, ran := fireIn(t, set, elsewhere)
	require.Empty(t, ran)
	require.Equal(t, pawl.Refuse, out.Verdict)

	m.project("[[hooks]]\nname = \"guard\"\non = \"tool.before\"\nrun = [\"sh\", \"./guard.sh\"]\ndir = \".\"\noutput = \"refuse\"\n", ".pawl", "hooks.toml")
	_, ran = fireIn(t, m.review(), elsewhere)
	require.Len(t, ran, 1, "a hook with a dir runs there")
}

// The exec form without arguments is one word, whatever is in it.
func TestScriptOfTheExecFormIsCovered(t *testing.T) {
	m := newMachine(t)
	script := m.project("exit 0\n", "my hooks", "guard.sh")
	m.project(fmt.Sprintf(`{"permissions":{},"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":%q,"args":[]}]}]}}`, script), ".claude", "settings.json")
	set := m.review()
	require.Len(t, set.Entries[0].Scripts, 1)
	require.Equal(t, script, set.Entries[0].Scripts[0].File)
	require.Equal(t, fmt.Sprintf("%q", script), set.Entries[0].Listing().Command)
}
