package hostfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/wire"
)

// A Host is how one host's files differ from another's.
type Host struct {
	Name    string
	Ignored []string            // keys beside the events that are no events
	Lost    map[string]Severity // events that the host knows and pawl has no trigger for
	Style   Style               // how it reads matchers
}

// Severity is the severity of what cannot be carried, in a faithful load and in a strict one.
type Severity struct{ Faithful, Strict dialect.Severity }

// could is the severity of what pawl does not do and could have forbidden something.
var could = Severity{Faithful: dialect.Warning, Strict: dialect.Error}

func (f *File) severity(s Severity) dialect.Severity {
	if f.Strict {
		return s.Strict
	}
	return s.Faithful
}

// A Group is one matcher group.
type Group struct {
	File  *File
	Event wire.Event
	Index int
	Node  *doc.Node

	Matcher *doc.Node    // nil: none
	Match   pawl.Matcher // what it comes to; nil accepts every event
	Written string       // the matcher as written; empty where the event ignores it
	Absent  bool         // no matcher that counts is written
}

// A Handler is one handler of a group.
type Handler struct {
	Group
	Index int
	Node  *doc.Node
}

// Where is the handler's position as issues spell it.
func (h Handler) Where() string { return fmt.Sprintf("%d.%d", h.Group.Index, h.Index) }

// Error reports what keeps the file from loading.
func (h Handler) Error(at doc.Pos, hint, format string, args ...any) {
	h.File.report(dialect.Error, at, h.Event.Name, h.Where(), hint, format, args...)
}

// Warn reports what its author perhaps did not mean, in either mode.
func (h Handler) Warn(at doc.Pos, hint, format string, args ...any) {
	h.File.report(dialect.Warning, at, h.Event.Name, h.Where(), hint, format, args...)
}

// Skip reports why the handler is no hook: an error where the load is strict.
func (h Handler) Skip(at doc.Pos, hint, format string, args ...any) {
	h.File.report(h.File.severity(could), at, h.Event.Name, h.Where(), hint, format, args...)
}

// Doubt reports that the hook can never fire: an error where the load is strict.
func (g Group) Doubt(at doc.Pos, hint, format string, args ...any) {
	g.report(g.File.severity(could), at, hint, format, args...)
}

func (g Group) report(s dialect.Severity, at doc.Pos, hint, format string, args ...any) {
	g.File.report(s, at, g.Event.Name, fmt.Sprint(g.Index), hint, format, args...)
}

// Walk calls visit for every handler below events, the value of the key hooks: event by event in the host's
// order, whatever the file's. What has not the shape of groups and handlers is reported.
func (f *File) Walk(events *doc.Node, host Host, visit func(Handler)) {
	if events == nil {
		return
	}
	if !events.Is(doc.Table) {
		f.Error(events.Pos, f.shapeHint(), "hooks is a table keyed by event, found %s", events.Describe())
		return
	}
	for _, field := range events.Fields {
		if _, known := f.Flavour.Event(field.Name); !known && !slices.Contains(host.Ignored, field.Name) {
			f.stranger(field, host)
		}
	}
	for _, e := range f.Flavour.Events() {
		if field := events.Field(e.Name); field != nil {
			f.event(e, *field, host.Style, visit)
		}
	}
}

// Strays reports what was meant for hooks, most likely, and stands beside it among the host's other settings, where
// nothing reads it: an event, or hooks under a misspelt name.
func (f *File) Strays(settings *doc.Node, host Host) {
	for _, field := range settings.Fields {
		_, event := f.Flavour.Event(field.Name)
		_, lost := host.Lost[field.Name]
		switch {
		case field.Name == "hooks", !field.Value.Is(doc.Table) && !field.Value.Is(doc.List):
		case event, lost && field.Value.Is(doc.List):
			f.report(f.severity(could), field.Pos, field.Name, "", f.shapeHint(), "%s stands outside of hooks: what is in it does not run", field.Name)
		case doc.Nearest(field.Name, "hooks") != "":
			f.report(f.severity(could), field.Pos, "", "", doc.DidYouMean(field.Name, "hooks"), "%s is not hooks: what is in it does not run", doc.Quote(field.Name))
		}
	}
}

