package native

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/internal/doc"
)

// A Spec is one hook as a file has it, key by key. [Encode] leaves a field out that is zero; [Load] fills in
// the defaults.
type Spec struct {
	Name      string
	On        string   // one of chock's four triggers
	Tool      string   // one tool's name
	Match     string   // a regular expression
	Paths     []string // globs
	If        string   // a rule over arguments
	Run       []string // program and arguments
	Inputs    []string
	Dir       string
	Env       Environment
	TimeoutMS int64
	Output    string // ignore, refuse or note
	Wire      string // json, or empty
	Rewrite   bool
	Replace   bool
	Keep      bool
	FailOpen  bool
	Shadow    bool
}

// Environment is KEY=value, in file order.
type Environment []string

// A field is one key of the file. The loader and the schema both go by it: the type of to says what the
// value is, the rest what it may be.
type field struct {
	name, says string
	to         any // *string, *[]string, *int64, *bool or *Environment
	required   bool
	words      []string                  // the only values, of a string or of a list's items
	pattern    *regexp.Regexp            // what a string, a list's items or an environment's keys must match
	grammar    string                    // the pattern in words
	low, high  int64                     // bounds of a number, of a string's bytes, of a list's length; high 0: none
	unique     bool                      // of a list's items
	advise     func(value string) string // what to write instead of a value it cannot be, or ""
}

// A carrier is a trigger of the file and what it can carry: chock's table.
type carrier struct {
	trigger pawl.Trigger
	outputs []string
	tool    bool        // it is about a tool call
	changes pawl.Effect // what rewrite and replace may ask for
}

var carriers = []carrier{
	{pawl.SessionStart, []string{"ignore", "refuse"}, false, 0},
	{pawl.SessionEnd, []string{"ignore"}, false, 0},
	{pawl.ToolBefore, []string{"ignore", "refuse", "note"}, true, pawl.MayRewrite | pawl.MayReplace},
	{pawl.ToolAfter, []string{"ignore", "note"}, true, pawl.MayReplace},
}

func triggerWords() []string {
	var words []string
	for _, c := range carriers {
		words = append(words, string(c.trigger))
	}
	return words
}

func carrierOf(trigger string) (carrier, bool) {
	i := slices.IndexFunc(carriers, func(c carrier) bool { return string(c.trigger) == trigger })
	if i < 0 {
		return carrier{}, false
	}
	return carriers[i], true
}

var (
	nameGrammar = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	toolGrammar = regexp.MustCompile("^[^\\s()\\[\\]{}<>\"'`*?|&;$\\\\\\x00-\\x1F\\x7F]+$")
	envGrammar  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	noNUL       = regexp.MustCompile(`^[^\x00]*$`)
)

const depthVariable = "HOOK_DEPTH"

const noNULWords = "text without NUL characters"

// advice is what the field says of a string it cannot be.
func (l *loader) advice(n *doc.Node, f field) string {
	if f.advise == nil || n.Kind != doc.String && n.Kind != doc.Word {
		return ""
	}
	return f.advise(n.Text)
}

// adviseOn knows the other systems' names of the triggers, and those of pawl that no file can hook.
func adviseOn(value string) string {
	if _, ok := carrierOf(value); ok {
		return ""
	}
	for _, row := range pawl.TriggerRows() {
		_, here := carrierOf(string(row.Trigger))
		switch {
		case here && value != "" && (value == row.ZeroCode || slices.Contains(strings.Split(row.Zidane, ", "), value)):
			return "here it is called " + string(row.Trigger)
		case value == string(row.Trigger):
			return "a native file has " + strings.Join(triggerWords(), ", ") + "; the others are for Go hooks and for the hosts' files"
		}
	}
	return ""
}

func adviseTool(value string) string {
	switch {
	case value == "*" || value == ".*":
		return "leave `tool` out for every tool"
	case value == "" || toolGrammar.MatchString(value):
		return ""
	case strings.ContainsRune(value, '('):
		return "a rule over arguments stands in `if`: if = " + doc.Quote(value)
	}
	return "`tool` is one name; a regular expression over names stands in `match`"
}

func adviseOutput(value string) string {
	switch value {
	case "deny", "block", "reject", "fail":
		return `write "refuse"`
	case "allow", "permit", "approve":
		return "no output permits: a hook may narrow what the policy decided and never widen it"
	}
	return ""
}

// topFields are the keys of the file itself besides hooks.
func topFields(limit *int64) []field {
	return []field{{name: "max_hooks", says: "how many hooks the file may hold; 8 unless written", to: limit, low: 1, high: maxMaxHooks}}
}

// preset is a hook of which nothing is written.
func preset() Spec { return Spec{TimeoutMS: defaultTimeout, Output: string(command.OutputIgnore)} }

