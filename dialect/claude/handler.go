package claude

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/internal/hostfile"
	"github.com/pawl-hooks/pawl/wire"
)

// entry reads a handler, or reports why it is no hook.
func entry(h hostfile.Handler) (e found, ok bool) {
	if !h.Kind("command", "http", "mcp_tool", "prompt", "agent") || !h.Required("command") {
		return e, false
	}
	h.Unknown("type", "command", "args", "timeout", "statusMessage", "if", "once", "async", "asyncRewake", "shell")
	line, _ := h.Text("command")
	args, exec := h.Strings("args")
	shell, hasShell := h.Text("shell")
	rule, hasRule := h.Text("if")
	hasRule = hasRule && rule != "" // empty: no condition
	status, hasStatus := h.Text("statusMessage")
	limit := timeout(h)
	condition, ok := conditionOf(h, rule, hasRule)
	if !ok || skipped(h, line, args) {
		return e, false
	}
	e = found{match: all(h, h.Match, condition), base: h.Hook(), absent: h.Absent}
	e.base.Timeout = seconds(limit)
	e.Entry = dialect.Entry{Command: line, Args: args, Matcher: h.Written, Timeout: int(math.Ceil(limit))}
	e.define(true, "type", "command")
	e.define(true, "command", line)
	e.define(true, "timeout", limit)
	e.define(exec, "args", args)
	e.define(hasShell, "shell", shell)
	e.define(hasRule, "if", rule)
	e.define(hasStatus, "statusMessage", status)
	e.handler = handler(h, line, args, exec, shell)
	return e, true
}

// skipped reports a handler that the host runs and pawl does not.
func skipped(h hostfile.Handler, line string, args []string) bool {
	if h.Truth("once") {
		h.Warn(h.At("once"), "", "`once` counts in a skill's front matter alone: the hook runs every time")
	}
	async, rewake := h.Truth("async"), h.Truth("asyncRewake")
	switch {
	case async || rewake:
		h.Skip(h.Node.Pos, "", "async hooks are not run here")
	case h.Blank(line):
	case strings.Contains(line+strings.Join(args, " "), "${user_config."):
		h.Skip(h.At("command"), "", "${user_config.…} is not known here: skipped")
	default:
		return false
	}
	return true
}

// define adds a field that is written to the definition.
func (e *found) define(written bool, name string, value any) {
	if written {
		e.definition = append(e.definition, hostfile.Field{Name: name, Value: value})
	}
}

// conditionOf compiles `if`, a permission rule. Where it cannot be judged the handler is not run for
// everything instead.
func conditionOf(h hostfile.Handler, rule string, written bool) (m pawl.Matcher, ok bool) {
	if !written {
		return nil, true
	}
	if h.Event.Matches != "tool" {
		h.Skip(h.At("if"), "remove it", "a hook with `if` never runs at %s: skipped", h.Event.Name)
		return nil, false
	}
	m, err := pawl.Args(rule)
	if err != nil {
		h.Skip(h.At("if"), "", "`if` is not understood, so the hook is skipped: %v", err)
		return nil, false
	}
	if about, _, _ := strings.Cut(rule, "("); !h.Meets(about) {
		h.Warn(h.At("if"), "`if` names its tool: let the matcher match it, or leave the matcher out",
			"matcher %s does not match the tool of `if` %s: the hook runs only where one tool has names for both", doc.Quote(h.Written), doc.Quote(rule))
	}
	return m, true
}

// all is every condition that is set. PostToolUse is for calls that succeeded; failures have an event of
// their own.
func all(h hostfile.Handler, ms ...pawl.Matcher) pawl.Matcher {
	if h.Event.Trigger == pawl.ToolAfter {
		ms = append(ms, succeeded{})
	}
	switch ms = slices.DeleteFunc(ms, func(m pawl.Matcher) bool { return m == nil }); len(ms) {
	case 0:
		return nil
	case 1:
		return ms[0]
	}
	return pawl.All(ms...)
}

type succeeded struct{}

func (succeeded) String() string            { return "succeeded" }
func (succeeded) Match(ev *pawl.Event) bool { return !ev.Failed }

// handler makes the program of a handler under a name.
func handler(h hostfile.Handler, line string, args []string, exec bool, shell string) func(name string) pawl.Handler {
	env := slices.Clone(h.File.Env)
	if h.File.Root != "" {
		env = append(env, "CLAUDE_PROJECT_DIR="+h.File.Root)
	}
	words := append([]string{line}, args...)
	var simple []string
	if !exec {
		words = shellWords(h, shell, line)
		if shell == "" {
			simple = command.Direct(line)
		}
	}
	p := command.Program{
		Args: words, Direct: simple, Env: env, Inherit: true, Limit: wire.MaxOutput, Linger: !h.File.Strict, Codec: h.Codec(nil),
	}
	return func(name string) pawl.Handler {
		p := p
		p.Name = name
		if exec {
			return direct{p}
		}
		return p
	}
}

// shellWords runs a line by the shell that the handler names.
func shellWords(h hostfile.Handler, shell, line string) []string {
	switch shell {
	case "":
		h.Lint("command", line)
		return command.Shell(line)
	case "bash":
		h.Lint("command", line)
		return []string{"bash", "-c", line}
	case "powershell":
		return []string{"pwsh", "-NoProfile", "-NonInteractive", "-Command", line}
	}
	h.Error(h.At("shell"), "write bash or powershell", "unknown shell %q", shell)
	return nil
}

// A direct is the exec form: no shell, and placeholders are replaced in each word of its own, so that no
// value is ever read as anything but one word.
type direct struct{ command.Program }

// Handle runs the program with the placeholders' values.
func (d direct) Handle(ctx context.Context, ev *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
	values := []string{}
	for _, kv := range append([]string{"CLAUDE_PROJECT_DIR=" + ev.Dir}, d.Env...) {
		name, value, _ := strings.Cut(kv, "=")
		if placeholders[name] {
			values = append([]string{"${" + name + "}", value}, values...) // of two, the later counts
		}
	}
	replace := strings.NewReplacer(values...)
	p := d.Program
	p.Args = make([]string, len(d.Args))
	for i, w := range d.Args {
		p.Args[i] = replace.Replace(w)
	}
	return p.Handle(ctx, ev, gate)
}

var placeholders = map[string]bool{"CLAUDE_PROJECT_DIR": true, "CLAUDE_PLUGIN_ROOT": true, "CLAUDE_PLUGIN_DATA": true}

// timeout is how long the host waits, in seconds.
func timeout(h hostfile.Handler) float64 {
	v, written := h.Number("timeout")
	h.Suspect(v)
	end := h.Event.Trigger == pawl.SessionEnd
	switch {
	case written && end && v > 60:
		h.Warn(h.At("timeout"), "", "a SessionEnd hook gets 60 seconds at most, not %v", v)
		return 60
	case written:
		return v
	case end:
		return 1.5
	case h.Event.Trigger == pawl.PromptSubmit:
		return 30
	}
	return 600
}

func seconds(s float64) time.Duration {
	return time.Duration(min(s*float64(time.Second), math.MaxInt64/2))
}
