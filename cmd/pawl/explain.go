package main

import (
	"context"

	"github.com/pawl-hooks/pawl"
)

// explainCmd says what every hook would do about an event.
type explainCmd struct {
	sources
	eventFlag
	policyFlag
}

// Help is shown by pawl explain --help.
func (*explainCmd) Help() string {
	return `Runs nothing. For each hook: yes and the stage it would run in, if_changed where it would only judge an
event that another hook rewrote, or no and why not. With --policy also the rule that decides about each
hook's program.

  pawl explain --config hooks.toml --event event.json
  pawl explain --config hooks.toml --event event.json --policy policy.toml`
}

// An explanation is one hook's row.
type explanation struct {
	Name  string     `json:"name"`
	Fires pawl.Fires `json:"fires"`
	Stage pawl.Stage `json:"stage"`
	Why   string     `json:"why"`

	Policy string `json:"policy,omitempty"` // what it says of the hook's program; only where one is named
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
	rule, err := c.ruler(a, ev)
	if err != nil {
		return err
	}
	rows := []explanation{}
	for _, x := range registry.Explain(context.Background(), ev) {
		rows = append(rows, explanation{x.Hook.Name, x.Fires, x.Stage, x.Why, rule(&x.Hook)})
	}
	if a.json {
		return a.printJSON(rows)
	}
	set.say(a)
	return c.print(a, rows)
}

// ruler says of a hook what the policy makes of its program; nothing where no policy is named.
func (c *explainCmd) ruler(a *app, ev *pawl.Event) (func(*pawl.Hook) string, error) {
	if c.Policy == "" {
		return func(*pawl.Hook) string { return "" }, nil
	}
	policy, err := c.policy(a)
	if err != nil {
		return nil, err
	}
	return func(h *pawl.Hook) string {
		p, ok := h.Handler.(pawl.Program)
		if !ok {
			return ""
		}
		return policy.Decide(ev, pawl.Command{Args: p.Argv()}).String()
	}, nil
}

func (c *explainCmd) print(a *app, rows []explanation) error {
	t := newTable(a.out)
	head := []string{"FIRES", "HOOK", "STAGE", "WHY"}
	if c.Policy != "" {
		head = append(head, "POLICY")
	}
	t.row(head...)
	for _, row := range rows {
		cells := []string{string(row.Fires), row.Name, string(row.Stage), row.Why, row.Policy}
		t.row(cells[:len(head)]...)
	}
	return t.flush()
}
