package main

import (
	"cmp"
	"fmt"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/internal/docissue"
)

// passedOver returns the keys of a ZeroCode file that a load for this system leaves unread, and an import loses:
// the file's description, and commands for another system.
func passedOver(file string, data []byte) []dialect.Issue {
	d, faults := doc.Parse(file, data, cmp.Or(doc.FormatOf(file), doc.JSON))
	if faults != nil || !d.Root.Is(doc.Table) {
		return nil
	}
	var issues []dialect.Issue
	lose := func(table *doc.Node, event, index, key string) {
		if n := table.Get(key); n != nil && n.Is(doc.String) {
			issue := docissue.Of(d.FaultAt(n.Pos, key+" "+doc.Quote(n.Text), ""), dialect.Lost)
			issue.Event, issue.Index = event, index
			issues = append(issues, issue)
		}
	}
	lose(d.Root, "", "", "description")
	hooks := d.Root.Get("hooks")
	if hooks == nil {
		return issues
	}
	for _, event := range hooks.Fields {
		for g, group := range event.Value.Items {
			for h, handler := range group.Get("hooks").Elements() {
				for _, key := range []string{"commandWindows", "command_windows"} {
					lose(handler, event.Name, fmt.Sprintf("%d.%d", g, h), key)
				}
			}
		}
	}
	return issues
}

// summed makes one issue of the lost ones that every handler of a file repeats: the first, with a count. People
// read it once; what reads JSON gets them all.
func summed(issues []dialect.Issue) []dialect.Issue {
	type said struct{ message, hint string }
	counts := map[said]int{}
	for _, i := range issues {
		if i.Severity == dialect.Lost {
			counts[said{i.Message, i.Hint}]++
		}
	}
	var out []dialect.Issue
	for _, i := range issues {
		key := said{i.Message, i.Hint}
		switch n := counts[key]; {
		case i.Severity != dialect.Lost || n == 1:
		case n == 0:
			continue // the first one spoke for it
		default:
			counts[key] = 0
			i.Message = fmt.Sprintf("from each of %d hooks, the first of them here: %s", n, i.Message)
		}
		out = append(out, i)
	}
	return out
}
