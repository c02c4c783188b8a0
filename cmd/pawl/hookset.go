package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/config"
	"github.com/pawl-hooks/pawl/dialect"
)

// A hookSet is what the sources came to.
type hookSet struct {
	config.Set
}

// call shows files by the names that the person gave them.
func (set *hookSet) call(names map[string]string) {
	name := func(file *string) { *file = cmp.Or(names[*file], *file) }
	for i := range set.Issues {
		issue := &set.Issues[i]
		name(&issue.File)
		for full, given := range names {
			issue.Message = strings.ReplaceAll(issue.Message, full+":", given+":")
		}
	}
	for i := range set.Hooks {
		name(&set.Hooks[i].Origin.File)
	}
	for i := range set.Entries {
		name(&set.Entries[i].Hook.Origin.File)
	}
	for i := range set.Pending {
		name(&set.Pending[i].Hook.Origin.File)
	}
}

// warnings are all of it as one line each, with a line for each hook that waits.
func (set *hookSet) warnings() []string {
	var warnings []string
	for _, issue := range set.Issues {
		if issue.Severity != dialect.Error {
			warnings = append(warnings, issue.String())
		}
	}
	return append(append(warnings, set.Warnings...), set.pending()...)
}

// pending says of each hook that waits why it does not run.
func (set *hookSet) pending() []string {
	var warnings []string
	for _, e := range set.Pending {
		warnings = append(warnings, fmt.Sprintf("hook %s is pending: %s", e.Hook.Name, stays(e)))
	}
	return warnings
}

// registry makes the registry of the set's hooks.
func (set *hookSet) registry(a *app, opts pawl.Options) (*pawl.Registry, error) {
	r, err := pawl.New(opts, set.Hooks...)
	if err != nil {
		return nil, a.refuse(newIssues(err))
	}
	return r, nil
}

// say tells a person what the load has to say: on stderr, so that stdout holds the answer alone.
func (set *hookSet) say(a *app) {
	a.printIssues(a.err, a.errLook, set.Issues)
	a.printWarnings(set.Warnings)
}
