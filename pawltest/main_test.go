package pawltest_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/pawltest"
)

func TestMain(m *testing.M) {
	pawltest.Main()
	os.Exit(m.Run())
}

// rules returns the names of the rules that err says were broken.
func rules(t *testing.T, err error) []string {
	t.Helper()
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok, "%v", err)
	var names []string
	for _, err := range joined.Unwrap() {
		var v *pawltest.Violation
		require.ErrorAs(t, err, &v)
		names = append(names, v.Rule)
	}
	return names
}
