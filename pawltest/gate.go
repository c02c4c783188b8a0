// Package pawltest helps test what is built on pawl: recorders and scripted fakes for its seams, faults to
// inject, and kits that hold an implementation of Gate, Log or Handler to its contract.
package pawltest

import (
	"context"
	"fmt"
	"maps"
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

// A Script is a Gate that answers by the name of the program, Args[0]. A program it does not know could not
// be started, as with a real gate. It may be asked concurrently; the maps must not be changed then.
type Script struct {
	Queue map[string][]pawl.GateFunc // answers in order, each given once
	Func  map[string]pawl.GateFunc   // answers where the queue is empty

	mu    sync.Mutex
	taken map[string]int
}

// Run gives the next answer for cmd's program.
func (s *Script) Run(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
	if len(cmd.Args) == 0 {
		return pawl.Result{}, fmt.Errorf("script: the command names no program")
	}
	answer := s.next(cmd.Args[0])
	if answer == nil {
		return pawl.Result{}, fmt.Errorf("script: no answer for %q", cmd.Args)
	}
	return answer(ctx, cmd)
}

func (s *Script) next(name string) pawl.GateFunc {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.taken[name]; i < len(s.Queue[name]) {
		if s.taken == nil {
			s.taken = map[string]int{}
		}
		s.taken[name]++
		return s.Queue[name][i]
	}
	return s.Func[name]
}

// Unused names the programs whose queue still holds answers, each as often as it does: what a test expected
// to run and did not.
func (s *Script) Unused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.Queue)) {
		names = append(names, slices.Repeat([]string{name}, len(s.Queue[name])-s.taken[name])...)
	}
	return names
}

// Exits answers for a program that exited, after it had printed stdout and stderr.
func Exits(code int, stdout, stderr string) pawl.GateFunc {
	return func(_ context.Context, cmd pawl.Command) (pawl.Result, error) {
		return pawl.Result{Action: actionOf(cmd), Code: code, Stdout: []byte(stdout), Stderr: []byte(stderr)}, nil
	}
}

// Dies answers for a program that a signal killed.
func Dies(signal string) pawl.GateFunc {
	return func(_ context.Context, cmd pawl.Command) (pawl.Result, error) {
		return pawl.Result{Action: actionOf(cmd), Code: -1, Signal: signal}, nil
	}
}

// Refuses answers for a program that the policy refuses.
func Refuses(reason string) pawl.GateFunc {
	return func(_ context.Context, cmd pawl.Command) (pawl.Result, error) {
		return pawl.Result{}, &pawl.RefusedError{Action: actionOf(cmd), Reason: reason}
	}
}

// Missing answers for a program that is not there.
func Missing(_ context.Context, cmd pawl.Command) (pawl.Result, error) {
	return pawl.Result{Action: actionOf(cmd)}, fmt.Errorf("%q: no such program", cmd.Args[0])
}

func actionOf(cmd pawl.Command) string { return "exec.path." + cmd.Args[0] }
