// Package pawltest helps test what is built on pawl: recorders and scripted fakes for its seams, faults to
// inject, and kits that hold an implementation of Gate, Log or Handler to its contract.
package pawltest

import (
	"context"
	"slices"
	"sync"

	"github.com/pawl-hooks/pawl"
)

// A Gate records what it is asked to run. The zero Gate runs nothing: every command exits with code 0 and
// has printed nothing. It may be asked concurrently; its fields are to be read when nothing runs any more.
type Gate struct {
	Next  pawl.Gate // answers; nil: exit code 0
	Calls []Call    // in the order they began

	mu sync.Mutex
}

// A Call is one command that a Gate was asked about.
type Call struct {
	Command  pawl.Command // a copy
	Hook     string       // whose command it is; empty where the context is not a hook's
	Event    *pawl.Event  // what it is about; nil where the context is not a hook's
	Result   pawl.Result
	Err      error
	Returned bool // the call came back; without it Result and Err say nothing
}

// Run records cmd and lets Next answer.
func (g *Gate) Run(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
	call := Call{Command: copied(cmd), Event: pawl.EventFrom(ctx)}
	if hook := pawl.HookFrom(ctx); hook != nil {
		call.Hook = hook.Name
	}
	g.mu.Lock()
	i := len(g.Calls)
	g.Calls = append(g.Calls, call)
	g.mu.Unlock()

	var res pawl.Result
	var err error
	if g.Next != nil {
		res, err = g.Next.Run(ctx, cmd)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Calls[i].Result, g.Calls[i].Err, g.Calls[i].Returned = res, err, true
	return res, err
}

// Args returns the words of every command so far, at any time.
func (g *Gate) Args() [][]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var args [][]string
	for _, c := range g.Calls {
		args = append(args, c.Command.Args)
	}
	return args
}

func copied(cmd pawl.Command) pawl.Command {
	cmd.Args, cmd.Direct = slices.Clone(cmd.Args), slices.Clone(cmd.Direct)
	cmd.Env = slices.Clone(cmd.Env)
	cmd.Stdin = slices.Clone(cmd.Stdin)
	return cmd
}
