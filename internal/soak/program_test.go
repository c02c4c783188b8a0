//go:build linux

package soak_test

import (
	"context"
	"math/rand/v2"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/pawltest"
)

// ending are helpers that end by themselves.
var ending = [][]string{
	{"exit", "0"}, {"exit", "0"}, {"exit", "1"}, {"exit", "2"}, {"print", "out", "err", "0"}, {"print", `{"verdict":"refuse"}`, "", "0"}, {"garbage"},
	{"args", "a", ""}, {"env", "PATH"}, {"pwd"}, {"cat"}, {"noread"}, {"flood", "100000"}, {"die"},
}

// staying are helpers that go on, or leave something behind. Each gets a named pipe.
var staying = [][]string{{"hang"}, {"polite"}, {"deaf"}, {"leave"}, {"away"}}

// program is a handler that runs one of the helpers, six times in a hundred, and else pretends to.
func (c *crowd) program(name string, codec command.Codec, helpers [][]string) pawl.Handler {
	return pawl.HandlerFunc(func(ctx context.Context, ev *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
		p := command.Program{Name: name, Args: []string{"pretend"}, Codec: codec, Env: []string{c.mark}}
		if r := dice(ev.Call, name); r.IntN(100) < 6 {
			p.Args = c.helper(r, helpers)
		}
		return p.Handle(ctx, ev, gate)
	})
}

func (c *crowd) helper(r *rand.Rand, helpers [][]string) []string {
	words := helpers[r.IntN(len(helpers))]
	programs := pawltest.Programs(pawltest.Reexec)
	if r.IntN(2) == 0 {
		programs = pawltest.Shell
	}
	args := words[1:]
	if len(helpers) == len(staying) {
		args = []string{c.bad.Load().path}
	}
	if r.IntN(20) == 0 {
		return []string{"no-such-program"}
	}
	return programs(words[0], args...)
}
