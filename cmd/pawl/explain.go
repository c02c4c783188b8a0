package main

import (
	"context"

	"github.com/pawl-hooks/pawl"
)

// explainCmd says what every hook would do about an event.
type explainCmd struct {
	sources
	eventFlag
}

// Help is shown by pawl explain --help.
func (*explainCmd) Help() string {
	return `Runs nothing. For each hook: yes and the stage it would run in, if_changed where it would only judge an
event that another hook rewrote, or no and why not.

  pawl explain --config hooks.toml --event event.json`
}

// An explanation is one hook's row.
type explanation struct {
	Name  string     `json:"name"`
	Fires pawl.Fires `json:"fires"`
	Stage pawl.Stage `json:"stage"`
	Why   string     `json:"why"`
}

// Run prints a row for each hook.
func (c *explainCmd) Run(a *app) error {
	ev, err := c.event(a)
	if err != nil {
		return err
	}
	set, err := c.load(a)
	if err != nil {
		return err
	}
	registry, err := set.registry(a, pawl.Options{})
	if err != nil {
		return err
	}
	rows := []explanation{}
	for _, x := range registry.Explain(context.Background(), ev) {
		rows = append(rows, explanation{x.Hook.Name, x.Fires, x.Stage, x.Why})
	}
	if a.json {
		return a.printJSON(rows)
	}
	a.printWarnings(set.warnings)
	t := newTable(a.out)
	t.row("FIRES", "HOOK", "STAGE", "WHY")
	for _, row := range rows {
		t.row(string(row.Fires), row.Name, string(row.Stage), row.Why)
	}
	return t.flush()
}
