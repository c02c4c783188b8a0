package journal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/journal"
)

// FuzzLog asks of a file of any content that reading gives back its bytes, that a run that is read is written
// as the same, that opening it for more keeps every whole line or says no, and that what follows is verified.
func FuzzLog(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed.log")
	l, err := journal.Open(path, journal.Options{})
	require.NoError(f, err)
	require.NoError(f, l.Append(f.Context(), run(1), &custom{"test.x", "é\n"}))
	require.NoError(f, l.Close())
	whole, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(whole)
	f.Add(whole[:len(whole)-9])
	f.Add(append(bytes.Clone(whole), whole...))
	for _, s := range []string{"", "\n", "{}\n", `{"kind":"hook.run","elapsed_ms":1e400}` + "\n", `{"kind":"a","prev":"","hash":""}`, "\x00\n{\"kind\":\"x\"}\n", `{"kind":"a","kind":"b"}` + "\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		back, err := reread(t, data)
		require.NoError(t, err)
		require.Equal(t, string(data), string(back))

		path := filepath.Join(t.TempDir(), "x.log")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		before, err := journal.Verify(path, journal.Against{})
		require.NoError(t, err)
		l, err := journal.Open(path, journal.Options{})
		if err != nil {
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(data), string(after), "a file that is no log was changed")
			return
		}
		require.NoError(t, l.Append(t.Context(), run(2)))
		require.NoError(t, l.Close())
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(after, data[:bytes.LastIndexByte(data, '\n')+1]), "a whole line is gone")
		report, err := journal.Verify(path, journal.Against{})
		require.NoError(t, err)
		for _, fault := range before.Faults {
			require.True(t, fault.Kind == journal.Torn || !report.OK(), "an earlier fault is hidden: %v", fault)
		}
		if before.OK() {
			require.True(t, report.OK(), "%v", report.Faults)
		}
	})
}

// reread puts the lines together again.
func reread(t *testing.T, data []byte) (back []byte, err error) {
	for e, err := range journal.Read(bytes.NewReader(data)) {
		if err != nil {
			return nil, err
		}
		back = append(back, e.Raw...)
		if !e.Torn {
			back = append(back, '\n')
		}
		run, err := e.Run()
		if err != nil || e.Err != nil {
			continue
		}
		line, err := pawl.AppendRecord(nil, run)
		require.NoError(t, err)
		for again, err := range journal.Read(bytes.NewReader(append(line, '\n'))) {
			require.NoError(t, errors.Join(err, again.Err))
			second, err := again.Run()
			require.NoError(t, err)
			require.Equal(t, run, second)
		}
	}
	return back, nil
}
