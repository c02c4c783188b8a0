package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/journal"
)

// logReplayCmd puts recorded events to another configuration.
type logReplayCmd struct {
	File string `arg:"" help:"The log."`
	Real bool   `name:"run" help:"Run the hooks that match now; without it only say which would."`
	sources
	policyFlag
}

// Help is shown by pawl log replay --help.
func (*logReplayCmd) Help() string {
	return `For each event of the log: the hooks that ran then and those that would run now, and with --run what they
decide. A record holds an event's trigger, tool, session and call, and not its input: a hook that looks at
the input is planned without it. An event that no hook matched then left no record and is not replayed.

  pawl log replay log.jsonl --config new-hooks.toml`
}

// A replayed is one event of the log, then and now.
type replayed struct {
	Trigger pawl.Trigger `json:"trigger"`
	Tool    string       `json:"tool,omitempty"`
	Session string       `json:"session,omitempty"`
	Call    string       `json:"call,omitempty"`
	Then    decided      `json:"then"`
	Now     decided      `json:"now"`
	Changed bool         `json:"changed"`
}

// A decided is which hooks answered and what they came to.
type decided struct {
	Hooks   []string      `json:"hooks"`
	Verdict *pawl.Verdict `json:"verdict,omitempty"` // absent where nothing was run
}

// Run prints a row for each event.
func (c *logReplayCmd) Run(a *app) error {
	moments, err := moments(c.File)
	if err != nil {
		return err
	}
	set, err := c.load(a)
	if err != nil {
		return err
	}
	opts := pawl.Options{}
	if c.Real {
		flags := gating{policyFlag: c.policyFlag}
		if opts, _, err = flags.options(a); err != nil {
			return err
		}
	}
	registry, err := set.registry(a, opts)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	rows := []replayed{}
	for _, m := range moments {
		row, err := c.replay(ctx, registry, m)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fault(fmt.Errorf("replaying %s %s: %w", m.event.Trigger, m.event.Call, err))
		}
		rows = append(rows, row)
	}
	if a.json {
		return a.printJSON(rows)
	}
	set.say(a)
	return a.printReplayed(rows)
}

// replay asks the registry about one event.
func (c *logReplayCmd) replay(ctx context.Context, registry *pawl.Registry, m moment) (replayed, error) {
	row := replayed{
		Trigger: m.event.Trigger, Tool: m.event.Tool, Session: m.event.Session, Call: m.event.Call,
		Then: decided{m.hooks, &m.verdict}, Now: decided{Hooks: []string{}},
	}
	for _, x := range registry.Explain(ctx, &m.event) {
		if x.Fires == pawl.FiresYes {
			row.Now.Hooks = append(row.Now.Hooks, x.Hook.Name)
		}
	}
	row.Changed = !slices.Equal(row.Then.Hooks, row.Now.Hooks)
	if c.Real {
		out, err := registry.Dispatch(ctx, &m.event)
		if err != nil {
			return row, err
		}
		row.Now.Verdict = &out.Verdict
		row.Changed = row.Changed || out.Verdict != m.verdict
	}
	return row, nil
}

func (a *app) printReplayed(rows []replayed) error {
	changed := 0
	t := newTable(a.out)
	t.row("EVENT", "ABOUT", "THEN", "NOW", "CHANGED")
	for _, row := range rows {
		mark := ""
		if row.Changed {
			changed++
			mark = "yes"
		}
		t.row(string(row.Trigger), strings.TrimSpace(row.Tool+" "+row.Call), row.Then.String(), row.Now.String(), mark)
	}
	if err := t.flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "%s, %d changed\n", plural(len(rows), "event"), changed)
	return err
}

func (d decided) String() string {
	s := strings.Join(d.Hooks, " ")
	if s == "" {
		s = "no hook"
	}
	if d.Verdict != nil {
		s += ": " + d.Verdict.String()
	}
	return s
}

// A moment is one dispatch as its records tell it.
type moment struct {
	event   pawl.Event
	hooks   []string
	verdict pawl.Verdict
}

// sameDispatch is what the records of one dispatch share.
type sameDispatch struct {
	trigger                          pawl.Trigger
	tool, session, turn, call, agent string
}

// moments gathers the runs of a log by the dispatch that they belong to, in the order of their first record.
// A hook that ran a second time for the same call, and not to judge again, is of another dispatch.
func moments(file string) ([]moment, error) {
	var all []moment
	open := map[sameDispatch]int{}
	for entry, err := range journal.ReadFile(file) {
		if err != nil {
			return nil, err
		}
		if entry.Err != nil || entry.Kind != (&pawl.Run{}).Kind() {
			continue
		}
		run, err := entry.Run()
		if err != nil {
			continue
		}
		key := sameDispatch{run.Trigger, run.Tool, run.Session, run.Turn, run.Call, run.Agent}
		at, known := open[key]
		again := known && slices.Contains(all[at].hooks, run.Name)
		if !known || again && run.Stage != string(pawl.StageRecheck) {
			at = len(all)
			open[key] = at
			all = append(all, moment{event: eventOf(run), hooks: []string{}})
		}
		all[at].add(run)
	}
	return all, nil
}

func eventOf(run *pawl.Run) pawl.Event {
	ev := pawl.Event{
		Trigger: run.Trigger, Tool: run.Tool, Session: run.Session, Turn: run.Turn, Call: run.Call,
	}
	if run.Agent != "" {
		ev.Agent = pawl.Agent{ID: run.Agent, Depth: 1}
	}
	return ev
}

// add joins what a run decided, as far as it was enforced.
func (m *moment) add(run *pawl.Run) {
	if !slices.Contains(m.hooks, run.Name) {
		m.hooks = append(m.hooks, run.Name)
	}
	if !run.Shadow && !run.PassedOpen && run.Verdict > m.verdict {
		m.verdict = run.Verdict
	}
}
