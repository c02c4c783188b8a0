package config_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/config"
	"github.com/stretchr/testify/require"
)

func TestEverythingMergesFromTheLowestLayerToTheHighest(t *testing.T) {
	m := newMachine(t)
	m.Dir = filepath.Join(m.root, "a", "b")
	require.NoError(t, os.MkdirAll(m.Dir, 0o755))
	m.Requirements = []string{
		write(t, "[hooks]"+inline("high"), m.system, "high.toml"),
		write(t, "[hooks]"+inline("low"), m.system, "low.toml"),
	}
	write(t, hooks("system"), m.system, "zerotwo", "hooks.json")
	m.user(hooks("user"), ".zerotwo", "hooks.json")
	m.user(inline("user inline"), ".zerotwo", "config.toml")
	m.user(hooks("user codex"), ".codex", "hooks.json")
	m.user(hooks("user claude"), ".claude", "settings.json")
	m.user(inline("profile"), ".zerotwo", "work.config.toml")
	m.Profile = "work"
	m.project(hooks("root"), ".zerotwo", "hooks.json")
	m.project(hooks("root claude"), ".claude", "settings.json")
	m.project(hooks("root local"), ".claude", "settings.local.json")
	m.project(hooks("a"), "a", ".codex", "hooks.json")
	m.project(hooks("b"), "a", "b", ".zerotwo", "hooks.json")
	m.project(hooks("beside"), "c", ".zerotwo", "hooks.json")
	m.Session = []string{`hooks.PreToolUse = [{matcher = "Bash", hooks = [{type = "command", command = "session"}]}]`}
	m.Plugins = []config.Plugin{
		{Name: "one@market", Dir: filepath.Dir(filepath.Dir(write(t, hooks("plugin one"), m.home, "p1", "hooks", "hooks.json")))},
		{Name: "two", Dir: filepath.Dir(filepath.Dir(write(t, hooks("plugin two"), m.home, "p2", "hooks", "hooks.json")))},
	}

	set := m.review()
	require.Equal(t, []string{
		"high", "low", "system", "user", "user inline", "user codex", "user claude", "profile",
		"root", "root claude", "root local", "a", "b", "session", "plugin one", "plugin two",
	}, commands(set))
	require.Len(t, set.Hooks, 16, "nothing replaces anything")
	require.Empty(t, set.Pending)

	names := map[string]bool{}
	for _, h := range set.Hooks {
		require.False(t, names[h.Name], "two hooks are called %s", h.Name)
		names[h.Name] = true
	}
	require.True(t, names["user-pre-tool-use-0-0"])
	require.True(t, names["user-pre-tool-use-0-0-2"], "files of one layer collide, and get a number")
	_, err := pawl.New(pawl.Options{}, set.Hooks...)
	require.NoError(t, err)
}

func TestBothFormsInOneLayerLoadWithAWarning(t *testing.T) {
	m := newMachine(t)
	json, toml := m.user(hooks("from json"), ".zerotwo", "hooks.json"), m.user(inline("from toml"), ".zerotwo", "config.toml")
	m.Trust = config.TrustAll
	set := m.load()
	require.Equal(t, []string{"from json", "from toml"}, commands(set))
	require.Len(t, set.Issues, 1)
	require.Equal(t, "loading hooks from both "+json+" and "+toml+"; prefer a single representation for this layer", set.Issues[0].Message)

	m.user("", ".zerotwo", "config.toml")
	m.user(inline("profile"), ".zerotwo", "work.config.toml")
	m.Profile = "work"
	require.Empty(t, m.load().Issues, "a profile is a layer of its own")
	m.Profile = ""

	m.user("model = \"x\"\n", ".zerotwo", "config.toml")
	require.Empty(t, m.load().Issues, "a config.toml without hooks is no second form")
	m.user("", ".zerotwo", "config.toml")
	m.user(inline("elsewhere"), ".codex", "config.toml")
	require.Empty(t, m.load().Issues, "another folder is another layer's form")
}

