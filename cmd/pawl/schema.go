package main

import (
	"strconv"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect/native"
)

// schemaCmd prints what a file or an event can hold.
type schemaCmd struct {
	Triggers bool `help:"Print the trigger table: what each event is about and what a hook may do there."`
}

// Help is shown by pawl schema --help.
func (*schemaCmd) Help() string {
	return `Prints the JSON Schema of a native hooks file, for an editor that completes and checks it.

  pawl schema > hooks.schema.json
  pawl schema --triggers`
}

// Run prints the schema, or the trigger table: as text only for a person.
func (c *schemaCmd) Run(a *app) error {
	if !c.Triggers {
		if _, err := a.out.Write(append(native.Schema(), '\n')); err != nil {
			return fault(err)
		}
		return nil
	}
	rows := pawl.TriggerRows()
	if !a.look.terminal || a.json {
		return a.printJSON(rows)
	}
	t := newTable(a.out)
	t.row("TRIGGER", "SEES", "CAN", "BUBBLES", "ZEROCODE", "ZIDANE")
	for _, r := range rows {
		t.row(string(r.Trigger), r.Sees.String(), r.Can.String(), strconv.FormatBool(r.Bubbles), r.ZeroCode, r.Zidane)
	}
	return t.flush()
}
