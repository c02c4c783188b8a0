package main

import (
	"context"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/config"
	"github.com/pawl-hooks/pawl/gate"
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
event that another hook rewrote, or no and why not: one that waits for review, is disabled or is gone is
listed too, with the command that changes that. Behind it stands what the policy makes of the hook's
program, and by which rule: that of --policy, or the shipped defaults. A command that goes without its shell
is judged as both, as it is when it fires, and the stricter answer is shown.

  pawl explain --config hooks.toml --event event.json
  pawl explain --config hooks.toml --event event.json --policy policy.toml`
}

// An explanation is one hook's row.
type explanation struct {
	Name  string     `json:"name"`
	Fires pawl.Fires `json:"fires"`
	Stage pawl.Stage `json:"stage"`
	Why   string     `json:"why"`

	Policy string `json:"policy,omitempty"` // what it says of the hook's program; empty for a Go handler
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
	rows := explained(set, registry.Explain(context.Background(), ev), rule)
	if a.json {
		return a.printJSON(rows)
	}
	set.say(a)
	return c.print(a, rows)
}

// explained are the rows of every hook that was found, in configuration order, and of those that are gone: what does
// not run is no hook of the registry.
func explained(set *hookSet, asked []pawl.Explanation, rule func(*pawl.Hook) string) []explanation {
	known := map[string]pawl.Explanation{}
	for _, x := range asked {
		known[x.Hook.Name] = x
	}
	rows := []explanation{}
	for _, e := range slices.Concat(set.Entries, set.Gone) {
		x, ok := known[e.Hook.Name]
		why := stays(e)
		switch {
		case !ok:
			x = pawl.Explanation{Hook: e.Hook, Fires: pawl.FiresNo, Why: why}
		case why != "" && x.Fires != pawl.FiresNo:
			x.Why = "it refuses in the hook's place: " + why
		}
		rows = append(rows, explanation{x.Hook.Name, x.Fires, x.Stage, x.Why, rule(&x.Hook)})
	}
	return rows
}

// stays says why a hook does not run whatever the event, and what changes that; empty: it runs.
func stays(e config.Entry) string {
	why, remedy := e.Reason, e.Remedy()
	switch {
	case e.Status == config.Gone:
		return "it was accepted and is gone: " + why + "; put it back, or forget it: " + remedy
	case !e.Enabled:
		return "it is disabled: " + remedy
	case why == "" || remedy == "" || strings.Contains(why, remedy):
		return why
	}
	return why + ": " + remedy
}

// ruler says of a hook what the policy makes of its program; nothing where it has none.
func (c *explainCmd) ruler(a *app, ev *pawl.Event) (func(*pawl.Hook) string, error) {
	policy, err := c.policy(a)
	if err != nil {
		return nil, err
	}
	person := a.approver() != nil
	return func(h *pawl.Hook) string {
		p, ok := h.Handler.(pawl.Program)
		if !ok {
			return ""
		}
		ans := policy.Decide(ev, commandOf(p, ev))
		return ans.String() + unanswered(ans.Ruling, person)
	}, nil
}

// commandOf is the command that the gate would be asked to run for ev. Nothing runs.
func commandOf(p pawl.Program, ev *pawl.Event) pawl.Command {
	cmd := pawl.Command{Args: p.Argv()} // of a hook that cannot be told of this event
	if program, ok := p.(command.Program); ok {
		cmd.Direct = program.Direct
	}
	_, _ = p.Handle(context.Background(), ev, pawl.GateFunc(func(_ context.Context, asked pawl.Command) (pawl.Result, error) {
		cmd = asked
		return pawl.Result{}, &pawl.RefusedError{Reason: "nothing runs"}
	}))
	return cmd
}

// unanswered says what becomes of a command that the policy leaves to somebody: fire has no reviewer, and a
// person only at a terminal.
func unanswered(r gate.Ruling, person bool) string {
	switch {
	case r == gate.Allow, r == gate.Deny:
		return ""
	case r == gate.Ask && person:
		return "; the person at the terminal is asked"
	case r == gate.Ask:
		return "; nobody can be asked here: it is refused"
	}
	return "; there is no reviewer here: it is refused"
}

func (c *explainCmd) print(a *app, rows []explanation) error {
	t := newTable(a.out)
	t.row("FIRES", "HOOK", "STAGE", "WHY", "POLICY")
	for _, row := range rows {
		t.row(string(row.Fires), row.Name, string(row.Stage), row.Why, row.Policy)
	}
	return t.flush()
}