func TestOneFolderUnderTwoNamesLoadsOnce(t *testing.T) { // F02
	m := newMachine(t)
	m.user(hooks("user"), ".zerotwo", "hooks.json")
	require.NoError(t, os.Symlink(".zerotwo", filepath.Join(m.home, ".codex")))
	require.Equal(t, []string{"user (waits)"}, commands(m.load()))

	m.user("", ".zerotwo", "work.config.toml")
	m.Profile = "work"
	require.Equal(t, []string{"user (waits)"}, commands(m.load()), "a profile shares the folder")

	m.Home = m.home + "/../home/"
	require.Equal(t, []string{"user (waits)"}, commands(m.load()))

	// The home directory as the project: its folder is the user's.
	m.Root = m.home
	set := m.load()
	require.Equal(t, []string{"user (waits)"}, commands(set))
	require.Equal(t, "user", set.Entries[0].Hook.Origin.Layer)

	// One file under two names.
	require.NoError(t, os.MkdirAll(filepath.Join(m.root, ".zerotwo"), 0o755))
	require.NoError(t, os.Symlink(filepath.Join(m.home, ".zerotwo", "hooks.json"), filepath.Join(m.root, ".zerotwo", "hooks.json")))
	m.Root = m.root
	require.Len(t, m.load().Entries, 1)
}

func TestHostsVariablesMoveTheirFolders(t *testing.T) {
	m := newMachine(t)
	env := map[string]string{"HOME": m.home}
	for name, file := range map[string]string{"CODEX_HOME": "hooks.json", "CLAUDE_CONFIG_DIR": "settings.json"} {
		env[name] = filepath.Join(m.home, "moved", name)
		m.user(hooks(name), "moved", name, file)
	}
	env["XDG_CONFIG_HOME"] = filepath.Join(m.home, "moved", "config")
	m.user(lint, "moved", "config", "pawl", "hooks.toml")
	m.user(hooks("codex"), ".codex", "hooks.json")
	m.user(hooks("claude"), ".claude", "settings.json")
	m.Getenv = func(name string) string { return env[name] }
	require.Equal(t, []string{"codex (waits)", "claude (waits)"}, commands(m.load()), "a home given outright is looked in alone")
	m.Home = ""
	require.Equal(t, []string{"./scripts/lint (waits)", "CODEX_HOME (waits)", "CLAUDE_CONFIG_DIR (waits)"}, commands(m.load()))
}

func TestUnknownProfileIsAnError(t *testing.T) {
	m := newMachine(t)
	m.Profile = "wrok"
	require.Error(t, m.load().Err())
	m.Profile = "../work"
	_, err := config.Load(m.Options)
	require.ErrorContains(t, err, "is not a plain file name")
}

func TestOneBadFileTakesNothingWithIt(t *testing.T) { // F08
	for name, spoil := range map[string]func(t *testing.T, file string){
		"not JSON":    func(t *testing.T, file string) { require.NoError(t, os.WriteFile(file, []byte(`{"hooks":`), 0o644)) },
		"a directory": func(t *testing.T, file string) { require.NoError(t, os.Mkdir(file, 0o755)) },
		"a link to nowhere": func(t *testing.T, file string) {
			require.NoError(t, os.Symlink("nowhere", file))
		},
		"unreadable": func(t *testing.T, file string) {
			require.NoError(t, os.WriteFile(file, []byte(hooks("x")), 0o000))
			if _, err := os.ReadFile(file); err == nil {
				t.Skip("this user reads every file")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.user(hooks("good"), ".codex", "hooks.json")
			file := filepath.Join(m.home, ".zerotwo", "hooks.json")
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			spoil(t, file)
			set := m.review()
			require.Equal(t, []string{"good"}, commands(set))
			require.Error(t, set.Err())
			require.Equal(t, file, set.Issues[0].File)
		})
	}
}

