package native_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/dialect/native"
)

const one = "[[hooks]]\nname = \"a\"\non = \"tool.before\"\nrun = [\"x\"]\noutput = \"refuse\"\n"

// H2.
func TestLimitsAreExact(t *testing.T) {
	words := func(n int) string { return strings.Repeat(`"w",`, n) }
	for name, c := range map[string]struct {
		good, bad string
	}{
		"hooks":   {hooksFile(8), hooksFile(9)},
		"words":   {strings.Replace(one, `"x"`, words(16), 1), strings.Replace(one, `"x"`, words(17), 1)},
		"timeout": {one + "timeout_ms = 600000", one + "timeout_ms = 600001"},
		"least":   {one + "timeout_ms = 1", one + "timeout_ms = 0"},
		"raised":  {"max_hooks = 20\n" + hooksFile(20), "max_hooks = 20\n" + hooksFile(21)},
		"size":    {one + strings.Repeat("#", 1<<20-len(one)), one + strings.Repeat("#", 1<<20-len(one)+1)},
		"2 MiB":   {one, one + strings.Repeat("#", 2<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			file, issues := native.Load("f.toml", []byte(c.good), native.Options{})
			require.False(t, dialect.HasErrors(issues), "%v", issues)
			require.NotEmpty(t, file.Hooks)
			file, issues = native.Load("f.toml", []byte(c.bad), native.Options{})
			require.True(t, dialect.HasErrors(issues))
			require.Empty(t, file.Hooks)
		})
	}
}

func hooksFile(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Replace(one, `"a"`, `"h`+string(rune('a'+i))+`"`, 1))
	}
	return b.String()
}

// T08: what a file says reaches the program word for word, whatever a shell would make of it.
func TestWordsAreNeverInterpreted(t *testing.T) {
	words := []string{"x", "; rm -rf /", "`id`", "$(id)", "$HOME", `a"b'c`, "", " ", "*", "~", "\\", "line\nline"}
	src := "[[hooks]]\nname = \"a\"\non = \"tool.after\"\nrun = [" + tomlWords(words) + "]\n"
	file, issues := native.Load("f.toml", []byte(src), native.Options{})
	require.Empty(t, issues)
	require.Equal(t, words, file.Hooks[0].Handler.(pawl.Program).Argv())
}

func tomlWords(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(w) + `",`)
	}
	return b.String()
}

func TestARelativeDirIsBelowTheRoot(t *testing.T) {
	for _, c := range []struct{ root, dir, want string }{
		{"/w", "sub", "/w/sub"}, {"/w", "/abs", "/abs"}, {"", "sub", "sub"}, {"/w", "../up", "/up"},
	} {
		file, issues := native.Load("f.toml", []byte(one+"dir = \""+c.dir+"\"\n"), native.Options{Root: c.root})
		require.Empty(t, issues)
		require.Equal(t, filepath.FromSlash(c.want), file.Hooks[0].Handler.(command.Program).Dir)
	}
}

func TestFormatsSayTheSame(t *testing.T) {
	var hooks []pawl.Hook
	for _, path := range []string{"every-key.toml", "every-key.json", "every-key.zon"} {
		data, err := os.ReadFile(filepath.Join(corpus, "valid/native/optional", path))
		require.NoError(t, err)
		file, _ := native.Load(path, data, native.Options{})
		require.Len(t, file.Hooks, 1)
		file.Hooks[0].Origin = pawl.Origin{}
		hooks = append(hooks, file.Hooks[0])
	}
	require.Equal(t, hooks[0], hooks[1])
	require.Equal(t, hooks[0], hooks[2])
}

func TestTheFormatMayBeNamed(t *testing.T) {
	file, issues := native.Load("chock", []byte(one), native.Options{Format: "toml"})
	require.Empty(t, issues)
	require.Len(t, file.Hooks, 1)
	_, issues = native.Load("chock", []byte(one), native.Options{})
	require.Equal(t, "chock:1:1: error: the format of this file is not known (name it .toml, .json or .zon)", issues[0].String())
	_, issues = native.Load("chock", []byte(one), native.Options{Format: "yaml"})
	require.Equal(t, `chock: error: unknown format "yaml" (a native file is toml, json or zon)`, issues[0].String())
}

// A runtime that cannot carry a trigger says so at load, not by a hook that never runs.
func TestTheRuntimesOwnTriggerTableCounts(t *testing.T) {
	table := pawl.DefaultTriggers()
	delete(table, pawl.ToolBefore)
	file, issues := native.Load("f.toml", []byte(one), native.Options{Triggers: table})
	require.Empty(t, file.Hooks)
	require.Contains(t, issues[0].String(), `f.toml:1:3: error: tool.before: unknown trigger "tool.before"`)

	table[pawl.ToolBefore] = pawl.Contract{Can: pawl.MayNote, Subject: pawl.AboutTool}
	_, issues = native.Load("f.toml", []byte(one), native.Options{Triggers: table})
	require.Contains(t, issues[0].String(), "tool.before cannot refuse")

	table[pawl.ToolBefore] = pawl.Contract{Can: pawl.MayRefuse, Subject: pawl.AboutTool}
	file, issues = native.Load("f.toml", []byte(one+"wire = \"json\"\n"), native.Options{Triggers: table})
	require.False(t, dialect.HasErrors(issues))
	require.Equal(t, pawl.MayRefuse, file.Hooks[0].Effects, "ask and halt only where the trigger can")
}

func TestIssuesNameTheirHook(t *testing.T) {
	_, issues := native.Load("f.toml", []byte("max_hoks = 1\n"+one+strings.Replace(one, "run", "rnu", 1)), native.Options{})
	var got []string
	for _, i := range issues {
		got = append(got, i.Index+" "+i.Event+" "+i.Message)
	}
	require.Equal(t, []string{
		`  unknown key "max_hoks"`, "1 tool.before `run` is missing", `1 tool.before two hooks are called "a"`, `1 tool.before unknown key "rnu"`,
	}, got)
}

