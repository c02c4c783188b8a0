package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
	"github.com/pawl-hooks/pawl/journal"
)

// policyFlag names the rules that hooks' programs run under.
type policyFlag struct {
	Policy string `placeholder:"FILE" help:"Rules over what programs may run, before the shipped ones."`
}

// policy is the shipped defaults where no file is named.
func (f *policyFlag) policy(a *app) (*gate.Policy, error) {
	if f.Policy == "" {
		return &gate.Policy{}, nil
	}
	policy, err := gate.LoadPolicy(f.Policy)
	if err != nil {
		return nil, a.refuse(faultIssues(f.Policy, err))
	}
	return policy, nil
}

// gating says what hooks' programs run under and where the records go.
type gating struct {
	policyFlag
	Sandbox string `placeholder:"off|on" enum:"off,on" default:"off" help:"on: programs read everything, write below their working directory and the temporary one, and open no socket. Linux."`
	Log     string `placeholder:"FILE" help:"Append the records to this file, each chained to the one before it."`

	Checkpoints string `placeholder:"FILE" help:"Append the head of the log to this file when it is closed, for log verify. Keep it where hooks cannot write."`
}

// options makes the gate and the log; the func it returns closes them.
func (g *gating) options(a *app) (pawl.Options, func() error, error) {
	opts, closing := pawl.Options{}, func() error { return nil }
	policy, err := g.policy(a)
	if err != nil {
		return opts, nil, err
	}
	sandbox, err := g.sandbox(a)
	if err != nil {
		return opts, nil, err
	}
	if g.Checkpoints != "" && g.Log == "" {
		return opts, nil, errors.New("--checkpoints is of a log: name that with --log")
	}
	if g.Log != "" {
		if err := appendable(g.Checkpoints); err != nil {
			return opts, nil, fault(logFault("checkpoints", g.Checkpoints, err))
		}
		log, err := journal.Open(g.Log, journal.Options{Sync: journal.SyncGroup, Checkpoints: g.Checkpoints})
		if err != nil {
			return opts, nil, fault(logFault("log", g.Log, err))
		}
		opts.Log, closing = log, log.Close
	}
	workers := new(gate.Workers)
	closeLog := closing
	closing = func() error { return errors.Join(workers.Close(), closeLog()) }
	approve := &gate.Approve{Approver: a.approver(), Log: opts.Log}
	opts.Gate = gate.Chain(gate.Record{Log: opts.Log}.Wrap, policy.Wrap, approve.Wrap, sandbox)(workers)
	return opts, closing, nil
}

// appendable is an error where nothing could be appended to file, which is written to only once the hooks have run.
func appendable(file string) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// logFault says why a file of a log's cannot be written, and what to do about it where that is plain.
func logFault(what, file string, err error) error {
	var path *fs.PathError
	if !errors.As(err, &path) {
		return err
	}
	hint := map[error]string{fs.ErrNotExist: "make its folder first", fs.ErrPermission: "it must be writable for the user pawl runs as"}
	for kind, mend := range hint {
		if errors.Is(err, kind) {
			return fmt.Errorf("%s %s: %w (%s)", what, file, path.Err, mend)
		}
	}
	return fmt.Errorf("%s %s: %w", what, file, path.Err)
}

// boxed is what one program may use under --sandbox on. Address space is left alone: many a runtime
// reserves more of it than it ever uses.
func boxed() gate.Limits {
	return gate.Limits{FileSize: 1 << 30, CPU: time.Hour, Files: 1024, Processes: 256}
}

// sandbox is nil where none is asked for, and an error where this system cannot hold one. What it goes
// without is said.
func (g *gating) sandbox(a *app) (gate.Middleware, error) {
	if g.Sandbox != "on" {
		return nil, nil
	}
	box := gate.Sandbox{Write: []string{".", os.TempDir()}, Limits: boxed()}
	if err := box.Check(); err != nil {
		box.Limits.Processes = 0
		if err := box.Check(); err != nil {
			return nil, fmt.Errorf("--sandbox on: %w", err)
		}
		a.printWarnings([]string{fmt.Sprintf("--sandbox on: how many processes a program starts is not limited, and one that leaves its group may outlive its hook: %v", err)})
	}
	return box.Wrap, nil
}

// approver is the person at the terminal, or nobody.
func (a *app) approver() gate.Approver {
	if in, ok := a.in.(*os.File); ok && a.errLook.terminal && lookOf(in, a.getenv).terminal {
		return asking{a, &gate.Terminal{In: in, Out: a.err}}
	}
	return nil
}

// asking keeps the progress line from the place where a person types.
type asking struct {
	app      *app
	terminal *gate.Terminal
}

// Approve asks the person.
func (t asking) Approve(ctx context.Context, q gate.Question) (gate.Reply, error) {
	defer t.app.progress.hide()()
	return t.terminal.Approve(ctx, q)
}