func TestOddFilesSayWhatWasFound(t *testing.T) { // F08
	for _, c := range []struct{ content, zerocode, claude string }{
		{`{}`, "", ""},
		{`{"hooks":{}}`, "", ""},
		{`{"hooks":{"Stop":[],"PreToolUse":[]}}`, "", ""},
		{`[{"event":"Stop","matcher":"x","script":"./s.sh"}]`, "expected an object, found a list", "expected an object, found a list"},
		{`[]`, "expected an object, found an empty list", "expected an object, found an empty list"},
		{`null`, "expected an object, found null", "expected an object, found null"},
		{``, "the file is empty", "the file is empty"},
		{`{"hooks":{"Stop":"text"}}`, "Stop", "Stop"},
	} {
		for file, want := range map[string]string{".zerotwo/hooks.json": c.zerocode, ".claude/settings.json": c.claude} {
			t.Run(file+" "+c.content, func(t *testing.T) {
				m := newMachine(t)
				m.Trust = config.TrustAll
				m.user(hooks("good"), ".codex", "hooks.json")
				m.user(c.content, file)
				set := m.load()
				require.Equal(t, []string{"good"}, commands(set))
				if want == "" {
					require.Empty(t, set.Issues)
					return
				}
				require.Len(t, set.Issues, 1)
				require.Contains(t, set.Issues[0].String(), want)
				require.Equal(t, filepath.Join(m.home, file), set.Issues[0].File)
			})
		}
	}
}

func TestManagedFileThatDoesNotLoadFailsTheLoad(t *testing.T) { // F08
	for name, place := range map[string]func(m *machine) string{
		"a broken requirement":   func(m *machine) string { return write(m.t, "[hooks", m.system, "requirements.toml") },
		"a broken system file":   func(m *machine) string { return write(m.t, "{", m.system, "zerotwo", "hooks.json") },
		"a broken Claude policy": func(m *machine) string { return write(m.t, "{", m.system, "claude-code", "managed-settings.json") },
		"a part of the Claude policy": func(m *machine) string {
			return write(m.t, "{", m.system, "claude-code", "managed-settings.d", "10.json")
		},
		"a directory in a file's place": func(m *machine) string {
			file := filepath.Join(m.system, "zerotwo", "hooks.json")
			require.NoError(m.t, os.MkdirAll(file, 0o755))
			return file
		},
		"a switch that is neither on nor off": func(m *machine) string {
			return write(m.t, "allow_managed_hooks_only = \"yes\"\n", m.system, "requirements.toml")
		},
		"a requirement that is not there": func(m *machine) string {
			m.Requirements = []string{filepath.Join(m.system, "gone.toml")}
			return m.Requirements[0]
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.user(hooks("user"), ".zerotwo", "hooks.json")
			file := place(m)
			set, err := config.Load(m.Options)
			require.ErrorContains(t, err, file)
			require.Empty(t, set.Hooks)
			require.NotEmpty(t, set.Issues)
		})
	}
}

func TestFeatureSwitch(t *testing.T) {
	for _, c := range []struct {
		name                                string
		requirement, user, project, session string
		off                                 bool
	}{
		{name: "on by default"},
		{name: "off by the user", user: "[features]\nhooks = false\n", off: true},
		{name: "off by the page's alias", user: "[features]\nzerocode_hooks = false\n", off: true},
		{name: "off by the code's alias", user: "[features]\ncodex_hooks = false\n", off: true},
		{name: "the canonical key wins", user: "[features]\ncodex_hooks = false\nhooks = true\n"},
		{name: "a removed key is ignored", user: "[features]\nplugin_hooks = false\n"},
		{name: "the user's word stands over the project's", user: "[features]\nhooks = false\n", project: "[features]\nhooks = true\n", off: true},
		{name: "a project's word is not for the user's hooks", project: "[features]\nhooks = false\n"},
		{name: "the session's is the last", project: "[features]\nhooks = true\n", session: "features.hooks = false", off: true},
		{name: "a requirement pins it on", requirement: "[features]\nhooks = true\n", user: "[features]\nhooks = false\n", session: "features.hooks = false"},
		{name: "a requirement pins it off", requirement: "[features]\nhooks = false\n", session: "features.hooks = true", off: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t)
			m.user(hooks("zerocode"), ".zerotwo", "hooks.json")
			m.user(hooks("claude"), ".claude", "settings.json")
			m.review()
			write(t, c.requirement, m.system, "requirements.toml")
			m.user(c.user, ".zerotwo", "config.toml")
			m.project(c.project, ".zerotwo", "config.toml")
			if c.session != "" {
				m.Session = []string{c.session}
			}
			set := m.load()
			if !c.off {
				require.Equal(t, []string{"zerocode", "claude"}, commands(set))
				require.Empty(t, set.Issues)
				return
			}
			require.Equal(t, []string{"claude"}, commands(set), "it is ZeroCode's switch")
			require.Len(t, set.Issues, 1, "nothing is left out in silence")
			require.Contains(t, set.Issues[0].Message, "hooks are turned off: 1 hooks file not read")
		})
	}
}

