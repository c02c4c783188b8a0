package native_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/dialect/native"
)

// Inputs of public bug reports about other hosts: each gets an error that says where and what instead, and
// never loads as no hooks or as half of them.
func TestFilesThatOtherHostsIgnoreInSilence(t *testing.T) {
	head := "[[hooks]]\nname = \"a\"\non = \"tool.before\"\nrun = [\"x\"]\noutput = \"refuse\"\n"
	for _, c := range []struct {
		name, file, data string
		says, hint       string // of the first error
	}{
		{"a star as a pattern", "f.toml", head + "match = \"*\"", "f.toml:6:9", "leave `match` out"},                                                                                    // M01
		{"a star as a tool", "f.toml", head + "tool = \"*\"", "f.toml:6:8", "leave `tool` out"},                                                                                         // M01
		{"a permission rule as a pattern", "f.toml", head + "match = \"Bash(git push*)\"", "can never match", "`if`"},                                                                   // M03
		{"lookahead", "f.toml", head + "match = \"^(?!Read$).*\"", `"^(?!Read$).*" does not compile`, "lookaround is not supported"},                                                    // M05
		{"a matcher where nothing can match", "f.toml", "[[hooks]]\nname = \"a\"\non = \"session.end\"\nrun = [\"x\"]\ntool = \"Bash\"", "`tool` is about a tool call", "leave it out"}, // M09
		{"a trailing comma", "f.json", "{\"hooks\": [\n],}", "f.json:2:2: error: a comma before the closing bracket", "remove the comma"},                                               // P02
		{"a comment", "f.json", "{\"hooks\": []} // end", "f.json:1:15: error: a comment", "JSON has no comments"},                                                                      // P02
		{"an unknown event key", "f.json", `{"hooks": [], "FutureEvent": []}`, `unknown key "FutureEvent"`, "hooks"},                                                                    // P04
		{"a flat host entry", "f.toml", "[[hooks]]\nevent = \"Stop\"\ncommand = \"./s.sh\"\ntimeout = 5000", "`name` is missing", ""},                                                   // P06
		{"a list twice", "f.toml", "[hooks]\nStop = [{hooks=[{command=\"./a.sh\"}]}]\nStop = [{hooks=[{command=\"./b.sh\"}]}]", `f.toml:3:1: error: duplicate key "Stop"`, "line 2"},    // P08
		{"a list inside an event", "f.toml", "[[hooks.Stop.hooks]]\ntype=\"command\"\ncommand=\"./s.sh\"", "expected a list, found a table", "dialect"},                                 // P12
		{"an array of scripts", "f.json", `[{"event":"x","matcher":"y","script":"z"}]`, "expected a table with `hooks`, found a list", ""},                                              // F08
		{"an empty JSON file", "f.json", "", "the file is empty", "{}"},                                                                                                                 // F08
		{"null", "f.json", "null", "expected a table with `hooks`, found null", ""},                                                                                                     // F08
		{"an empty list", "f.json", "[]", "expected a table with `hooks`, found an empty list", ""},                                                                                     // F08
		{"seconds beyond the limit", "f.toml", head + "timeout_ms = 1000000", "`timeout_ms` is out of range: 1000000", "600000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, issues := native.Load(c.file, []byte(c.data), native.Options{})
			require.Empty(t, file)
			require.True(t, dialect.HasErrors(issues))
			require.Contains(t, issues[0].String(), c.says)
			require.Contains(t, issues[0].Hint, c.hint)
		})
	}
}

func TestFilesWithNothingInThemAreNoError(t *testing.T) {
	for file, data := range map[string]string{
		"a.json": `{"hooks": []}`, "b.json": `{}`, "d.toml": "# nothing\n", "e.zon": ".{}", "f.zon": ".{ .hooks = .{} }", // F08
	} {
		loaded, issues := native.Load(file, []byte(data), native.Options{})
		require.Empty(t, issues, file)
		require.Empty(t, loaded, file)
	}
}

func TestAFileCutToNothingIsSaidToBe(t *testing.T) {
	_, issues := native.Load("c.toml", []byte("\n"), native.Options{})
	require.Len(t, issues, 1)
	require.Equal(t, "c.toml:1:1: warning: the file is empty (write [[hooks]] above each hook, or remove the file)", issues[0].String())
}

func TestWhatAShellWouldExpandIsWarnedOf(t *testing.T) {
	for name, c := range map[string]struct{ data, says string }{
		"a variable in the program": {`run = ["${PROJECT_DIR}/h.sh"]`, "never expanded"},               // E02
		"a path with a space":       {`run = ["/tmp/My Project (1)/h.sh", "x"]`, ""},                   // E02
		"backslashes":               {`run = ['C:\hooks\guard.exe', "--x"]`, ""},                       // E04
		"a PATH of its own":         {"run = [\"x\"]\nenv = { PATH = \"/opt/bin:$PATH\" }", "PATH is"}, // E10
		"a whole PATH":              {"run = [\"x\"]\nenv = { PATH = \"/opt/bin:/bin\" }", ""},         // E10
		"a price":                   {"run = [\"x\", \"$5\"]\nenv = { P = \"$5\" }", ""},
		"a line in one word":        {`run = ["npm run test"]`, "one word with a space"},
		"seconds for milliseconds":  {"run = [\"x\"]\ntimeout_ms = 30", "less than a program needs"},
	} {
		t.Run(name, func(t *testing.T) {
			file, issues := native.Load("f.toml", []byte("[[hooks]]\nname = \"a\"\non = \"tool.after\"\n"+c.data), native.Options{})
			require.Len(t, file.Hooks, 1, "a warning keeps nothing from loading")
			if c.says == "" {
				require.Empty(t, issues)
				return
			}
			require.Len(t, issues, 1)
			require.Equal(t, dialect.Warning, issues[0].Severity)
			require.Contains(t, issues[0].Message, c.says)
		})
	}
}
