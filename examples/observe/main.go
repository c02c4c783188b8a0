// Observe watches every tool call of an agent and its children, without a say in any of them.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/pawl-hooks/pawl"
)

// usage counts calls and bytes by tool. Events of several agents come at once.
type usage struct {
	mu    sync.Mutex
	calls map[string]int
	bytes map[string]int
}

func (u *usage) after(_ context.Context, ev *pawl.Event) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls[ev.Tool]++
	u.bytes[ev.Tool] += len(ev.Output)
}

func main() {
	seen := usage{calls: map[string]int{}, bytes: map[string]int{}}
	hooks, err := pawl.New(pawl.Options{Log: pawl.JSONLog(os.Stderr)},
		pawl.Hook{Name: "usage", On: pawl.ToolAfter, Handler: pawl.Observer(seen.after)},
		pawl.Hook{Name: "children", On: "child.tool.after", Handler: pawl.Observer(
			func(_ context.Context, ev *pawl.Event) { fmt.Printf("a %s used %s\n", ev.Agent.Type, ev.Tool) })},
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	reviewer := pawl.Agent{ID: "a1", Type: "reviewer", Depth: 1}
	for _, ev := range []pawl.Event{
		{Trigger: pawl.ToolAfter, Call: "c1", Tool: "read_file", Output: json.RawMessage(`"package main"`)},
		{Trigger: pawl.ToolAfter, Call: "c2", Tool: "search", Output: json.RawMessage(`["main.go:1"]`)},
		{Trigger: pawl.ToolAfter, Call: "c3", Tool: "read_file", Output: json.RawMessage(`""`), Agent: reviewer},
	} {
		if _, err := hooks.Dispatch(context.Background(), &ev); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(seen.calls)) {
		fmt.Printf("%s: %d calls, %d bytes\n", tool, seen.calls[tool], seen.bytes[tool])
	}
}