func TestHighestRequirementPinsTheSwitch(t *testing.T) {
	m := newMachine(t)
	m.Requirements = []string{
		write(t, "[features]\nhooks = true\n", m.system, "high.toml"),
		write(t, "[features]\nhooks = false\n", m.system, "low.toml"),
	}
	m.user(hooks("user"), ".zerotwo", "hooks.json")
	require.Len(t, m.load().Entries, 1)
	m.Requirements[0], m.Requirements[1] = m.Requirements[1], m.Requirements[0]
	require.Empty(t, m.load().Entries)
}

func TestSlipInARequirementIsNotLost(t *testing.T) {
	for text, hint := range map[string]string{
		"allow_managed_hook_only = true\n": "did you mean `allow_managed_hooks_only`?",
		"[feature]\nhooks = false\n":       "did you mean `features`?",
		"[features]\nhook = false\n":       "did you mean `hooks`?",
		"[features]\ncodex_hook = false\n": "did you mean `codex_hooks`?",
		"[[hook.Stop]]\nhooks = []\n":      "did you mean `hooks`?",
	} {
		m := newMachine(t)
		file := write(t, text, m.system, "requirements.toml")
		set, err := config.Load(m.Options)
		require.ErrorContains(t, err, hint, text)
		require.Equal(t, file, set.Issues[0].File)
		require.NotZero(t, set.Issues[0].Line)
	}
	m := newMachine(t)
	m.user("allow_managed_hook_only = true\n[features]\nhook = false\nplugin_hooks = false\nweb_search = true\n", ".codex", "config.toml")
	write(t, "allowed_sandbox_modes = []\n[features]\nplugin_hooks = true\n[mcp_servers]\n", m.system, "requirements.toml")
	set := m.load()
	require.NoError(t, set.Err())
	require.Len(t, set.Issues, 1, "of a user's file it is a warning, and other settings are the host's")
	require.Contains(t, set.Issues[0].Hint, "did you mean `hooks`?")
}

func TestUntrustedProjectTurnsNothingOff(t *testing.T) {
	m := newMachine(t)
	m.user(hooks("guard"), ".zerotwo", "hooks.json")
	m.user(hooks("claude guard"), ".claude", "settings.json")
	m.project("[features]\nhooks = false\n", ".zerotwo", "config.toml")
	m.project(`{"disableAllHooks": true}`, ".claude", "settings.json")
	set := m.load()
	_, err := set.AcceptAll()
	require.NoError(t, err)
	require.Equal(t, []string{"guard", "claude guard"}, commands(m.load()))

	_, err = set.AcceptProject(m.root)
	require.NoError(t, err)
	require.Equal(t, []string{"guard", "claude guard"}, commands(m.load()), "nor does a trusted one, but of its own")
}

func TestSwitchReachesNoLayerAboveItsOwn(t *testing.T) {
	const off, disabled = "[features]\nhooks = false\n", `{"disableAllHooks": true}`
	all := []string{"system", "policy", "user", "user claude", "project", "project claude"}
	for _, c := range []struct {
		name  string
		write func(m *machine)
		want  []string
	}{
		{"a project's", func(m *machine) {
			m.project(off, ".codex", "config.toml")
			m.project(disabled, ".claude", "settings.local.json")
		}, all[:4]},
		{"a user's", func(m *machine) {
			m.user(off, ".codex", "config.toml")
			m.user(disabled[:len(disabled)-1]+","+hooks("user claude")[1:], ".claude", "settings.json")
		}, all[:2]},
		{"a system folder's", func(m *machine) { write(m.t, off, m.system, "codex", "config.toml") },
			[]string{"policy", "user claude", "project claude"}},
		{"a policy's", func(m *machine) {
			write(m.t, off, m.system, "requirements.toml")
			write(m.t, disabled, m.system, "claude-code", "managed-settings.d", "off.json")
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t)
			write(t, hooks("system"), m.system, "codex", "hooks.json")
			write(t, hooks("policy"), m.system, "claude-code", "managed-settings.json")
			m.user(hooks("user"), ".codex", "hooks.json")
			m.user(hooks("user claude"), ".claude", "settings.json")
			m.project(hooks("project"), ".codex", "hooks.json")
			m.project(hooks("project claude"), ".claude", "settings.json")
			require.ElementsMatch(t, all, commands(m.review()))
			c.write(m)
			set := m.load()
			require.ElementsMatch(t, c.want, commands(set))
			require.NoError(t, set.Err())
			require.NotEmpty(t, set.Issues, "it is a warning")
			m.Strict = true
			require.ErrorContains(t, m.load().Err(), "hooks are turned off")
		})
	}
}

