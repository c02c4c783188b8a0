package gate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
	"github.com/pawl-hooks/pawl/pawltest"
)

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
			return gate.Chain(gate.Record{Log: &log, Redact: red.Bytes}.Wrap, policy.Wrap, approve.Wrap)(gate.Exec{Redact: red.Filter})
		},
	}))
}