// NoObject reports a document that is something else.
func (f *File) NoObject(root *doc.Node) {
	f.Error(root.Pos, f.shapeHint(), "expected an object, found %s", root.Describe())
}

func (f *File) shapeHint() string {
	if f.IsTOML() {
		return "write [[hooks.Stop]] with [[hooks.Stop.hooks]] below it"
	}
	return `write {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "…"}]}]}}`
}

// stranger reports an event that never fires here: each handler below it, or the key where there is none.
func (f *File) stranger(field doc.Field, host Host) {
	severity, known := host.Lost[field.Name]
	message, hint := fmt.Sprintf("unknown event %s", doc.Quote(field.Name)), f.nearEvent(field.Name)
	if known {
		message, hint = field.Name+" has no trigger here: its hooks do not run", ""
	} else {
		severity = could
	}
	count := 0
	for g, group := range field.Value.Items {
		for h, handler := range group.Get("hooks").Elements() {
			f.report(f.severity(severity), handler.Pos, field.Name, fmt.Sprintf("%d.%d", g, h), hint, "%s", message)
			count++
		}
	}
	if count == 0 {
		f.report(f.severity(severity), field.Pos, field.Name, "", hint, "%s", message)
	}
}

func (f *File) nearEvent(name string) string {
	var names []string
	for _, e := range f.Flavour.Events() {
		names = append(names, e.Name)
	}
	if near := doc.DidYouMean(name, names...); near != "" {
		return near
	}
	return "the events are " + strings.Join(names, ", ")
}

func (f *File) event(e wire.Event, field doc.Field, style Style, visit func(Handler)) {
	at := func(n *doc.Node, hint, format string, args ...any) {
		f.report(dialect.Error, n.Pos, e.Name, "", hint, format, args...)
	}
	if !field.Value.Is(doc.List) {
		hint := "write a list of groups"
		if f.IsTOML() {
			hint = fmt.Sprintf("write [[hooks.%s]] before [[hooks.%s.hooks]]", e.Name, e.Name)
		}
		at(field.Value, hint, "%s is a list of groups, found %s", e.Name, field.Value.Describe())
		return
	}
	for i, n := range field.Value.Items {
		g := Group{File: f, Event: e, Index: i, Node: n, Matcher: present(n.Get("matcher"))}
		if !n.Is(doc.Table) {
			at(n, "write {\"hooks\": […]}", "a group is a table, found %s", n.Describe())
			continue
		}
		g.walk(style, visit)
	}
}

// present takes null for absent.
func present(n *doc.Node) *doc.Node {
	if n == nil || n.Kind == doc.Null {
		return nil
	}
	return n
}

func (g Group) walk(style Style, visit func(Handler)) {
	list := g.Node.Get("hooks")
	for _, k := range g.Node.Fields {
		switch k.Name {
		case "matcher", "hooks":
		case "command", "type":
			hint := "put it in the group's hooks list: {\"hooks\": [{\"type\": \"command\", …}]}"
			if list != nil {
				hint = "a group has hooks or is flat, never both"
			}
			g.report(dialect.Error, k.Pos, hint, "a handler outside a hooks list")
			return
		default:
			g.report(dialect.Warning, k.Pos, doc.DidYouMean(k.Name, "matcher", "hooks"), "unknown key %s: ignored", doc.Quote(k.Name))
		}
	}
	if g.Matcher != nil && g.Matcher.Kind != doc.String {
		g.report(dialect.Error, g.Matcher.Pos, oneText, "`matcher`: expected a string, found %s", g.Matcher.Describe())
	}
	if list == nil {
		g.report(dialect.Warning, g.Node.Pos, "", "a group without hooks does nothing")
		return
	}
	if !list.Is(doc.List) {
		g.report(dialect.Error, list.Pos, g.File.shapeHint(), "`hooks`: expected a list of handlers, found %s", list.Describe())
		return
	}
	g.Match, g.Written, g.Absent = g.compile(style)
	for i, n := range list.Items {
		if !n.Is(doc.Table) {
			g.report(dialect.Error, n.Pos, `write {"type": "command", "command": "…"}`, "a handler is a table, found %s", n.Describe())
			continue
		}
		visit(Handler{Group: g, Index: i, Node: n})
	}
}
