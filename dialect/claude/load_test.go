package claude_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/dialect/claude"
	"github.com/pawl-hooks/pawl/gate"
	"github.com/pawl-hooks/pawl/pawltest"
	"github.com/pawl-hooks/pawl/wire"
)

const echo = `{"type":"command","command":"echo hi"}`

func load(doc string) ([]dialect.Entry, []dialect.Issue) {
	return claude.Load(dialect.Source{Layer: "project", File: "/w/.claude/settings.json", Data: []byte(doc)})
}

func loadStrict(doc string) ([]dialect.Entry, []dialect.Issue) {
	return claude.Load(dialect.Source{File: "settings.json", Data: []byte(doc), Strict: true})
}

// one wraps a handler, and a matcher where m is not empty, in a settings file.
func one(event, m, handler string) string {
	if m != "" {
		m = `"matcher":` + m + `,`
	}
	return fmt.Sprintf(`{"permissions":{},"hooks":{%q:[{%s"hooks":[%s]}]}}`, event, m, handler)
}

func only(t testing.TB, entries []dialect.Entry, issues []dialect.Issue) dialect.Entry {
	t.Helper()
	require.Empty(t, lines(issues))
	require.Len(t, entries, 1)
	return entries[0]
}

func lines(issues []dialect.Issue) string {
	var all []string
	for _, i := range issues {
		all = append(all, i.String())
	}
	return strings.Join(all, "\n")
}

func fires(t testing.TB, ev *pawl.Event, entries ...dialect.Entry) int {
	t.Helper()
	var hooks []pawl.Hook
	for _, e := range entries {
		hooks = append(hooks, e.Hook)
	}
	r, err := pawl.New(pawl.Options{}, hooks...)
	require.NoError(t, err)
	n := 0
	for _, x := range r.Explain(context.Background(), ev) {
		if x.Fires != pawl.FiresNo {
			n++
		}
	}
	return n
}

func TestEveryEventWithATriggerLoads(t *testing.T) {
	for _, e := range wire.Claude.Events() {
		entries, issues := load(one(e.Name, "", echo))
		got := only(t, entries, issues)
		require.Equal(t, e.Trigger, got.Hook.On)
		require.Equal(t, "claude", got.Dialect)
		require.Equal(t, "/w/.claude/settings.json:"+e.Label+":0:0", got.Key)
		require.Equal(t, "project-"+strings.ReplaceAll(e.Label, "_", "-")+"-0-0", got.Hook.Name)
		_, err := pawl.New(pawl.Options{}, got.Hook)
		require.NoError(t, err)
	}
}

func TestEventsWithoutATriggerAreLost(t *testing.T) {
	for _, event := range []string{
		"Setup", "InstructionsLoaded", "UserPromptExpansion", "MessageDisplay", "PermissionDenied", "PostToolBatch",
		"Notification", "TaskCreated", "TaskCompleted", "StopFailure", "TeammateIdle", "ConfigChange", "CwdChanged",
		"DirectoryAdded", "FileChanged", "WorktreeCreate", "WorktreeRemove", "Elicitation", "ElicitationResult",
	} {
		entries, issues := load(one(event, "", echo+","+echo))
		require.Empty(t, entries)
		require.Len(t, issues, 2, "one for each handler")
		require.Equal(t, dialect.Lost, issues[0].Severity)
		require.Equal(t, event, issues[0].Event)
		require.Equal(t, "0.1", issues[1].Index)
	}
	_, issues := loadStrict(one("Notification", "", echo))
	require.False(t, dialect.HasErrors(issues), "it could not forbid anything")
	_, issues = loadStrict(one("UserPromptExpansion", "", echo))
	require.True(t, dialect.HasErrors(issues))
}

