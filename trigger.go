package pawl

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	jsonv2 "github.com/go-json-experiment/json"
	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-hooks/pawl/internal/match"
	"github.com/pawl-hooks/pawl/internal/shline"
)

// A Trigger names a kind of moment in an agent's session.
type Trigger string

// The triggers of [DefaultTriggers].
const (
	SessionStart     Trigger = "session.start"
	SessionEnd       Trigger = "session.end"
	PromptSubmit     Trigger = "prompt.submit"
	ToolBefore       Trigger = "tool.before"
	ToolApproval     Trigger = "tool.approval"
	ToolAfter        Trigger = "tool.after"
	ToolStarted      Trigger = "tool.started"
	ToolFailed       Trigger = "tool.failed"
	ToolUnknown      Trigger = "tool.unknown"
	ToolDispatched   Trigger = "tool.dispatched"
	ToolCancelled    Trigger = "tool.cancelled"
	CompactBefore    Trigger = "compact.before"
	CompactAfter     Trigger = "compact.after"
	AgentStart       Trigger = "agent.start"
	AgentStop        Trigger = "agent.stop"
	AgentAbort       Trigger = "agent.abort"
	AgentDone        Trigger = "agent.done"
	TurnBefore       Trigger = "turn.before"
	TurnAfter        Trigger = "turn.after"
	TurnStop         Trigger = "turn.stop"
	ContextTransform Trigger = "context.transform"
	SystemTransform  Trigger = "system.transform"
	ValidationReject Trigger = "validation.reject"
	StreamText       Trigger = "stream.text"
	StreamThinking   Trigger = "stream.thinking"
	StreamEnd        Trigger = "stream.end"
	StreamError      Trigger = "stream.error"
	StreamRetry      Trigger = "stream.retry"
	StreamServerTool Trigger = "stream.server_tool"
	SpawnQueued      Trigger = "spawn.queued"
	SpawnBefore      Trigger = "spawn.before"
	SpawnComplete    Trigger = "spawn.complete"
	SpawnError       Trigger = "spawn.error"
	SteerInject      Trigger = "steer.inject"
	ArtifactRecorded Trigger = "artifact.recorded"
	Background       Trigger = "background.*" // any name below it
	RepeatExceeded   Trigger = "repeat-guard.exceeded"
	CacheBreak       Trigger = "cache.break"
	CacheDrift       Trigger = "cache.drift"
	ReplayDone       Trigger = "replay.done"
)

// A Subject says what an event is about, and so what matchers see by name.
type Subject uint8

// The subjects.
const (
	AboutNothing Subject = iota
	AboutTool            // the tool's name and aliases; an event without a tool is refused
	AboutSource          // Event.Source
	AboutAgent           // the agent's type; an event without an agent is refused
)

// A Contract is what a trigger can carry: its row in the trigger table.
type Contract struct {
	Can              Effect  // what a decision may do here
	Subject          Subject // what must be present and what matchers see
	Bubbles          bool    // a sub-agent's event also reaches observers of "child." + trigger
	Quiet            bool    // an observer that succeeds leaves no record; only where Can is zero
	RefusalContinues bool    // refusing makes the agent go on: turn.stop, agent.stop
}

func (s Subject) String() string {
	return [...]string{"nothing", "tool", "source", "agent type"}[s%4]
}

// MarshalText writes the subject's word.
func (s Subject) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A TriggerRow is one row of the trigger table, as it is printed: the contract, and what other systems call
// the moment.
type TriggerRow struct {
	Trigger          Trigger `json:"trigger"`
	Sees             Subject `json:"sees"`
	Can              Effect  `json:"can"`
	Bubbles          bool    `json:"bubbles"`
	Quiet            bool    `json:"quiet"`
	RefusalContinues bool    `json:"refusal_continues"`
	ZeroCode         string  `json:"zerocode"`
	Zidane           string  `json:"zidane"`
}

const (
	transforms = MayRefuse | MayRewrite
	stops      = MayRefuse | MayHalt
)

