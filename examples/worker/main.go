// Worker keeps hooks alive between events: one program for a whole session, one line for each event.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/gate"
	"github.com/pawl-hooks/pawl/wire"
)

// hook is the check of this folder in one language.
func hook(args ...string) pawl.Hook {
	return pawl.Hook{Name: "check", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Timeout: time.Minute,
		Handler: command.Program{Name: "check", Args: args, Env: []string{"PYTHONDONTWRITEBYTECODE=1"}, Keep: true, Codec: wire.JSON{}}}
}

// try asks the hook about three calls of one session and returns what came of it.
func try(args ...string) (said string, err error) {
	var kept *gate.WorkerHealth // of the program that was asked last
	log := pawl.LogFunc(func(_ context.Context, recs ...pawl.Record) error {
		if result, ok := recs[0].(*gate.ToolResult); ok {
			kept = result.Worker
		}
		return nil
	})
	workers := new(gate.Workers)
	defer workers.Close()
	hooks, err := pawl.New(pawl.Options{Gate: gate.Chain(gate.Record{Log: log}.Wrap)(workers)}, hook(args...), workers.SessionEnd())
	if err != nil {
		return "", err
	}
	for i, line := range []string{"go test ./...", "rm -rf /", "echo \u2028 done"} {
		input, _ := json.Marshal(map[string]string{"command": line})
		out, err := hooks.Dispatch(context.Background(), &pawl.Event{
			Trigger: pawl.ToolBefore, Session: "s1", Call: fmt.Sprint("c", i), Tool: "Bash", Input: input})
		if err != nil {
			return "", err
		}
		said += fmt.Sprintf("%q: %v %s\n", line, out.Verdict, out.Decision().Reason)
	}
	if kept != nil {
		said += fmt.Sprintf("asked %d times, failed %d times\n", kept.Uses, kept.Restarts)
	}
	_, err = hooks.Dispatch(context.Background(), &pawl.Event{Trigger: pawl.SessionEnd, Session: "s1", Source: "other"})
	return said, err
}

func main() {
	want, err := try("sh", "examples/worker/check.sh")
	fmt.Print(want)
	for program, script := range map[string]string{"python3": "check.py", "node": "check.js"} {
		if _, missing := exec.LookPath(program); missing != nil {
			fmt.Fprintln(os.Stderr, program, "is not installed: skipped")
			continue
		}
		said, failed := try(program, "examples/worker/"+script)
		if err == nil && (failed != nil || said != want) {
			err = fmt.Errorf("%s: %v: %s", program, failed, said)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
