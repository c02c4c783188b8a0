package journal_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/journal"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func run(i int) *pawl.Run {
	return &pawl.Run{Name: fmt.Sprintf("hook-%d", i), Trigger: pawl.ToolBefore, Tool: "Bash", Outcome: pawl.Ran, Time: noon.Add(time.Duration(i) * time.Second), Elapsed: time.Millisecond}
}

func open(t testing.TB, path string, opts journal.Options) *journal.Log {
	t.Helper()
	l, err := journal.Open(path, opts)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// written makes a log of n records and closes it.
func written(t testing.TB, path string, n int, opts journal.Options) {
	t.Helper()
	l := open(t, path, opts)
	for i := range n {
		require.NoError(t, l.Append(t.Context(), run(i)))
	}
	require.NoError(t, l.Close())
}

func linesOf(t testing.TB, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, len(data) == 0 || data[len(data)-1] == '\n', "the last line is not whole")
	lines := strings.SplitAfter(string(data), "\n")
	return lines[:len(lines)-1]
}

func verified(t testing.TB, path string, against journal.Against) *journal.Report {
	t.Helper()
	r, err := journal.Verify(path, against)
	require.NoError(t, err)
	return r
}

func TestTheChainIsAsDocumented(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.log")
	written(t, path, 3, journal.Options{})
	prev := journal.Genesis
	for i, line := range linesOf(t, path) {
		var rec struct{ Kind, Name, Prev, Hash string }
		require.NoError(t, json.Unmarshal([]byte(line), &rec))
		require.Equal(t, "hook.run", rec.Kind)
		require.Equal(t, fmt.Sprintf("hook-%d", i), rec.Name)
		require.Equal(t, prev, rec.Prev)
		sum := sha256.Sum256([]byte(line[:strings.LastIndex(line, `,"hash":"`)]))
		require.Equal(t, hex.EncodeToString(sum[:]), rec.Hash)
		prev = rec.Hash
	}
	r := verified(t, path, journal.Against{})
	require.True(t, r.OK(), r.Faults)
	require.Equal(t, 3, r.Lines)
	require.Equal(t, prev, r.Head.Hash)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestALogGoesOnWhereItEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.log")
	for range 3 {
		written(t, path, 2, journal.Options{Sync: journal.SyncEach})
	}
	r := verified(t, path, journal.Against{})
	require.True(t, r.OK(), r.Faults)
	require.Equal(t, 6, r.Lines)
}

func TestRecordsOfAnyKindAndSizeAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.log")
	l := open(t, path, journal.Options{})
	big := &custom{"my.kind", strings.Repeat("é\n\x1b\u2028", 100_000)}
	for range 2 {
		require.NoError(t, l.Append(t.Context(), big, run(1), big))
		require.NoError(t, l.Close())
		l = open(t, path, journal.Options{}) // finds the end behind a long line
	}
	require.True(t, verified(t, path, journal.Against{}).OK())
	n := 0
	for e, err := range journal.ReadFile(path) {
		require.NoError(t, err)
		require.NoError(t, e.Err)
		if n++; e.Kind == "my.kind" {
			var back custom
			require.NoError(t, json.Unmarshal(e.Raw, &back))
			require.Equal(t, big.Text, back.Text)
			require.NotContains(t, string(e.Raw), "\x1b")
		}
	}
	require.Equal(t, 6, n)
}

type custom struct {
	K    string `json:"kind"`
	Text string `json:"text"`
}

func (c *custom) Kind() string { return c.K }

type unmarshalable struct{}

func (unmarshalable) Kind() string                 { return "bad" }
func (unmarshalable) MarshalJSON() ([]byte, error) { return nil, os.ErrInvalid }

func TestARecordThatCannotBeEncodedLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.log")
	l := open(t, path, journal.Options{})
	require.ErrorIs(t, l.Append(t.Context(), run(0), unmarshalable{}, run(1)), os.ErrInvalid)
	require.NoError(t, l.Append(t.Context(), run(2)))
	r := verified(t, path, journal.Against{})
	require.True(t, r.OK(), r.Faults)
	require.Equal(t, 2, r.Lines)
}

func TestAppendHonoursItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.log")
	l := open(t, path, journal.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, l.Append(ctx, run(0)), context.Canceled)
	require.Empty(t, strings.TrimSpace(strings.Join(linesOf(t, path), "")))
}

func TestWhatCannotBeALog(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for name, path := range map[string]string{
		"a directory":                 dir,
		"a folder that is not there":  filepath.Join(dir, "none", "x"),
		"a log without a chain":       file("plain", `{"kind":"hook.run"}`+"\n"),
		"a log that is no log":        file("text", "hello\n"),
		"long lines without a chain":  file("long", strings.Repeat("x", 5000)+"\n"),
		"a last line without a chain": file("mixed", `{"kind":"x","prev":"`+journal.Genesis+`","hash":"`+strings.Repeat("a", 64)+`"}`+"\n{}\n"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := journal.Open(path, journal.Options{})
			require.ErrorContains(t, err, path)
		})
	}
}

func TestALineThatACrashCutOffIsRepaired(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole")
	written(t, whole, 3, journal.Options{})
	data, err := os.ReadFile(whole)
	require.NoError(t, err)
	lines := linesOf(t, whole)
	for cut := range len(data) {
		if cut%7 != 0 && cut > len(lines[0])+3 {
			continue // every place in the first line, some in the others
		}
		path := filepath.Join(t.TempDir(), "cut")
		require.NoError(t, os.WriteFile(path, data[:cut], 0o600))
		l, err := journal.Open(path, journal.Options{})
		require.NoError(t, err, cut)
		require.NoError(t, l.Append(t.Context(), run(9)))
		require.NoError(t, l.Close())
		got := linesOf(t, path)
		kept := strings.Count(string(data[:cut]), "\n")
		require.Equal(t, lines[:kept], got[:kept], "a whole line was lost")
		broken := cut > 0 && data[cut-1] != '\n'
		require.Equal(t, broken, strings.Contains(got[kept], `"kind":"log.repaired"`), cut)
		r := verified(t, path, journal.Against{})
		require.True(t, r.OK(), "%d: %v", cut, r.Faults)
	}
}