func TestFileNamedOutrightObeysItsOwnSwitch(t *testing.T) {
	m := newMachine(t)
	m.Files = []string{
		m.user("[features]\nhooks = false\n"+inline("zerocode"), "given", "config.toml"),
		m.user(`{"disableAllHooks": true, `+hooks("claude")[1:], "given", "settings.json"),
		m.user(hooks("other"), "given", "hooks.json"),
	}
	set := m.load()
	require.Equal(t, []string{"other"}, commands(set))
	require.Len(t, set.Issues, 2)
	for _, i := range set.Issues {
		require.Contains(t, i.Message, "hooks are turned off: 1 hooks file not read")
	}
}

func TestOnlyManagedHooks(t *testing.T) {
	m := newMachine(t)
	for _, file := range []string{".zerotwo/hooks.json", ".claude/settings.json"} {
		m.user(hooks("user"), file)
		m.project(hooks("project"), file)
	}
	m.Session = []string{`hooks.Stop = [{hooks = [{type = "command", command = "session"}]}]`}
	m.Plugins = []config.Plugin{{Name: "p", Dir: filepath.Join(m.home, "p")}}
	write(t, hooks("plugin"), m.home, "p", "hooks", "hooks.json")
	write(t, hooks("system"), m.system, "codex", "hooks.json")
	requirement := write(t, "allow_managed_hooks_only = true\n[hooks]"+inline("required"), m.system, "requirements.toml")

	m.Trust = config.TrustAll
	set := m.load()
	require.Equal(t, []string{"required", "system"}, commands(set))
	require.Len(t, set.Issues, 1)
	require.Equal(t, requirement, set.Issues[0].File)
	require.Contains(t, set.Issues[0].Message, "6 hooks files not read")

	write(t, "allow_managed_hooks_only = false\n[hooks]"+inline("required"), m.system, "requirements.toml")
	require.Len(t, m.load().Hooks, 8)

	write(t, "[hooks]"+inline("required"), m.system, "requirements.toml")
	m.user("allow_managed_hooks_only = true\n", ".zerotwo", "config.toml")
	require.Len(t, m.load().Hooks, 8, "only a requirement may say so")

	write(t, `{"allowManagedHooksOnly": true}`, m.system, "claude-code", "managed-settings.json")
	require.Equal(t, []string{"required", "system"}, commands(m.load()))
}

func TestClaudeHooksAreDisabledByTheirSwitch(t *testing.T) {
	m := newMachine(t)
	m.Trust = config.TrustAll
	write(t, hooks("policy"), m.system, "claude-code", "managed-settings.json")
	m.user(`{"disableAllHooks": true, `+hooks("user")[1:], ".claude", "settings.json")
	m.user(hooks("zerocode"), ".zerotwo", "hooks.json")
	m.project(hooks("project"), ".claude", "settings.json")
	require.Equal(t, []string{"policy", "zerocode"}, commands(m.load()), "managed hooks are not a user's to disable")

	m.project(`{"disableAllHooks": false}`, ".claude", "settings.local.json")
	require.Equal(t, []string{"policy", "zerocode"}, commands(m.load()), "what the user turned off stays off")

	write(t, `{"disableAllHooks": true}`, m.system, "claude-code", "managed-settings.d", "off.json")
	require.Equal(t, []string{"zerocode"}, commands(m.load()))
}

