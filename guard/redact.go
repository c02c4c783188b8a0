package guard

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pawl-hooks/pawl"
)

// SecretPattern is the pattern of a Redact without Patterns: assignments to names that end in API_KEY, TOKEN,
// PASSWORD or SECRET, in any case.
const SecretPattern = `(?i)(API_KEY|TOKEN|PASSWORD|SECRET)\s*=\s*\S+`

// A Redact replaces secrets in the results of tools before the model sees them, in results of failed calls too.
// It reads every string of a result, not the names of its members. It changes Output: a runtime that hands the
// model a Payload redacts that itself. A result it cannot read is withheld.
type Redact struct {
	Name     string   // of its hooks; empty: "redact"
	Tools    []string // canonical names or aliases; empty: all
	Patterns []string // regular expressions in Go's syntax; empty: SecretPattern
	With     string   // what stands in for a match, with $1 for its groups; empty: "$1=<redacted>" for SecretPattern, else "<redacted>"
}

// Hooks returns the hooks of the guard, or every fault in its patterns.
func (r *Redact) Hooks() ([]pawl.Hook, error) {
	name := cmp.Or(r.Name, "redact")
	patterns, with := r.Patterns, cmp.Or(r.With, "<redacted>")
	if len(patterns) == 0 {
		patterns, with = []string{SecretPattern}, cmp.Or(r.With, "$1=<redacted>")
	}
	var res []*regexp.Regexp
	var faults []error
	for i, p := range patterns {
		re, err := regexp.Compile(p)
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("guard %s: patterns[%d]: %w", name, i, err))
		case re.MatchString(""):
			faults = append(faults, fmt.Errorf("guard %s: patterns[%d]: %q matches the empty text", name, i, p))
		}
		res = append(res, re)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	stock := len(r.Patterns) == 0
	clean := func(s string) string {
		if stock && !strings.Contains(s, "=") {
			return s // most results: the pattern is slow, and each of its matches has one
		}
		for _, re := range res {
			s = re.ReplaceAllString(s, with)
		}
		return s
	}
	return []pawl.Hook{
		rewriter(name, pawl.ToolAfter, r.Tools, clean),
		rewriter(name+"-failed", pawl.ToolFailed, r.Tools, clean),
	}, nil
}
