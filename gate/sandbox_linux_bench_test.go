package gate_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

// P12: what a sandbox adds to a run, in microseconds of the medians.
func BenchmarkSandbox(b *testing.B) {
	cmd := pawl.Command{Args: []string{"/bin/cat"}}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ways := []pawl.Gate{
		gate.Exec{},
		gate.Sandbox{}.Wrap(gate.Exec{}),
		gate.Sandbox{Limits: gate.Limits{FileSize: 1 << 20, Files: 64}}.Wrap(gate.Exec{}),
		gate.Sandbox{Limits: gate.Limits{Processes: 50}}.Wrap(gate.Exec{}),
		gate.Sandbox{Hide: []string{"/root"}}.Wrap(gate.Exec{}),
	}
	names := []string{"", "landlock", "limits", "pids", "hide"}
	times := make([][]time.Duration, len(ways))
	for b.Loop() {
		for i, way := range ways {
			start := time.Now()
			if _, err := way.Run(ctx, cmd); err != nil {
				b.Skip(err)
			}
			times[i] = append(times[i], time.Since(start))
		}
	}
	median := func(i int) float64 {
		slices.Sort(times[i])
		return float64(times[i][len(times[i])/2].Microseconds())
	}
	for i := 1; i < len(ways); i++ {
		b.ReportMetric(median(i)-median(0), names[i]+"-added-us")
	}
	b.ReportMetric(median(0), "bare-us")
}