func TestManagedCommandOutsideOfItsFolderIsReported(t *testing.T) {
	m := newMachine(t)
	dir := filepath.Join(m.system, "hooks")
	good, bad := write(t, "", dir, "good.py"), write(t, "", m.home, "bad.py")
	m.user("", ".zerotwo", "hooks", "page.py")
	for _, c := range []struct{ name, dir, command, want string }{
		{"under it", dir, "python3 " + good, ""},
		{"beside it", dir, "python3 " + bad, "runs " + bad},
		{"through dots", dir, "python3 " + dir + "/../../home/bad.py", "outside of managed_dir"},
		{"no script", dir, "mytool check", "names no script under managed_dir"},
		{"a script that is not delivered yet", dir, "python3 " + dir + "/later.py", ""},
		{"as on the page", "~/.zerotwo/hooks", "python3 ~/.zerotwo/hooks/page.py", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, "[hooks]\nmanaged_dir = '"+c.dir+"'\n"+inline(c.command), m.system, "requirements.toml")
			set := m.load()
			require.Len(t, set.Hooks, 1, "it runs all the same")
			require.Equal(t, config.Managed, set.Entries[0].Status)
			if c.want == "" {
				require.Empty(t, set.Issues)
				return
			}
			require.Len(t, set.Issues, 1)
			require.Contains(t, set.Issues[0].Message, c.want)
			require.NotZero(t, set.Issues[0].Line)
		})
	}
	require.NoError(t, os.Symlink(bad, filepath.Join(dir, "link.py")))
	write(t, "[hooks]\nmanaged_dir = '"+dir+"'\n"+inline("python3 "+dir+"/link.py"), m.system, "requirements.toml")
	require.Len(t, m.load().Issues, 1, "a link leads out of it")
}

func TestTwoManagedFoldersContradict(t *testing.T) {
	m := newMachine(t)
	high := write(t, "[hooks]\nmanaged_dir = '/opt/a'\nwindows_managed_dir = 'C:\\a'\n"+inline("high"), m.system, "high.toml")
	low := write(t, "[hooks]\nmanaged_dir = '/opt/b'\nwindows_managed_dir = 'C:\\a'\n"+inline("low"), m.system, "low.toml")
	m.Requirements = []string{high, low}
	_, err := config.Load(m.Options)
	require.ErrorContains(t, err, "hooks.managed_dir")
	require.ErrorContains(t, err, high)
	require.ErrorContains(t, err, low)

	m.OS = "windows"
	_, err = config.Load(m.Options)
	require.NoError(t, err, "the other platform's folder does not count")

	m.OS = ""
	write(t, "[hooks]\nmanaged_dir = '/opt/a'\n"+inline("low"), m.system, "low.toml")
	require.Equal(t, []string{"high", "low"}, commands(m.load()))
}

func TestFilesNamedOutrightAreTrustedAndLookedAtAlone(t *testing.T) {
	m := newMachine(t)
	m.user(hooks("user"), ".zerotwo", "hooks.json")
	file := m.project(hooks("given"), "somewhere", "hooks.json")
	m.Files = []string{file, file}
	for _, trust := range []config.Trust{config.TrustStore, config.TrustAll, config.TrustNone} {
		m.Trust = trust
		set := m.load()
		require.Equal(t, []string{"given"}, commands(set))
		require.Equal(t, "config-pre-tool-use-0-0", set.Hooks[0].Name)
		require.Equal(t, pawl.Origin{Layer: "config", File: file, Line: set.Hooks[0].Origin.Line, Column: set.Hooks[0].Origin.Column}, set.Hooks[0].Origin)
	}
	m.Files = []string{filepath.Join(m.root, "gone.json")}
	require.ErrorContains(t, m.load().Err(), "gone.json")
}

func TestSameHandlerInSeveralFiles(t *testing.T) { // C07
	m := newMachine(t)
	m.Trust = config.TrustAll
	m.user(hooks("zerocode"), ".zerotwo", "hooks.json")
	m.project(hooks("zerocode"), ".zerotwo", "hooks.json")
	m.user(hooks("claude"), ".claude", "settings.json")
	longer := strings.Replace(hooks("claude"), `"type"`, `"timeout":30,"type"`, 1)
	m.project(longer, ".claude", "settings.json")
	m.project(hooks("claude"), ".claude", "settings.local.json")
	for _, name := range []string{"one", "two"} {
		dir := filepath.Join(m.home, name)
		write(t, `{"name":"x","hooks":"./h.json"}`, dir, ".claude-plugin", "plugin.json")
		write(t, hooks("claude"), dir, "h.json")
		m.Plugins = append(m.Plugins, config.Plugin{Name: name, Dir: dir})
	}
	set := m.load()
	require.Equal(t, []string{"zerocode", "claude", "zerocode", "claude", "claude (once)", "claude", "claude"}, commands(set),
		"ZeroCode runs each; Claude Code runs what is the same once, and a plugin's as another")
	require.Len(t, set.Issues, 1)
	require.Equal(t, filepath.Join(m.root, ".claude", "settings.local.json"), set.Issues[0].File)
	require.Contains(t, set.Issues[0].Message, "the same handler as hook user-pre-tool-use-0-0-2; it runs once")
	require.Equal(t, set.Entries[4].Hook.Origin, set.Entries[1].Also[0])
}