// A crash may leave less than a line of a log, and never anything else: that is somebody's file.
func TestAFileThatNeverWasALogIsLeftAlone(t *testing.T) {
	for _, content := range []string{"x", "notes without an end", `{"a":1}`, `{"kind" :`, "\x00\x7fELF", strings.Repeat("x", 9000), " "} {
		path := filepath.Join(t.TempDir(), "notes.txt")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := journal.Open(path, journal.Options{})
		require.ErrorContains(t, err, path+": it holds something else than a log")
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, content, string(left))
	}
}

func TestAnotherLogsBrokenLineIsRepairedToo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.log")
	a := open(t, path, journal.Options{})
	require.NoError(t, a.Append(t.Context(), run(0)))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"kind":"hook.run","na`)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.False(t, verified(t, path, journal.Against{}).OK())
	require.NoError(t, a.Append(t.Context(), run(1)))
	r := verified(t, path, journal.Against{})
	require.True(t, r.OK(), r.Faults)
	require.Equal(t, 3, r.Lines)
}

func TestManyGoroutinesAndTwoLogsShareAFile(t *testing.T) {
	for name, policy := range map[string]journal.Sync{"unsynced": journal.SyncNone, "each": journal.SyncEach, "group": journal.SyncGroup} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pawl.log")
			opts := journal.Options{Sync: policy, MaxBytes: 20_000}
			logs := []*journal.Log{open(t, path, opts), open(t, path, opts)}
			var wg sync.WaitGroup
			for g := range 8 {
				wg.Go(func() {
					for i := range 50 {
						if err := logs[g%2].Append(context.Background(), run(2*i), run(2*i+1)); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			for _, l := range logs {
				require.NoError(t, l.Close())
			}
			r := verified(t, path, journal.Against{})
			require.True(t, r.OK(), r.Faults)
			require.Greater(t, len(r.Files), 5, "it was not rotated")
			seen := map[string]int{}
			for e, err := range journal.ReadFile(path) {
				require.NoError(t, err)
				if e.Kind == "hook.run" {
					got, err := e.Run()
					require.NoError(t, err)
					seen[got.Name]++
				}
			}
			for i := range 100 {
				require.Equal(t, 8, seen[fmt.Sprintf("hook-%d", i)])
			}
		})
	}
}

func TestARotationThatACrashCutOffIsFinished(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pawl.log")
	written(t, path, 5, journal.Options{MaxBytes: 1})
	r := verified(t, path, journal.Against{})
	require.Len(t, r.Files, 6)
	before := r.Lines

	t.Run("before the renaming", func(t *testing.T) {
		require.NoError(t, os.Rename(path+".000005", path))
		written(t, path, 1, journal.Options{})
		r := verified(t, path, journal.Against{})
		require.True(t, r.OK(), r.Faults)
		require.Equal(t, before+1, r.Lines)
		require.FileExists(t, path+".000005")
	})
	t.Run("before the new file", func(t *testing.T) {
		require.NoError(t, os.Remove(path))
		written(t, path, 1, journal.Options{})
		r := verified(t, path, journal.Against{})
		require.True(t, r.OK(), r.Faults)
	})
}

func TestALogFollowsItsPathWhenTheFileIsMovedAway(t *testing.T) {
	for name, policy := range map[string]journal.Sync{"unsynced": journal.SyncNone, "group": journal.SyncGroup} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pawl.log")
			synctest.Test(t, func(t *testing.T) {
				l, err := journal.Open(path, journal.Options{Sync: policy})
				require.NoError(t, err)
				require.NoError(t, l.Append(t.Context(), run(0)))
				require.NoError(t, os.Rename(path, path+".old"))
				time.Sleep(2 * time.Second) // it looks once a second
				require.NoError(t, l.Append(t.Context(), run(1)))
				require.NoError(t, l.Close())
			})
			for _, file := range []string{path, path + ".old"} {
				r := verified(t, file, journal.Against{})
				require.True(t, r.OK(), r.Faults)
				require.Equal(t, 1, r.Lines)
			}
		})
	}
}

func TestClosing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.log")
	l := open(t, path, journal.Options{Sync: journal.SyncGroup})
	require.NoError(t, l.Close())
	require.ErrorIs(t, l.Close(), journal.ErrClosed)
	require.ErrorIs(t, l.Append(t.Context(), run(0)), journal.ErrClosed)
	_, err := l.Head()
	require.ErrorIs(t, err, journal.ErrClosed)
}

func TestALogThatIsKeptAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.log")
	l := open(t, path, journal.Options{Alone: true, MaxBytes: 3000, LockWait: time.Millisecond})
	for i := range 20 {
		require.NoError(t, l.Append(t.Context(), run(i)))
	}
	_, err := journal.Open(path, journal.Options{LockWait: time.Millisecond})
	require.ErrorContains(t, err, "another process holds its lock")
	require.NoError(t, l.Close())
	written(t, path, 1, journal.Options{})
	r := verified(t, path, journal.Against{})
	require.True(t, r.OK(), r.Faults)
	require.Greater(t, len(r.Files), 1)
}
