package guard_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
	"github.com/pawl-hooks/pawl/on"
)

// Answer a repeated call with a no-op, by how often the tool was called earlier in the run.
func ExampleCounter() {
	counter := &guard.Counter{}
	once := on.Substitute("todo-once", func(_ context.Context, ev *pawl.Event) (string, bool, error) {
		return "Already recorded; no-op.", counter.Counts(ev)["todowrite"] > 0, nil
	})
	hooks, err := guard.Hooks(counter)
	if err != nil {
		fmt.Println(err)
		return
	}
	reg, err := pawl.New(pawl.Options{}, append(hooks, on.Tools(once, "todowrite"))...)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := &guard.Scheduler{Hooks: reg, Run: func(context.Context, *pawl.Event) (json.RawMessage, error) { return json.RawMessage(`"recorded"`), nil }}
	for _, r := range s.Turn(context.Background(), pawl.Event{Session: "s"}, []guard.Call{{ID: "1", Tool: "todowrite"}, {ID: "2", Tool: "todowrite"}}) {
		fmt.Println(r.State, string(r.Output))
	}
	// Output:
	// ran "recorded"
	// answered "Already recorded; no-op."
}

// Guards from a configuration file.
func ExampleLoad() {
	hooks, err := guard.Load("guards.toml", []byte(`
[tool_budgets]
run_query = { max = 1, on_exceed = "block", message = "one query is enough" }
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	reg, err := pawl.New(pawl.Options{}, hooks...)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		out, _ := reg.Dispatch(context.Background(), &pawl.Event{Trigger: pawl.ToolBefore, Session: "s", Tool: "run_query"})
		fmt.Printf("%v %q\n", out.Verdict, out.Decision().Reason)
	}
	_, err = guard.Load("guards.toml", []byte("[tool_budgets]\nrun_query = { max = 0, on_exceed = \"blok\" }"))
	fmt.Println(err)
	// Output:
	// pass ""
	// refuse "Blocked: one query is enough"
	// guards.toml:2:21: `max` is out of range: 0 (write a number from 1 to 2147483647)
	// guards.toml:2:36: unknown `on_exceed` "blok" (did you mean `block`?)
}
