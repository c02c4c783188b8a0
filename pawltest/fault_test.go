package pawltest_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/pawltest"
)

// dispatched asks one hook that may refuse about one call, and returns when what it left behind has ended.
func dispatched(t *testing.T, opts pawl.Options, handler func(release <-chan struct{}) pawl.Handler, with func(*pawl.Options, <-chan struct{})) (o pawl.Outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		with(&opts, release)
		opts.Grace = time.Second
		r, err := pawl.New(opts, pawl.Hook{
			Name: "x", On: pawl.ToolBefore, Handler: handler(release), Effects: pawl.MayRefuse | pawl.MayNote, Timeout: time.Second,
		})
		require.NoError(t, err)
		start := time.Now()
		o, _ = r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.ToolBefore, Tool: "t", Input: json.RawMessage(`{}`)})
		require.LessOrEqual(t, time.Since(start), 4*time.Second)
		close(release)
		synctest.Wait()
	})
	return o
}

func TestEveryBadHandlerIsBadInItsOwnWay(t *testing.T) {
	causes := map[string]pawl.Cause{
		"hang": pawl.CauseTimeout, "deaf": pawl.CauseAbandoned, "panic": pawl.CausePanic, "panic-nil": pawl.CausePanic, "goexit": pawl.CausePanic,
		"error": pawl.CauseError, "garbage": pawl.CauseEffect, "flood": "", "scribble": "",
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(causes)), slices.Collect(maps.Keys(pawltest.BadHandlers(nil))))
	for name, want := range causes {
		t.Run(name, func(t *testing.T) {
			log := &pawltest.Log{}
			o := dispatched(t, pawl.Options{Log: log}, func(release <-chan struct{}) pawl.Handler {
				return pawltest.BadHandlers(release)[name]
			}, func(*pawl.Options, <-chan struct{}) {})
			require.Len(t, log.Runs(), 1)
			require.Equal(t, want, log.Runs()[0].Cause)
			require.Equal(t, want != "", o.Verdict == pawl.Refuse, o.Verdict)
			require.JSONEq(t, `{}`, string(o.Event().Input), "what is lent is a copy")
		})
	}
}

func TestEveryBadGateIsBadInItsOwnWay(t *testing.T) {
	causes := map[string]pawl.Cause{
		"hang": pawl.CauseTimeout, "late": pawl.CauseTimeout, "deaf": pawl.CauseAbandoned, "panic": pawl.CausePanic, "goexit": pawl.CausePanic,
		"garbage": "", "flood": "", "lie": pawl.CausePolicy,
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(causes)), slices.Collect(maps.Keys(pawltest.BadGates(nil))))
	for name, want := range causes {
		t.Run(name, func(t *testing.T) {
			log := &pawltest.Log{}
			o := dispatched(t, pawl.Options{Log: log}, func(<-chan struct{}) pawl.Handler {
				return command.Program{Name: "x", Args: []string{"x"}, Codec: command.Flags{Output: command.OutputRefuse}}
			}, func(opts *pawl.Options, release <-chan struct{}) { opts.Gate = pawltest.BadGates(release)[name] })
			require.Len(t, log.Runs(), 1)
			require.Equal(t, want, log.Runs()[0].Cause)
			require.Equal(t, want != "" || name == "garbage", o.Verdict == pawl.Refuse, o.Verdict)
		})
	}
}

func TestEveryBadLogRefuses(t *testing.T) {
	names := slices.Collect(maps.Keys(pawltest.BadLogs(nil)))
	require.ElementsMatch(t, []string{"error", "hang", "deaf", "panic", "goexit"}, names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			o := dispatched(t, pawl.Options{}, func(<-chan struct{}) pawl.Handler { return pawl.HandlerFunc(passes) },
				func(opts *pawl.Options, release <-chan struct{}) { opts.Log = pawltest.BadLogs(release)[name] })
			require.Equal(t, pawl.Refuse, o.Verdict)
		})
	}
	require.Error(t, pawltest.ErrorLog(errors.New("x"))(t.Context()))
}
