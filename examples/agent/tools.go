package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl"
)

var tools = []string{"search", "read_file", "shell", "run_query", "todowrite", "spawn"}

func known(tool string) bool { return slices.Contains(tools, tool) }

// safe calls change nothing, and may run beside each other.
func safe(ev *pawl.Event) bool { return ev.Tool == "search" || ev.Tool == "read_file" }

// input is all that the tools here take.
type input struct {
	Command string `json:"command"`
	Path    string `json:"path"`
	Query   string `json:"query"`
	Task    string `json:"task"`
}

func validate(ev *pawl.Event) error {
	var in input
	if err := json.Unmarshal(ev.Input, &in); err != nil {
		return err
	}
	if ev.Tool == "search" && in.Query == "" {
		return errors.New("Missing required field: query")
	}
	return nil
}

// call is where tools really happen.
func (r *run) call(ctx context.Context, ev *pawl.Event) (json.RawMessage, error) {
	var in input
	if err := json.Unmarshal(ev.Input, &in); err != nil {
		return nil, err
	}
	text, err := "", error(nil)
	switch ev.Tool {
	case "search":
		text = in.Query + " is in a.go and b.go"
	case "read_file":
		text = "package " + strings.TrimSuffix(in.Path, ".go")
	case "run_query":
		text = "42 rows"
	case "todowrite":
		text = "noted"
	case "shell":
		text, err = shell(in.Command)
	case "spawn":
		text, err = r.spawn(ctx, in.Task)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(text)
}

func shell(command string) (string, error) {
	switch command {
	case "printenv":
		return "HOME=/root\nGITHUB_TOKEN=ghp_123\nLANG=C", nil
	case "make test":
		return "", errors.New("exit status 2")
	case "cat big.log":
		return strings.Repeat("a line of the log\n", 40) + "the end", nil
	}
	return "ok: " + command, nil
}

// spawn runs a sub-agent under the same hooks. A failure is the call's result, not the end of the parent.
func (r *run) spawn(ctx context.Context, task string) (string, error) {
	r.mu.Lock()
	r.kids++
	kid := pawl.Agent{ID: fmt.Sprintf("child-%d", r.kids), Type: "explorer", Depth: r.who.Depth + 1}
	r.mu.Unlock()
	about := func(ev *pawl.Event) { ev.Source, ev.Payload = kid.ID, task }
	_, _ = r.fire(ctx, pawl.SpawnBefore, about)
	child := &run{host: r.host, who: kid}
	_, _ = child.fire(ctx, pawl.AgentStart, nil)
	answer, err := r.run(ctx, kid, task)
	if err != nil {
		_, _ = r.fire(context.WithoutCancel(ctx), pawl.SpawnError, about)
		return "", fmt.Errorf("[sub-agent %s] %w", kid.ID, err)
	}
	_, _ = r.fire(ctx, pawl.SpawnComplete, about)
	return fmt.Sprintf("[sub-agent %s] %s", kid.ID, answer), nil
}
