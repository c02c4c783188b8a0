package gate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
	"github.com/pawl-hooks/pawl/pawltest"
)

// brief is the Grace of a gate that is held to its contract, which has many programs that must be ended.
const brief = 300 * time.Millisecond

func TestTheWholeChainKeepsTheContractOfAGate(t *testing.T) {
	refused := pawl.Command{ID: "hook:x:y", Args: []string{"reboot"}}
	require.NoError(t, pawltest.TestGate(pawltest.GateKit{
		Dir:     t.TempDir(),
		Refused: &refused,
		New: func() pawl.Gate {
			var log memory
			red := &gate.Redactor{Held: []string{"a secret of mine"}, Shapes: true}
			policy := &gate.Policy{Rules: []gate.Rule{act("exec.path.reboot", gate.Deny), act("exec.path.sh", gate.Ask)}}
			approve := &gate.Approve{Approver: says(gate.Session), Log: &log, Redact: red.Bytes}
			return gate.Chain(gate.Record{Log: &log, Redact: red.Bytes}.Wrap, policy.Wrap, approve.Wrap)(gate.Exec{Grace: brief, Redact: red.Filter})
		},
	}))
}

// Each middleware alone, and what runs programs with what stands in for another.
func TestEveryGateKeepsTheContract(t *testing.T) {
	refused := &pawl.Command{ID: "hook:x:y", Args: []string{"reboot"}}
	allowing := &gate.Policy{Rules: []gate.Rule{act("exec.*", gate.Allow), act("exec.path.reboot", gate.Deny)}}
	asking := &gate.Policy{Rules: []gate.Rule{act("exec.path.sh", gate.Ask), act("exec.path.reboot", gate.Deny)}}
	red := &gate.Redactor{Held: []string{"a secret of mine"}, Shapes: true}
	workers := &gate.Workers{Exec: gate.Exec{Grace: brief}}
	t.Cleanup(func() { require.NoError(t, workers.Close()) })
	for name, kit := range map[string]pawltest.GateKit{
		"a chain of none": {New: func() pawl.Gate { return gate.Chain()(gate.Exec{Grace: brief}) }},
		"record": {New: func() pawl.Gate {
			return gate.Record{Log: new(memory), Redact: red.Bytes}.Wrap(gate.Exec{Grace: brief})
		}},
		"record over the other": {New: func() pawl.Gate { return gate.Record{Log: new(memory)}.Wrap(gate.Exec{Grace: brief, Portable: true}) }},
		"policy":                {New: func() pawl.Gate { return allowing.Wrap(gate.Exec{Grace: brief}) }, Refused: refused},
		"approve": {New: func() pawl.Gate {
			approve := &gate.Approve{Approver: says(gate.Once), Log: new(memory)}
			return gate.Chain(asking.Wrap, approve.Wrap)(gate.Exec{Grace: brief})
		}, Refused: refused},
		"redaction": {New: func() pawl.Gate { return gate.Exec{Grace: brief, Redact: red.Filter} }},
		"workers":   {New: func() pawl.Gate { return workers }},
		"workers in a chain": {New: func() pawl.Gate {
			return gate.Chain(gate.Record{Log: new(memory)}.Wrap, allowing.Wrap)(workers)
		}, Refused: refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit.Dir = t.TempDir()
			require.NoError(t, pawltest.TestGate(kit))
		})
	}
}