func TestMatchers(t *testing.T) {
	for _, c := range []struct {
		matcher  string
		yes, nay []string
	}{
		{``, []string{"Bash", "mcp__a__b"}, nil},
		{`"*"`, []string{"Bash"}, nil},
		{`"Edit|Write"`, []string{"Edit", "Write"}, []string{"MultiEdit"}},
		{`"Edit, Write"`, []string{"Edit", "Write"}, []string{"Edit, Write", "Bash"}},
		{`" Bash "`, []string{"Bash"}, []string{"BashOutput"}},
		{`"web-search"`, []string{"web-search"}, []string{"my-web-search"}},
		{`"mcp__.*"`, []string{"mcp__a__b"}, []string{"Bash"}},
		{`"Notebook.*"`, []string{"NotebookEdit"}, []string{"Edit"}},
		{`"^Bash$"`, []string{"Bash"}, []string{"bash"}},
	} {
		entries, issues := load(one("PreToolUse", c.matcher, echo))
		e := only(t, entries, issues)
		for _, name := range c.yes {
			require.Equal(t, 1, fires(t, &pawl.Event{Trigger: pawl.ToolBefore, Tool: name}, e), "%s %s", c.matcher, name)
		}
		for _, name := range c.nay {
			require.Zero(t, fires(t, &pawl.Event{Trigger: pawl.ToolBefore, Tool: name}, e), "%s %s", c.matcher, name)
		}
	}
	entries, issues := load(one("SessionStart", `"fork"`, echo))
	require.Equal(t, 1, fires(t, &pawl.Event{Trigger: pawl.SessionStart, Source: "fork"}, only(t, entries, issues)))
	entries, issues = load(one("SessionEnd", `"logout|clear"`, echo))
	require.Equal(t, 1, fires(t, &pawl.Event{Trigger: pawl.SessionEnd, Source: "clear"}, only(t, entries, issues)))
}

func TestPostToolUseIsForCallsThatSucceeded(t *testing.T) {
	entries, issues := load(one("PostToolUse", `"Bash"`, echo))
	e := only(t, entries, issues)
	require.Equal(t, 1, fires(t, &pawl.Event{Trigger: pawl.ToolAfter, Tool: "Bash"}, e))
	require.Zero(t, fires(t, &pawl.Event{Trigger: pawl.ToolAfter, Tool: "Bash", Failed: true}, e))
	entries, issues = load(one("PostToolUseFailure", `"Bash"`, echo))
	require.Equal(t, 1, fires(t, &pawl.Event{Trigger: pawl.ToolFailed, Tool: "Bash", Failed: true}, only(t, entries, issues)))
}