var triggerRows = []TriggerRow{
	{Trigger: SessionStart, Sees: AboutSource, Can: MayRefuse | MayHalt | MayNote, ZeroCode: "SessionStart"},
	{Trigger: SessionEnd, Sees: AboutSource, ZeroCode: "SessionEnd"},
	{Trigger: PromptSubmit, Can: MayRefuse | MayHalt | MayNote, ZeroCode: "UserPromptSubmit"},
	{Trigger: ToolBefore, Sees: AboutTool, Can: MayRefuse | MayHalt | MayAsk | MayNote | MayRewrite | MayReplace, ZeroCode: "PreToolUse", Zidane: "tool:gate"},
	{Trigger: ToolApproval, Sees: AboutTool, Can: MayRefuse | MayAllow, ZeroCode: "PermissionRequest"},
	{Trigger: ToolAfter, Sees: AboutTool, Can: MayRefuse | MayReplace | MayNote | MayHalt, Bubbles: true, ZeroCode: "PostToolUse", Zidane: "tool:transform, mcp:tool:transform, tool:after"},
	{Trigger: ToolStarted, Sees: AboutTool, Bubbles: true, Zidane: "tool:before"},
	{Trigger: ToolFailed, Sees: AboutTool, Can: MayRefuse | MayReplace | MayNote, Bubbles: true, ZeroCode: "(Claude PostToolUseFailure)", Zidane: "tool:error"},
	{Trigger: ToolUnknown, Sees: AboutTool, Can: MayReplace | MayNote, Zidane: "tool:unknown"},
	{Trigger: CompactBefore, Sees: AboutSource, Can: stops, ZeroCode: "PreCompact"},
	{Trigger: CompactAfter, Sees: AboutSource, Can: MayHalt, ZeroCode: "PostCompact"},
	{Trigger: AgentStart, Sees: AboutAgent, Can: MayNote, ZeroCode: "SubagentStart"},
	{Trigger: AgentStop, Sees: AboutAgent, Can: stops, RefusalContinues: true, ZeroCode: "SubagentStop"},
	{Trigger: TurnStop, Can: stops, RefusalContinues: true, ZeroCode: "Stop"},
	{Trigger: ContextTransform, Can: transforms, Zidane: "context:transform"},
	{Trigger: SystemTransform, Can: transforms, Zidane: "system:transform"},
	{Trigger: TurnBefore, Can: transforms, Zidane: "turn:before"},
	{Trigger: TurnAfter, Bubbles: true, Zidane: "turn:after"},
	{Trigger: ToolDispatched, Sees: AboutTool, Bubbles: true, Zidane: "tool:dispatched"},
	{Trigger: ToolCancelled, Sees: AboutTool, Bubbles: true, Zidane: "tool:cancelled"},
	{Trigger: ValidationReject, Sees: AboutTool, Bubbles: true, Zidane: "validation:reject"},
	{Trigger: StreamText, Bubbles: true, Quiet: true, Zidane: "stream:text"},
	{Trigger: StreamThinking, Bubbles: true, Quiet: true, Zidane: "stream:thinking"},
	{Trigger: StreamEnd, Bubbles: true, Zidane: "stream:end"},
	{Trigger: StreamError, Bubbles: true, Zidane: "stream:error"},
	{Trigger: StreamRetry, Bubbles: true, Zidane: "stream:retry"},
	{Trigger: StreamServerTool, Bubbles: true, Quiet: true, Zidane: "stream:server-tool"},
	{Trigger: SpawnQueued, Bubbles: true, Zidane: "spawn:queued"},
	{Trigger: SpawnBefore, Bubbles: true, Zidane: "spawn:before"},
	{Trigger: SpawnComplete, Bubbles: true, Zidane: "spawn:complete"},
	{Trigger: SpawnError, Bubbles: true, Zidane: "spawn:error"},
	{Trigger: SteerInject, Zidane: "steer:inject"},
	{Trigger: AgentAbort, Zidane: "agent:abort"},
	{Trigger: AgentDone, Zidane: "agent:done"},
	{Trigger: ArtifactRecorded, Bubbles: true, Zidane: "artifact:recorded"},
	{Trigger: Background, Bubbles: true, Zidane: "background:*"},
	{Trigger: RepeatExceeded, Sees: AboutTool, Bubbles: true, Zidane: "repeat-guard:exceeded"},
	{Trigger: CacheBreak, Zidane: "cache:break"},
	{Trigger: CacheDrift, Zidane: "cache:drift"},
	{Trigger: ReplayDone, Zidane: "replay:done"},
}

// TriggerRows returns the trigger table of [DefaultTriggers] in its printed order. The caller owns it.
func TriggerRows() []TriggerRow { return slices.Clone(triggerRows) }

