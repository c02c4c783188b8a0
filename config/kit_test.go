package config_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/pawltest"
)

// What every dialect makes of a file is held to the contract of a handler, scripts that are pinned included.
func TestEveryHandlerOfAFileKeepsTheContract(t *testing.T) {
	m := newMachine(t)
	m.project("exit 0\n", "guard.sh")
	m.project(hooks(`sh ./guard.sh`, `echo "$X"`), ".zerotwo", "hooks.json")
	m.project(strings.Replace(hooks("sh ./guard.sh", "guard"), `"command":"guard"`, `"command":"guard","args":["${CLAUDE_PROJECT_DIR}/x"]`, 1), ".claude", "settings.json")
	var native strings.Builder
	for i, keys := range []string{`output = "refuse"`, `output = "note"`, "output = \"refuse\"\nwire = \"json\"\nrewrite = true"} {
		fmt.Fprintf(&native, "[[hooks]]\nname = \"n%d\"\non = \"tool.before\"\nrun = [\"sh\", \"./guard.sh\"]\n%s\n", i, keys)
	}
	m.project(native.String(), ".pawl", "hooks.toml")
	set := m.review()
	require.Len(t, set.Hooks, 7, "%v", set.Issues)
	for i, h := range set.Hooks {
		t.Run(h.Name, func(t *testing.T) {
			objects := &pawltest.Gate{Next: pawltest.Exits(2, "", "no")}
			ev := pawl.Event{Trigger: h.On, Call: "c1", Tool: "Bash", Aliases: []string{"shell"}, Dir: m.root, Input: json.RawMessage(`{"command":"ls"}`)}
			require.NoError(t, pawltest.TestHandler(pawltest.HandlerKit{
				New: func() pawl.Handler { return m.load().Hooks[i].Handler }, Events: []*pawl.Event{&ev}, Effects: h.Effects, Gate: objects,
			}))
			require.NotEmpty(t, objects.Calls)
		})
	}
}
