package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pawl-hooks/pawl"
)

// A report is what fire prints.
type report struct {
	Verdict  pawl.Verdict    `json:"verdict"`
	Reason   string          `json:"reason"`
	Notes    []string        `json:"notes"`
	Warnings []string        `json:"warnings"`
	Input    json.RawMessage `json:"input,omitempty"`
	Output   json.RawMessage `json:"output,omitempty"`
	Event    json.RawMessage `json:"event"`
	Runs     []pawl.Run      `json:"runs"`
	Nested   bool            `json:"nested,omitempty"`
}

func fired(out pawl.Outcome) report {
	d := out.Decision()
	return report{
		Verdict: out.Verdict, Reason: d.Reason,
		Notes: list(d.Notes), Warnings: list(d.Warnings),
		Input: d.Input, Output: d.Output,
		Event: eventJSON(out.Event()), Runs: list(out.Runs()), Nested: out.Nested,
	}
}

// printFired prints what came of an event, and what loading the set had to say.
func (a *app) printFired(set *hookSet, r report) error {
	if a.json {
		r.Warnings = append(list(set.warnings()), r.Warnings...)
		return a.printJSON(r)
	}
	set.say(a)
	a.printWarnings(append(set.pending(), r.Warnings...))
	if r.Nested {
		fmt.Fprintln(a.err, "nothing ran: this is a hook's own program (HOOK_DEPTH is set)")
		return nil
	}
	return a.printOutcome(a.out, r)
}

func (a *app) printOutcome(w io.Writer, r report) error {
	fmt.Fprintln(w, a.verdict(r.Verdict))
	if r.Reason != "" {
		fmt.Fprintln(w, block("  ", r.Reason))
	}
	for _, note := range r.Notes {
		fmt.Fprintln(w, "note:")
		fmt.Fprintln(w, block("  ", note))
	}
	if r.Input != nil {
		fmt.Fprintln(w, "input:", plain(string(r.Input)))
	}
	if r.Output != nil {
		fmt.Fprintln(w, "output:", plain(string(r.Output)))
	}
	if len(r.Runs) == 0 {
		fmt.Fprintln(w, "no hook ran")
		return nil
	}
	t := newTable(w)
	for i := range r.Runs {
		run := &r.Runs[i]
		t.row(run.Name, run.Stage, happened(run), run.Elapsed.Round(time.Millisecond).String())
	}
	return t.flush()
}

// verdict is the word in the colour of how far it goes.
func (a *app) verdict(v pawl.Verdict) string {
	switch v {
	case pawl.Refuse, pawl.Halt:
		return a.look.bad(v.String())
	case pawl.Ask:
		return a.look.warn(v.String())
	}
	return a.look.good(v.String())
}

// happened says in a few words how a run ended.
func happened(run *pawl.Run) string {
	words := []string{strings.ReplaceAll(run.Outcome, "_", " ")}
	add := func(is bool, word string) {
		if is {
			words = append(words, word)
		}
	}
	add(run.Cause != "", "failed: "+string(run.Cause))
	add(run.Code > 0, fmt.Sprintf("exit code %d", run.Code))
	add(run.Signal != "", "signal "+run.Signal)
	add(run.Verdict != pawl.Pass, run.Verdict.String())
	add(run.PassedOpen, "passed open")
	add(run.Shadow, "shadow")
	add(run.Cut > 0, fmt.Sprintf("%d bytes cut", run.Cut))
	add(run.Orphans, "left a process behind")
	return strings.Join(words, ", ")
}