// DefaultTriggers returns the trigger table. The caller owns the map: a runtime adds rows of its own and
// removes what it cannot carry. A row whose name ends in ".*" takes any name below it.
func DefaultTriggers() map[Trigger]Contract {
	table := map[Trigger]Contract{}
	for _, r := range triggerRows {
		table[r.Trigger] = Contract{r.Can, r.Sees, r.Bubbles, r.Quiet, r.RefusalContinues}
	}
	return table
}

const childPrefix = "child."

var triggerName = regexp.MustCompile(`^[a-z0-9_-]+(\.[a-z0-9_-]+)*(\.\*)?$`)

// contradiction says why no event could follow the contract, or returns "".
func (c Contract) contradiction(t Trigger) string {
	switch {
	case !triggerName.MatchString(string(t)):
		return "a trigger is lowercase words joined by dots; it may end in .*"
	case strings.HasPrefix(string(t), childPrefix):
		return "names below child. are made from triggers that bubble"
	case c.Can&^allEffects != 0:
		return "an effect that does not exist"
	case c.Subject > AboutAgent:
		return "a subject that does not exist"
	case c.Quiet && c.Can != 0:
		return "what can decide cannot be quiet: its answer must be recorded"
	case c.RefusalContinues && c.Can&MayRefuse == 0:
		return "RefusalContinues where nothing can refuse"
	case c.Can&MayAllow != 0 && t != ToolApproval:
		return "allow belongs to tool.approval alone"
	case c.Can&MayAllow != 0 && c.Can&(MayRewrite|MayReplace) != 0:
		return "an allow beside a rewrite would permit what nobody judged"
	}
	return ""
}

// contractOf finds the row for t: its own, one above it that ends in ".*", or for child.X that of a
// bubbling X, where nothing can be decided.
func contractOf(table map[Trigger]Contract, t Trigger) (Contract, bool) {
	if c, ok := table[t]; ok {
		return c, true
	}
	if base, ok := strings.CutPrefix(string(t), childPrefix); ok {
		c, ok := contractOf(table, Trigger(base))
		return Contract{Subject: c.Subject, Quiet: c.Quiet}, ok && c.Bubbles
	}
	for name := string(t); ; {
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 {
			return Contract{}, false
		}
		name = name[:dot]
		if c, ok := table[Trigger(name+".*")]; ok {
			return c, true
		}
	}
}

// nearest returns the trigger of the table that a misspelt name most likely means, or "".
func nearest(table map[Trigger]Contract, t Trigger) Trigger {
	best, score := Trigger(""), 3
	for _, known := range slices.Sorted(maps.Keys(table)) {
		if d := distance(string(t), string(known)); d < score {
			best, score = known, d
		}
	}
	return best
}

// distance is the Levenshtein distance of two short names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// An Agent says whose event it is. The zero Agent is the main one.
type Agent struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	Depth      int    `json:"depth"`      // 1 for a child of the main agent
	Transcript string `json:"transcript"` // path
}

// An Event is one moment of an agent's session, reported by the runtime. Only Trigger, and what the
// trigger's Subject names, must be set. Dispatch never changes the caller's Event.
type Event struct {
	Trigger        Trigger
	Session        string // the root session's, also inside a sub-agent
	Turn           string
	Call           string   // the tool call's id
	Step           int      // the turn's number, from 1
	Agent          Agent    // zero for the main agent
	Tool           string   // canonical name
	Aliases        []string // other names the tool answers to
	Source         string   // why another trigger fired: startup, manual, other
	Action         string   // the action the call is gated under: call.write_file
	Paths          []string // files the call touches, if the runtime knows
	Dir            string   // the session's working directory
	Input          json.RawMessage
	Output         json.RawMessage
	Failed         bool // the call ran and failed, or the output is an error
	OutputBytes    int  // size of Output before any hook
	Payload        any  // the runtime's own value, for Go handlers; shared memory
	Prompt         string
	Model          string
	PermissionMode string
	Transcript     string // path
	LastMessage    string
	StopActive     bool                       // this stop was already continued by a hook
	Verdict        Verdict                    // what hooks have decided so far; a runtime passes it on from tool.before to tool.approval
	Recheck        bool                       // this hook is asked again about a changed event: do not count it twice
	StandIn        bool                       // Output stands in for a call that did not run: only hooks that may replace are asked
	Extra          map[string]json.RawMessage // a host's further keys, handed on as they came

	shared *shared
}

// A Matcher decides whether a hook is about an event. It may be called concurrently, must be quick, and
// String shows it as configured. A panic matches, and fails the hook.
type Matcher interface {
	Match(*Event) bool
	String() string
}

