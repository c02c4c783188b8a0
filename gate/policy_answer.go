package gate

import (
	"cmp"
	"fmt"
)

// A Query is one action to decide on.
type Query struct {
	Action, Tool, Model, AgentKind string
}

// An Answer is what a policy said of a command and why.
type Answer struct {
	Action string // empty where the command could not be named
	Shell  string // the shell's action, where the command goes without its shell and was decided under its own
	Ruling Ruling
	Rule   *Rule  // the one that decided; nil where none named the action
	Layer  string // where Rule stands: project, default, ceiling, promise; empty with no Rule
	Agent  string // the kind of agent it was decided for
	Why    string // why no rule could decide; empty where one did
}

// recorded is the action that the record of a hook shows: the shell's, where there is one.
func (a Answer) recorded() string { return cmp.Or(a.Shell, a.Action) }

// String says the answer and its rule on one line.
func (a Answer) String() string {
	s := fmt.Sprintf("%s %s", a.Ruling, a.Action)
	if a.Rule == nil {
		return s + ": " + a.Why
	}
	s += ": " + a.Layer + " rule " + a.Rule.String()
	if at := a.Rule.Origin.String(); at != "" {
		s += " (" + at + ")"
	}
	return s
}
