package zerocode

import (
	"math"
	"time"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/hostfile"
	"github.com/pawl-hooks/pawl/wire"
)

// entry makes an entry of a handler, or reports why it is none.
func entry(h hostfile.Handler) (dialect.Entry, bool) {
	if !h.Kind("command", "prompt", "agent") {
		return dialect.Entry{}, false
	}
	d, ok := define(h)
	if !ok {
		return dialect.Entry{}, false
	}
	matcher := &h.Written
	if h.Absent {
		matcher = nil
	}
	h.Lint("command", d.command)
	codec, base := h.Codec(d.effective(h)), h.Hook()
	base.Match, base.Timeout = mainOnly(h, h.Match), seconds(d.timeout)
	line, words, env := command.Shell(d.command), command.Direct(d.command), h.File.Env
	build := func(name string) pawl.Hook {
		hook := base
		hook.Name = name
		hook.Handler = command.Program{
			Name: name, Args: line, Direct: words, Env: env, Inherit: true, Limit: wire.MaxOutput, Linger: base.FailOpen, Codec: codec,
		}
		return hook
	}
	return h.Entry(dialect.Entry{
		Build: build, Hash: hostfile.Hash(h.Event.Label, d.fields(h), matcher), Command: d.command, Matcher: h.Written, Timeout: int(d.timeout), Limit: d.limit,
	}), true
}

// mainOnly keeps hooks of a session from a sub-agent's events: a spawned agent has events of its own.
func mainOnly(h hostfile.Handler, m pawl.Matcher) pawl.Matcher {
	if h.Event.Trigger != pawl.SessionStart && h.Event.Trigger != pawl.SessionEnd {
		return m
	}
	if m == nil {
		return pawl.Agents("main")
	}
	return pawl.All(m, pawl.Agents("main"))
}

// A definition is what a handler says, after defaults and clamps.
type definition struct {
	command string
	status  *string
	timeout int64
	async   bool
	limit   *int // as written
}

// define reads a command handler and warns of what has no effect.
func define(h hostfile.Handler) (d definition, ok bool) {
	h.Unknown("type", "command", "commandWindows", "command_windows", "timeout", "async", "statusMessage",
		"additionalContextLimit", "if", "once", "shell", "args")
	for _, key := range []string{"if", "once", "shell", "args"} {
		if h.Has(key) {
			h.Warn(h.At(key), "it is Claude Code's", "`%s` is not read in a ZeroCode file: the hook runs as if it were not there", key)
		}
	}
	if s, ok := h.Text("statusMessage"); ok {
		d.status = &s
	}
	if !h.Required("command") {
		return d, false
	}
	d.command = commandFor(h)
	d.async = h.Truth("async")
	d.timeout = timeout(h)
	d.limit = limit(h)
	session := h.Event.Trigger == pawl.SessionEnd
	switch {
	case d.async && !session:
		h.Skip(h.At("async"), "", "async hooks are not run here")
		return d, false
	case h.Blank(d.command):
		return d, false
	case d.async:
		h.Warn(h.At("async"), "", "an async SessionEnd hook is waited for like any other")
	}
	return d, true
}

// commandFor is the command line for the system that the file is loaded for.
func commandFor(h hostfile.Handler) string {
	line, _ := h.Text("command")
	camel, hasCamel := h.Text("commandWindows")
	snake, hasSnake := h.Text("command_windows")
	if h.Has("commandWindows") && h.Has("command_windows") {
		h.Error(h.At("command_windows"), "keep one of them", "commandWindows and command_windows are one key")
	}
	switch {
	case h.File.OS != "windows":
		return line
	case hasCamel:
		return camel
	case hasSnake:
		return snake
	}
	return line
}

// The seconds that hooks get.
const (
	defaultTimeout    = 600
	defaultSessionEnd = 1
	maxSessionEnd     = 3
)

func timeout(h hostfile.Handler) int64 {
	v, written := h.Whole("timeout")
	h.Suspect(float64(v))
	session := h.Event.Trigger == pawl.SessionEnd
	switch {
	case !written && session:
		return defaultSessionEnd
	case !written:
		return defaultTimeout
	case session && v > maxSessionEnd:
		h.Warn(h.At("timeout"), "", "a SessionEnd hook gets %d seconds at most, not %d", maxSessionEnd, v)
		return maxSessionEnd
	}
	return max(v, 1)
}

// seconds is a duration, the longest there is where n seconds are longer.
func seconds(n int64) time.Duration {
	return time.Duration(min(n, math.MaxInt64/int64(time.Second))) * time.Second
}

func limit(h hostfile.Handler) *int {
	v, written := h.Whole("additionalContextLimit")
	if !written {
		return nil
	}
	if !h.Event.Context {
		h.Warn(h.At("additionalContextLimit"), "remove it", "%s cannot add context: additionalContextLimit has no effect", h.Event.Name)
	}
	n := int(v)
	return &n
}

// effective is the limit that counts: nil is the default.
func (d definition) effective(h hostfile.Handler) *int {
	if d.limit == nil || !h.Event.Context || *d.limit == wire.DefaultLimit {
		return nil
	}
	return d.limit
}

// fields is what the hash is over. The matcher is beside it, and neither the place of the file nor the
// bytes of a script are in it.
func (d definition) fields(h hostfile.Handler) []hostfile.Field {
	fields := []hostfile.Field{
		{Name: "type", Value: "command"}, {Name: "command", Value: d.command}, {Name: "timeout", Value: d.timeout},
		{Name: "async", Value: d.async},
	}
	if d.status != nil {
		fields = append(fields, hostfile.Field{Name: "statusMessage", Value: *d.status})
	}
	if n := d.effective(h); n != nil {
		fields = append(fields, hostfile.Field{Name: "additionalContextLimit", Value: *n})
	}
	return fields
}
