package journal_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-hooks/pawl/journal"
)

func TestWhatVerifyFinds(t *testing.T) {
	base := filepath.Join(t.TempDir(), "base")
	written(t, base, 6, journal.Options{})
	lines := linesOf(t, base)
	head := verified(t, base, journal.Against{}).Head.Hash
	other := filepath.Join(t.TempDir(), "other")
	written(t, other, 9, journal.Options{})
	foreign := linesOf(t, other)[8]

	tests := map[string]struct {
		change func(lines []string) []string
		want   []string // kind:line
	}{
		"nothing":               {func(l []string) []string { return l }, nil},
		"an edit":               {func(l []string) []string { l[2] = strings.Replace(l[2], "Bash", "bash", 1); return l }, []string{"edited:3"}},
		"an edited hash":        {func(l []string) []string { l[2] = strings.Replace(l[2], `"hash":"`, `"hash":"0`, 1); return l }, []string{"foreign:3", "missing:4"}},
		"a removal":             {func(l []string) []string { return slices.Delete(l, 2, 3) }, []string{"missing:3"}},
		"two removals":          {func(l []string) []string { return slices.Delete(l, 2, 4) }, []string{"missing:3"}},
		"a removed beginning":   {func(l []string) []string { return l[1:] }, []string{"missing:1"}},
		"a swap":                {func(l []string) []string { l[2], l[3] = l[3], l[2]; return l }, []string{"moved:3", "moved:4", "moved:5"}},
		"a line twice":          {func(l []string) []string { return slices.Insert(l, 3, l[2]) }, []string{"moved:4"}},
		"a line of another log": {func(l []string) []string { return slices.Insert(l, 3, foreign) }, []string{"missing:4", "moved:5"}},
		"a line of no log":      {func(l []string) []string { return slices.Insert(l, 3, "hello\n") }, []string{"foreign:4"}},
		"an empty line":         {func(l []string) []string { return slices.Insert(l, 3, "\n") }, []string{"foreign:4"}},
		"a torn end":            {func(l []string) []string { l[5] = l[5][:20]; return l }, []string{"torn:6", "truncated:6"}},
		"a cut":                 {func(l []string) []string { return l[:4] }, []string{"truncated:4"}},
		"an empty file":         {func([]string) []string { return nil }, []string{"truncated:0"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pawl.log")
			require.NoError(t, os.WriteFile(path, []byte(strings.Join(tc.change(slices.Clone(lines)), "")), 0o600))
			require.Equal(t, tc.want, found(verified(t, path, journal.Against{Heads: []string{head}})))

			alone := verified(t, path, journal.Against{})
			want := slices.DeleteFunc(slices.Clone(tc.want), func(s string) bool { return strings.HasPrefix(s, "truncated") })
			require.ElementsMatch(t, want, found(alone))
			require.Contains(t, strings.Join(alone.Limits, "; "), "cut off the end", "it does not say what it cannot find")
		})
	}
}

func found(r *journal.Report) []string {
	var list []string
	for _, f := range r.Faults {
		list = append(list, strings.Join([]string{string(f.Kind), ordinal(f.Line)}, ":"))
	}
	return list
}

func ordinal(n int) string { return string(rune('0' + n)) }

func TestNoChangeOfALogGoesUnseen(t *testing.T) {
	base := filepath.Join(t.TempDir(), "base")
	written(t, base, 5, journal.Options{})
	data, err := os.ReadFile(base)
	require.NoError(t, err)
	head := verified(t, base, journal.Against{}).Head.Hash
	path := filepath.Join(t.TempDir(), "changed")
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, len(data)).Draw(t, "from")
		to := rapid.IntRange(from, min(from+400, len(data))).Draw(t, "to")
		put := rapid.SliceOfN(rapid.SampledFrom([]byte("\n\"{}0a,: ")), 0, 5).Draw(t, "put")
		changed := slices.Concat(data[:from], put, data[to:])
		if slices.Equal(changed, data) {
			return
		}
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := journal.Verify(path, journal.Against{Heads: []string{head}})
		if err != nil || r.OK() {
			t.Fatalf("%v", err)
		}
	})
}

func TestCheckpointsShowACutTail(t *testing.T) {
	dir := t.TempDir()
	path, points := filepath.Join(dir, "pawl.log"), filepath.Join(dir, "points")
	against := journal.Against{Checkpoints: points}
	written(t, path, 10, journal.Options{Checkpoints: points, CheckpointEvery: 3, MaxBytes: 1000, Sync: journal.SyncGroup})
	r := verified(t, path, against)
	require.True(t, r.OK(), r.Faults)
	require.NotContains(t, strings.Join(r.Limits, ";"), "written anew")

	require.NoError(t, os.Remove(r.Files[len(r.Files)-1]))
	r = verified(t, path, against)
	require.False(t, r.OK())
	require.Equal(t, journal.Truncated, r.Faults[0].Kind)

	t.Run("a log written anew", func(t *testing.T) {
		again := filepath.Join(t.TempDir(), "pawl.log")
		l := open(t, again, journal.Options{})
		for i := range 10 {
			changed := run(i)
			changed.Refused = true
			require.NoError(t, l.Append(t.Context(), changed))
		}
		require.True(t, verified(t, again, journal.Against{}).OK(), "the limit is stated")
		require.False(t, verified(t, again, against).OK())
	})
	t.Run("a checkpoint that cannot be kept is a failure of the log", func(t *testing.T) {
		l := open(t, filepath.Join(t.TempDir(), "l"), journal.Options{Checkpoints: dir, CheckpointEvery: 1})
		require.ErrorContains(t, l.Append(t.Context(), run(0)), "checkpoint")
	})
	t.Run("not a file of checkpoints", func(t *testing.T) {
		require.NoError(t, os.WriteFile(points, []byte("{\"hash\":\"x\"}\n"), 0o600))
		_, err := journal.Verify(path, against)
		require.ErrorContains(t, err, points)
	})
	t.Run("no hash", func(t *testing.T) {
		_, err := journal.Verify(path, journal.Against{Heads: []string{"xyz"}})
		require.ErrorContains(t, err, `"xyz"`)
	})
}

func TestRotatedFilesThatWereRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.log")
	written(t, path, 12, journal.Options{MaxBytes: 1000})
	files := verified(t, path, journal.Against{}).Files
	require.Greater(t, len(files), 3)
	require.NoError(t, os.Remove(files[0]))
	r := verified(t, path, journal.Against{})
	require.True(t, r.OK(), r.Faults)
	require.Contains(t, strings.Join(r.Limits, ";"), "rotated files that were removed")
	require.NoError(t, os.Remove(files[2]))
	require.Equal(t, journal.Missing, verified(t, path, journal.Against{}).Faults[0].Kind)
	_, err := journal.Verify(filepath.Join(t.TempDir(), "none"), journal.Against{})
	require.ErrorIs(t, err, os.ErrNotExist)
}