// hookFields are the keys of a hook, in the order they are listed; they read from w and write to it.
func hookFields(w *Spec) []field {
	return []field{
		{name: "name", says: "what a refusal and the log call it", to: &w.Name, required: true, pattern: nameGrammar, grammar: "lowercase letters, digits and single hyphens", low: 1, high: maxName},
		{name: "on", says: "when it runs", to: &w.On, required: true, words: triggerWords(), advise: adviseOn},
		{name: "tool", says: "the one tool it is about, by canonical name or alias; every tool unless written", to: &w.Tool, pattern: toolGrammar, grammar: "one tool's name", low: 1, advise: adviseTool},
		{name: "match", says: "a regular expression (RE2, not anchored) over the tool's names, or over the source of a session trigger", to: &w.Match, low: 1},
		{name: "paths", says: "globs over the files the call touches; ** spans folders", to: &w.Paths, pattern: noNUL, grammar: noNULWords, low: 1, high: 64},
		{name: "if", says: "a rule over the call's arguments: Bash(git push *)", to: &w.If, low: 1},
		{name: "run", says: "the program and its arguments, never expanded", to: &w.Run, required: true, pattern: noNUL, grammar: noNULWords, low: 1, high: maxWords},
		{name: "inputs", says: "the facts that reach the program as arguments, in this order", to: &w.Inputs, words: []string{command.InputTrigger, command.InputTool, command.InputAction, command.InputSession}, unique: true},
		{name: "dir", says: "the working directory; the session's unless written", to: &w.Dir, pattern: noNUL, grammar: noNULWords, low: 1},
		{name: "env", says: "environment variables, beside the few that every hook gets", to: &w.Env, pattern: envGrammar, grammar: "letters, digits and _, and no digit first"},
		{name: "timeout_ms", says: "give up after this many milliseconds", to: &w.TimeoutMS, low: 1, high: maxTimeout},
		{name: "output", says: "what its end means: nothing, a refusal where it exits other than 0, or a note for the model", to: &w.Output, words: []string{"ignore", "refuse", "note"}, advise: adviseOutput},
		{name: "wire", says: "json: the program is told the event as JSON on stdin and answers in JSON", to: &w.Wire, words: []string{"json"}},
		{name: "rewrite", says: "with wire: it may replace the call's input", to: &w.Rewrite},
		{name: "replace", says: "with wire: it may stand in for the call, or replace its result", to: &w.Replace},
		{name: "keep", says: "with wire: it is started once a session, greets, and answers a line for each event", to: &w.Keep},
		{name: "fail_open", says: "let the event through when the hook could not answer", to: &w.FailOpen},
		{name: "shadow", says: "run it and record what it would decide; enforce nothing", to: &w.Shadow},
	}
}

// read reads one key's value and reports whether it may be used.
func (l *loader) read(n *doc.Node, f field) (ok bool) {
	switch to := f.to.(type) {
	case *string:
		*to, ok = l.text(n, f.name, f)
	case *[]string:
		*to, ok = l.list(n, f)
	case *int64:
		*to, ok = l.Int(n, f.name, f.low, f.high)
	case *bool:
		*to, ok = l.Bool(n, f.name)
	case *Environment:
		*to, ok = l.environment(n, f)
	}
	return ok
}

func (l *loader) text(n *doc.Node, what string, f field) (string, bool) {
	if hint := l.advice(n, f); hint != "" {
		l.Fault(n.Pos, hint, "`%s` cannot be %s", what, doc.Quote(n.Text))
		return "", false
	}
	if f.words != nil {
		return l.OneOf(n, what, f.words...)
	}
	s, ok := l.String(n, what)
	switch {
	case !ok:
	case s == "" && f.low > 0:
		l.Fault(n.Pos, f.name+" is "+f.says, "`%s` is empty", what)
		ok = false
	case f.pattern != nil && !f.pattern.MatchString(s):
		l.Fault(n.Pos, "write "+f.grammar, "`%s` cannot be %s", what, doc.Quote(s))
		ok = false
	case f.high > 0 && int64(len(s)) > f.high && f.pattern != noNUL:
		l.Fault(n.Pos, fmt.Sprintf("write at most %d bytes", f.high), "`%s` is too long: %d bytes", what, len(s))
		ok = false
	}
	return s, ok
}

func (l *loader) list(n *doc.Node, f field) (list []string, ok bool) {
	if n.Kind == doc.String {
		l.Wrong(n, f.name, doc.List.String(), l.asList(n, f))
		return nil, false
	}
	items, ok := l.List(n, f.name)
	if !ok {
		return nil, false
	}
	if len(items) < int(f.low) {
		l.Fault(n.Pos, f.name+" is "+f.says, "`%s` is empty", f.name)
		return nil, false
	}
	if f.high > 0 && len(items) > int(f.high) {
		l.Fault(items[f.high].Pos, fmt.Sprintf("write at most %d", f.high), "`%s` has %d words", f.name, len(items))
		items, ok = items[:f.high], false
	}
	each := field{words: f.words, pattern: f.pattern, grammar: f.grammar}
	for i, item := range items {
		s, good := l.text(item, fmt.Sprintf("%s[%d]", f.name, i), each)
		if good && f.unique && slices.Contains(list, s) {
			l.Fault(item.Pos, "write each once", "`%s` has %s twice", f.name, doc.Quote(s))
			good = false
		}
		list, ok = append(list, s), ok && good
	}
	return list, ok
}

func (l *loader) environment(n *doc.Node, f field) (list Environment, ok bool) {
	if !l.table(n, f.name) {
		return nil, false
	}
	ok = true
	for _, v := range n.Fields {
		what := f.name + "." + doc.Quote(v.Name)
		switch {
		case !f.pattern.MatchString(v.Name):
			l.Fault(v.Pos, "a variable's name has "+f.grammar, "`%s`: %s cannot be a variable's name", f.name, doc.Quote(v.Name))
			ok = false
		case v.Name == depthVariable:
			l.Fault(v.Pos, "leave it out", "`%s`: %s is pawl's own, to see a hook that fires hooks", f.name, v.Name)
			ok = false
		default:
			what = f.name + "." + v.Name
		}
		s, good := l.text(v.Value, what, field{pattern: noNUL, grammar: noNULWords})
		list, ok = append(list, v.Name+"="+s), ok && good
	}
	return list, ok
}
