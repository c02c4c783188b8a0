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
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "zerocode:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	root, err := filepath.Abs("testdata/zerocode")
	if err != nil {
		return err
	}
	// A file that is named is trusted as given. A runtime leaves Files out, and a person accepts what is found.
	file := filepath.Join(root, ".codex", "hooks.json")
	set, err := config.Load(config.Options{Root: root, Files: []string{file}})
	if err == nil {
		err = set.Err()
	}
	if err != nil {
		return err
	}
	policy := &gate.Policy{}
	hooks, err := pawl.New(pawl.Options{Gate: gate.Chain(policy.Wrap)(gate.Exec{}), Trace: &pawl.Trace{
		Started: func(h *pawl.Hook, _ *pawl.Event) {
			if h.Status != "" {
				fmt.Println("  …", h.Status)
			}
		},
	}}, set.Hooks...)
	if err != nil {
		return err
	}
	dispatch := func(ev pawl.Event) pawl.Outcome {
		ev.Session, ev.Dir = "s1", root
		out, err := hooks.Dispatch(ctx, &ev)
		fmt.Printf("%s %s: %s\n", ev.Trigger, ev.Input, out.Verdict)
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
	dispatch(pawl.Event{Trigger: pawl.SessionStart, Source: "startup"})
	for i, input := range []string{`{"command":"git push --force"}`, `{"command":"make"}`} {
		call := pawl.Event{Trigger: pawl.ToolBefore, Call: fmt.Sprint("c", i), Tool: "Bash", Input: []byte(input)}
		out := dispatch(call)
		if out.Verdict >= pawl.Ask { // nobody is here to ask
			continue
		}
		// Here the tool would run.
		call.Trigger, call.Input, call.Output = pawl.ToolAfter, out.Event().Input, []byte(`"ok"`)
		dispatch(call)
	}
	return nil
}
