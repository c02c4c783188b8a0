package main

import (
	"errors"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
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
