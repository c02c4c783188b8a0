package replay_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/journal"
	"github.com/pawl-hooks/pawl/journal/replay"
)

// FuzzMoments asks of any log that each of its runs is of one moment, and that every moment can be planned and
// dispatched again.
func FuzzMoments(f *testing.F) {
	for _, s := range []string{
		`{"kind":"event","event":{"trigger":"tool.before","tool":"Bash","call":"c","input":{"command":"ls"}}}` + "\n" +
			`{"kind":"hook.run","name":"a","trigger":"tool.before","tool":"Bash","outcome":"ran","call":"c","verdict":"refuse"}` + "\n",
		`{"kind":"hook.run","name":"a","trigger":"turn.stop"}` + "\n" + `{"kind":"hook.run","name":"a","trigger":"turn.stop"}` + "\n",
		`{"kind":"event","event":{}}`, `{"kind":"event"}`, `{"kind":"hook.run","trigger":7}`, "{}\n[]\n\n",
	} {
		f.Add([]byte(s))
	}
	hooks := []pawl.Hook{
		answering("a", pawl.ToolBefore, nil, pawl.Ask), answering("b", pawl.ToolBefore, pawl.Paths("*.go"), pawl.Refuse), answering("c", pawl.TurnStop, nil, pawl.Pass),
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		moments, err := replay.Moments(journal.Read(bytes.NewReader(data)))
		if err != nil {
			require.Nil(t, moments)
			return
		}
		runs := 0
		for e := range journal.Read(bytes.NewReader(data)) {
			if e.Kind == "hook.run" {
				runs++
			}
		}
		r := registry(t, nil, hooks...)
		for _, m := range moments {
			runs -= len(m.Runs)
			plan := replay.Plan(t.Context(), r, m)
			change, err := replay.Run(t.Context(), r, m)
			if err == nil {
				require.Subset(t, append(plan.Now, plan.Unsure...), change.Now)
			}
			_ = change.String()
		}
		require.Zero(t, runs, "runs of no moment")
	})
}
