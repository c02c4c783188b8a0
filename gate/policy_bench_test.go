package gate_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

// BenchmarkMiddlewares measures what stands before a program: nothing, the defaults, and a policy as large
// as one may be, with approval behind it. Starting a program takes a hundred times as long.
func BenchmarkMiddlewares(b *testing.B) {
	inner := pawl.GateFunc(func(context.Context, pawl.Command) (pawl.Result, error) { return pawl.Result{}, nil })
	large := &gate.Policy{}
	for i := range gate.MaxRules {
		large.Rules = append(large.Rules, gate.Rule{Action: fmt.Sprintf("exec.workspace.scripts.check%d", i), Decision: gate.Allow})
	}
	for name, g := range map[string]pawl.Gate{
		"none":      inner,
		"defaults":  (&gate.Policy{}).Wrap(inner),
		"512-rules": large.Wrap(new(gate.Approve).Wrap(inner)),
	} {
		b.Run(name, func(b *testing.B) {
			cmd := pawl.Command{ID: "hook:h:c1", Args: []string{"./scripts/check7", "--strict"}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.Run(context.Background(), cmd); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
