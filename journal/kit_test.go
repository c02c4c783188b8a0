package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/journal"
	"github.com/pawl-hooks/pawl/pawltest"
)

func TestALogKeepsTheContract(t *testing.T) {
	for name, opts := range map[string]journal.Options{
		"unsynced": {}, "each": {Sync: journal.SyncEach}, "group": {Sync: journal.SyncGroup}, "alone": {Alone: true},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, pawltest.TestLog(pawltest.LogKit{New: func() (pawl.Log, func() ([][]byte, error)) {
				path := filepath.Join(t.TempDir(), "pawl.log")
				l := open(t, path, opts)
				return l, func() ([][]byte, error) {
					data, err := os.ReadFile(path)
					lines := bytes.Split(data, []byte("\n"))
					return lines[:len(lines)-1], err
				}
			}}))
		})
	}
}