// M11
func TestConditions(t *testing.T) {
	entries, issues := load(one("PreToolUse", `"Bash"`, `{"type":"command","command":"x","if":"Bash(git commit *)"}`))
	e := only(t, entries, issues)
	for line, want := range map[string]int{`git commit -m "two words"`: 1, `git commit`: 0, `git commitx`: 0, `cd x && git commit -a`: 1} {
		in, err := json.Marshal(map[string]string{"command": line})
		require.NoError(t, err)
		require.Equal(t, want, fires(t, &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash", Input: in}, e), line)
	}
	entries, issues = load(one("PostToolUse", "", `{"type":"command","command":"x","if":"Edit(*.ts)"}`))
	e = only(t, entries, issues)
	require.Equal(t, 1, fires(t, &pawl.Event{Trigger: pawl.ToolAfter, Tool: "Edit", Input: json.RawMessage(`{"file_path":"/w/a.ts"}`)}, e))
	require.Zero(t, fires(t, &pawl.Event{Trigger: pawl.ToolAfter, Tool: "Edit", Input: json.RawMessage(`{"file_path":"/w/a.go"}`)}, e))
}

// A condition on a tool that the matcher lets through is no surprise: by its own name, or by one that it is known to
// have too.
func TestAConditionOnAToolOfTheMatcherIsNotWarnedOf(t *testing.T) {
	for matcher, rule := range map[string]string{
		`"Bash"`: "Bash(ls)", `"Read|Bash"`: "Bash(ls)", `"^B"`: "Bash", `"*"`: "Write(x)", `""`: "Write(x)", `"apply_patch"`: "Edit(*.ts)", `"Edit"`: "Write(x)",
	} {
		entries, issues := load(one("PreToolUse", matcher, `{"type":"command","command":"x","if":"`+rule+`"}`))
		only(t, entries, issues)
	}
}

func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct {
		doc, want string
		entries   int
	}{
		"a rule for a matcher":     {one("PreToolUse", `"Bash(git push*)"`, echo), `can never match a tool's name`, 1},
		"a matcher on Stop":        {one("Stop", `"Bash"`, echo), `Stop has nothing to match`, 1},
		"an http hook":             {one("Stop", "", `{"type":"http","url":"x"}`), `http hooks are not run here`, 0},
		"an mcp hook":              {one("Stop", "", `{"type":"mcp_tool","server":"x","tool":"y"}`), `mcp_tool hooks are not run here`, 0},
		"a prompt hook":            {one("Stop", "", `{"type":"prompt","prompt":"x"}`), `prompt hooks are not run here`, 0},
		"an async hook":            {one("PostToolUse", "", `{"type":"command","command":"x","async":true}`), `async hooks are not run here`, 0},
		"one that wakes the model": {one("Stop", "", `{"type":"command","command":"x","asyncRewake":true}`), `async hooks are not run here`, 0},
		"a condition on Stop":      {one("Stop", "", `{"type":"command","command":"x","if":"Bash(ls)"}`), "a hook with `if` never runs at Stop", 0},
		"a condition on domains":   {one("PreToolUse", "", `{"type":"command","command":"x","if":"WebFetch(domain:x.com)"}`), "`if` is not understood", 0},
		"a broken condition":       {one("PreToolUse", "", `{"type":"command","command":"x","if":"Bash(ls"}`), "`if` is not understood", 0},
		"a condition on another":   {one("PreToolUse", `"Bash"`, `{"type":"command","command":"x","if":"Write(x)"}`), "matcher \"Bash\" does not match the tool of `if`", 1},
		"a condition on none of":   {one("PreToolUse", `"^(Read|Bash)$"`, `{"type":"command","command":"x","if":"Write"}`), "does not match the tool of `if`", 1},
		"once":                     {one("Stop", "", `{"type":"command","command":"x","once":true}`), "the hook runs every time", 1},
		"an option of a plugin":    {one("Stop", "", `{"type":"command","command":"x ${user_config.KEY}"}`), "is not known here", 0},
		"a long end":               {one("SessionEnd", "", `{"type":"command","command":"x","timeout":90}`), "60 seconds at most", 1},
		"milliseconds":             {one("Stop", "", `{"type":"command","command":"x","timeout":30000}`), "probably meant in milliseconds", 1},
		"an unquoted path":         {one("Stop", "", `{"type":"command","command":"$CLAUDE_PROJECT_DIR/h.sh"}`), "a space in it ends the path", 1}, // E02
		"single quotes":            {one("Stop", "", `{"type":"command","command":"'${CLAUDE_PROJECT_DIR}/h.sh'"}`), "single quotes", 1},
		"half a line":              {one("Stop", "", `{"type":"command","command":"echo 'x"}`), "does not parse", 1},
		"an unknown event":         {one("PostToolUs", "", echo), "unknown event", 0},
		"the switch":               {`{"disableAllHooks":true,"hooks":{"Stop":[{"hooks":[` + echo + `]}]}}`, "the hook is off", 0},
	} {
		t.Run(name, func(t *testing.T) {
			entries, issues := load(c.doc)
			require.Len(t, issues, 1, lines(issues))
			require.Equal(t, dialect.Warning, issues[0].Severity)
			require.Contains(t, issues[0].String(), c.want)
			require.Positive(t, issues[0].Line)
			require.Len(t, entries, c.entries)
		})
	}
}

func TestTheSwitchIsTheCallersWhereItSaysSo(t *testing.T) {
	doc := `{"disableAllHooks":true,"hooks":{"Stop":[{"hooks":[` + echo + `]}]}}`
	entries, issues := claude.Load(dialect.Source{File: "settings.json", Data: []byte(doc), Switched: true})
	only(t, entries, issues)
}

func TestEmptyConditionIsNone(t *testing.T) {
	for _, event := range []string{"PreToolUse", "Stop"} {
		entries, issues := load(one(event, "", `{"type":"command","command":"echo hi","if":""}`))
		got := only(t, entries, issues)
		entries, issues = load(one(event, "", `{"type":"command","command":"echo hi"}`))
		require.Equal(t, only(t, entries, issues).Hash, got.Hash)
	}
}

// What has not the shape of a hooks file says what has, once.
func TestTheShapeIsShown(t *testing.T) {
	const shape = `write {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "…"}]}]}}`
	for text, hint := range map[string]string{
		`null`: shape, `[]`: shape, `"x"`: shape, `{"hooks":[]}`: shape,
		`{"hooks":{"Stop":[{"hooks":{}}]}}`:                                shape,
		`{"hooks":{"Stop":[{"hooks":["x"]}]}}`:                             `write {"type": "command", "command": "…"}`,
		`{"hooks":{"Stop":[{"matcher":1,"hooks":[]}]}}`:                    "write one text, in quotes",
		one("Stop", "", `{"type":"command"}`):                              `add "command": "…"`,
		one("Stop", "", `{"type":7}`):                                      `write "type": "command"`,
		one("Stop", "", `{"type":"command","command":["x"]}`):              "write one text, in quotes",
		one("Stop", "", `{"type":"command","command":"x","timeout":"1"}`):  "without quotes",
		one("Stop", "", `{"type":"command","command":"x","async":"true"}`): "write true or false, without quotes",
	} {
		entries, issues := load(text)
		require.Empty(t, entries)
		require.Len(t, issues, 1, text)
		require.Equal(t, dialect.Error, issues[0].Severity, text)
		require.Contains(t, issues[0].Hint, hint, text)
	}
}

func TestErrors(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"lookahead":          {one("PreToolUse", `"^(?!Read$).*"`, echo), `lookaround is not supported`}, // M05
		"another engine":     {one("PreToolUse", `"\\QBash\\E.x"`, echo), `means something else in JavaScript`},
		"an unknown type":    {one("Stop", "", `{"type":"webhook"}`), `unknown handler type`},
		"no command":         {one("Stop", "", `{"type":"command","args":["x"]}`), "`command` is missing"},
		"no time":            {one("Stop", "", `{"type":"command","command":"x","timeout":0}`), "a number of seconds above 0"},
		"arguments in text":  {one("Stop", "", `{"type":"command","command":"x","args":"a b"}`), "`args`: expected a list of strings"},
		"a number argument":  {one("Stop", "", `{"type":"command","command":"x","args":[1]}`), "`args[0]`: expected a string"},
		"an unknown shell":   {one("Stop", "", `{"type":"command","command":"x","shell":"fish"}`), `unknown shell "fish"`},
		"a flat group":       {`{"hooks":{"PreToolUse":[{"matcher":"x","command":"./h.sh"}]}}`, `outside a hooks list`}, // P10
		"a switch in text":   {`{"disableAllHooks":"yes"}`, "`disableAllHooks`: expected true or false"},
		"a NUL in a command": {one("Stop", "", `{"type":"command","command":"echo \u0000x"}`), "`command`: holds a NUL byte"},
		"a NUL in a word":    {one("Stop", "", `{"type":"command","command":"x","args":["a","b\u0000"]}`), "`args[1]`: holds a NUL byte"},
		"a list at the top":  {`[]`, `expected an object, found`},
		"a Gemini file":      {`{"hooks":{"BeforeTool":[{"hooks":[` + echo + `]}]}}`, `a hooks file of Gemini CLI`},
		"a Cursor file":      {`{"version":1,"hooks":{"afterFileEdit":[{"command":"x"}]}}`, `a hooks file of Cursor`},
		"a half-written one": {`{"hooks":{"Stop":[`, `1:18: error: the file ends inside of this list`},
	} {
		t.Run(name, func(t *testing.T) {
			entries, issues := load(c.doc)
			require.Contains(t, lines(issues), c.want)
			require.True(t, dialect.HasErrors(issues))
			require.Empty(t, entries)
		})
	}
}

