//go:build linux

package soak_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
)

// causes are all there are in this crowd, in the order of the tally.
var causes = []pawl.Cause{
	pawl.CausePolicy, pawl.CauseStart, pawl.CauseTimeout, pawl.CauseCancelled, pawl.CauseSignal, pawl.CauseExit, pawl.CauseOutput,
	pawl.CauseConflict, pawl.CauseEffect, pawl.CauseError, pawl.CausePanic, pawl.CauseAbandoned, pawl.CauseLog,
}

// judge holds one outcome to the guarantees, by names that say which.
func (c *crowd) judge(ev *pawl.Event, out pawl.Outcome, err error, took time.Duration) error {
	c.events.Add(1)
	runs := out.Runs()
	c.runs.Add(int64(len(runs)))
	for _, run := range runs {
		if run.Cause != "" {
			c.failed.Add(1)
			c.causes[slices.Index(causes, run.Cause)].Add(1)
		}
	}
	if out.Verdict >= pawl.Refuse {
		c.refused.Add(1)
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%s at %s: %s; %w", ev.Call, ev.Trigger, fmt.Sprintf(format, args...), errors.Join(err))
	}
	if took > time.Minute {
		return wrong("it took %v", took)
	}
	if missing := silenced(ev, runs); len(missing) > 0 {
		return wrong("no record of %v among %v", missing, names(runs))
	}
	if !json.Valid(out.Event().Input) {
		return wrong("the input became %s", out.Event().Input)
	}
	if ev.Trigger == pawl.TurnStop || ev.Trigger == pawl.ToolStarted || out.Verdict >= pawl.Refuse {
		return c.delivered(ev, out, wrong)
	}
	for _, run := range runs {
		if run.Refused || run.Cause != "" && enforced(ev, run) {
			return wrong("%s failed (%s) or refused, and the outcome is %s", run.Name, run.Cause, out.Verdict)
		}
	}
	if _, bad := logFails(&pawl.Run{Call: ev.Call}); bad && len(runs) > 0 {
		return wrong("nothing was recorded, and the outcome is %s", out.Verdict)
	}
	return nil
}

// delivered wants no byte of a refused result in the outcome.
func (c *crowd) delivered(ev *pawl.Event, out pawl.Outcome, wrong func(string, ...any) error) error {
	if ev.Trigger == pawl.ToolAfter && (out.Event().Output != nil || bytes.Contains([]byte(fmt.Sprint(out.Decision())), []byte(secret))) {
		return wrong("a refused result is delivered")
	}
	return nil
}

// enforced says whether a failure of this run's hook refuses: at tool.approval a failing check refuses, too.
func enforced(ev *pawl.Event, run pawl.Run) bool {
	return !run.PassedOpen && !run.Shadow && !strings.HasPrefix(run.Name, "watch")
}

// silenced returns the hooks that were to run for ev and have no record, and those that have two of one stage.
func silenced(ev *pawl.Event, runs []pawl.Run) (missing []string) {
	want := map[pawl.Trigger][]string{
		pawl.ToolBefore:   {"rewrite", "rewrite-beside", "check", untimed, "open-check", "shadow-check", "program", "watch"},
		pawl.ToolAfter:    {"program-stuck", "replace", "check-result"},
		pawl.TurnStop:     {"stop"},
		pawl.ToolApproval: {"approve"},
	}[ev.Trigger]
	for _, name := range want {
		if !slices.ContainsFunc(runs, func(r pawl.Run) bool { return r.Name == name }) {
			missing = append(missing, name)
		}
	}
	seen := map[string]bool{}
	for _, r := range runs {
		if key := r.Name + " " + r.Stage; seen[key] {
			missing = append(missing, "one alone of "+key)
		} else {
			seen[key] = true
		}
	}
	return missing
}

func names(runs []pawl.Run) (list []string) {
	for _, r := range runs {
		list = append(list, r.Name)
	}
	return list
}

func (c *crowd) tally() string {
	s := fmt.Sprintf("%d ended their goroutine, %d refused, %d runs, %d programs, %d failures:", c.exited.Load(), c.refused.Load(), c.runs.Load(), c.programs.Load(), c.failed.Load())
	for i, cause := range causes {
		s += fmt.Sprintf(" %s %d", cause, c.causes[i].Load())
	}
	return s
}

// wasEventful sees to it that the soak was one.
func (c *crowd) wasEventful(t *testing.T) {
	require.EqualValues(t, *size, c.events.Load()+c.exited.Load())
	require.Equal(t, c.started.Load(), c.finished.Load(), "each start has its end")
	require.Greater(t, c.programs.Load(), int64(*size/50))
	for i, cause := range causes {
		switch cause {
		case pawl.CausePolicy, pawl.CauseTimeout, pawl.CauseCancelled, pawl.CausePanic, pawl.CauseError, pawl.CauseEffect, pawl.CauseAbandoned:
			require.NotZero(t, c.causes[i].Load(), cause)
		}
	}
}
