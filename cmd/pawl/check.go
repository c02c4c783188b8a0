package main

import (
	"fmt"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
)

// checkCmd says what is wrong with hooks files.
type checkCmd struct {
	sources
	Files []string `arg:"" optional:"" name:"file" help:"Files to check, as with --config."`
}

// Help is shown by pawl check --help.
func (*checkCmd) Help() string {
	return `Prints every fault and every warning with its file, line and column and what to write instead.
Ends with 1 where a file does not load; with --strict also where there is a warning.

  pawl check
  pawl check hooks.toml`
}

// Run prints the issues of all files.
func (c *checkCmd) Run(a *app) error {
	c.Config = append(c.Config, c.Files...)
	set, err := c.find(a)
	if err != nil && !dialect.HasErrors(set.Issues) {
		return err
	}
	if !dialect.HasErrors(set.Issues) {
		set.Issues = append(set.Issues, together(set)...)
	}
	if a.json {
		err = a.printJSON(list(set.Issues))
	} else {
		err = c.printChecked(a, set)
	}
	if err == nil && (dialect.HasErrors(set.Issues) || c.Strict && len(set.Issues) > 0) {
		return silently(exitUsage)
	}
	return err
}

// together finds what is wrong between files that are each fine: two hooks of one name.
func together(set *hookSet) []dialect.Issue {
	_, err := pawl.New(pawl.Options{}, set.Hooks...)
	return newIssues(err)
}

func (c *checkCmd) printChecked(a *app, set *hookSet) error {
	a.printWarnings(set.Warnings)
	a.printIssues(a.out, a.look, set.Issues)
	count := map[dialect.Severity]int{}
	for _, issue := range set.Issues {
		count[issue.Severity]++
	}
	line := doc.Plural(count[dialect.Warning], "warning")
	if n := count[dialect.Lost]; n > 0 {
		line += fmt.Sprintf(", %d lost", n)
	}
	switch {
	case count[dialect.Error] > 0:
		line = doc.Plural(count[dialect.Error], "error") + ", " + line + ": nothing was loaded"
	case len(set.Entries) == 0 && len(set.Issues) == 0:
		line = c.nothing()
	default:
		line = doc.Plural(len(set.Entries), "hook") + ", " + line
	}
	_, err := fmt.Fprintln(a.out, line)
	return err
}
