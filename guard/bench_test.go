package guard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
)

// What the guards cost a call, from tool.before to tool.after, beside as many hooks that do nothing.
func BenchmarkGuards(b *testing.B) {
	hooks, err := guard.Hooks(budget(1<<30, guard.Block), &guard.Repeat{Other: guard.Threshold{Block: 1 << 29, Abort: 1 << 30}}, &guard.Counter{}, &guard.Redact{}, &guard.Truncate{Max: 4096})
	if err != nil {
		b.Fatal(err)
	}
	idle := append([]pawl.Hook(nil), hooks...)
	for i := range idle {
		idle[i].Handler = pawl.HandlerFunc(func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) { return pawl.Decision{}, nil })
	}
	var regs [2]*pawl.Registry
	for i, list := range [][]pawl.Hook{hooks, idle} {
		if regs[i], err = pawl.New(pawl.Options{}, list...); err != nil {
			b.Fatal(err)
		}
	}
	before := call("query", `{"q":"select 1","limit":10}`)
	after := with(before, func(ev *pawl.Event) {
		ev.Trigger, ev.Output = pawl.ToolAfter, json.RawMessage(`"`+fmt.Sprintf("%01000d", 7)+`"`)
	})
	var took [2]time.Duration
	for b.Loop() {
		for i, reg := range regs {
			began := time.Now()
			for _, ev := range []*pawl.Event{&before, &after} {
				if _, err := reg.Dispatch(b.Context(), ev); err != nil {
					b.Fatal(err)
				}
			}
			took[i] += time.Since(began)
		}
	}
	b.ReportMetric(float64(took[0])/float64(took[1]), "x-of-idle-hooks")
}
