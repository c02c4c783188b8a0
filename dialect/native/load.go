package native

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/shlex"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/wire"
)

// loader reads one file.
type loader struct {
	*doc.Reader
	doc      *doc.Document
	opts     Options
	first    map[string]doc.Pos // where each name was first used
	warnings doc.Faults
	spans    []span
}

// A span says which hook a place of the file belongs to.
type span struct {
	from  doc.Pos
	event string
}

func (l *loader) warn(at doc.Pos, hint, format string, args ...any) {
	l.warnings = append(l.warnings, l.doc.FaultAt(at, fmt.Sprintf(format, args...), hint))
}

// issues returns what was found so far, by place.
func (l *loader) issues() []dialect.Issue {
	issues := dialect.FromFaults(l.Faults())
	for _, w := range l.warnings {
		issues = append(issues, dialect.FromFault(w, dialect.Warning))
	}
	for n := range issues {
		l.locate(&issues[n])
	}
	dialect.SortIssues(issues)
	return issues
}

// locate says which hook an issue is about.
func (l *loader) locate(i *dialect.Issue) {
	for n, s := range l.spans {
		if s.from.Line < i.Line || s.from.Line == i.Line && s.from.Column <= i.Column {
			i.Event, i.Index = s.event, strconv.Itoa(n)
		}
	}
}

func (l *loader) file() (file File) {
	limit := int64(MaxHooks)
	top := topFields(&limit)
	if !l.top(l.doc.Root, top) {
		return file
	}
	for _, f := range top {
		if n := l.doc.Root.Get(f.name); n != nil && !l.read(n, f) {
			limit = maxMaxHooks // one fault is enough
		}
	}
	items := l.items(l.doc.Root.Get("hooks"))
	if len(items) > int(limit) {
		l.Fault(items[limit].Pos, "raise max_hooks, at the top of the file, if you need more", "%d hooks: at most %d", len(items), limit)
		items = items[:limit]
	}
	for i, item := range items {
		if h, spec, ok := l.hook(item, fmt.Sprintf("hooks[%d]", i)); ok {
			file.Hooks, file.Specs = append(file.Hooks, h), append(file.Specs, spec)
		}
	}
	return file
}

// top checks the outermost table. The other blocks of a ZON file, chock's, are not for hooks to judge; one
// that looks like a misspelt key is.
func (l *loader) top(root *doc.Node, fields []field) bool {
	known := []string{"hooks", "$schema"}
	for _, f := range fields {
		known = append(known, f.name)
	}
	if !root.Is(doc.Table) {
		l.Wrong(root, "", "a table with `hooks`", `write {"hooks": [ … ]}`)
		return false
	}
	for _, f := range root.Fields {
		switch {
		case slices.Contains(known, f.Name):
		case l.doc.Format == doc.ZON && doc.Nearest(f.Name, known...) == "":
			l.warn(f.Pos, "", "the block %s is not read: it is not about hooks", doc.Quote(f.Name))
		default:
			l.UnknownKey(f, known...)
		}
	}
	return true
}

// items returns the list of hooks; what is no list is told apart by what it most likely was meant to be.
func (l *loader) items(n *doc.Node) []*doc.Node {
	if n == nil || n.Is(doc.List) {
		items, _ := l.List(n, "hooks")
		return items
	}
	hint := "write a list: one table for each hook"
	switch {
	case n.Kind == doc.Table && n.Get("run") != nil && l.doc.Format == doc.TOML:
		hint = "write [[hooks]], with two brackets, above each hook"
	case n.Kind == doc.Table && slices.ContainsFunc(n.Fields, func(f doc.Field) bool { return f.Name != strings.ToLower(f.Name) }):
		hint = "this looks like a ZeroCode or Claude Code file: read it as that dialect"
	}
	l.Wrong(n, "hooks", doc.List.String(), hint)
	return nil
}

