package main

import (
	"context"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

// sandboxed compares a program that is confined with the same program as it is.
func sandboxed(b *bench) []figure {
	const what = "what a sandbox adds to a spawn"
	ctx, cmd := context.Background(), pawl.Command{Args: []string{b.hook}, Stdin: told()}
	if _, err := (gate.Sandbox{}).Wrap(b.runner(false)).Run(ctx, cmd); err != nil {
		return []figure{missing(what, err.Error())}
	}
	through := func(g pawl.Gate) func() {
		return func() { _, err := g.Run(ctx, cmd); must(err) }
	}
	t := rotate(b.rounds(400), through(b.runner(false)), through(gate.Sandbox{}.Wrap(b.runner(false))))
	return []figure{atMost(what, float64((t[1]-t[0]).Nanoseconds())/1000, 100, "us")}
}
