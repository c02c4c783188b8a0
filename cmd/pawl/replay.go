package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/journal/replay"
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
decide. The record of a run holds an event's trigger, tool, session and call, and not its input: what a hook
that looks at the input would do cannot be told, and is marked with a question mark. A log whose runtime
recorded the events themselves (kind event) is replayed whole. An event that no hook matched then left no
record and is not replayed.

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
	Unsure  []string     `json:"unsure,omitempty"` // hooks that look at an input the log does not hold
	Changed bool         `json:"changed"`
}

// A decided is which hooks answered and what they came to.
type decided struct {
	Hooks   []string      `json:"hooks"`
	Verdict *pawl.Verdict `json:"verdict,omitempty"` // absent where nothing was run
}

// Run prints a row for each event.
func (c *logReplayCmd) Run(a *app) error {
	var r reading
	moments, err := replay.Moments(r.of(c.File))
	if err != nil {
		return err
	}
	a.sayRead(c.File, r.lines, r.unread)
	set, err := c.load(a)
	if err != nil {
		return err
	}
	opts := pawl.Options{}
	if c.Real {
		flags := gating{policyFlag: c.policyFlag}
		var closing func() error
		if opts, closing, err = flags.options(a); err != nil {
			return err
		}
		defer closing()
	}
	registry, err := set.registry(a, opts)
	if err != nil {
		return err
	}
	rows, err := c.replayAll(a, registry, moments)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(rows)
	}
	set.say(a)
	return a.printReplayed(rows)
}

// replayAll asks the registry about every event, until a signal ends it. One of a runtime's own triggers, which no
// file can hook, stands for itself.
func (c *logReplayCmd) replayAll(a *app, registry *pawl.Registry, moments []*replay.Moment) ([]replayed, error) {
	ctx, stop := untilSignal()
	defer stop()
	rows := []replayed{}
	for _, m := range moments {
		row, err := c.replay(ctx, registry, m)
		if errors.Is(err, pawl.ErrTrigger) {
			a.printWarnings([]string{fmt.Sprintf("%s:%d: %s: it is not run", m.File, m.Line, reason(err))})
			err = nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fault(fmt.Errorf("replaying %s %s: %w", m.Event.Trigger, m.Event.Call, err))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// replay asks the registry about one event.
func (c *logReplayCmd) replay(ctx context.Context, registry *pawl.Registry, m *replay.Moment) (replayed, error) {
	change, err := replay.Plan(ctx, registry, m), error(nil)
	if c.Real {
		var ran *replay.Change
		if ran, err = replay.Run(ctx, registry, m); !errors.Is(err, pawl.ErrTrigger) {
			change = ran
		}
	}
	row := replayed{
		Trigger: m.Event.Trigger, Tool: m.Event.Tool, Session: m.Event.Session, Call: m.Event.Call,
		Then:   decided{Hooks: append([]string{}, m.Hooks()...), Verdict: &m.Verdict},
		Now:    decided{Hooks: append([]string{}, change.Now...)},
		Unsure: change.Unsure, Changed: change.Changed(),
	}
	if change.Ran {
		row.Now.Verdict = &change.After
	}
	return row, err
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
		now := row.Now
		for _, name := range row.Unsure {
			now.Hooks = append(slices.DeleteFunc(now.Hooks, func(n string) bool { return n == name }), name+"?")
		}
		t.row(string(row.Trigger), strings.TrimSpace(row.Tool+" "+row.Call), row.Then.String(), now.String(), mark)
	}
	if err := t.flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "%s, %d changed\n", doc.Plural(len(rows), "event"), changed)
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
