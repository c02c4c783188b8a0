// Refuse is the smallest useful program: one guard, asked about one tool call.
package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/pawl-hooks/pawl"
)

func main() {
	hooks, err := pawl.New(pawl.Options{}, pawl.Hook{
		Name: "no-force-push", On: pawl.ToolBefore, Match: pawl.Names("Bash"), Effects: pawl.MayRefuse,
		Handler: pawl.HandlerFunc(func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
			if bytes.Contains(ev.Input, []byte("push --force")) {
				return pawl.Decision{Verdict: pawl.Refuse, Reason: "history is not rewritten here"}, nil
			}
			return pawl.Decision{}, nil
		})})
	if err != nil {
		panic(err)
	}
	call := pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash", Input: []byte(`{"command":"git push --force"}`)}
	out, err := hooks.Dispatch(context.Background(), &call)
	fmt.Println(out.Verdict, out.Decision().Reason, err)
}
