package main

import (
	"context"
	"errors"

	"github.com/pawl-hooks/pawl"
)

// fireCmd dispatches one event for real.
type fireCmd struct {
	sources
	eventFlag
	gating
}

// Help is shown by pawl fire --help.
func (*fireCmd) Help() string {
	return `Runs every hook that matches the event, through the gate, and prints what came of it.

  echo '{"trigger":"tool.before","tool":"write_file","call":"c1"}' |
    pawl fire --config hooks.toml --event -

--sandbox on grants a program: to read everything, to write below its working directory and the temporary one,
files of 1 GiB, 1024 open files, an hour of processor time for each process, and 256 processes where a cgroup
with the pids controller can be written, else as many as it likes, which is then warned of. It opens no socket.
It does not hold: modes, owners, times and attributes of files outside that the user owns, how much memory is
used, and, without that cgroup, a descendant that starts a session of its own.

--checkpoints writes what the log ends with to a file of its own, for log verify --checkpoints, which then
finds that the log was cut or written anew. It must stand where hooks cannot write.

Exit codes: 0 pass or allow, 1 something to mend in the command line, a file or the event, 2 a fault of
pawl or of its log, 3 refuse or halt, 4 ask.`
}

// Run fires the event and ends with the code of its verdict.
func (c *fireCmd) Run(a *app) error {
	ev, err := c.event(a)
	if err != nil {
		return err
	}
	if depth := a.getenv("HOOK_DEPTH"); depth != "" && depth != "0" {
		return a.nested(ev)
	}
	ctx, stop := untilSignal()
	defer stop()
	set, err := c.load(a)
	if err != nil {
		return err
	}
	opts, closing, err := c.options(a)
	if err != nil {
		return err
	}
	out, err := a.dispatch(ctx, opts, set, ev)
	err = errors.Join(err, closing())
	if errors.Is(err, errNotFired) {
		return err
	}
	if printErr := a.printFired(set, fired(out)); printErr != nil {
		return fault(printErr)
	}
	return ended(ctx, out, err)
}

// errNotFired marks an error before any hook ran.
var errNotFired = errors.New("nothing was fired")

// dispatch runs the hooks of set for ev, with a progress line where a person watches.
func (a *app) dispatch(ctx context.Context, opts pawl.Options, set *hookSet, ev *pawl.Event) (pawl.Outcome, error) {
	if a.errLook.terminal {
		a.progress = newProgress(a.err)
		defer a.progress.stop()
		opts.Trace = a.progress.trace()
	}
	registry, err := set.registry(a, opts)
	if err != nil {
		return pawl.Outcome{}, errors.Join(errNotFired, err)
	}
	return registry.Dispatch(ctx, ev)
}

// ended turns an outcome into the exit code: a fault wins over a refusal.
func ended(ctx context.Context, out pawl.Outcome, err error) error {
	switch {
	case ctx.Err() != nil:
		return fault(errors.New("interrupted: the hooks that ran were ended"))
	case errors.Is(err, pawl.ErrTrigger):
		return err
	case err != nil:
		return fault(err)
	}
	switch out.Verdict {
	case pawl.Refuse, pawl.Halt:
		return silently(exitRefuse)
	case pawl.Ask:
		return silently(exitAsk)
	}
	return nil
}

// nested answers under a hook's own program: nothing runs, and the caller is told by a code of its own.
func (a *app) nested(ev *pawl.Event) error {
	return errors.Join(a.printFired(&hookSet{}, report{Event: eventJSON(ev), Nested: true, Notes: []string{}, Warnings: []string{}, Runs: []pawl.Run{}}), silently(exitFault))
}
