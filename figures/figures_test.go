package figures_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/figures"
	"github.com/pawl-hooks/pawl/journal"
)

var runs = []pawl.Record{
	&pawl.Run{Name: "a", Trigger: pawl.ToolBefore, Outcome: pawl.Ran, Elapsed: time.Millisecond},
	&pawl.Run{Name: "a", Trigger: pawl.ToolBefore, Outcome: pawl.Ran, Verdict: pawl.Refuse, Refused: true, Elapsed: 2 * time.Millisecond},
	&pawl.Run{Name: "a", Trigger: pawl.ToolBefore, Outcome: pawl.Ran, Verdict: pawl.Refuse, Refused: true, Cause: pawl.CauseTimeout, Elapsed: time.Second},
	&pawl.Run{Name: "a", Trigger: pawl.ToolBefore, Outcome: pawl.CouldNotRun, Cause: pawl.CauseStart, PassedOpen: true},
	&pawl.Run{Name: "a", Trigger: pawl.ToolBefore, Outcome: pawl.Ran, Verdict: pawl.Ask},
	&pawl.Run{Name: "s", Trigger: pawl.ToolAfter, Outcome: pawl.Ran, Shadow: true, Verdict: pawl.Refuse},
	&pawl.Run{Name: "s", Trigger: pawl.ToolBefore, Outcome: pawl.Ran, Shadow: true, Verdict: pawl.Refuse},
	&pawl.Run{Name: "s", Trigger: pawl.ToolBefore, Outcome: pawl.Ran, Shadow: true},
}

func TestFiguresOfALogAreThoseOfItsRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.log")
	l, err := journal.Open(path, journal.Options{MaxBytes: 800})
	require.NoError(t, err)
	var live figures.Figures
	require.NoError(t, journal.Fanout(l, &live).Append(t.Context(), runs...))
	require.NoError(t, l.Close())
	read, unread, err := figures.Read(journal.ReadFile(path))
	require.NoError(t, err)
	require.Zero(t, unread)
	require.Equal(t, live.Hooks(), read.Hooks())

	hooks := read.Hooks()
	require.Len(t, hooks, 2)
	a := hooks[0]
	require.Equal(t, []any{"a", 5, 2, 1, 2, 1, time.Second}, []any{a.Name, a.Runs, a.Refusals, a.Asks, a.Failed(), a.PassedOpen, a.Slowest})
	require.Equal(t, map[pawl.Cause]int{pawl.CauseTimeout: 1, pawl.CauseStart: 1}, a.Failures)
	s := hooks[1]
	require.Equal(t, []any{3, 0, 3}, []any{s.Runs, s.Refusals, s.Shadow}, "a shadow refuses nothing")
	require.Equal(t, map[pawl.Verdict]int{pawl.Refuse: 2, pawl.Pass: 1}, s.Would)
	require.Equal(t, []pawl.Trigger{pawl.ToolAfter, pawl.ToolBefore}, s.Triggers)
}

func TestFiguresAreWrittenForPeopleAndPrograms(t *testing.T) {
	var f figures.Figures
	require.NoError(t, f.Append(context.Background(), runs...))
	var out bytes.Buffer
	require.NoError(t, f.Write(&out))
	lines := strings.Split(out.String(), "\n")
	require.Equal(t, "a     5     2        1      2       1            999.4µs  989.9ms  1s       start 1, timeout 1", strings.TrimSpace(lines[1]))
	require.Equal(t, "shadow s: of 3 runs would refuse 2, pass 1", lines[3])

	b, err := json.Marshal(f.Hooks())
	require.NoError(t, err)
	var back []map[string]any
	require.NoError(t, json.Unmarshal(b, &back))
	require.Equal(t, 1000.0, back[0]["slowest_ms"])
	require.Equal(t, map[string]any{"refuse": 2.0, "pass": 1.0}, back[1]["would"])
}

func TestAQuantileIsWithinFourPercent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Hour)), 1, 100).Draw(t, "times")
		var f figures.Figures
		for _, d := range times {
			f.Add(&pawl.Run{Elapsed: time.Duration(d)})
		}
		slices.Sort(times)
		h := f.Hooks()[0]
		for q, got := range map[float64]time.Duration{0.5: h.P50, 0.95: h.P95} {
			want := float64(times[int(math.Ceil(q*float64(len(times))))-1])
			require.InDelta(t, want, float64(got), want*0.04)
		}
		require.Equal(t, times[len(times)-1], int64(h.Slowest))
	})
}

func TestLinesThatAreNoRecordsAreCounted(t *testing.T) {
	f, unread, err := figures.Read(journal.Read(strings.NewReader("x\n{\"kind\":\"my.kind\"}\n{\"kind\":\"hook.run\",\"verdict\":\"maybe\"}\n{\"kind\":\"hook.run\",\"name\":\"a\"}\n")))
	require.NoError(t, err)
	require.Equal(t, 2, unread)
	require.Len(t, f.Hooks(), 1)
	_, _, err = figures.Read(journal.ReadFile(filepath.Join(t.TempDir(), "none")))
	require.Error(t, err)
}

func TestAWatchWarnsOfSlowHooksAndOfATurnsBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []figures.Warning
		finished := 0
		w := &figures.Watch{Slow: 2 * time.Second, Budget: 5 * time.Second, Warn: func(g figures.Warning) { got = append(got, g) }}
		hook := pawl.Hook{Name: "h", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Timeout: time.Minute,
			Handler: pawl.HandlerFunc(func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
				time.Sleep(time.Duration(ev.Step) * time.Second)
				return pawl.Decision{}, nil
			})}
		r, err := pawl.New(pawl.Options{Trace: w.Trace(&pawl.Trace{Finished: func(*pawl.Hook, *pawl.Run) { finished++ }})}, hook)
		require.NoError(t, err)
		for _, ev := range []pawl.Event{{Turn: "1", Step: 1}, {Turn: "1", Step: 3}, {Turn: "2", Step: 1}, {Turn: "1", Step: 1}, {Turn: "1", Step: 1}} {
			ev.Trigger, ev.Tool = pawl.ToolBefore, "Bash"
			_, err := r.Dispatch(t.Context(), &ev)
			require.NoError(t, err)
		}
		require.Equal(t, []figures.Warning{
			{Hook: "h", Trigger: pawl.ToolBefore, Turn: "1", Took: 3 * time.Second, Limit: 2 * time.Second},
			{Trigger: pawl.ToolBefore, Turn: "1", Took: 5 * time.Second, Limit: 5 * time.Second},
		}, got)
		require.Equal(t, 5, finished)
	})
}

func TestAWatchForgetsOldTurns(t *testing.T) {
	warned := 0
	w := &figures.Watch{Budget: time.Second, Warn: func(figures.Warning) { warned++ }}
	trace := w.Trace(nil)
	for i := range 2000 {
		trace.Finished(nil, &pawl.Run{Turn: strings.Repeat("x", i), Elapsed: time.Second})
	}
	require.Equal(t, 2000, warned)
}
