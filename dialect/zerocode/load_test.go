package zerocode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/dialect/zerocode"
	"github.com/pawl-hooks/pawl/pawltest"
)

func load(doc string) ([]dialect.Entry, []dialect.Issue) {
	return zerocode.Load(dialect.Source{Layer: "project", File: "/w/.zerotwo/hooks.json", Data: []byte(doc)})
}

func loadTOML(doc string) ([]dialect.Entry, []dialect.Issue) {
	return zerocode.Load(dialect.Source{Layer: "project", File: "/w/.zerotwo/config.toml", Data: []byte(doc)})
}

func loadStrict(doc string) ([]dialect.Entry, []dialect.Issue) {
	return zerocode.Load(dialect.Source{File: "hooks.json", Data: []byte(doc), Strict: true})
}

// one wraps a handler, and a matcher where m is not empty, in a document.
func one(event, m, handler string) string {
	if m != "" {
		m = `"matcher":` + m + `,`
	}
	return fmt.Sprintf(`{"hooks":{%q:[{%s"hooks":[%s]}]}}`, event, m, handler)
}

const echo = `{"type":"command","command":"echo hi"}`

func only(t testing.TB, entries []dialect.Entry, issues []dialect.Issue) dialect.Entry {
	t.Helper()
	require.Empty(t, issues)
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

// fires asks a registry which of the hooks an event fires.
func fires(t testing.TB, ev *pawl.Event, entries ...dialect.Entry) []string {
	t.Helper()
	var hooks []pawl.Hook
	for _, e := range entries {
		hooks = append(hooks, e.Hook)
	}
	r, err := pawl.New(pawl.Options{}, hooks...)
	require.NoError(t, err)
	var names []string
	for _, x := range r.Explain(context.Background(), ev) {
		if x.Fires == pawl.FiresYes {
			names = append(names, x.Hook.Name)
		}
	}
	return names
}

func TestTheDocumentOfThePage(t *testing.T) {
	doc := `{
  "description": "Optional lifecycle hooks for this workspace.",
  "hooks": {
    "SessionStart": [{"matcher": "startup|resume", "hooks": [{"type": "command", "command": "python3 ~/s.py",
      "statusMessage": "Loading session notes", "additionalContextLimit": 5000}]}],
    "SessionEnd": [{"hooks": [{"type": "command", "command": "python3 ~/e.py", "timeout": 3}]}],
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "p.py", "statusMessage": "Checking Bash command"}]}],
    "PermissionRequest": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "q.py"}]}],
    "PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "r.py"}]}],
    "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "u.py"}]}],
    "Stop": [{"hooks": [{"type": "command", "command": "t.py", "timeout": 30}]}]
  }
}`
	entries, issues := load(doc)
	require.Empty(t, lines(issues))
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprintf("%s %s %s %v", e.Hook.Name, e.Hook.On, e.Command, e.Hook.Timeout))
	}
	require.Equal(t, []string{
		"project-pre-tool-use-0-0 tool.before p.py 10m0s",
		"project-permission-request-0-0 tool.approval q.py 10m0s",
		"project-post-tool-use-0-0 tool.after r.py 10m0s",
		"project-session-start-0-0 session.start python3 ~/s.py 10m0s",
		"project-session-end-0-0 session.end python3 ~/e.py 3s",
		"project-user-prompt-submit-0-0 prompt.submit u.py 10m0s",
		"project-stop-0-0 turn.stop t.py 30s",
	}, got, "in the host's order of events")
	require.Equal(t, "Loading session notes", entries[3].Hook.Status)
	require.Equal(t, 5000, *entries[3].Limit)
	require.Equal(t, "startup|resume", entries[3].Matcher)
	require.Equal(t, pawl.Origin{Layer: "project", File: "/w/.zerotwo/hooks.json", Line: 4, Column: 62}, entries[3].Hook.Origin)
}

