// Zerocode runs the hooks that a repository already has for another host: an agent's loop over the three
// events that most of them use, with the programs as they stand.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/config"
	"github.com/pawl-hooks/pawl/gate"
)

func main() {
	root, err := filepath.Abs("testdata/zerocode")
	if err == nil {
		err = session(context.Background(), root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "zerocode:", err)
		os.Exit(1)
	}
}

// load finds the repository's hooks. A file that is named is trusted as given; a runtime leaves Files out,
// and a person accepts what is found.
func load(root string) (*pawl.Registry, error) {
	set, err := config.Load(config.Options{Root: root, Files: []string{filepath.Join(root, ".codex", "hooks.json")}})
	if err == nil {
		err = set.Err()
	}
	if err != nil {
		return nil, err
	}
	policy := &gate.Policy{}
	return pawl.New(pawl.Options{Gate: gate.Chain(policy.Wrap)(gate.Exec{}), Trace: &pawl.Trace{
		Started: func(h *pawl.Hook, _ *pawl.Event) {
			if h.Status != "" {
				fmt.Println("  …", h.Status)
			}
		},
	}}, set.Hooks...)
}

// session is the agent's loop: its start, then two calls of the model.
func session(ctx context.Context, root string) error {
	hooks, err := load(root)
	if err != nil {
		return err
	}
	dispatch(ctx, hooks, &pawl.Event{Trigger: pawl.SessionStart, Session: "s1", Source: "startup", Dir: root})
	for i, input := range []string{`{"command":"git push --force"}`, `{"command":"make"}`} {
		call := pawl.Event{Trigger: pawl.ToolBefore, Session: "s1", Call: fmt.Sprint("c", i), Tool: "Bash", Dir: root, Input: []byte(input)}
		out := dispatch(ctx, hooks, &call)
		if out.Verdict >= pawl.Ask { // nobody is here to ask
			continue
		}
		// Here the tool would run.
		call.Trigger, call.Input, call.Output = pawl.ToolAfter, out.Event().Input, []byte(`"ok"`)
		dispatch(ctx, hooks, &call)
	}
	return nil
}

// dispatch fires one event and prints what the model reads of it.
func dispatch(ctx context.Context, hooks *pawl.Registry, ev *pawl.Event) pawl.Outcome {
	out, err := hooks.Dispatch(ctx, ev)
	fmt.Println(ev.Trigger, string(ev.Input), out.Verdict)
	for _, text := range append([]string{out.Decision().Reason}, out.Decision().Notes...) {
		if text != "" {
			fmt.Println("  the model reads:", text)
		}
	}
	if err != nil {
		fmt.Println(" ", err)
	}
	return out
}
