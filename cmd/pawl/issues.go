package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/internal/docissue"
)

// newIssues makes issues of the faults that pawl.New found, each at the hook it is about.
func newIssues(err error) []dialect.Issue {
	var issues []dialect.Issue
	for _, e := range flatten(err) {
		issue := dialect.Issue{Severity: dialect.Error, Message: e.Error()}
		var he *pawl.HookError
		if errors.As(e, &he) {
			issue.File, issue.Line, issue.Column = he.Origin.File, he.Origin.Line, he.Origin.Column
			issue.Message, issue.Hint = "hook "+he.Hook+": "+he.Problem, he.Hint
		}
		issues = append(issues, issue)
	}
	return issues
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, flatten(e)...)
	}
	return all
}

// printIssues prints one line for each, and for a person the line of the file it is about.
func (a *app) printIssues(w io.Writer, l look, issues []dialect.Issue) {
	for _, issue := range issues {
		if !l.terminal {
			fmt.Fprintln(w, plain(issue.String()))
			continue
		}
		head, rest, _ := strings.Cut(issue.Caret(), "\n")
		paint := l.warn
		if issue.Severity == dialect.Error {
			paint = l.bad
		}
		fmt.Fprintln(w, paint(plain(head)))
		if rest != "" {
			fmt.Fprint(w, l.dim(rest))
		}
	}
}

// refuse ends a command whose files do not load: their faults for a person on stderr and, with --json, as
// one object on stdout.
func (a *app) refuse(issues []dialect.Issue) error {
	a.printIssues(a.err, a.errLook, issues)
	if a.json {
		if err := a.printJSON(map[string]any{"issues": list(issues)}); err != nil {
			return err
		}
	}
	return silently(exitUsage)
}

// faultIssues makes issues of the faults of a file, so that they are shown like any other's.
func faultIssues(file string, err error) []dialect.Issue {
	var issues []dialect.Issue
	for _, e := range flatten(err) {
		if f, ok := e.(*doc.Fault); ok {
			issues = append(issues, docissue.Of(f, dialect.Error))
		} else {
			issues = append(issues, dialect.Issue{Severity: dialect.Error, File: file, Message: e.Error()})
		}
	}
	return issues
}

func (a *app) printWarnings(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(a.err, a.errLook.warn("warning:"), plain(w))
	}
}