func TestTOMLGivesTheSameHooks(t *testing.T) {
	fromJSON, issues := load(`{"hooks":{
		"SessionStart":[{"matcher":"^compact$","hooks":[{"type":"command","command":"s.py","additionalContextLimit":5000}]}],
		"PreToolUse":[{"matcher":"^Bash$","hooks":[{"type":"command","command":"p.py","timeout":30,"statusMessage":"Checking"}]},
			{"hooks":[{"type":"command","command":"a"},{"type":"command","command":"b"}]}]}}`)
	require.Empty(t, issues)
	fromTOML, issues := loadTOML(`
model = "x"
[hooks.state."/a:stop:0:0"]
enabled = false

[[hooks.SessionStart]]
matcher = "^compact$"
[[hooks.SessionStart.hooks]]
type = "command"
command = 's.py'
additionalContextLimit = 5000

[[hooks.PreToolUse]]
matcher = "^Bash$"
[[hooks.PreToolUse.hooks]]
type = "command"
command = 'p.py'
timeout = 30
statusMessage = "Checking"

[[hooks.PreToolUse]]
[[hooks.PreToolUse.hooks]]
type = "command"
command = "a"
[[hooks.PreToolUse.hooks]]
type = "command"
command = "b"
`)
	require.Empty(t, lines(issues))
	require.Len(t, fromTOML, 4)
	for i := range fromJSON {
		a, b := fromJSON[i], fromTOML[i]
		require.Equal(t, a.Hash, b.Hash)
		require.Equal(t, strings.Replace(a.Key, "hooks.json", "config.toml", 1), b.Key)
		a.Build, b.Build, a.Key, b.Key = nil, nil, "", ""
		a.Hook.Origin, b.Hook.Origin = pawl.Origin{}, pawl.Origin{}
		require.Equal(t, a.Command, b.Command)
		require.Equal(t, a.Hook.Name, b.Hook.Name)
		require.Equal(t, a.Hook.Timeout, b.Hook.Timeout)
		require.Equal(t, a.Hook.Status, b.Hook.Status)
		require.Equal(t, a.Matcher, b.Matcher)
		require.Equal(t, a.Limit, b.Limit)
	}
}

func TestGoldenHashes(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"matcher": {one("PreToolUse", `"^Bash$"`, echo), "sha256:a21682d1d8bd642be06966a9f238a743ce8c0dc6568e86c606cb5874ced76cd3"},
		"every field": {one("PreToolUse", `"Bash"`, `{"type":"command","command":"python3 /tmp/listed-hook.py",
			"statusMessage":"running listed hook","timeout":5,"additionalContextLimit":4096}`),
			"sha256:41b8f742320baea5e734da6aaed9ff77cf19d207ae3b47cf7f0561863d171a3a"},
		"no matcher":                   {one("Stop", "", echo), "sha256:f2aa169c7a1cf9b7cc9b61ce5ecec0315e0f7d13ac35935b1aa74440f9a839f8"},
		"a matcher the event ignores":  {one("Stop", `"*"`, echo), "sha256:f2aa169c7a1cf9b7cc9b61ce5ecec0315e0f7d13ac35935b1aa74440f9a839f8"},
		"other letters, short timeout": {one("SessionEnd", `"other"`, `{"type":"command","command":"echo é"}`), "sha256:1b273ccdc1da8e7b01110ced2f21e07b8e5349b0b231c141c2e4f1058cc4c1ee"},
	} {
		t.Run(name, func(t *testing.T) {
			entries, issues := load(c.doc)
			require.Equal(t, c.want, only(t, entries, issues).Hash)
		})
	}
}

func TestWhatTheHashCovers(t *testing.T) {
	hash := func(event, m, handler string) string {
		entries, issues := load(one(event, m, handler))
		require.False(t, dialect.HasErrors(issues), lines(issues))
		return entries[0].Hash
	}
	base := hash("PreToolUse", "", echo)
	for name, same := range map[string]string{
		"the default limit":   hash("PreToolUse", "", `{"type":"command","command":"echo hi","additionalContextLimit":2500}`),
		"the default timeout": hash("PreToolUse", "", `{"type":"command","command":"echo hi","timeout":600}`),
		"the windows command": hash("PreToolUse", "", `{"type":"command","command":"echo hi","commandWindows":"x"}`),
		"null for absent":     hash("PreToolUse", "null", `{"type":"command","command":"echo hi","timeout":null,"statusMessage":null}`),
	} {
		require.Equal(t, base, same, name)
	}
	for name, other := range map[string]string{
		"an empty matcher":  hash("PreToolUse", `""`, echo),
		"a star":            hash("PreToolUse", `"*"`, echo),
		"an unlimited note": hash("PreToolUse", "", `{"type":"command","command":"echo hi","additionalContextLimit":0}`),
		"a status":          hash("PreToolUse", "", `{"type":"command","command":"echo hi","statusMessage":""}`),
		"another event":     hash("PostToolUse", "", echo),
	} {
		require.NotEqual(t, base, other, name)
	}
	require.Equal(t, hash("Stop", "", echo), hash("Stop", "", `{"type":"command","command":"echo hi","additionalContextLimit":4096}`))
	for _, e := range []string{"PreToolUse", "PostToolUse", "SessionStart", "UserPromptSubmit", "SubagentStart"} {
		require.NotEqual(t, hash(e, "", echo), hash(e, "", `{"type":"command","command":"echo hi","additionalContextLimit":20000}`))
	}
}