// A NameMatcher sees names alone, so that it can be indexed: a tool's name or one of its aliases, a source,
// an agent's type, as the trigger's Subject says. It matches an event if it matches any of its names.
type NameMatcher interface {
	Matcher
	MatchName(string) bool
}

// subjectNames calls yield with each name that matchers of the subject see.
func (ev *Event) subjectNames(s Subject, yield func(string) bool) bool {
	switch s {
	case AboutTool:
		return yield(ev.Tool) || slices.ContainsFunc(ev.Aliases, yield)
	case AboutSource:
		return ev.Source != "" && yield(ev.Source)
	case AboutAgent:
		return ev.Agent.Type != "" && yield(ev.Agent.Type)
	}
	return false
}

// guessSubject serves a matcher that is asked without a trigger table.
func (ev *Event) guessSubject() Subject {
	switch {
	case ev.Tool != "":
		return AboutTool
	case ev.Source != "":
		return AboutSource
	}
	return AboutAgent
}

// checker is a matcher that knows at load whether it is any good.
type checker interface{ check(Subject) error }

// keyed is a name matcher that the index can find without asking.
type keyed interface{ key() match.Key }

// Names matches the names given, exactly.
func Names(names ...string) Matcher { return nameList(slices.Clone(names)) }

type nameList []string

func (m nameList) String() string          { return strings.Join(m, "|") }
func (m nameList) MatchName(n string) bool { return slices.Contains(m, n) }
func (m nameList) Match(ev *Event) bool    { return ev.subjectNames(ev.guessSubject(), m.MatchName) }
func (m nameList) key() match.Key          { return match.Key{Exact: append([]string{}, m...)} }
func (m nameList) check(s Subject) error {
	switch {
	case s == AboutNothing:
		return errors.New("this trigger has no name to match")
	case len(m) == 0:
		return errors.New("a list without names never matches")
	}
	for _, n := range m {
		if n == "" || s == AboutTool && strings.ContainsFunc(n, notInToolName) {
			return fmt.Errorf("%q can never be a name; a rule about arguments belongs in Args", n)
		}
	}
	return nil
}

// Regexp matches names that hold a match of the regular expression, which is Go's (RE2) and not anchored:
// write ^ and $ for the whole name. Names and All are quicker.
func Regexp(expr string) (Matcher, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("matcher %q: %w%s", expr, err, regexpHint(expr))
	}
	return namePattern{re}, nil
}

func regexpHint(expr string) string {
	for _, look := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.Contains(expr, look) {
			return ": lookaround is not supported here; list the names, or match more and let the hook decide"
		}
	}
	return ""
}

type namePattern struct{ re *regexp.Regexp }

func (m namePattern) String() string          { return "/" + m.re.String() + "/" }
func (m namePattern) MatchName(n string) bool { return m.re.MatchString(n) }
func (m namePattern) Match(ev *Event) bool    { return ev.subjectNames(ev.guessSubject(), m.MatchName) }
func (m namePattern) key() match.Key          { return match.KeyOf(m.re.String()) }

// permissionRule is the shape of a rule about arguments, written where a name belongs.
var permissionRule = regexp.MustCompile(`^\w+\([^|()]*[^|().\]]\*\)$`)

func (m namePattern) check(s Subject) error {
	expr := m.re.String()
	switch {
	case s == AboutNothing:
		return errors.New("this trigger has no name to match")
	case s != AboutTool:
		return nil
	case permissionRule.MatchString(expr), !match.CanMatch(expr, func(r rune) bool { return !notInToolName(r) }):
		return fmt.Errorf("matcher %q can never match a tool name; a rule about arguments belongs in Args", expr)
	}
	return nil
}

// notInToolName reports runes that no tool name has: white space, controls, quotes, brackets, wildcards.
func notInToolName(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("()[]{}<>\"'`*?|&;$\\", r)
}

// All matches where every one of ms matches. Without any it matches everything.
func All(ms ...Matcher) Matcher { return allOf(slices.Clone(ms)) }

type allOf []Matcher

func (m allOf) String() string {
	parts := make([]string, len(m))
	for i, one := range m {
		parts[i] = one.String()
	}
	return strings.Join(parts, " & ")
}

func (m allOf) Match(ev *Event) bool {
	return !slices.ContainsFunc(m, func(one Matcher) bool { return !one.Match(ev) })
}

