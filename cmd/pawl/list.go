package main

import (
	"fmt"
	"strings"

	"github.com/pawl-hooks/pawl/config"
)

// listCmd lists every hook found.
type listCmd struct {
	sources
}

// Help is shown by pawl list --help.
func (*listCmd) Help() string {
	return `Lists the hooks in the order they are asked, each with where it was written and whether it may run: those
that wait for review and those that are disabled too. RUNS says direct of a shell line that needs no shell and
is started without one, and keep of a program that is kept alive between events.

  pawl list
  pawl list --config hooks.toml`
}

// Run prints a row for each hook.
func (c *listCmd) Run(a *app) error {
	set, err := c.load(a)
	if err != nil {
		return err
	}
	rows := listings(set.Entries)
	if a.json {
		return a.printJSON(rows)
	}
	set.say(a)
	if len(rows) == 0 {
		_, err := fmt.Fprintln(a.out, c.nothing())
		return err
	}
	t := newTable(a.out)
	t.row("HOOK", "TRIGGER", "MATCHER", "LAYER", "WHERE", "TRUST", "RUNS", "COMMAND")
	for _, r := range rows {
		t.row(r.Name, r.Trigger, r.Matcher, r.Layer, where(r), trust(r), runs(r), r.Command)
	}
	return t.flush()
}

// trust is a listing's trust in a word or two.
func trust(r config.Listing) string {
	if !r.Enabled {
		return string(r.Trust) + ", disabled"
	}
	return string(r.Trust)
}

// runs says what is not as usual about how a listing's program is started.
func runs(r config.Listing) string {
	var words []string
	if r.Direct {
		words = append(words, "direct")
	}
	if r.Keep {
		words = append(words, "keep")
	}
	return strings.Join(words, ", ")
}

func listings(entries []config.Entry) []config.Listing {
	rows := []config.Listing{}
	for _, e := range entries {
		rows = append(rows, e.Listing())
	}
	return rows
}
