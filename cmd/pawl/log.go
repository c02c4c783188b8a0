package main

import (
	"encoding/json"
	"fmt"
	"iter"

	"github.com/pawl-hooks/pawl/figures"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/journal"
)

// logCmd reads logs.
type logCmd struct {
	Show   logShowCmd   `cmd:"" help:"Print a line for each record."`
	Verify logVerifyCmd `cmd:"" help:"Check the hash chain; ends with 3 where it does not hold."`
	Replay logReplayCmd `cmd:"" help:"Put the events of a log to another configuration."`
	Stats  logStatsCmd  `cmd:"" help:"Count runs, refusals and failures by hook."`
}

// A reading counts the lines of a log, and those that are no records.
type reading struct{ lines, unread int }

func (r *reading) of(file string) iter.Seq2[*journal.Entry, error] {
	return func(yield func(*journal.Entry, error) bool) {
		for e, err := range journal.ReadFile(file) {
			if err == nil {
				r.lines++
			}
			if err == nil && e.Err != nil {
				r.unread++
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// sayRead warns of a log that is empty, and of lines that were passed over.
func (a *app) sayRead(file string, lines, unread int) {
	if lines == 0 {
		a.printWarnings([]string{file + " holds no records"})
	}
	if unread > 0 {
		a.printWarnings([]string{doc.Plural(unread, "line") + " could not be read as a record"})
	}
}

// logShowCmd shows a log to a person.
type logShowCmd struct {
	File string `arg:"" help:"The log."`
}

// Run prints a line a record, or the records themselves as JSON lines.
func (c *logShowCmd) Run(a *app) error {
	if !a.json {
		var r reading
		err := journal.Show(a.out, r.of(c.File))
		if err == nil {
			a.sayRead(c.File, r.lines, 0) // what is no record is shown as such
		}
		return err
	}
	for entry, err := range journal.ReadFile(c.File) {
		if err != nil {
			return err
		}
		if err := a.printEntry(entry); err != nil {
			return err
		}
	}
	return nil
}

// printEntry prints a record as it stands; a line that is none is told as one, so that every line parses.
func (a *app) printEntry(entry *journal.Entry) error {
	if entry.Err == nil && json.Valid(entry.Raw) {
		_, err := fmt.Fprintf(a.out, "%s\n", entry.Raw)
		return err
	}
	why := "it is no record"
	if entry.Err != nil {
		why = entry.Err.Error()
	}
	return a.printJSON(map[string]any{"kind": "log.unreadable", "file": entry.File, "line": entry.Line, "error": why})
}

// logVerifyCmd checks the chain.
type logVerifyCmd struct {
	File        string   `arg:"" help:"The log."`
	Head        []string `placeholder:"HASH" sep:"none" help:"A hash that the log once ended with, noted elsewhere; may be repeated."`
	Checkpoints string   `placeholder:"FILE" help:"The checkpoints that were kept apart from the log."`
}

// Help is shown by pawl log verify --help.
func (*logVerifyCmd) Help() string {
	return `Finds lines that were changed, removed or moved. That lines are missing at the end, or that the whole file was
written anew, shows only against a head that was noted elsewhere: give it as --head or --checkpoints.`
}

// Run prints what was found and what could not have been.
func (c *logVerifyCmd) Run(a *app) error {
	report, err := journal.Verify(c.File, journal.Against{Heads: c.Head, Checkpoints: c.Checkpoints})
	if err != nil {
		return err
	}
	report.Faults = list(report.Faults)
	if a.json {
		err = a.printJSON(struct {
			OK bool `json:"ok"`
			*journal.Report
		}{report.OK(), report})
	} else {
		a.printReport(report)
	}
	if err == nil && !report.OK() {
		return silently(exitRefuse)
	}
	return err
}

func (a *app) printReport(report *journal.Report) {
	for _, fault := range report.Faults {
		fmt.Fprintln(a.out, a.look.bad(plain(fault.String())))
	}
	word := a.look.good("the chain holds")
	if !report.OK() {
		word = a.look.bad("the chain does not hold")
	}
	fmt.Fprintf(a.out, "%s: %s in %s\nhead %s\n", word, doc.Plural(report.Lines, "line"), doc.Plural(len(report.Files), "file"), report.Head.Hash)
	for _, limit := range report.Limits {
		fmt.Fprintln(a.out, a.look.dim("not shown by this: "+plain(limit)))
	}
}

// logStatsCmd counts.
type logStatsCmd struct {
	File string `arg:"" help:"The log."`
}

// Run prints the figures of each hook.
func (c *logStatsCmd) Run(a *app) error {
	var r reading
	counted, unread, err := figures.Read(r.of(c.File))
	if err != nil {
		return err
	}
	a.sayRead(c.File, r.lines, unread)
	if a.json {
		return a.printJSON(list(counted.Hooks()))
	}
	return counted.Write(a.out)
}