// hook reads one hook and reports whether it may be used.
func (l *loader) hook(n *doc.Node, what string) (pawl.Hook, Spec, bool) {
	before := l.Len()
	l.spans = append(l.spans, span{n.Pos, textOf(n.Get("on"))})
	w := preset()
	fields := hookFields(&w)
	if !l.Table(n, what) {
		return pawl.Hook{}, w, false
	}
	l.known(n, fields)
	bad := map[string]bool{}
	for _, f := range fields {
		switch value := n.Get(f.name); {
		case value != nil:
			if !l.read(value, f) {
				bad[f.name] = true
			}
		case f.required:
			l.Fault(n.Pos, f.name+" is "+f.says, "`%s` is missing", f.name)
			bad[f.name] = true
		}
	}
	h := hook{loader: l, node: n, Spec: w, bad: bad}
	built := h.build()
	return built, w, l.Len() == before
}

// foreign are the words other systems have for keys of a hook.
var foreign = map[string]string{
	"event": "on", "trigger": "on", "hook": "on", "matcher": "match", "tools": "tool", "command": "run", "cmd": "run", "args": "run",
	"id": "name", "timeout": "timeout_ms", "timeout_s": "timeout_ms", "cwd": "dir", "failOpen": "fail_open",
}

// known notes the keys that a hook does not have.
func (l *loader) known(n *doc.Node, fields []field) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	for _, f := range n.Fields {
		switch native := foreign[f.Name]; {
		case slices.Contains(names, f.Name):
		case native != "":
			l.Fault(f.Pos, "here it is called `"+native+"`", "unknown key %s", doc.Quote(f.Name))
		default:
			l.UnknownKey(f, names...)
		}
	}
}

func textOf(n *doc.Node) string {
	if n == nil || n.Kind != doc.String && n.Kind != doc.Word {
		return ""
	}
	return n.Text
}

// hook is one hook whose keys were read.
type hook struct {
	*loader
	Spec
	node *doc.Node
	bad  map[string]bool // keys whose value cannot be used
}

// at is where a key's value stands, or the hook, where it is not written.
func (h *hook) at(key string) doc.Pos {
	if n := h.node.Get(key); n != nil {
		return n.Pos
	}
	return h.node.Pos
}

// has reports whether a key was written.
func (h *hook) has(key string) bool { return h.node.Get(key) != nil }

// good reports whether a key was written and its value can be used.
func (h *hook) good(key string) bool { return h.has(key) && !h.bad[key] }

func (h *hook) build() pawl.Hook {
	before := h.Len()
	h.unique()
	h.wires()
	if h.good("run") && h.Run[0] == "" {
		h.Fault(h.node.Get("run").Items[0].Pos, "", "`run` names no program: its first word is empty")
	}
	built := pawl.Hook{
		Name: h.Name, On: pawl.Trigger(h.On),
		Timeout:  time.Duration(h.TimeoutMS) * time.Millisecond,
		FailOpen: h.FailOpen, Shadow: h.Shadow,
		Origin: pawl.Origin{Layer: h.layer(), File: h.doc.File, Line: h.node.Pos.Line, Column: h.node.Pos.Column},
	}
	c, known := carrierOf(h.On)
	if !known {
		return built
	}
	h.carried(c)
	h.surprises(c)
	built.Match, built.Effects = h.matcher(c), h.effects(c)
	built.Handler = h.program()
	if h.Len() == before && len(h.bad) == 0 {
		h.registers(built)
	}
	return built
}

func (h *hook) layer() string {
	if h.opts.Layer == "" {
		return "config"
	}
	return h.opts.Layer
}

func (h *hook) unique() {
	if h.Name == "" || h.bad["name"] {
		return
	}
	if first, taken := h.first[h.Name]; taken {
		h.Fault(h.at("name"), fmt.Sprintf("the first is at line %d; a name belongs to one hook", first.Line), "two hooks are called %s", doc.Quote(h.Name))
		return
	}
	h.first[h.Name] = h.at("name")
}

