package native

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/dialect"
)

// Import makes native hooks of a host's, as far as they go, and names everything that a native file cannot
// carry by an issue of severity Lost at the hook's place. What it returns can be given to [Encode]. A hook
// of which too little is left is not among them, and its issue says so: entries are hooks or issues.
//
// A host's program is told the event on stdin and may answer in JSON; a native one is told facts as
// arguments and answers by its exit code. That is lost from every hook, and an imported check that reads
// its stdin checks nothing until it is adapted: the issues say so one by one.
func Import(entries []dialect.Entry) (hooks []Spec, lost []dialect.Issue) {
	for i := range entries {
		m := &importer{entry: &entries[i]}
		if spec, ok := m.spec(); ok {
			hooks = append(hooks, spec)
		}
		lost = append(lost, m.lost...)
	}
	return hooks, lost
}

// importer makes one hook.
type importer struct {
	entry *dialect.Entry
	lost  []dialect.Issue
}

func (m *importer) lose(hint, format string, args ...any) {
	o := m.entry.Hook.Origin
	m.lost = append(m.lost, dialect.Issue{
		Severity: dialect.Lost, File: o.File, Line: o.Line, Column: o.Column, Event: m.entry.Event,
		Index: fmt.Sprintf("%d.%d", m.entry.Group, m.entry.Handler), Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

func (m *importer) spec() (Spec, bool) {
	h := m.entry.Hook
	c, ok := carrierOf(string(h.On))
	if !ok {
		m.lose("keep it in the host's file", "the whole hook: a native file has no trigger for %s", m.entry.Event)
		return Spec{}, false
	}
	if m.entry.Command == "" {
		m.lose("", "the whole hook: it has no command")
		return Spec{}, false
	}
	s := Spec{Name: h.Name, On: string(h.On), FailOpen: h.FailOpen && c.trigger == pawl.ToolBefore, Shadow: h.Shadow}
	m.matcher(&s, c)
	m.run(&s)
	m.timeout(&s)
	m.output(&s, c)
	m.rest()
	if _, err := Encode(s); err != nil {
		var all *dialect.IssueError
		message := err.Error()
		if errors.As(err, &all) {
			message = all.Issues[0].Message
		}
		m.lose("keep it in the host's file", "the whole hook: a native file cannot hold it: %s", message)
		return Spec{}, false
	}
	return s, true
}

var (
	plainName  = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	plainNames = regexp.MustCompile(`^[A-Za-z0-9_-]+(\|[A-Za-z0-9_-]+)+$`)
)

// matcher carries over the names, and the rule about arguments of a hook that has one.
func (m *importer) matcher(s *Spec, c carrier) {
	switch written := m.entry.Matcher; {
	case written == "" || written == "*":
	case plainName.MatchString(written) && c.tool:
		s.Tool = written
	case plainName.MatchString(written), plainNames.MatchString(written):
		s.Match = "^(" + written + ")$"
	default:
		s.Match = written
	}
	if m.entry.Hook.Match == nil {
		return
	}
	parts := strings.Split(m.entry.Hook.Match.String(), " & ")
	for _, part := range parts {
		if !strings.HasSuffix(part, ")") || strings.HasPrefix(part, "/") {
			continue
		}
		if _, err := pawl.Args(part); err == nil && s.If == "" {
			s.If = part
		} else {
			m.lose("", "the condition %q", part)
		}
	}
}

// run carries over the command: its words where no shell is needed to find them, else the line, for sh.
func (m *importer) run(s *Spec) {
	e := m.entry
	words, err := command.Split(e.Command)
	switch {
	case e.Args != nil:
		s.Run = append([]string{e.Command}, e.Args...)
	case err == nil && len(words) <= maxWords:
		s.Run = words
	default:
		s.Run = []string{"/bin/sh", "-c", e.Command}
	}
	for _, name := range hostVariables.FindAllString(strings.Join(s.Run, " "), -1) {
		m.lose("set it under env", "the variable %s, which the host sets", name)
	}
}

var hostVariables = regexp.MustCompile(`\b(CLAUDE|ZEROCODE|PLUGIN)_[A-Z_]+\b`)

func (m *importer) timeout(s *Spec) {
	seconds := int64(m.entry.Timeout)
	if seconds > maxTimeout/1000 {
		m.lose("", "a timeout of %d s: a native hook has at most %d", seconds, maxTimeout/1000)
		seconds = maxTimeout / 1000
	}
	s.TimeoutMS = seconds * 1000
}

// output says what the program's end means from now on.
func (m *importer) output(s *Spec, c carrier) {
	may := m.entry.Hook.Effects
	switch {
	case c.trigger == pawl.ToolBefore && may&pawl.MayRefuse != 0:
		s.Output = "refuse"
		m.lose("adapt the program: exit 0 to pass, anything else to refuse", "the event on stdin, and an answer in JSON; exit codes other than 0 and 2 let the call go on, and refuse now")
	case slices.Contains(c.outputs, "note") && may&(pawl.MayNote|pawl.MayRefuse) != 0:
		s.Output = "note"
		m.lose("adapt the program: what it prints is the note", "the event on stdin, and an answer in JSON")
	default:
		s.Output = "ignore"
		m.lose("", "the event on stdin, and all that the program could answer: text for the model, and an end to the session")
	}
	if may&pawl.MayRewrite != 0 && s.Output == "refuse" {
		m.lose(`a program that answers pawl's JSON may, with wire = "json" and rewrite = true`, "the right to rewrite the call's input")
	}
}

// rest names the keys that have no place in a native file.
func (m *importer) rest() {
	e := m.entry
	if e.Limit != nil {
		m.lose("", "additionalContextLimit %d", *e.Limit)
	}
	if e.Hook.Status != "" {
		m.lose("", "the status message %q", e.Hook.Status)
	}
	if e.Plugin != "" {
		m.lose("", "that it belongs to the plugin %s", e.Plugin)
	}
	m.lose("name what it needs under env", "the host's whole environment: a native hook gets a few variables and its env")
	if e.Managed {
		m.lose("", "that it is managed and cannot be disabled")
	}
}