func TestKeysArePositionsAsWritten(t *testing.T) {
	src := dialect.Source{
		Layer: "plugin", File: "/p/plugin.json", KeySource: "demo@test:plugin.json#hooks[1]", Format: dialect.JSON, Plugin: "demo@test",
		Under: []string{"hooks", "1"},
		Data: []byte(`{"name":"demo","hooks":[{},{"hooks":{"PreToolUse":[{"hooks":[]},
			{"hooks":[{"type":"prompt"},{"type":"command","command":"a"}]}]}}]}`),
	}
	entries, issues := zerocode.Load(src)
	require.Len(t, issues, 1, lines(issues))
	require.Equal(t, "demo@test:plugin.json#hooks[1]:pre_tool_use:1:1", entries[0].Key)
	require.Equal(t, "plugin-pre-tool-use-1-1", entries[0].Hook.Name)
	require.Equal(t, "demo@test", entries[0].Plugin)

	entries[0].Rename("plugin-pre-tool-use-1-1-2")
	require.Equal(t, "plugin-pre-tool-use-1-1-2", entries[0].Hook.Name)
}

// M01, M05, M09 and the matchers of the page
func TestMatchers(t *testing.T) {
	tool := func(name string, aliases ...string) *pawl.Event {
		return &pawl.Event{Trigger: pawl.ToolBefore, Tool: name, Aliases: aliases}
	}
	for _, c := range []struct {
		matcher  string
		yes, nay []string
	}{
		{``, []string{"Bash", "Read", "mcp__a__b"}, nil},
		{`null`, []string{"Bash"}, nil},
		{`"*"`, []string{"Bash", "Read", "mcp__a__b"}, nil},
		{`""`, []string{"Bash", "Read"}, nil},
		{`"Bash"`, []string{"Bash"}, []string{"BashOutput", "bash", "MyBash"}},
		{`"Edit|Write"`, []string{"Edit", "Write", "apply_patch"}, []string{"NotebookEdit", "Bash"}},
		{`"Bash|"`, []string{"Bash"}, []string{"Read"}},
		{`"^apply_patch$"`, []string{"apply_patch"}, []string{"apply_patches"}},
		{`"^(Write|Read)$"`, []string{"Write", "Read", "apply_patch"}, []string{"Bash"}},
		{`"Agent"`, []string{"Agent", "spawn_agent"}, []string{"spawn"}},
		{`"mcp__filesystem__read_file"`, []string{"mcp__filesystem__read_file"}, []string{"mcp__filesystem__read_files"}},
		{`"mcp__filesystem__.*"`, []string{"mcp__filesystem__read_file"}, []string{"mcp__other__x"}},
		{`"mcp__fs__(.*)"`, []string{"mcp__fs__read"}, []string{"mcp__gs__read"}},
		{`"mcp__.*__(read|write)"`, []string{"mcp__fs__read", "mcp__fs__write_all"}, []string{"mcp__fs__list"}},
		{`"Ba.h"`, []string{"Bash", "MyBash2"}, []string{"bash"}},
		{`"(?i)bash"`, []string{"Bash", "BASH"}, []string{"Read"}},
		{`"web-search"`, []string{"web-search", "my-web-search-2"}, []string{"web_search"}},
	} {
		entries, issues := load(one("PreToolUse", c.matcher, echo))
		e := only(t, entries, issues)
		for _, name := range c.yes {
			require.Len(t, fires(t, tool(name), e), 1, "%s should match %s", c.matcher, name)
		}
		for _, name := range c.nay {
			require.Empty(t, fires(t, tool(name), e), "%s should not match %s", c.matcher, name)
		}
	}
	entries, issues := load(one("PreToolUse", `"Shell"`, echo))
	require.Len(t, fires(t, tool("exec", "Shell", "Sh"), only(t, entries, issues)), 1, "an alias the runtime declares")
}

// M07
func TestFileEditsFireTheirHooksOnceEach(t *testing.T) {
	entries, issues := load(`{"hooks":{"PreToolUse":[
		{"matcher":"Bash","hooks":[` + echo + `]},{"matcher":"Write","hooks":[` + echo + `]},
		{"matcher":"apply_patch","hooks":[` + echo + `]},{"matcher":"Write|Edit|apply_patch","hooks":[` + echo + `]}]}}`)
	require.Empty(t, issues)
	ev := &pawl.Event{Trigger: pawl.ToolBefore, Tool: "apply_patch", Aliases: []string{"Write", "Edit"}}
	want := []string{"project-pre-tool-use-1-0", "project-pre-tool-use-2-0", "project-pre-tool-use-3-0"}
	require.Equal(t, want, fires(t, ev, entries...))
	ev.Aliases = nil
	require.Equal(t, want, fires(t, ev, entries...), "a runtime that declares no aliases leaves no hole")
}