func TestSameHandlerUnderTwoMatchersRunsOnceAnEvent(t *testing.T) { // C07
	m := newMachine(t)
	m.Trust = config.TrustAll
	m.user(strings.Replace(hooks("guard"), `"Bash"`, `"Bash|Read"`, 1), ".claude", "settings.json")
	m.project(strings.Replace(hooks("guard"), `"Bash"`, `"Bash|Write"`, 1), ".claude", "settings.json")
	m.project(strings.Replace(hooks("guard"), `"Bash"`, `"*"`, 1), ".claude", "settings.local.json")
	set := m.load()
	require.Len(t, set.Hooks, 3)
	for tool, name := range map[string]string{
		"Bash": "user-pre-tool-use-0-0", "Read": "user-pre-tool-use-0-0", "Write": "project-pre-tool-use-0-0", "Grep": "project-pre-tool-use-0-0-2",
	} {
		r, err := pawl.New(pawl.Options{Gate: &fakeGate{}}, set.Hooks...)
		require.NoError(t, err)
		out, err := r.Dispatch(context.Background(), &pawl.Event{Trigger: pawl.ToolBefore, Tool: tool, Input: []byte(`{}`)})
		require.NoError(t, err)
		require.Len(t, out.Runs(), 1, tool)
		require.Equal(t, name, out.Runs()[0].Name, tool)
	}
}

func TestFilesAreReadFromAnFS(t *testing.T) {
	fsys := fstest.MapFS{
		"home/u/.zerotwo/hooks.json": {Data: []byte(hooks("user"))},
		"w/repo/.git/HEAD":           {Data: []byte("ref")},
		"w/repo/.codex/hooks.json":   {Data: []byte(hooks("project"))},
		"etc/zerotwo/hooks.json":     {Data: []byte(hooks("system"))},
	}
	set, err := config.Load(config.Options{FS: fsys, Home: "/home/u", Root: "/w/repo", Getenv: func(string) string { return "" }})
	require.NoError(t, err)
	require.Equal(t, []string{"system", "user (waits)", "project (waits)"}, commands(set))
}

func TestOptionsThatCannotBeUsedAreAllReported(t *testing.T) {
	_, err := config.Load(config.Options{
		Root: "repo", Trust: "maybe", Dialect: "cursor", Files: []string{"x.json"},
		Plugins: []config.Plugin{{Name: "a/b", Dir: "/p"}, {Name: "p", Dir: "/p"}, {Name: "p", Dir: "/q"}},
	})
	for _, want := range []string{`Root "repo"`, `Trust "maybe"`, `Dialect "cursor"`, `Files "x.json"`, `Plugins "a/b"`, "named twice"} {
		require.ErrorContains(t, err, want)
	}
}

// A policy that is misspelt is not a policy that says no.
func TestManagedSwitchThatIsNoSwitchFailsTheLoad(t *testing.T) {
	m := newMachine(t)
	write(t, `{"allowManagedHooksOnly": "true"}`, m.system, "managed-settings.json")
	m.user(hooks("user"), ".zerotwo", "hooks.json")
	set, err := config.Load(m.Options)
	require.ErrorContains(t, err, "`allowManagedHooksOnly`: expected true or false, found the string \"true\"")
	require.Empty(t, set.Hooks)

	write(t, `{}`, m.system, "managed-settings.json")
	m.user(`{"allowManagedHooksOnly": "true"}`, ".claude", "settings.json")
	require.Empty(t, m.load().Issues, "in a person's own file it decides nothing")
}