// Every handler of a file is an entry, another place of one, or named by an issue.
func TestTheCountsAddUp(t *testing.T) {
	handlers := []string{
		echo, echo, `{"type":"command","command":"x","args":["a"]}`, `{"type":"http","url":"x"}`, `{"type":"prompt"}`,
		`{"type":"command","command":" "}`, `{"type":"command","command":"x","async":true}`,
		`{"type":"command","command":"x","if":"Bash(ls)"}`, `{"type":"command","command":"x","if":"Bash(ls"}`,
	}
	for _, event := range []string{"PreToolUse", "PostToolUseFailure", "Stop", "SessionEnd", "Notification", "PostToolBatch", "Nonsense"} {
		for mask := range 1 << len(handlers) {
			var list []string
			for i, h := range handlers {
				if mask&(1<<i) != 0 {
					list = append(list, h)
				}
			}
			entries, issues := load(one(event, "", strings.Join(list, ",")))
			require.False(t, dialect.HasErrors(issues))
			count := 0
			for _, e := range entries {
				count += 1 + len(e.Also)
			}
			for _, i := range issues {
				if strings.Contains(i.Index, ".") {
					count++
				}
			}
			require.Equal(t, len(list), count, "%s %v: %s", event, list, lines(issues))
		}
	}
}

func TestStrictHooksFailClosed(t *testing.T) {
	entries, issues := load(one("PreToolUse", "", echo))
	require.True(t, only(t, entries, issues).Hook.FailOpen)
	entries, issues = loadStrict(one("PreToolUse", "", echo))
	require.False(t, only(t, entries, issues).Hook.FailOpen)
	for _, handler := range []string{`{"type":"http"}`, `{"type":"command","command":"x","async":true}`} {
		entries, issues = loadStrict(one("PreToolUse", "", handler))
		require.True(t, dialect.HasErrors(issues))
		require.Empty(t, entries)
	}
}