func TestOtherSubjects(t *testing.T) {
	for _, c := range []struct {
		event, matcher string
		ev             pawl.Event
		want           bool
	}{
		{"SessionStart", `"startup|resume"`, pawl.Event{Trigger: pawl.SessionStart, Source: "resume"}, true},
		{"SessionStart", `"startup|resume"`, pawl.Event{Trigger: pawl.SessionStart, Source: "compact"}, false},
		{"SessionStart", `"^comp"`, pawl.Event{Trigger: pawl.SessionStart, Source: "compact"}, true},
		{"SessionEnd", `"other"`, pawl.Event{Trigger: pawl.SessionEnd, Source: "other"}, true},
		{"SessionEnd", ``, pawl.Event{Trigger: pawl.SessionEnd, Source: "other"}, true},
		{"PreCompact", `"manual"`, pawl.Event{Trigger: pawl.CompactBefore, Source: "auto"}, false},
		{"PostCompact", `"manual|auto"`, pawl.Event{Trigger: pawl.CompactAfter, Source: "auto"}, true},
		{"SubagentStart", `"explore"`, pawl.Event{Trigger: pawl.AgentStart, Agent: pawl.Agent{ID: "a", Type: "explore"}}, true},
		{"SubagentStop", `"my-agent"`, pawl.Event{Trigger: pawl.AgentStop, Agent: pawl.Agent{ID: "a", Type: "explore"}}, false},
		{"Stop", ``, pawl.Event{Trigger: pawl.TurnStop}, true},
		{"UserPromptSubmit", ``, pawl.Event{Trigger: pawl.PromptSubmit}, true},
		{"PreToolUse", ``, pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash", Agent: pawl.Agent{ID: "a", Type: "x", Depth: 1}}, true}, // T06
		{"SessionStart", ``, pawl.Event{Trigger: pawl.SessionStart, Source: "startup", Agent: pawl.Agent{ID: "a", Depth: 1}}, false},
		{"SessionEnd", `"other"`, pawl.Event{Trigger: pawl.SessionEnd, Source: "other", Agent: pawl.Agent{ID: "a", Depth: 1}}, false},
	} {
		entries, issues := load(one(c.event, c.matcher, echo))
		require.Equal(t, c.want, len(fires(t, &c.ev, only(t, entries, issues))) == 1, "%s %s %+v", c.event, c.matcher, c.ev)
	}
}

// M03, M09 and the rest of what a faithful load says and goes on
func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct {
		doc, want string
		entries   int
	}{
		"a permission rule for a matcher": {one("PreToolUse", `"Bash(git push*)"`, echo), `can never match a tool's name (a rule about arguments`, 1},
		"the same with a colon":           {one("PreToolUse", `"Bash(git:*)"`, echo), `can never match a tool's name`, 1},
		"a source that there is not":      {one("SessionStart", `"Bash"`, echo), `can never match what SessionStart can be about (it is one of startup,`, 1},
		"an end that there is not":        {one("SessionEnd", `"clear"`, echo), `can never match`, 1},
		"an expression for no source":     {one("PreCompact", `"^x"`, echo), `can never match`, 1},
		"only bars":                       {one("PreToolUse", `"|"`, echo), `can never match`, 1},
		"a server instead of its tools":   {one("PreToolUse", `"mcp__memory"`, echo), `(write mcp__memory__.* for`, 1},
		"once for a group":                {one("Stop", `"Bash"`, echo+","+echo), `Stop has nothing to match`, 2},
		"a matcher on Stop":               {one("Stop", `"Bash"`, echo), `Stop has nothing to match: the matcher "Bash" has no effect`, 1},
		"an odd matcher on a prompt":      {one("UserPromptSubmit", `"["`, echo), `UserPromptSubmit has nothing to match`, 1},
		"a prompt hook":                   {one("Stop", "", `{"type":"prompt","prompt":5}`), `prompt hooks are not run here`, 0},
		"an agent hook":                   {one("Stop", "", `{"type":"agent"}`), `agent hooks are not run here`, 0},
		"an async hook":                   {one("Stop", "", `{"type":"command","command":"x","async":true}`), `async hooks are not run here`, 0},
		"a blank command":                 {one("Stop", "", `{"type":"command","command":" \t"}`), `the command is blank`, 0},
		"an async end":                    {one("SessionEnd", "", `{"type":"command","command":"x","async":true}`), `waited for`, 1},
		"a long end":                      {one("SessionEnd", "", `{"type":"command","command":"x","timeout":4}`), `3 seconds at most, not 4`, 1},
		"milliseconds":                    {one("Stop", "", `{"type":"command","command":"x","timeout":5000}`), `5000 seconds is probably meant in milliseconds`, 1},
		"a limit on Stop":                 {one("Stop", "", `{"type":"command","command":"x","additionalContextLimit":4096}`), `Stop cannot add context`, 1},
		"an unknown event":                {`{"hooks":{"PreToolUs":[{"hooks":[` + echo + `]}]}}`, `unknown event "PreToolUs" (did you mean`, 0},
		"another host's event":            {`{"hooks":{"Notification":[{"hooks":[` + echo + `]}],"Stop":[]}}`, `unknown event "Notification"`, 0},
		"a disabled event with a text":    {`{"hooks":{"_PreToolUse_DISABLED":"was slow"}}`, `unknown event`, 0},
		"a misspelt key":                  {one("Stop", "", `{"type":"command","command":"x","timeOut":5}`), `unknown key "timeOut": ignored (did you mean`, 1},
		"a key of a group":                {`{"hooks":{"Stop":[{"matchers":"x","hooks":[` + echo + `]}]}}`, `unknown key "matchers": ignored`, 1},
		"Claude Code's condition":         {one("PreToolUse", "", `{"type":"command","command":"x","if":"Bash(ls)"}`), "`if` is not read in a ZeroCode file", 1},
		"a group without hooks":           {`{"hooks":{"Stop":[{}]}}`, `a group without hooks`, 0},
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

// P04
func TestAnUnknownEventLeavesItsSiblings(t *testing.T) {
	entries, issues := load(`{"hooks":{"FutureEvent":[{"hooks":[{"type":"command","command":"./a.sh"}]}],
		"_PreToolUse_DISABLED":"was slow","PreToolUse":[{"hooks":[` + echo + `]}]}}`)
	require.Len(t, entries, 1)
	require.Len(t, issues, 2)
	require.Equal(t, "0.0", issues[0].Index)
	_, issues = loadStrict(`{"hooks":{"FutureEvent":[],"Stop":[]}}`)
	require.True(t, dialect.HasErrors(issues))
}

func TestStrictTakesWarningsAboutDeadHooksForErrors(t *testing.T) {
	for name, doc := range map[string]string{
		"a matcher that never matches": one("PreToolUse", `"Bash(git push*)"`, echo),
		"a source that there is not":   one("SessionStart", `"Bash"`, echo),
		"a prompt hook":                one("Stop", "", `{"type":"prompt"}`),
		"an async hook":                one("Stop", "", `{"type":"command","command":"x","async":true}`),
		"an unknown event":             `{"hooks":{"PreToolUs":[{"hooks":[` + echo + `]}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			entries, issues := loadStrict(doc)
			require.True(t, dialect.HasErrors(issues))
			require.Empty(t, entries)
		})
	}
}

func TestADeadMatcherFiresForNothing(t *testing.T) { // M03
	entries, _ := load(one("PreToolUse", `"Bash(git push*)"`, echo))
	require.Equal(t, "Bash(git push*)", entries[0].Matcher)
	require.Empty(t, fires(t, &pawl.Event{
		Trigger: pawl.ToolBefore, Tool: "Bash", Input: json.RawMessage(`{"command":"git push -f"}`),
	}, entries...))
}

// M05, P02, P06, P08, P10, P12, F08
// What has not the shape of a hooks file, or of a handler, says what has, once.
func TestTheShapeIsShown(t *testing.T) {
	for text, hint := range map[string]string{
		`null`: `write {"hooks": {"Stop": `, `[]`: `write {"hooks": {"Stop": `,
		one("Stop", "", `{"type":"command","command":["x"]}`): "write one text, in quotes",
	} {
		entries, issues := load(text)
		require.Empty(t, entries)
		require.Len(t, issues, 1, text)
		require.Contains(t, issues[0].Hint, hint, text)
	}
}

func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		doc, want string
		toml      bool
	}{
		"lookahead":             {doc: one("PreToolUse", `"^(?!Read$).*"`, echo), want: `1:36: error: matcher "^(?!Read$).*" does not compile`},
		"a class nobody closed": {doc: one("PreToolUse", `"["`, echo), want: `does not compile`},
		"another engine's sets": {doc: one("PreToolUse", `"[a-z&&x]"`, echo), want: `means something else in ZeroCode`},
		"a star with brackets":  {doc: one("PreToolUse", `"Bash(*)"`, echo), want: `does not compile`},
		"events at the top":     {doc: `{"SessionStart":[]}`, want: `unknown key "SessionStart" (events stand inside hooks`},
		"a schema":              {doc: `{"$schema":"x","hooks":{}}`, want: `unknown key "$schema"`},
		"a description":         {doc: `{"description":5}`, want: "`description`: expected a string"},
		"an unknown type":       {doc: one("Stop", "", `{"type":"http","url":"x"}`), want: `unknown handler type "http"`},
		"no type":               {doc: one("Stop", "", `{"command":"x"}`), want: "`type` is missing"},
		"no command":            {doc: one("Stop", "", `{"type":"command"}`), want: "`command` is missing"},
		"a command list":        {doc: one("Stop", "", `{"type":"command","command":["a"]}`), want: "`command`: expected a string, found a list"},
		"a negative timeout":    {doc: one("Stop", "", `{"type":"command","command":"x","timeout":-1}`), want: "`timeout`: expected a whole number"},
		"half a second":         {doc: one("Stop", "", `{"type":"command","command":"x","timeout":0.5}`), want: "`timeout`: expected a whole number"},
		"a timeout in text":     {doc: one("Stop", "", `{"type":"command","command":"x","timeout":"5"}`), want: "`timeout`: expected a whole number"},
		"an endless timeout":    {doc: one("Stop", "", `{"type":"command","command":"x","timeout":9223372036854775808}`), want: "`timeout`"},
		"async null":            {doc: one("Stop", "", `{"type":"command","command":"x","async":null}`), want: "`async`: expected true or false, found null"},
		"a NUL in a command":    {doc: one("Stop", "", `{"type":"command","command":"echo \u0000x"}`), want: "`command`: holds a NUL byte"},
		"a NUL for Windows":     {doc: one("Stop", "", `{"type":"command","command":"x","commandWindows":"\u0000"}`), want: "`commandWindows`: holds a NUL byte"},
		"both spellings":        {doc: one("Stop", "", `{"type":"command","command":"x","commandWindows":"a","command_windows":"b"}`), want: "are one key"},
		"a matcher list":        {doc: one("PreToolUse", `["Bash"]`, echo), want: "`matcher`: expected a string, found a list"},
		"a text for groups":     {doc: `{"hooks":{"Stop":"x"}}`, want: `Stop is a list of groups, found the string "x"`},
		"a group in text":       {doc: `{"hooks":{"Stop":["x"]}}`, want: `a group is a table`},
		"a flat group":          {doc: `{"hooks":{"PreToolUse":[{"matcher":"x","command":"./h.sh"}]}}`, want: `a handler outside a hooks list (put it in the group's hooks list`},
		"flat and nested":       {doc: `{"hooks":{"PreToolUse":[{"command":"./h.sh","hooks":[` + echo + `]}]}}`, want: `flat, never both`},
		"a handler in text":     {doc: `{"hooks":{"Stop":[{"hooks":["./h.sh"]}]}}`, want: `a handler is a table`},
		"handlers in a table":   {doc: `{"hooks":{"Stop":[{"hooks":{}}]}}`, want: "`hooks`: expected a list of handlers"},
		"hooks in a list":       {doc: `{"hooks":[{"event":"Stop"}]}`, want: `hooks is a table keyed by event, found a list (write {"hooks"`},
		"a list at the top":     {doc: `[{"event":"Stop","script":"x"}]`, want: `expected an object, found a list`},
		"null":                  {doc: `null`, want: `expected an object, found null`},
		"nothing":               {doc: ``, want: `1:1: error:`},
		"a comment":             {doc: "{\"hooks\":{} // x\n}", want: `a comment`},
		"a trailing comma":      {doc: `{"hooks":{},}`, want: `comma`},
		"a repeated key":        {doc: `{"hooks":{"Stop":[],"Stop":[]}}`, want: `Stop`},
		"a byte order mark":     {doc: "\uFEFF{}", want: `byte order mark`},
		"flat TOML":             {toml: true, doc: "[[hooks]]\nevent = \"Stop\"\ncommand = \"./s.sh\"\ntimeout = 5000", want: `hooks is a table keyed by event, found a list (write [[hooks.Stop]]`},
		"an implicit group":     {toml: true, doc: "[[hooks.Stop.hooks]]\ntype=\"command\"\ncommand=\"./s.sh\"\ntimeout=5", want: `(write [[hooks.Stop]] before [[hooks.Stop.hooks]])`},
		"a repeated TOML key":   {toml: true, doc: "[hooks]\nStop = [{hooks=[{type=\"command\",command=\"./a.sh\"}]}]\nStop = [{hooks=[{type=\"command\",command=\"./b.sh\"}]}]", want: `Stop`},
		"a Cursor file":         {doc: `{"version":1,"hooks":{"beforeShellExecution":[{"command":"x"}]}}`, want: `a hooks file of Cursor`},
		"a Gemini file":         {doc: `{"hooks":{"BeforeTool":[{"matcher":"x","command":"./h.sh"}]}}`, want: `a hooks file of Gemini CLI`},
		"a Copilot file":        {doc: `{"version":1,"hooks":{"preToolUse":[{"type":"command","bash":"./h.sh"}]}}`, want: `a hooks file of Copilot CLI`},
	} {
		t.Run(name, func(t *testing.T) {
			read := load
			if c.toml {
				read = loadTOML
			}
			entries, issues := read(c.doc)
			require.Contains(t, lines(issues), c.want)
			require.True(t, dialect.HasErrors(issues))
			require.Empty(t, entries, "nothing loads partly")
			require.Positive(t, issues[0].Line)
		})
	}
}

func TestNothingToLoadIsNoFault(t *testing.T) { // F08
	for _, doc := range []string{`{}`, `{"hooks":{}}`, `{"description":null}`, `{"hooks":{"Stop":[],"PreToolUse":[]}}`} {
		entries, issues := load(doc)
		require.Empty(t, entries)
		require.Empty(t, lines(issues))
	}
	_, issues := loadTOML("model = 'x'\n[hooks]\nmanaged_dir = '/x'\nwindows_managed_dir = 'C:\\x'\n")
	require.Empty(t, lines(issues))
}

func TestJSONWithCommentsLoadsWhereTheFormatSaysSo(t *testing.T) { // P02
	doc := `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"echo \"// not a comment\" , ]"},]},],},} // end`
	entries, issues := zerocode.Load(dialect.Source{File: "hooks.jsonc", Data: []byte(doc)})
	require.Equal(t, `echo "// not a comment" , ]`, only(t, entries, issues).Command)
}

func TestAllFaultsAtOnce(t *testing.T) {
	_, issues := load(`{"hooks":{"Stop":[{"hooks":[{"type":"http"},{"type":"command"},{"type":"command","command":"x","timeout":-1}]}],
		"PreToolUse":[{"matcher":"[","hooks":[` + echo + `]}]}}`)
	require.Len(t, issues, 4, lines(issues))
	require.Equal(t, []string{"0.0", "0.1", "0.2", "0"}, []string{issues[0].Index, issues[1].Index, issues[2].Index, issues[3].Index})
}

func TestTimeouts(t *testing.T) {
	for _, c := range []struct {
		event, timeout string
		want           time.Duration
	}{
		{"Stop", ``, 600 * time.Second},
		{"Stop", `,"timeout":0`, time.Second},
		{"Stop", `,"timeout":7`, 7 * time.Second},
		{"SessionEnd", ``, time.Second},
		{"SessionEnd", `,"timeout":2`, 2 * time.Second},
		{"SessionEnd", `,"timeout":600`, 3 * time.Second},
		{"Stop", `,"timeout":9223372036854775807`, 9223372036 * time.Second},
	} {
		entries, issues := load(one(c.event, "", `{"type":"command","command":"x"`+c.timeout+`}`))
		require.False(t, dialect.HasErrors(issues))
		require.Equal(t, c.want, entries[0].Hook.Timeout, "%s %s", c.event, c.timeout)
	}
}

func TestTheCommandForTheSystem(t *testing.T) {
	for _, key := range []string{"commandWindows", "command_windows"} {
		doc := one("PreToolUse", "", `{"type":"command","command":"unix","`+key+`":"windows"}`)
		for system, want := range map[string]string{"linux": "unix", "darwin": "unix", "windows": "windows"} {
			entries, issues := zerocode.Load(dialect.Source{File: "hooks.json", Data: []byte(doc), OS: system})
			require.Equal(t, want, only(t, entries, issues).Command)
		}
	}
	entries, issues := zerocode.Load(dialect.Source{File: "hooks.json", OS: "windows", Data: []byte(one("Stop", "", echo))})
	require.Equal(t, "echo hi", only(t, entries, issues).Command)
}

func TestFaithfulHooksFailOpenAndStrictOnesDoNot(t *testing.T) {
	entries, issues := load(one("PreToolUse", "", echo))
	faithful := only(t, entries, issues).Hook
	entries, issues = loadStrict(one("PreToolUse", "", echo))
	strict := only(t, entries, issues).Hook
	require.True(t, faithful.FailOpen)
	require.False(t, strict.FailOpen)
	require.True(t, faithful.Concurrent, "hosts start hooks together")
	require.NotEqual(t, faithful.Handler.(pawl.Program).Digest(), strict.Handler.(pawl.Program).Digest())
}

// commandOf returns what the gate is asked to run.
func commandOf(t testing.TB, h pawl.Hook, ev *pawl.Event) pawl.Command {
	t.Helper()
	var gate pawltest.Gate
	_, err := h.Handler.Handle(context.Background(), ev, &gate)
	require.NoError(t, err)
	return gate.Calls[0].Command
}

func TestTheCommandThatTheGateIsAskedToRun(t *testing.T) {
	entries, issues := zerocode.Load(dialect.Source{
		Layer: "plugin", File: "hooks.json", Data: []byte(one("PreToolUse", "", `{"type":"command","command":"\"$PLUGIN_ROOT\"/h.sh | cat"}`)),
		Env: []string{"PLUGIN_ROOT=/p q", "CLAUDE_PLUGIN_ROOT=/p q"},
	})
	h := only(t, entries, issues).Hook
	cmd := commandOf(t, h, &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash", Dir: "/w", Input: json.RawMessage(`{"command":"ls"}`)})
	require.Equal(t, []string{"/bin/sh", "-c", `"$PLUGIN_ROOT"/h.sh | cat`}, cmd.Args, "values are environment, never text")
	require.Equal(t, "/w", cmd.Dir)
	require.Equal(t, []string{"PLUGIN_ROOT=/p q", "CLAUDE_PLUGIN_ROOT=/p q"}, cmd.Env)
	require.True(t, cmd.Inherit)
	require.True(t, cmd.Linger)
	require.Equal(t, 8<<20, cmd.Limit)
	require.Contains(t, string(cmd.Stdin), `"tool_input":{"command":"ls"}`)
}

// Every handler of a document is an entry or named by an issue, whatever it is.
func TestTheCountsAddUp(t *testing.T) {
	handlers := map[string]string{
		"command": echo, "prompt": `{"type":"prompt"}`, "agent": `{"type":"agent"}`, "blank": `{"type":"command","command":""}`,
		"async": `{"type":"command","command":"x","async":true}`, "typeless": `{}`, "odd": `{"type":"http"}`,
	}
	names := slices.Sorted(maps.Keys(handlers))
	for _, event := range []string{"PreToolUse", "Stop", "SessionEnd", "Notification", "Nonsense"} {
		for mask := range 1 << len(names) {
			var list []string
			for i, n := range names {
				if mask&(1<<i) != 0 {
					list = append(list, handlers[n])
				}
			}
			entries, issues := load(`{"hooks":{"` + event + `":[{"hooks":[]},{"matcher":"other","hooks":[` + strings.Join(list, ",") + `]}]}}`)
			named := map[string]bool{}
			for _, e := range entries {
				named[fmt.Sprintf("%d.%d", e.Group, e.Handler)] = true
			}
			for _, i := range issues {
				if strings.Contains(i.Index, ".") {
					named[i.Index] = true
				}
			}
			if dialect.HasErrors(issues) {
				continue // nothing loads, and every fault is an issue
			}
			require.Len(t, named, len(list), "%s %v: %s", event, list, lines(issues))
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, doc := range []string{
		one("PreToolUse", `"Bash|Write"`, echo), one("SessionEnd", "", `{"type":"command","command":"x","timeout":9,"async":true}`),
		`{"hooks":{"Stop":[{"hooks":[{"type":"prompt"}]}],"X":"y"}}`, `{"hooks":[]}`, `{"description":"x"}`, `[`,
		"[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype='command'\ncommand='x'\n", "[hooks]\nStop='x'\n",
	} {
		f.Add([]byte(doc), false, false)
		f.Add([]byte(doc), true, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, toml, strict bool) {
		src := dialect.Source{File: "f", Data: data, Strict: strict, Format: dialect.JSON}
		if toml {
			src.Format = dialect.TOML
		}
		entries, issues := zerocode.Load(src)
		if dialect.HasErrors(issues) {
			require.Empty(t, entries)
			return
		}
		hooks := make([]pawl.Hook, len(entries))
		for i, e := range entries {
			hooks[i] = e.Hook
			require.Regexp(t, `^sha256:[0-9a-f]{64}$`, e.Hash)
		}
		_, err := pawl.New(pawl.Options{}, hooks...)
		require.NoError(t, err, "what loads can be used")
	})
}
