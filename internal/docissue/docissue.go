// Package docissue makes issues of the faults of a document.
package docissue

import (
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
)

// Of makes an issue of a fault.
func Of(f *doc.Fault, severity dialect.Severity) dialect.Issue {
	return dialect.Issue{
		Severity: severity, File: f.File, Line: f.Line, Column: f.Column,
		Message: f.Message, Hint: f.Hint, Source: f.Source,
	}
}

// Errors makes an error of every fault.
func Errors(faults doc.Faults) []dialect.Issue {
	issues := make([]dialect.Issue, 0, len(faults))
	for _, f := range faults {
		issues = append(issues, Of(f, dialect.Error))
	}
	return issues
}