func (m allOf) check(s Subject) error {
	for _, one := range m {
		if one == nil {
			return errors.New("All holds a nil matcher")
		}
		if c, ok := one.(checker); ok {
			if err := c.check(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// Agents matches events by whose they are: "main", "sub" (any sub-agent), or an agent's type.
func Agents(kinds ...string) Matcher { return agentKinds(slices.Clone(kinds)) }

type agentKinds []string

func (m agentKinds) String() string { return "agent:" + strings.Join(m, "|") }

func (m agentKinds) Match(ev *Event) bool {
	main := ev.Agent == Agent{}
	return slices.ContainsFunc(m, func(kind string) bool {
		return kind == "main" && main || kind == "sub" && !main || kind == ev.Agent.Type && kind != ""
	})
}

func (m agentKinds) check(Subject) error {
	if len(m) == 0 || slices.Contains(m, "") {
		return errors.New("Agents needs kinds: main, sub, or an agent type")
	}
	return nil
}

// Paths matches events that touch a file one of the globs names, by Event.Paths. In a glob ** spans
// folders; the rest is [path.Match]. One without a slash is about the file's name, wherever it lies; a
// relative one is about the path below Event.Dir. An event whose runtime does not know its paths matches:
// a guard must not be skipped for want of a fact.
func Paths(globs ...string) Matcher { return pathGlobs(slices.Clone(globs)) }

type pathGlobs []string

func (m pathGlobs) String() string { return "paths:" + strings.Join(m, "|") }

func (m pathGlobs) Match(ev *Event) bool {
	if ev.Paths == nil {
		return true
	}
	return slices.ContainsFunc(ev.Paths, func(p string) bool {
		return slices.ContainsFunc(m, func(glob string) bool { return globMatch(glob, p, ev.Dir) })
	})
}

func (m pathGlobs) check(Subject) error {
	if len(m) == 0 {
		return errors.New("Paths without globs never matches")
	}
	for _, glob := range m {
		if _, err := path.Match(glob, ""); err != nil || glob == "" {
			return fmt.Errorf("glob %q: %w", glob, path.ErrBadPattern)
		}
	}
	return nil
}

// globMatch tests one path, taken as it is and as it stands below dir.
func globMatch(glob, p, dir string) bool {
	p, dir = slashed(p), slashed(dir)
	if !strings.Contains(glob, "/") {
		ok, _ := path.Match(glob, path.Base(p))
		return ok
	}
	if !path.IsAbs(p) && path.IsAbs(dir) {
		p = path.Join(dir, p)
	}
	if !path.IsAbs(glob) {
		if dir == "." {
			p = strings.TrimPrefix(p, "/")
		} else if below, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/"); ok {
			p = below
		}
	}
	return globParts(strings.Split(path.Clean(glob), "/"), strings.Split(p, "/"))
}

func slashed(p string) string { return path.Clean(strings.ReplaceAll(p, `\`, "/")) }

// globParts matches part by part. Where a part does not fit, the last ** takes one more, and it alone: what an
// earlier one could take in its place the last one can, so the time is never more than their product.
func globParts(glob, parts []string) bool {
	i, star, taken := 0, -1, 0 // star: where the last ** stands; taken: the parts before what it leaves over
	for j := 0; j < len(parts); {
		switch {
		case i < len(glob) && glob[i] == "**":
			star, taken = i, j
			i++
		case i < len(glob) && fits(glob[i], parts[j]):
			i++
			j++
		case star >= 0:
			taken++
			i, j = star+1, taken
		default:
			return false
		}
	}
	for i < len(glob) && glob[i] == "**" {
		i++
	}
	return i == len(glob)
}

func fits(glob, part string) bool {
	ok, _ := path.Match(glob, part)
	return ok
}

// Args matches calls of one tool by their arguments, by a permission rule as Claude Code writes it:
// "Bash(git push:*)", "Edit(*.ts)", or a tool's name alone. In a rule about a command line * spans anything, and a
// space before it has to be there: "Bash(git push *)" is not about git push alone. Each command of the line is tried,
// without leading assignments, and those in substitutions too, as bash reads the line and as sh does. A command that
// another one starts (env, xargs, sh -c, eval, exec, command, timeout, trap) is not seen, nor one in a text that becomes
// arithmetic. A rule about a file is a glob as in [Paths], over file_path, notebook_path, path and Event.Paths. A call
// that cannot be read (no such argument, a line of more than 16 KiB, that does not parse or that shells do not read
// alike, words that the shell fills in, an alias) matches: a guard must not be skipped for want of a fact.
func Args(rule string) (Matcher, error) {
	tool, rest, found := strings.Cut(rule, "(")
	m := argRule{text: rule, tool: tool}
	if found {
		body, closed := strings.CutSuffix(rest, ")")
		if !closed || body == "" {
			return nil, fmt.Errorf("rule %q: want TOOL(pattern)", rule)
		}
		m.pattern = body
		var err error
		if m.line, err = linePattern(body); err != nil {
			return nil, fmt.Errorf("rule %q: %w", rule, err)
		}
	}
	if tool == "" || strings.ContainsFunc(tool, notInToolName) {
		return nil, fmt.Errorf("rule %q: %q can never be a tool's name", rule, tool)
	}
	if strings.HasPrefix(m.pattern, "domain:") {
		return nil, fmt.Errorf("rule %q: rules about domains are not supported", rule)
	}
	return m, nil
}

type argRule struct {
	text, tool, pattern string
	line                *regexp.Regexp // the pattern over a command line
}

// linePattern turns a rule's pattern into an expression over one command. A trailing ":*" is the older way
// to write a prefix.
func linePattern(p string) (*regexp.Regexp, error) {
	prefix, old := strings.CutSuffix(p, ":*")
	parts := strings.Split(prefix, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	expr := strings.Join(parts, ".*")
	if old {
		expr += `(\s.*)?`
	}
	return regexp.Compile(`(?s)^` + expr + `$`)
}

func (m argRule) String() string { return m.text }

func (m argRule) Match(ev *Event) bool {
	if ev.Tool != m.tool && !slices.Contains(ev.Aliases, m.tool) {
		return false
	}
	if m.line == nil {
		return true
	}
	var in struct {
		Command      *string `json:"command"`
		FilePath     *string `json:"file_path"`
		NotebookPath *string `json:"notebook_path"`
		Path         *string `json:"path"`
	}
	if err := jsonv2.Unmarshal(ev.Input, &in); err != nil {
		return true
	}
	if in.Command != nil {
		return m.matchLine(*in.Command)
	}
	files := slices.Clone(ev.Paths)
	for _, f := range []*string{in.FilePath, in.NotebookPath, in.Path} {
		if f != nil {
			files = append(files, *f)
		}
	}
	return files == nil || slices.ContainsFunc(files, func(f string) bool {
		return globMatch(strings.TrimPrefix(m.pattern, "./"), f, ev.Dir)
	})
}

// matchLine tries every command of a shell line, as bash reads it and as sh does, which stops at what it cannot read.
func (m argRule) matchLine(line string) bool {
	bash, err := shline.Parse(line, true)
	if err != nil || m.line.MatchString(line) || m.matchFile(line, bash) {
		return true
	}
	sh, err := shline.Parse(line, false)
	return errors.Is(err, shline.ErrUnsure) || m.matchFile(line, sh)
}

func (m argRule) matchFile(line string, file *syntax.File) bool {
	matched := false
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			matched = matched || len(n.Args) > 0 && m.matchCall(line, n)
		case *syntax.DeclClause:
			matched = matched || m.mayBegin(n.Variant.Value+" ")
		}
		return !matched
	})
	return matched
}

// matchCall tries a command as it is written and as the shell will read it.
func (m argRule) matchCall(line string, call *syntax.CallExpr) bool {
	first, last := call.Args[0], call.Args[len(call.Args)-1]
	if m.line.MatchString(line[first.Pos().Offset():last.End().Offset()]) {
		return true
	}
	words := make([]string, len(call.Args))
	for i, w := range call.Args {
		text, known := literalWord(w.Parts, false)
		if !known && !test(w) {
			return m.mayBegin(strings.Join(append(words[:i], ""), " "))
		}
		words[i] = text
	}
	return makesAlias(words) || m.line.MatchString(strings.Join(words, " "))
}

// test reports the name of the command that tests: what begins with a bracket is a pattern else.
func test(w *syntax.Word) bool { return w.Lit() == "[" || w.Lit() == "[[" }

// makesAlias reports a command that gives others another name.
func makesAlias(words []string) bool {
	through := words[0] == "command" || words[0] == "builtin"
	return words[0] == "alias" && len(words) > 1 || through && slices.Contains(words, "alias")
}

// mayBegin reports whether the rule may match a command that begins so, and of which more is not known.
func (m argRule) mayBegin(known string) bool {
	begins, _, _ := strings.Cut(strings.TrimSuffix(m.pattern, ":*"), "*")
	return strings.HasPrefix(begins, known) || strings.HasPrefix(known, begins)
}

// literalWord returns a word without its quotes; known is false where the shell would fill something in.
func literalWord(parts []syntax.WordPart, quoted bool) (text string, known bool) {
	known = true
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text += unescape(p.Value)
			known = known && (quoted || !strings.ContainsAny(p.Value, "*?[{") && !(i == 0 && strings.HasPrefix(p.Value, "~")))
		case *syntax.SglQuoted:
			text += p.Value
			known = known && !(p.Dollar && strings.Contains(p.Value, `\`))
		case *syntax.DblQuoted:
			inner, ok := literalWord(p.Parts, true)
			text, known = text+inner, known && ok && !p.Dollar
		default:
			known = false
		}
	}
	return text, known
}

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// row is the compiled form of one trigger: its contract and the hooks that hear it.
type row struct {
	trigger  Trigger // empty for one that stands for several
	contract Contract
	hooks    []*bound // in configuration order
	child    *row     // what observers of "child." + trigger make of a sub-agent's event; nil without any
	all      *plan    // where no hook looks at names
	index    match.Index
	memo     *[memoSize]atomic.Pointer[sighting] // nil where no hook looks at names
}

const (
	memoSize    = 512 // names come from a model: the memo is bounded, a collision computes anew
	memoLongest = 256 // bytes of a name and its aliases worth keeping
)

// sighting remembers the plan for one set of names.
type sighting struct {
	name    string
	aliases []string
	plan    *plan
}

// plan is the hooks that an event's names call for, in configuration order.
type plan struct {
	hooks  []*bound
	broken map[*bound]error // name matchers that panicked; nil as a rule
	watch  []Observer       // all of them, where each is an untimed observer that reads only names; else nil
}

func newPlan(hooks []*bound, broken map[*bound]error) *plan {
	if len(hooks) == 0 {
		return nil
	}
	p := &plan{hooks: hooks, broken: broken, watch: make([]Observer, 0, len(hooks))}
	for _, b := range hooks {
		if b.watch == nil || b.Timeout > 0 || b.reads != nil || broken[b] != nil {
			p.watch = nil
			break
		}
		p.watch = append(p.watch, b.watch)
	}
	return p
}

// buildRows compiles every trigger that the table or a hook names.
func buildRows(table map[Trigger]Contract, hooks []*bound) map[Trigger]*row {
	rows := map[Trigger]*row{}
	add := func(t Trigger) {
		if rows[t] == nil {
			c, _ := contractOf(table, t)
			rows[t] = &row{trigger: t, contract: c}
		}
	}
	for t := range table {
		add(t)
	}
	for _, b := range hooks {
		add(b.On)
		if base, ok := strings.CutPrefix(string(b.On), childPrefix); ok {
			add(Trigger(base))
		}
	}
	for _, b := range hooks {
		if prefix, ok := strings.CutSuffix(string(b.On), "*"); ok {
			for t, r := range rows {
				if strings.HasPrefix(string(t), prefix) {
					r.hooks = append(r.hooks, b)
				}
			}
			continue
		}
		r := rows[b.On]
		r.hooks = append(r.hooks, b)
	}
	for t, r := range rows {
		r.compile()
		if child := rowOf(rows, childPrefix+t); r.contract.Bubbles && child != nil && len(child.hooks) > 0 {
			r.child = child
		}
	}
	return rows
}

// quickRows finds most rows sooner than a map would: few triggers share both their length and their last
// letter. Who finds another one there asks the map.
type quickRows [64]*row

func (q *quickRows) slot(t Trigger) **row {
	if t == "" {
		return &q[0]
	}
	return &q[(uint(len(t))*5+uint(t[len(t)-1]))%uint(len(q))]
}

// fill gives each slot to a row that has hooks, where one does.
func (q *quickRows) fill(rows map[Trigger]*row) {
	for t, r := range rows {
		if at := q.slot(t); *at == nil || len((*at).hooks) == 0 {
			*at = r
		}
	}
}

// rowOf finds the row for t among those compiled: its own, or one above it that ends in ".*".
func rowOf(rows map[Trigger]*row, t Trigger) *row {
	if r := rows[t]; r != nil {
		return r
	}
	for name := string(t); ; {
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 {
			return nil
		}
		name = name[:dot]
		if r := rows[Trigger(name+".*")]; r != nil {
			return r
		}
	}
}

func (r *Registry) row(t Trigger) *row {
	if row := *r.quick.slot(t); row != nil && row.trigger == t {
		return row
	}
	if row := rowOf(r.rows, t); row != nil {
		return row
	}
	if base, ok := strings.CutPrefix(string(t), childPrefix); ok && r.opts != nil {
		if c, known := contractOf(r.opts.Triggers, t); known && r.row(Trigger(base)) != nil {
			return &row{contract: c}
		}
	}
	return nil
}

func (r *row) compile() {
	named := false
	for i, b := range r.hooks {
		named = named || len(b.names) > 0
		r.index.Add(int32(i), b.key())
	}
	if named {
		r.memo = new([memoSize]atomic.Pointer[sighting])
	} else {
		r.all = newPlan(r.hooks, nil)
	}
}

// key is the narrowest condition that the index can hold b under.
func (b *bound) key() match.Key {
	var best match.Key
	for _, m := range b.names {
		if k, ok := m.(keyed); ok {
			if key := k.key(); key.Exact != nil {
				return key
			} else if key.Prefix != "" || best.Prefix == "" && key.Contains != "" {
				best = key
			}
		}
	}
	return best
}

// plan returns the hooks that ev is for and whose name matchers accept it, or nil.
func (r *row) plan(ev *Event) *plan {
	p := r.named(ev)
	if p == nil || !ev.StandIn {
		return p
	}
	return newPlan(slices.DeleteFunc(slices.Clone(p.hooks), func(b *bound) bool { return b.Effects&MayReplace == 0 }), p.broken)
}

// named returns the hooks whose name matchers accept ev, or nil.
func (r *row) named(ev *Event) *plan {
	if r.memo == nil {
		return r.all
	}
	name, aliases := ev.memoKey(r.contract.Subject)
	slot := &r.memo[(maphash.String(seed, name)+uint64(len(aliases)))%memoSize]
	if s := slot.Load(); s != nil && s.name == name && slices.Equal(s.aliases, aliases) {
		return s.plan
	}
	p := r.search(ev)
	if memorable(name, aliases) {
		slot.Store(&sighting{strings.Clone(name), slices.Clone(aliases), p})
	}
	return p
}

func memorable(name string, aliases []string) bool {
	size := len(name)
	for _, alias := range aliases {
		size += len(alias)
	}
	return size <= memoLongest && len(aliases) <= 8
}

var seed = maphash.MakeSeed()

func (ev *Event) memoKey(s Subject) (name string, aliases []string) {
	switch s {
	case AboutTool:
		return ev.Tool, ev.Aliases
	case AboutSource:
		return ev.Source, nil
	}
	return ev.Agent.Type, nil
}

// search finds the hooks by the index and asks each one's name matchers.
func (r *row) search(ev *Event) *plan {
	var ids []int32
	ev.subjectNames(r.contract.Subject, func(name string) bool {
		ids = r.index.Candidates(ids, name)
		return false
	})
	if ids == nil { // no name at all: those that do not look at names
		ids = r.index.Candidates(ids, "")
	}
	slices.Sort(ids)
	var hooks []*bound
	var broken map[*bound]error
	for _, id := range slices.Compact(ids) {
		b := r.hooks[id]
		ok, err := b.namesMatch(ev, r.contract.Subject)
		if ok {
			hooks = append(hooks, b)
		}
		if err != nil {
			if broken == nil {
				broken = map[*bound]error{}
			}
			broken[b] = err
		}
	}
	return newPlan(hooks, broken)
}

// namesMatch reports whether every name matcher accepts some name of ev. A panic matches and is returned.
func (b *bound) namesMatch(ev *Event, s Subject) (bool, error) {
	for _, m := range b.names {
		ok, err := tryMatch(func() bool { return ev.subjectNames(s, m.MatchName) })
		if !ok || err != nil {
			return err != nil, err
		}
	}
	return true, nil
}

// readsMatch reports whether the matchers that read the event accept it. A panic matches and is returned.
func (b *bound) readsMatch(ev *Event) (bool, error) {
	for _, m := range b.reads {
		if ok, err := tryMatch(func() bool { return m.Match(ev) }); !ok || err != nil {
			return err != nil, err
		}
	}
	return true, nil
}

func tryMatch(f func() bool) (ok bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("its matcher panicked: %v", v)
		}
	}()
	return f(), nil
}
