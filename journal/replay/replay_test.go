package replay_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/journal"
	"github.com/pawl-hooks/pawl/journal/replay"
)

func answering(name string, on pawl.Trigger, match pawl.Matcher, v pawl.Verdict) pawl.Hook {
	effects := pawl.MayRefuse
	if on == pawl.ToolBefore {
		effects |= pawl.MayAsk
	}
	return pawl.Hook{Name: name, On: on, Match: match, Effects: effects, Handler: pawl.HandlerFunc(
		func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
			return pawl.Decision{Verdict: v, Reason: "because"}, nil
		})}
}

func registry(t *testing.T, log pawl.Log, hooks ...pawl.Hook) *pawl.Registry {
	t.Helper()
	r, err := pawl.New(pawl.Options{Log: log}, hooks...)
	require.NoError(t, err)
	return r
}

func args(t *testing.T, rule string) pawl.Matcher {
	t.Helper()
	m, err := pawl.Args(rule)
	require.NoError(t, err)
	return m
}

// recorded dispatches events and returns the moments of the log that this leaves.
func recorded(t *testing.T, whole bool, hooks []pawl.Hook, events ...pawl.Event) []*replay.Moment {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pawl.log")
	l, err := journal.Open(path, journal.Options{})
	require.NoError(t, err)
	r := registry(t, l, hooks...)
	for _, ev := range events {
		if whole {
			require.NoError(t, l.Append(t.Context(), &replay.Event{Event: &ev}))
		}
		_, err := r.Dispatch(t.Context(), &ev)
		require.NoError(t, err)
	}
	require.NoError(t, l.Close())
	report, err := journal.Verify(path, journal.Against{})
	require.NoError(t, err)
	require.True(t, report.OK())
	moments, err := replay.Moments(journal.ReadFile(path))
	require.NoError(t, err)
	return moments
}

var bash = pawl.Event{Trigger: pawl.ToolBefore, Session: "s", Turn: "t", Call: "c1", Tool: "Bash", Input: json.RawMessage(`{"command":"git push -f"}`)}

func TestMomentsAreTheEventsOfALog(t *testing.T) {
	hooks := []pawl.Hook{answering("a", pawl.ToolBefore, nil, pawl.Pass), answering("b", pawl.ToolBefore, pawl.Names("Bash"), pawl.Refuse), answering("s", pawl.SessionStart, nil, pawl.Pass)}
	other := bash
	other.Tool, other.Call = "Read", "c2"
	start := pawl.Event{Trigger: pawl.SessionStart, Session: "s", Source: "startup"}
	quiet := pawl.Event{Trigger: pawl.PromptSubmit, Session: "s"}
	for name, whole := range map[string]bool{"whole": true, "by their runs alone": false} {
		t.Run(name, func(t *testing.T) {
			got := recorded(t, whole, hooks, start, start, bash, quiet, other)
			if !whole {
				require.Len(t, got, 4, "an event nobody answered leaves nothing")
				got = append(got[:3], nil, got[3])
			} else {
				require.Empty(t, got[3].Runs)
				require.Equal(t, bash.Input, got[2].Event.Input)
			}
			require.Equal(t, pawl.SessionStart, got[1].Event.Trigger)
			require.Len(t, got[1].Runs, 1)
			require.Len(t, got[2].Runs, 2)
			require.Equal(t, pawl.Refuse, got[2].Verdict)
			require.Equal(t, "Read", got[4].Event.Tool)
			require.Equal(t, pawl.Pass, got[4].Verdict)
		})
	}
}

func TestAnotherConfigurationChangesDecisions(t *testing.T) {
	refuser := answering("guard", pawl.ToolBefore, pawl.Names("Bash"), pawl.Refuse)
	before := []pawl.Hook{refuser, answering("old", pawl.ToolBefore, nil, pawl.Pass)}
	whole, partly := recorded(t, true, before, bash)[0], recorded(t, false, before, bash)[0]

	same := registry(t, nil, before...)
	c, err := replay.Run(t.Context(), same, whole)
	require.NoError(t, err)
	require.False(t, c.Changed(), c)
	require.False(t, replay.Plan(t.Context(), same, partly).Changed())

	relaxed := registry(t, nil, answering("guard", pawl.ToolBefore, args(t, "Bash(git push *)"), pawl.Ask), answering("new", pawl.ToolBefore, nil, pawl.Pass))
	c, err = replay.Run(t.Context(), relaxed, whole)
	require.NoError(t, err)
	require.True(t, c.Changed())
	require.Equal(t, pawl.Ask, c.After)
	require.Equal(t, "tool.before Bash: ask, was refuse; no more: old; now also: new", tail(c))

	planned := replay.Plan(t.Context(), relaxed, whole)
	require.Equal(t, []string{"old"}, planned.Gone)
	require.Equal(t, []string{"new"}, planned.Added)
	require.Empty(t, planned.Unsure, "the input is in the log")

	planned = replay.Plan(t.Context(), relaxed, partly)
	require.Equal(t, []string{"guard"}, planned.Unsure, "the input is not in the log")
	require.Equal(t, "tool.before Bash: refuse as before; no more: old; now also: new; cannot be told: guard", tail(planned))
	c, err = replay.Run(t.Context(), relaxed, partly)
	require.NoError(t, err)
	require.Equal(t, []string{"guard", "new"}, c.Now, "without its input a call might be any")
	require.Equal(t, []string{"guard"}, c.Unsure)
}

func tail(c *replay.Change) string {
	_, s, _ := strings.Cut(c.String(), ": ")
	return s
}

func TestAShadowAndAPassedOpenRunDecideNothing(t *testing.T) {
	shadow := answering("shadow", pawl.ToolBefore, nil, pawl.Refuse)
	shadow.Shadow = true
	failing := pawl.Hook{Name: "failing", On: pawl.ToolBefore, Effects: pawl.MayRefuse, FailOpen: true, Handler: pawl.HandlerFunc(
		func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) { panic("no") })}
	closed := failing
	closed.Name, closed.FailOpen = "closed", false
	require.Equal(t, pawl.Pass, recorded(t, false, []pawl.Hook{shadow, failing}, bash)[0].Verdict)
	require.Equal(t, pawl.Refuse, recorded(t, false, []pawl.Hook{closed}, bash)[0].Verdict, "a failure refuses")
}

func TestAnEventIsRedactedInTheLog(t *testing.T) {
	line, err := pawl.AppendRecord(nil, &replay.Event{Event: &bash, Redact: func(b []byte) []byte {
		return []byte(strings.ReplaceAll(string(b), "push", "[gone]"))
	}})
	require.NoError(t, err)
	require.NotContains(t, string(line), "push")
	require.True(t, json.Valid(line))
}

func TestALogThatCannotBeReplayed(t *testing.T) {
	for name, in := range map[string]string{
		"a broken event": `{"kind":"event","event":{"trigger":7}}`,
		"a broken run":   `{"kind":"hook.run","verdict":"maybe"}`,
	} {
		_, err := replay.Moments(journal.Read(strings.NewReader(in)))
		require.Error(t, err, name)
	}
	moments, err := replay.Moments(journal.Read(strings.NewReader("hello\n{\"kind\":\"my.kind\"}\n")))
	require.NoError(t, err)
	require.Empty(t, moments)
}
