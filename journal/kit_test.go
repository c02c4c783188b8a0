package journal_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/figures"
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

// What stands before a log, or hands records to something else, keeps the contract of what it stands before.
func TestWhatHandsOnKeepsTheContract(t *testing.T) {
	whole := func(t *testing.T) (pawl.Log, func() ([][]byte, error)) {
		path := filepath.Join(t.TempDir(), "pawl.log")
		return open(t, path, journal.Options{}), func() ([][]byte, error) {
			data, err := os.ReadFile(path)
			lines := bytes.Split(data, []byte("\n"))
			return lines[:len(lines)-1], err
		}
	}
	for name, fresh := range map[string]func(t *testing.T) (pawl.Log, func() ([][]byte, error)){
		"a fan-out, its first": func(t *testing.T) (pawl.Log, func() ([][]byte, error)) {
			log, lines := whole(t)
			return journal.Fanout(log, nil, new(figures.Figures)), lines
		},
		"a fan-out, its last": func(t *testing.T) (pawl.Log, func() ([][]byte, error)) {
			log, lines := whole(t)
			return journal.Fanout(&pawltest.Log{}, log), lines
		},
		"slog": func(t *testing.T) (pawl.Log, func() ([][]byte, error)) {
			b := new(locked)
			return journal.Slog(slog.NewJSONHandler(b, &slog.HandlerOptions{ReplaceAttr: kindFirst})), b.lines
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, pawltest.TestLog(pawltest.LogKit{New: func() (pawl.Log, func() ([][]byte, error)) { return fresh(t) }}))
		})
	}
}

// kindFirst shows an entry of slog as the record that it was.
func kindFirst(groups []string, a slog.Attr) slog.Attr {
	switch {
	case len(groups) > 0:
	case a.Key == slog.TimeKey, a.Key == slog.LevelKey:
		return slog.Attr{}
	case a.Key == slog.MessageKey:
		a.Key = "kind"
	}
	return a
}

// locked is a buffer that may be read while it is written.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) lines() ([][]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := bytes.Split(bytes.Clone(l.b.Bytes()), []byte("\n"))
	return lines[:len(lines)-1], nil
}
