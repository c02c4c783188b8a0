package native

import (
	"regexp"

	"github.com/pawl-hooks/pawl/command"
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

var (
	nameGrammar = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	toolGrammar = regexp.MustCompile("^[^\\s()\\[\\]{}<>\"'`*?|&;$\\\\\\x00-\\x1F\\x7F]+$")
	envGrammar  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	noNUL       = regexp.MustCompile(`^[^\x00]*$`)
)

const depthVariable = "HOOK_DEPTH"

const noNULWords = "text without NUL characters"

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
