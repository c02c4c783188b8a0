package pawltest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/pawl-hooks/pawl"
)

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
