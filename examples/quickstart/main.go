// Quickstart is a small agent at work on a real package, under the hooks of the project's own hooks file.
// The agent is scripted; the hooks, their programs, the gate and the log are real. Run it from the top of
// the repository.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/dialect/native"
	"github.com/pawl-hooks/pawl/gate"
)

const project = "testdata/quickstart"

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "quickstart")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS(project)); err != nil {
		return fmt.Errorf("%w (run it from the top of the repository)", err)
	}
	var log bytes.Buffer
	hooks, err := load(filepath.Join(dir, "hooks.toml"), pawl.JSONLog(&log))
	if err != nil {
		return err
	}
	a := agent{dir: dir, hooks: hooks, model: script()}
	if err := a.session(ctx); err != nil {
		return err
	}
	fmt.Println("\nthe log")
	return show(&log)
}

// load reads the hooks file and makes the registry that answers the agent's events.
func load(file string, log pawl.Log) (*pawl.Registry, error) {
	read, issues := native.LoadFile(os.DirFS(filepath.Dir(file)), filepath.Base(file), file, native.Options{})
	if dialect.HasErrors(issues) {
		return nil, &dialect.IssueError{Issues: issues}
	}
	policy := &gate.Policy{}
	record := gate.Record{Log: log}
	return pawl.New(pawl.Options{Gate: gate.Chain(record.Wrap, policy.Wrap)(gate.Exec{}), Log: log}, read.Hooks...)
}

// An agent runs the tools that its model asks for, and asks its hooks about each call.
type agent struct {
	dir   string
	hooks *pawl.Registry
	model func(result string) *call
}

// A call is one tool call of the model.
type call struct {
	ID   string            `json:"-"`
	Tool string            `json:"-"`
	Args map[string]string `json:"args"`
}

// script is the model: it asks for its work to be applied, mends what it is told is broken, and asks again.
func script() func(string) *call {
	n := 0
	return func(result string) *call {
		n++
		id := fmt.Sprintf("c%d", n)
		switch {
		case n > 1 && strings.HasPrefix(result, "applied"):
			return nil
		case strings.Contains(result, "FAIL"):
			return &call{id, "write_file", map[string]string{"path": "slug.go", "content": mended}}
		}
		return &call{id, "request_action", map[string]string{"action": "apply"}}
	}
}

// session is the loop of every agent: start, calls until the model is done, end.
func (a *agent) session(ctx context.Context) error {
	ev := pawl.Event{Trigger: pawl.SessionStart, Session: "s1", Source: "startup", Dir: a.dir}
	out, err := a.fire(ctx, &ev)
	if err != nil || out.Verdict >= pawl.Refuse {
		return fmt.Errorf("%s: %s (%v)", pawl.ReasonRefusedByHook, out.Decision().Reason, err)
	}
	for result := ""; ; {
		c := a.model(result)
		if c == nil {
			break
		}
		if result, err = a.call(ctx, c); err != nil {
			return err
		}
		fmt.Printf("  told: %s\n", strings.ReplaceAll(strings.TrimSpace(result), "\n", "\n        "))
	}
	_, err = a.fire(ctx, &pawl.Event{Trigger: pawl.SessionEnd, Session: "s1", Source: "other", Dir: a.dir})
	return err
}

// call asks the hooks, runs the tool unless they refuse, tells the hooks, and returns what the model reads.
func (a *agent) call(ctx context.Context, c *call) (string, error) {
	fmt.Printf("\nthe agent calls %s\n", c.Tool)
	input, err := json.Marshal(c.Args)
	if err != nil {
		return "", err
	}
	ev := pawl.Event{Trigger: pawl.ToolBefore, Session: "s1", Call: c.ID, Tool: c.Tool, Action: "call." + c.Tool, Dir: a.dir, Input: input}
	before, err := a.fire(ctx, &ev)
	if err != nil || before.Verdict >= pawl.Ask { // there is nobody here to ask
		return before.Decision().Reason, err
	}
	// A runtime with a policy of its own asks it here, about before.Event().
	result, err := a.tool(c.Tool, before.Event().Input)
	if err != nil {
		return "", err
	}
	ev.Trigger, ev.Input = pawl.ToolAfter, before.Event().Input
	if ev.Output, err = json.Marshal(result); err != nil {
		return "", err
	}
	after, err := a.fire(ctx, &ev)
	if c.Tool == "write_file" {
		a.compare(c.Args)
	}
	notes := append(before.Decision().Notes, after.Decision().Notes...)
	return strings.Join(append([]string{result}, notes...), "\n"), err
}

// tool runs a tool for real.
func (a *agent) tool(name string, input []byte) (string, error) {
	var args map[string]string
	if err := json.Unmarshal(input, &args); err != nil {
		return "", err
	}
	if name == "write_file" {
		return "written", os.WriteFile(filepath.Join(a.dir, args["path"]), []byte(args["content"]), 0o644)
	}
	return "applied", nil
}

// compare says whether a hook changed a file after the model wrote it.
func (a *agent) compare(args map[string]string) {
	now, err := os.ReadFile(filepath.Join(a.dir, args["path"]))
	if err == nil && string(now) != args["content"] {
		fmt.Printf("  %s on disk is now laid out by a hook\n", args["path"])
	}
}

// fire dispatches one event and prints what each hook did.
func (a *agent) fire(ctx context.Context, ev *pawl.Event) (pawl.Outcome, error) {
	out, err := a.hooks.Dispatch(ctx, ev)
	for _, run := range out.Runs() {
		fmt.Printf("  %s: hook %s %s, %s\n", run.Trigger, run.Name, run.Outcome, run.Verdict)
	}
	return out, err
}

// show prints the hook.run lines of a log, each up to the fields that differ from run to run.
func show(log *bytes.Buffer) error {
	for line := range strings.Lines(log.String()) {
		if strings.HasPrefix(line, `{"kind":"hook.run"`) {
			head, _, _ := strings.Cut(line, `,"time"`)
			fmt.Println(head + ",…}")
		}
	}
	return nil
}

// mended is what the model writes: right, and laid out so badly that the formatter has work to do.
const mended = `// Package slug turns titles into the last part of a web address.
package slug

import ("strings"; "unicode")

// Make returns title in lower case, its words joined by single hyphens.
func Make(title string) string {
  words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
      return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
  return strings.Join(words, "-")
}
`
