//go:build unix

package gate_test

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

// rotate runs the ways in turn within one loop, so that a busy machine bears on all alike, and reports the
// median of each as a ratio to the first's.
func rotate(b *testing.B, names []string, ways ...func()) {
	b.Helper()
	times := make([][]time.Duration, len(ways))
	for b.Loop() {
		for i, way := range ways {
			start := time.Now()
			way()
			times[i] = append(times[i], time.Since(start))
		}
	}
	for i := range ways {
		slices.Sort(times[i])
		median := times[i][len(times[i])/2]
		base := times[0][len(times[0])/2]
		b.ReportMetric(float64(median)/float64(base), names[i]+"-x-of-exec")
	}
	b.ReportMetric(0, "ns/op") // of all ways together: says nothing
}

func plainExec(cmd pawl.Command) func() {
	return func() {
		c := exec.Command(cmd.Args[0], cmd.Args[1:]...)
		var out, errs bytes.Buffer
		c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(cmd.Stdin), &out, &errs
		_ = c.Run()
	}
}

func through(e gate.Exec, cmd pawl.Command) func() {
	ctx, cancel := context.WithCancel(context.Background())
	_ = cancel // lives as long as the benchmark
	return func() { _, _ = e.Run(ctx, cmd) }
}

func BenchmarkSpawn(b *testing.B) {
	cat, err := exec.LookPath("cat")
	require.NoError(b, err)
	cmd := pawl.Command{Args: []string{cat}, Stdin: bytes.Repeat([]byte("x"), 1<<10)}
	rotate(b, []string{"exec", "portable", "linux"},
		plainExec(cmd), through(gate.Exec{Portable: true}, cmd), through(gate.Exec{}, cmd))
}

func BenchmarkSpawnAllocations(b *testing.B) {
	cmd := pawl.Command{Args: []string{"/bin/cat"}, Stdin: bytes.Repeat([]byte("x"), 1<<10)}
	run := through(gate.Exec{}, cmd)
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
}

// P9
func BenchmarkSpawnAtOnce(b *testing.B) {
	cmd := pawl.Command{Args: []string{"/bin/cat"}, Stdin: bytes.Repeat([]byte("x"), 1<<10)}
	for _, n := range []int{8, 32} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			atOnce := func(run func()) func() {
				return func() {
					var wg sync.WaitGroup
					for range n {
						wg.Go(run)
					}
					wg.Wait()
				}
			}
			rotate(b, []string{"exec", "portable", "linux"}, atOnce(plainExec(cmd)),
				atOnce(through(gate.Exec{Portable: true}, cmd)), atOnce(through(gate.Exec{}, cmd)))
		})
	}
}

// P11
func BenchmarkFlood(b *testing.B) {
	cmd := pawl.Command{Args: []string{"/usr/bin/head", "-c", "16M", "/dev/zero"}}
	rotate(b, []string{"exec", "portable", "linux"},
		plainExec(cmd), through(gate.Exec{Portable: true}, cmd), through(gate.Exec{}, cmd))
}
