package gate_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

func TestADescriptorShortageIsAnErrorAndNoLeak(t *testing.T) {
	onBoth(t, func(t *testing.T, e gate.Exec) {
		var old syscall.Rlimit
		require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
		used := descriptors(t)
		for spare := range 8 {
			low := syscall.Rlimit{Cur: uint64(used + spare), Max: old.Max}
			require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low))
			cmd := pawl.Command{Args: []string{"/bin/cat"}, Stdin: []byte("x")}
			res, err := e.Run(t.Context(), cmd)
			require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old))
			if err == nil {
				require.Equal(t, "x", string(res.Stdout))
			} else {
				require.ErrorIs(t, err, syscall.EMFILE, "spare %d", spare)
			}
		}
	})
}
