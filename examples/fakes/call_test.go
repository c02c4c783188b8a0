package fakes

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect/native"
	"github.com/pawl-hooks/pawl/pawltest"
)

const file = `
[[hooks]]
name = "tests-pass"
on = "tool.before"
run = ["make", "test"]
output = "refuse"
`

// applied is what the model reads of a call under the file's hook, and whether the tool ran.
func applied(t *testing.T, opts pawl.Options) (reads string, ran bool) {
	read, issues := native.Load("hooks.toml", []byte(file), native.Options{})
	require.Empty(t, issues)
	hooks, err := pawl.New(opts, read.Hooks...)
	require.NoError(t, err)
	reads = call(t.Context(), hooks, pawl.Event{Session: "s1", Call: "c1", Tool: "apply"}, func(json.RawMessage) json.RawMessage {
		ran = true
		return json.RawMessage(`"applied"`)
	})
	return reads, ran
}

// The script answers for the program, and the log keeps what was recorded.
func TestTheToolRunsOnceTheCheckPasses(t *testing.T) {
	script := &pawltest.Script{Queue: map[string][]pawl.GateFunc{
		"make": {pawltest.Exits(1, "2 of 9 tests failed", ""), pawltest.Exits(0, "", "")},
	}}
	log := &pawltest.Log{}
	reads, ran := applied(t, pawl.Options{Gate: script, Log: log})
	require.Equal(t, "hook tests-pass refused: 2 of 9 tests failed", reads)
	require.False(t, ran)
	reads, ran = applied(t, pawl.Options{Gate: script, Log: log})
	require.Equal(t, `"applied"`, reads)
	require.True(t, ran)
	require.Empty(t, script.Unused())
	require.Len(t, log.Runs(), 2)
	require.True(t, log.Runs()[0].Refused)
}

// Whatever a gate or a log does wrong, the call returns and the tool does not run. Time is synctest's, so a
// hook that hangs for its thirty seconds costs none.
func TestTheToolDoesNotRunWhereTheCheckCannot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release) // those that ignore their deadline
		gates := pawltest.BadGates(release)
		delete(gates, "garbage") // these two end with exit code 0, which is all that the hook asks for
		delete(gates, "flood")
		for name, gate := range gates {
			_, ran := applied(t, pawl.Options{Gate: gate})
			require.False(t, ran, "gate: %s", name)
		}
		for name, log := range pawltest.BadLogs(release) {
			_, ran := applied(t, pawl.Options{Gate: &pawltest.Gate{}, Log: log})
			require.False(t, ran, "log: %s", name)
		}
	})
}
