package native

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/shlex"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/internal/docissue"
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
	issues := docissue.Errors(l.Faults())
	for _, w := range l.warnings {
		issues = append(issues, docissue.Of(w, dialect.Warning))
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

// enoughFaults is how many are told before hooks beyond the limit are no longer looked at: a file of nothing but
// faults is told in few.
const enoughFaults = 24

func (l *loader) file() (file File) {
	limit := int64(maxHooks)
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
		hint := "raise max_hooks, at the top of the file, if you need more"
		if limit == maxMaxHooks {
			hint = "max_hooks can be no higher: split the file"
		}
		l.Fault(items[limit].Pos, hint, "%d hooks: at most %d", len(items), limit)
	}
	for i, item := range items {
		if i >= int(limit) && l.Len() > enoughFaults {
			break
		}
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
	if !l.table(n, what) {
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

// table expects a table, and says how one is written.
func (l *loader) table(n *doc.Node, what string) bool {
	if !n.Is(doc.Table) {
		l.Wrong(n, what, doc.Table.String(), "write keys, each with a value")
		return false
	}
	return true
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

// drivePath is how a path of Windows begins: its backslashes and blanks are of the name.
var drivePath = regexp.MustCompile(`^[A-Za-z]:\\`)

// asList shows how a command line is written as a list: word by word, or whole for a shell where that is not plain.
func (l *loader) asList(n *doc.Node, f field) string {
	words := []string{n.Text}
	if f.name == "run" && !drivePath.MatchString(n.Text) {
		split, err := shlex.Split(n.Text)
		switch {
		case strings.ContainsAny(n.Text, "\\\"'`$|&;<>()*?~#\n"), len(split) > maxWords:
			words = []string{"sh", "-c", n.Text}
		case err == nil && len(split) > 0:
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