// F08.
func TestLoadFileOfWhatIsNoFile(t *testing.T) {
	fsys := fstest.MapFS{
		"hooks.toml":     {Data: []byte(one)},
		"dir.toml/inner": {Data: nil},
		"big.toml":       {Data: bytes.Repeat([]byte("#"), 2<<20)},
	}
	file, issues := native.LoadFile(fsys, "hooks.toml", "", native.Options{Layer: "user"})
	require.Empty(t, issues)
	require.Equal(t, "user:hooks.toml:1:3", file.Hooks[0].Origin.String())
	for name, want := range map[string]string{
		"dir.toml":  "/s: error: cannot read the file: it is a directory (name a file in it)",
		"none.toml": "/s: error: cannot read the file: file does not exist (check the name and the folder)",
		"big.toml":  "/s: error: the file is larger than 1048576 bytes (a configuration file is at most 1 MiB)",
	} {
		file, issues := native.LoadFile(fsys, name, "/s", native.Options{})
		require.Empty(t, file.Hooks)
		require.Len(t, issues, 1)
		require.Equal(t, want, issues[0].String())
	}
	if os.Getuid() != 0 { // root reads every file
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "hooks.toml"), []byte(one), 0))
		_, issues = native.LoadFile(os.DirFS(dir), "hooks.toml", "", native.Options{})
		require.Contains(t, issues[0].String(), "permission denied")
	}
}

// FuzzLoad asks that no file loads in half: hooks or errors, never both, and what loads registers.
func FuzzLoad(f *testing.F) {
	formats := []string{"toml", "json", "zon"}
	for _, part := range []string{"valid", "invalid"} {
		for _, path := range files(f, part) {
			data, err := os.ReadFile(path)
			require.NoError(f, err)
			for i, format := range formats {
				if filepath.Ext(path) == "."+format {
					f.Add(uint8(i), data)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, format uint8, data []byte) {
		file, issues := native.Load("f", data, native.Options{Format: formats[int(format)%len(formats)]})
		if dialect.HasErrors(issues) {
			require.Empty(t, file.Hooks)
		}
		_, err := pawl.New(pawl.Options{}, file.Hooks...)
		require.NoError(t, err)
		for _, i := range issues {
			require.NotEmpty(t, i.Message)
			require.Positive(t, i.Line)
			require.Positive(t, i.Column)
			require.NotContains(t, i.String(), "\x1b")
			i.Caret()
		}
	})
}

// A file at the size limit that is wrong throughout must not take its reader's memory or patience.
func TestAFileOfNothingButFaultsIsToldInFew(t *testing.T) {
	for name, src := range map[string]string{
		"hooks": `{"hooks":[` + strings.Repeat("{},", 300_000) + `{}]}`,
		"words": `{"hooks":[{"run":[` + strings.Repeat("1,", 300_000) + `1]}]}`,
	} {
		_, issues := native.Load("f.json", []byte(src), native.Options{})
		require.NotEmpty(t, issues, name)
		require.Less(t, len(issues), 30, name)
	}
}

// All faults at once: those of hooks beyond the limit, too.
func TestAFaultBeyondTheLimitIsTold(t *testing.T) {
	_, issues := native.Load("f.toml", []byte(hooksFile(9)+"nonsense = 1\n"), native.Options{})
	require.Len(t, issues, 2)
	require.Contains(t, issues[0].Message, "9 hooks: at most 8")
	require.Contains(t, issues[1].Message, `unknown key "nonsense"`)
}

// Every error of a hand-written file says what to write instead.
func TestFaultsSayWhatToWrite(t *testing.T) {
	const head = "[[hooks]]\nname = \"a\"\non = \"tool.before\"\nrun = [\"x\"]\n"
	for name, c := range map[string]struct{ file, data string }{
		"an empty run":          {"f.toml", strings.Replace(head, `["x"]`, `[]`, 1)},
		"an empty program":      {"f.toml", strings.Replace(head, `["x"]`, `[""]`, 1)},
		"an empty name":         {"f.toml", strings.Replace(head, `"a"`, `""`, 1)},
		"a name of a number":    {"f.toml", strings.Replace(head, `"a"`, `1`, 1)},
		"an empty tool":         {"f.toml", head + `tool = ""`},
		"a list of tools":       {"f.toml", head + `tool = ["a"]`},
		"a match of a number":   {"f.toml", head + `match = 1`},
		"a match that is dead":  {"f.toml", head + `match = "a b"`},
		"an env that is a list": {"f.toml", head + `env = ["A=b"]`},
		"a dir of a number":     {"f.toml", head + `dir = 1`},
		"a flag in quotes":      {"f.toml", head + `shadow = "true"`},
		"a number in quotes":    {"f.toml", head + `timeout_ms = "1"`},
		"too high a limit":      {"f.toml", "max_hooks = 1001"},
		"no TOML":               {"f.toml", "hooks"},
		"TOML cut short":        {"f.toml", "a = [1,"},
		"no ZON":                {"f.zon", ".{ .a = 1 .b = 2 }"},
		"ZON cut short":         {"f.zon", ".{ .a = "},
		"a ZON text, open":      {"f.zon", `.{ .a = "x`},
	} {
		t.Run(name, func(t *testing.T) {
			_, issues := native.Load(c.file, []byte(c.data), native.Options{})
			require.NotEmpty(t, issues)
			for _, i := range issues {
				if i.Severity == dialect.Error {
					require.NotEmpty(t, i.Hint, i.Message)
				}
			}
		})
	}
}
