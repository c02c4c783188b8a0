package native_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/dialect/claude"
	"github.com/pawl-hooks/pawl/dialect/native"
)

// entry is a host's hook as its dialect reads it.
func entry(name string, on pawl.Trigger, event, matcher, line string, may pawl.Effect) dialect.Entry {
	e := dialect.Entry{Dialect: "claude", Event: event, Handler: 1, Matcher: matcher, Command: line, Timeout: 60}
	e.Hook = pawl.Hook{
		Name: name, On: on, Effects: may, FailOpen: true, Concurrent: true,
		Handler: command.Program{Name: name, Args: []string{"/bin/sh", "-c", line}, Inherit: true},
		Origin:  pawl.Origin{Layer: "project", File: "settings.json", Line: 3, Column: 9},
	}
	return e
}

const may = pawl.MayRefuse | pawl.MayHalt | pawl.MayAsk | pawl.MayNote | pawl.MayRewrite

func TestImportWritesWhatANativeFileCanHold(t *testing.T) {
	exec := entry("exec", pawl.ToolBefore, "PreToolUse", "^mcp__", "./guard", may)
	exec.Args = []string{"--strict", "a b"}
	slow := entry("slow", pawl.ToolAfter, "PostToolUse", "Edit|Write", "gofmt -l . | tee x", pawl.MayRefuse|pawl.MayReplace|pawl.MayNote)
	slow.Timeout = 3600
	rule, err := pawl.Args("Bash(git push *)")
	require.NoError(t, err)
	ruled := entry("ruled", pawl.ToolBefore, "PreToolUse", "Bash", "./guard", may)
	ruled.Hook.Match = pawl.All(pawl.Names("Bash"), rule)

	hooks, lost := native.Import([]dialect.Entry{
		entry("plain", pawl.ToolBefore, "PreToolUse", "Bash", "./check 'a b'", may), exec, slow, ruled,
		entry("start", pawl.SessionStart, "SessionStart", "startup", "./hello", pawl.MayRefuse|pawl.MayNote),
		entry("stop", pawl.TurnStop, "Stop", "", "./stop", pawl.MayRefuse|pawl.MayHalt),
	})
	data, err := native.Encode(hooks...)
	require.NoError(t, err)
	require.Equal(t, `[[hooks]]
name = "plain"
on = "tool.before"
tool = "Bash"
run = ["./check", "a b"]
timeout_ms = 60000
output = "refuse"
fail_open = true

[[hooks]]
name = "exec"
on = "tool.before"
match = "^mcp__"
run = ["./guard", "--strict", "a b"]
timeout_ms = 60000
output = "refuse"
fail_open = true

[[hooks]]
name = "slow"
on = "tool.after"
match = "^(Edit|Write)$"
run = ["/bin/sh", "-c", "gofmt -l . | tee x"]
timeout_ms = 600000
output = "note"

[[hooks]]
name = "ruled"
on = "tool.before"
tool = "Bash"
if = "Bash(git push *)"
run = ["./guard"]
timeout_ms = 60000
output = "refuse"
fail_open = true

[[hooks]]
name = "start"
on = "session.start"
match = "^(startup)$"
run = ["./hello"]
timeout_ms = 60000
output = "ignore"
`, string(data))

	var said string
	for _, i := range lost {
		require.Equal(t, dialect.Lost, i.Severity)
		said += i.Event + " " + i.Index + " " + i.String() + "\n"
	}
	require.Contains(t, said, "Stop 0.1 settings.json:3:9: lost: the whole hook: a native file has no trigger for Stop")
	require.Contains(t, said, "PostToolUse 0.1 settings.json:3:9: lost: a timeout of 3600 s")
	require.Contains(t, said, "PreToolUse 0.1 settings.json:3:9: lost: the right to rewrite")
}

// The exec form has a handler of its own.
func TestImportOfTheExecFormNamesTheEnvironment(t *testing.T) {
	entries, issues := claude.Load(dialect.Source{File: "settings.json", Data: []byte(
		`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"./h","args":["x"]}]}]}}`)})
	require.Empty(t, issues)
	_, lost := native.Import(entries)
	require.Contains(t, fmt.Sprint(lost), "the host's whole environment")
}

// Every entry is a hook or is named by an issue.
func TestImportNamesWhatIsLost(t *testing.T) {
	limit := 5
	for name, c := range map[string]struct {
		change func(*dialect.Entry)
		says   string
		whole  bool
	}{
		"stdin":           {func(*dialect.Entry) {}, "the event on stdin", false},
		"environment":     {func(*dialect.Entry) {}, "the host's whole environment", false},
		"a variable":      {func(e *dialect.Entry) { e.Command = `"$CLAUDE_PROJECT_DIR"/h.sh` }, "the variable CLAUDE_PROJECT_DIR", false},
		"a limit":         {func(e *dialect.Entry) { e.Limit = &limit }, "additionalContextLimit 5", false},
		"a status":        {func(e *dialect.Entry) { e.Hook.Status = "checking" }, `"checking"`, false},
		"a plugin":        {func(e *dialect.Entry) { e.Plugin = "p@m" }, "the plugin p@m", false},
		"managed":         {func(e *dialect.Entry) { e.Managed = true }, "managed", false},
		"no command":      {func(e *dialect.Entry) { e.Command = "" }, "the whole hook", true},
		"a bad matcher":   {func(e *dialect.Entry) { e.Matcher = "a(?!b)" }, "the whole hook", true},
		"too many words":  {func(e *dialect.Entry) { e.Args = make([]string, 20) }, "the whole hook", true},
		"another trigger": {func(e *dialect.Entry) { e.Hook.On = pawl.PromptSubmit }, "the whole hook", true},
	} {
		t.Run(name, func(t *testing.T) {
			e := entry("a", pawl.ToolBefore, "PreToolUse", "Bash", "./h", may)
			c.change(&e)
			hooks, lost := native.Import([]dialect.Entry{e})
			require.Equal(t, c.whole, len(hooks) == 0)
			found := false
			for _, i := range lost {
				found = found || strings.Contains(i.Message, c.says)
			}
			require.True(t, found, "%v", lost)
		})
	}
}
