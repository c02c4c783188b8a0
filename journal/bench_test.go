//go:build unix

package journal_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/journal"
)

// BenchmarkAppend compares a record, encoded, chained and locked, with one raw write of as many bytes (P13).
func BenchmarkAppend(b *testing.B) {
	for name, opts := range map[string]journal.Options{"shared": {}, "alone": {Alone: true}} {
		b.Run(name, func(b *testing.B) { benchmarkAppend(b, opts) })
	}
}

func benchmarkAppend(b *testing.B, opts journal.Options) {
	path := filepath.Join(b.TempDir(), "pawl.log")
	l := open(b, path, opts)
	raw, err := os.OpenFile(filepath.Join(b.TempDir(), "raw"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	require.NoError(b, err)
	defer raw.Close()
	rec := run(1)
	require.NoError(b, l.Append(b.Context(), rec))
	line, err := os.ReadFile(path)
	require.NoError(b, err)

	var ours, theirs time.Duration
	recs := []pawl.Record{rec}
	b.ReportAllocs()
	const batch = 64
	for b.Loop() {
		start := time.Now()
		for range batch {
			if err := l.Append(context.Background(), recs...); err != nil {
				b.Fatal(err)
			}
		}
		mid := time.Now()
		for range batch {
			if _, err := unix.Write(int(raw.Fd()), line); err != nil {
				b.Fatal(err)
			}
		}
		ours, theirs = ours+mid.Sub(start), theirs+time.Since(mid)
	}
	b.ReportMetric(float64(ours)/float64(theirs), "x-of-write")
	b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N)/batch, "ns/record")
}

// BenchmarkGroupCommit compares 32 writers that share syncs with as many that sync each record (P13).
func BenchmarkGroupCommit(b *testing.B) {
	logs := map[journal.Sync]*journal.Log{}
	for _, policy := range []journal.Sync{journal.SyncGroup, journal.SyncEach} {
		logs[policy] = open(b, filepath.Join(b.TempDir(), "pawl.log"), journal.Options{Sync: policy})
	}
	spent := map[journal.Sync]time.Duration{}
	for b.Loop() {
		for policy, l := range logs {
			start := time.Now()
			var wg sync.WaitGroup
			for range 32 {
				wg.Go(func() {
					if err := l.Append(context.Background(), run(1)); err != nil {
						b.Error(err)
					}
				})
			}
			wg.Wait()
			spent[policy] += time.Since(start)
		}
	}
	b.ReportMetric(float64(spent[journal.SyncGroup])/float64(spent[journal.SyncEach]), "x-of-each")
}