// carried checks what the trigger cannot carry.
func (h *hook) carried(c carrier) {
	if !h.bad["output"] && !slices.Contains(c.outputs, h.Output) {
		h.Fault(h.at("output"), "there write "+strings.Join(c.outputs, " or "), "%s cannot carry output %s: %s", c.trigger, doc.Quote(h.Output), whyNot(c, h.Output))
	}
	for _, key := range []string{"tool", "paths", "if"} {
		if h.has(key) && !c.tool {
			h.Fault(h.node.Field(key).Pos, "leave it out, or write tool.before or tool.after", "`%s` is about a tool call, and %s is not", key, c.trigger)
		}
	}
	for key, effect := range map[string]pawl.Effect{"rewrite": pawl.MayRewrite, "replace": pawl.MayReplace} {
		if h.has(key) && c.changes&effect == 0 {
			h.Fault(h.node.Field(key).Pos, "leave it out", "%s has nothing that a hook could %s", c.trigger, key)
		}
	}
}

func whyNot(c carrier, output string) string {
	switch {
	case output == "refuse":
		return "what it is about has happened"
	case c.trigger == pawl.SessionEnd:
		return "nobody reads it any more"
	}
	return "there is no tool result to carry the words"
}

// wires checks the keys that go with wire, and those that do not.
func (h *hook) wires() {
	if h.has("wire") {
		if h.has("inputs") {
			h.Fault(h.node.Field("inputs").Pos, "leave out one of them", "`inputs` beside `wire`: the event on stdin holds every fact")
		}
		return
	}
	for _, key := range []string{"rewrite", "replace", "keep"} {
		if h.has(key) {
			h.Fault(h.node.Field(key).Pos, `add wire = "json"`, "`%s` needs a program that answers in JSON", key)
		}
	}
}

func (h *hook) effects(c carrier) pawl.Effect {
	var e pawl.Effect
	switch command.Output(h.Output) {
	case command.OutputRefuse:
		e = pawl.MayRefuse
		if h.Wire != "" {
			e |= h.contract(c.trigger).Can & (pawl.MayHalt | pawl.MayAsk)
		}
	case command.OutputNote:
		e = pawl.MayNote
	}
	if h.Rewrite {
		e |= pawl.MayRewrite
	}
	if h.Replace {
		e |= pawl.MayReplace
	}
	return e
}

func (h *hook) contract(t pawl.Trigger) pawl.Contract {
	table := h.opts.Triggers
	if table == nil {
		table = pawl.DefaultTriggers()
	}
	return table[t]
}

// answerLimit is what is kept of each stream of a program that answers in JSON: an output it replaces may be large.
const answerLimit = 8 << 20

func (h *hook) program() pawl.Handler {
	p := command.Program{Name: h.Name, Args: h.Run, Dir: h.Dir, Env: h.Env}
	if p.Dir != "" && h.opts.Root != "" && !filepath.IsAbs(p.Dir) {
		p.Dir = filepath.Join(h.opts.Root, p.Dir)
	}
	p.Codec = command.Flags{Inputs: h.Inputs, Output: command.Output(h.Output)}
	if h.Wire != "" {
		p.Codec, p.Limit, p.Keep = wire.JSON{}, answerLimit, h.Keep
	}
	return p
}

// asList shows how a command line is written as a list, where that is plain.
func (l *loader) asList(n *doc.Node, f field) string {
	words := []string{n.Text}
	if f.name == "run" && !strings.ContainsAny(n.Text, "\\\"'`$|&;<>()*?~#\n") {
		if split, err := shlex.Split(n.Text); err == nil && len(split) > 0 && len(n.Text) < 60 {
			words = split
		}
	}
	open, end := "[", "]"
	if l.doc.Format == doc.ZON {
		open, end = ".{ ", " }"
	}
	for i, w := range words {
		words[i] = doc.Quote(w)
	}
	return "write " + open + strings.Join(words, ", ") + end
}
