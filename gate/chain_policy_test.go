//go:build unix

package gate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

// The order of the whole chain, with real programs.
func TestTheWholeChainRunsWhatIsAllowedAndRecordsTheRest(t *testing.T) {
	secret := "s3cr3t-" + strings.Repeat("x", 20)
	red := &gate.Redactor{Held: []string{secret}}
	var log memory
	policy := &gate.Policy{Rules: []gate.Rule{act("exec.path.env", gate.Deny), act("exec.path.printf", gate.Ask)}}
	approve := &gate.Approve{Approver: says(gate.Once), Log: &log, Redact: red.Bytes}
	chain := gate.Chain(gate.Record{Log: &log, Redact: red.Bytes}.Wrap, policy.Wrap, approve.Wrap)(gate.Exec{Redact: red.Filter})

	res, err := chain.Run(t.Context(), pawl.Command{ID: "hook:a:1", Args: []string{"printf", "%s", secret}})
	require.NoError(t, err)
	require.Equal(t, "exec.path.printf", res.Action)
	require.Equal(t, "[redacted credential]", string(res.Stdout))
	_, err = chain.Run(t.Context(), pawl.Command{ID: "hook:b:1", Args: []string{"env"}})
	require.ErrorIs(t, err, pawl.ErrRefused)
	require.Equal(t, "tool.call request response:approved_by_user tool.result tool.call response:refused_by_policy tool.result", strings.Join(log.outcomes(), " "))
	require.NotContains(t, strings.Join(log.lines, "\n"), secret)
}

// A secret that lies across the cut leaves no part of itself.
func TestASecretAcrossTheCutLeavesNoPart(t *testing.T) {
	secret := "s3cr3t-" + strings.Repeat("x", 20)
	red := &gate.Redactor{Held: []string{secret}}
	for limit := range 40 {
		res, err := gate.Exec{Redact: red.Filter, Limit: limit + 1}.Run(t.Context(), pawl.Command{Args: []string{"printf", "0123456789" + secret + "9876543210"}})
		require.NoError(t, err)
		require.NotContains(t, string(res.Stdout), "s3", fmt.Sprint(limit))
		require.NotContains(t, string(res.Stdout), "x", fmt.Sprint(limit))
	}
}