func TestTimeouts(t *testing.T) {
	for _, c := range []struct {
		event, timeout string
		want           time.Duration
	}{
		{"Stop", ``, 600 * time.Second}, {"UserPromptSubmit", ``, 30 * time.Second}, {"SessionEnd", ``, 1500 * time.Millisecond},
		{"Stop", `,"timeout":0.5`, 500 * time.Millisecond}, {"SessionEnd", `,"timeout":20`, 20 * time.Second},
		{"SessionEnd", `,"timeout":90`, 60 * time.Second}, {"UserPromptSubmit", `,"timeout":45`, 45 * time.Second},
	} {
		entries, _ := load(one(c.event, "", `{"type":"command","command":"x"`+c.timeout+`}`))
		require.Equal(t, c.want, entries[0].Hook.Timeout)
	}
}

// C07
func TestTheSameHandlerRunsOnce(t *testing.T) {
	entries, issues := load(`{"hooks":{"PreToolUse":[
		{"matcher":"Bash","hooks":[` + echo + `,{"type":"command","command":"other"}]},
		{"matcher":"Write","hooks":[` + echo + `]},
		{"matcher":"Bash","hooks":[{"type":"command","command":"echo hi","timeout":5}]}]}}`)
	require.Empty(t, lines(issues))
	require.Len(t, entries, 3, "another timeout makes another handler")
	e := entries[0]
	require.Len(t, e.Also, 1)
	require.Equal(t, 3, e.Also[0].Line)
	require.Equal(t, 2, e.Hook.Origin.Line)
	require.Equal(t, "project-pre-tool-use-0-0", e.Hook.Name)
	require.Equal(t, "/w/.claude/settings.json:pre_tool_use:0:0", e.Key)
	require.Equal(t, "Bash or Write", e.Matcher)
	for tool, want := range map[string]int{"Bash": 1, "Write": 1, "Read": 0} {
		require.Equal(t, want, fires(t, &pawl.Event{Trigger: pawl.ToolBefore, Tool: tool}, e), tool)
	}
	// M07
	require.Equal(t, 1, fires(t, &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash", Aliases: []string{"Write"}}, e))

	alone, _ := load(one("PreToolUse", `"Bash"`, echo))
	require.NotEqual(t, alone[0].Hash, e.Hash, "a matcher that was added is seen by trust")
	e.Rename("other-name")
	require.Equal(t, 1, fires(t, &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Write"}, e))

	entries, _ = load(`{"hooks":{"Stop":[{"hooks":[` + echo + `]},{"hooks":[` + echo + `]}],"SubagentStop":[{"hooks":[` + echo + `]}]}}`)
	require.Len(t, entries, 2, "one for each event")
}

func TestTheHashCoversWhatRuns(t *testing.T) {
	hashes := map[string]string{}
	for _, handler := range []string{
		echo, `{"type":"command","command":"echo hi","args":[]}`, `{"type":"command","command":"echo hi","args":["a"]}`,
		`{"type":"command","command":"echo hi","args":["a","b"]}`, `{"type":"command","command":"echo hi","args":["a\",\"b"]}`,
		`{"type":"command","command":"echo hi","shell":"bash"}`, `{"type":"command","command":"echo hi","if":"Bash(ls)"}`,
		`{"type":"command","command":"echo hi","timeout":5}`, `{"type":"command","command":"echo hi","statusMessage":"x"}`,
	} {
		entries, issues := load(one("PreToolUse", "", handler))
		h := only(t, entries, issues).Hash
		require.Empty(t, hashes[h], "%s and %s", handler, hashes[h])
		hashes[h] = handler
	}
}

// commandOf returns what the gate is asked to run.
func commandOf(t testing.TB, h pawl.Hook, ev *pawl.Event) pawl.Command {
	t.Helper()
	var gate pawltest.Gate
	_, err := h.Handler.Handle(context.Background(), ev, &gate)
	require.NoError(t, err)
	return gate.Calls[0].Command
}

func TestTheExecFormReplacesPlaceholdersWordByWord(t *testing.T) {
	entries, issues := claude.Load(dialect.Source{
		File: "settings.json", Env: []string{"CLAUDE_PLUGIN_ROOT=/p $(touch PWNED)"}, Root: `/w "x`,
		Data: []byte(one("Stop", "", `{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/h","args":["--dir=${CLAUDE_PROJECT_DIR}","$HOME","${CLAUDE_PROJECT_DIRX}"]}`)),
	})
	h := only(t, entries, issues).Hook
	cmd := commandOf(t, h, &pawl.Event{Trigger: pawl.TurnStop, Dir: "/elsewhere"})
	require.Equal(t, []string{"/p $(touch PWNED)/h", `--dir=/w "x`, "$HOME", "${CLAUDE_PROJECT_DIRX}"}, cmd.Args)
	require.Equal(t, []string{"${CLAUDE_PLUGIN_ROOT}/h", "--dir=${CLAUDE_PROJECT_DIR}", "$HOME", "${CLAUDE_PROJECT_DIRX}"}, h.Handler.(pawl.Program).Argv())

	entries, issues = load(one("Stop", "", `{"type":"command","command":"h","args":["${CLAUDE_PROJECT_DIR}"]}`))
	cmd = commandOf(t, only(t, entries, issues).Hook, &pawl.Event{Trigger: pawl.TurnStop, Dir: "/w"})
	require.Equal(t, []string{"h", "/w"}, cmd.Args)
}

func TestShells(t *testing.T) {
	for shell, want := range map[string][]string{
		``:                               {"/bin/sh", "-c", "echo hi"},
		`,"shell":"bash"`:                {"bash", "-c", "echo hi"},
		`,"shell":"powershell"`:          {"pwsh", "-NoProfile", "-NonInteractive", "-Command", "echo hi"},
		`,"args":[]`:                     {"echo hi"},
		`,"args":["a b"],"shell":"bash"`: {"echo hi", "a b"},
	} {
		entries, issues := load(one("Stop", "", `{"type":"command","command":"echo hi"`+shell+`}`))
		require.Equal(t, want, commandOf(t, only(t, entries, issues).Hook, &pawl.Event{Trigger: pawl.TurnStop}).Args)
	}
}

// T08, E02, E08: a directory's name never becomes shell code, and a quoted path finds its script.
func TestOddDirectoriesAreOnlyEverValues(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh")
	}
	work := t.TempDir()
	root := filepath.Join(work, "x$(touch PWNED)\"; touch PWNED2; \" (1)\n")
	require.NoError(t, os.Mkdir(root, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "h.sh"), []byte("#!/bin/sh\necho ran >&2\nexit 2\n"), 0o755))
	for _, handler := range []string{
		`{"type":"command","command":"\"$CLAUDE_PROJECT_DIR\"/h.sh"}`,
		`{"type":"command","command":"\"${CLAUDE_PROJECT_DIR}/h.sh\""}`,
		`{"type":"command","command":"${CLAUDE_PROJECT_DIR}/h.sh","args":[]}`,
	} {
		entries, issues := claude.Load(dialect.Source{File: "settings.json", Root: root, Data: []byte(one("PreToolUse", "", handler))})
		h := only(t, entries, issues).Hook
		d, err := h.Handler.Handle(context.Background(), &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash", Dir: work}, gate.Exec{})
		require.NoError(t, err)
		require.Equal(t, pawl.Refuse, d.Verdict)
		require.Equal(t, "ran", d.Reason)
	}
	left, err := filepath.Glob(filepath.Join(work, "PWNED*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func FuzzLoad(f *testing.F) {
	for _, doc := range []string{
		one("PreToolUse", `"Bash, Write"`, echo+","+echo), one("SessionEnd", "", `{"type":"command","command":"x","args":["${CLAUDE_PROJECT_DIR}"]}`),
		one("PostToolUse", `"mcp__.*"`, `{"type":"command","command":"x","if":"Edit(*.ts)","timeout":0.5}`),
		`{"disableAllHooks":true,"hooks":{"Notification":[{"hooks":[{}]}]}}`, `{"hooks":[]}`, `[`,
	} {
		f.Add([]byte(doc), false)
		f.Add([]byte(doc), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, strict bool) {
		entries, issues := claude.Load(dialect.Source{File: "settings.json", Data: data, Strict: strict})
		if dialect.HasErrors(issues) {
			require.Empty(t, entries)
			return
		}
		hooks := make([]pawl.Hook, len(entries))
		for i, e := range entries {
			hooks[i] = e.Hook
		}
		_, err := pawl.New(pawl.Options{}, hooks...)
		require.NoError(t, err, "what loads can be used")
	})
}
