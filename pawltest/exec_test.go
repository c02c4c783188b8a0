package pawltest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
	"github.com/pawl-hooks/pawl/pawltest"
)

func TestExecKeepsTheContract(t *testing.T) {
	for name, kit := range map[string]pawltest.GateKit{
		"with the test binary's helpers": {New: func() pawl.Gate { return gate.Exec{} }, Programs: pawltest.Reexec},
		"with the shell's helpers":       {New: func() pawl.Gate { return gate.Exec{} }, Programs: pawltest.Shell},
		"the portable one":               {New: func() pawl.Gate { return gate.Exec{Portable: true} }, Programs: pawltest.Reexec},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit.Dir = t.TempDir()
			require.NoError(t, pawltest.TestGate(kit))
		})
	}
}
