// Agent is a small but complete agent loop with a scripted model: a gate, a redactor, an answer to a tool that
// does not exist, a trimmed context, budgets, a guard against repeats, and a sub-agent under the same hooks. It
// needs no network and prints the same every time.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/on"
)

func main() {
	if err := session(context.Background(), os.Stdout, script()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// session runs one prompt from the first moment to the last.
func session(ctx context.Context, out io.Writer, script map[string][]reply) error {
	h, err := newHost(out, script)
	if err != nil {
		return err
	}
	start, err := h.hooks.Dispatch(ctx, &pawl.Event{Trigger: pawl.SessionStart, Session: "s1", Source: "startup"})
	if start.Verdict >= pawl.Refuse {
		return fmt.Errorf("the session was refused: %s: %w", start.Decision().Reason, err)
	}
	const prompt = "Make the tests pass."
	ctx = on.WithDecider(ctx, on.DeciderFunc(opinion))
	if asked, _ := h.hooks.Dispatch(ctx, &pawl.Event{Trigger: pawl.PromptSubmit, Session: "s1", Prompt: prompt}); asked.Verdict >= pawl.Refuse {
		return fmt.Errorf("the prompt was refused: %s", asked.Decision().Reason)
	}
	answer, err := h.run(ctx, pawl.Agent{}, prompt)
	h.say("answer: %s", answer)
	_, _ = h.hooks.Dispatch(context.WithoutCancel(ctx), &pawl.Event{Trigger: pawl.SessionEnd, Session: "s1", Source: "exit"})
	return err
}

// opinion is the runtime's decision provider: here a rule, elsewhere a model.
func opinion(_ context.Context, q on.Question) (on.Opinion, error) {
	if q.Key == "destructive" && string(q.State) == `"git push --force"` {
		return on.Opinion{Choice: "yes", Reason: "it overwrites what others pushed"}, nil
	}
	return on.Opinion{Choice: "no"}, nil
}
