package dialect

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pawl-hooks/pawl/internal/doc"
)

// A Severity says how grave an Issue is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // the file does not load
	Warning Severity = "warning" // it loads, and does perhaps not do what its author thinks
	Lost    Severity = "lost"    // an import could not carry it over
)

// An Issue is what a reader has to say about one place of a file. Its JSON is what `check --json` prints.
type Issue struct {
	Severity Severity `json:"severity"`
	File     string   `json:"file"`
	Line     int      `json:"line"`   // from 1; 0 where the issue is about the file as a whole
	Column   int      `json:"column"` // from 1, in bytes
	Event    string   `json:"event"`  // the trigger, as the file spells it; may be empty
	Index    string   `json:"index"`  // group.handler in a host's file, position in a native one; may be empty
	Message  string   `json:"message"`
	Hint     string   `json:"hint"` // what to write instead; may be empty
	Source   string   `json:"-"`    // the text of the line, for the caret; may be empty
}

// String returns file:line:column: severity: message (hint) on one line.
func (i Issue) String() string {
	s := i.head()
	if i.Hint != "" {
		s += " (" + i.Hint + ")"
	}
	return s
}

// Caret returns i over several lines: the message, the line of the file with a caret below the column, and
// the hint.
func (i Issue) Caret() string { return doc.Caret(i.head(), i.Source, i.Column, i.Hint) }

func (i Issue) head() string {
	at := i.File
	if i.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", i.File, i.Line, i.Column)
	}
	if at != "" {
		at += ": "
	}
	return at + string(i.Severity) + ": " + i.Message
}

// HasErrors reports whether one of issues is an error.
func HasErrors(issues []Issue) bool {
	return slices.ContainsFunc(issues, func(i Issue) bool { return i.Severity == Error })
}

// SortIssues puts issues in the order of their places, those of one file together. The files keep the order
// in which they first appear, and so do issues of one place.
func SortIssues(issues []Issue) {
	first := map[string]int{}
	for n, i := range issues {
		if _, seen := first[i.File]; !seen {
			first[i.File] = n
		}
	}
	slices.SortStableFunc(issues, func(a, b Issue) int {
		return cmp.Or(cmp.Compare(first[a.File], first[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// An IssueError is a load that failed: its issues, of which at least one is an error.
type IssueError struct{ Issues []Issue }

// Error returns one line for each issue.
func (e *IssueError) Error() string {
	s := ""
	for n, i := range e.Issues {
		if n > 0 {
			s += "\n"
		}
		s += i.String()
	}
	return s
}
