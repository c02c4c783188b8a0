// Package zerocode reads ZeroCode's hook files, which are Codex's too: hooks.json, and the hooks table of a
// config.toml or requirements.toml.
//
// A file loads faithful: its hooks fail open, as their host's do, which the records show. Under
// [dialect.Source.Strict] they fail closed. In either mode a restriction that a hook spoke is kept where the
// host would lose it; package wire says how.
//
// # Differences from the host
//
//   - A matcher that does not compile, and any other fault of a handler, keeps the whole file from loading
//     and is shown at its place; the host leaves out the group, or all hooks of the file, in silence.
//   - Matchers are Go's regular expressions. Where those of the host mean something else, and where look-around
//     is asked for, the file does not load.
//   - A line runs under /bin/sh -c, never a login shell. One that needs no shell runs without.
//   - ${PLUGIN_ROOT} and its like are variables of the environment, not text that is replaced: in single
//     quotes they stay as they are, which is warned of.
//   - A program that does not read its input, or reads it slowly, is no failure and is timed all the same; on
//     a timeout its whole process group ends.
//   - Rewrites apply in the file's order, and hooks that judged another input are asked again.
//   - permissionDecision "ask" asks, and continue:false at PreToolUse ends the turn. The host reports both as
//     unsupported and goes on.
//   - Where the runtime does not say that apply_patch answers to Write and Edit, and spawn_agent to Agent,
//     matchers for those names match all the same.
//
// Session hooks do not hear a sub-agent's events, as in the host.
package zerocode

import (
	"math"
	"regexp"
	"runtime"
	"strings"
	"time"
	"unicode"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/internal/hostfile"
	"github.com/pawl-hooks/pawl/wire"
)

var host = hostfile.Host{
	Name:    "ZeroCode",
	Ignored: []string{"state", "managed_dir", "windows_managed_dir"},
	Style:   style,
}

// style is how ZeroCode reads matchers: its code, not its page, which calls lists of names expressions.
var style = hostfile.Style{
	Exact: func(c rune) bool {
		return c < unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c)) || c == '_' || c == '|'
	},
	Between: "|",
	Engine:  "ZeroCode",
	// Set operations in a class, and what only Go quotes or counts in bytes.
	Foreign: regexp.MustCompile(`\[[^\]]*(&&|--|~~)|\\[QEC]`),
}

// The seconds that hooks get.
const (
	defaultTimeout    = 600
	defaultSessionEnd = 1
	maxSessionEnd     = 3
)

// Load reads a hooks document, or in TOML the hooks table of a config file. An error among the issues
// means that nothing loads. It keeps nothing of src.Data.
func Load(src dialect.Source) ([]dialect.Entry, []dialect.Issue) {
	f, root := hostfile.Open(src, wire.ZeroCode)
	if root == nil {
		return f.Done(nil)
	}
	if f.OS == "" {
		f.OS = runtime.GOOS
	}
	var entries []dialect.Entry
	f.Walk(events(f, root), host, func(h hostfile.Handler) {
		if e, ok := entry(h); ok {
			entries = append(entries, e)
		}
	})
	return f.Done(entries)
}

// events finds the table of events and checks what stands beside it.
func events(f *hostfile.File, root *doc.Node) *doc.Node {
	if !root.Is(doc.Table) {
		f.Error(root.Pos, "", "expected an object, found %s", root.Describe())
		return nil
	}
	if f.IsTOML() && len(f.Under) == 0 {
		return root.Get("hooks") // the rest is the host's configuration
	}
	for _, k := range root.Fields {
		switch {
		case k.Name == "hooks":
		case k.Name == "description":
			if k.Value.Kind != doc.String && k.Value.Kind != doc.Null {
				f.Error(k.Value.Pos, "", "`description`: expected a string, found %s", k.Value.Describe())
			}
		default:
			f.Error(k.Pos, misplaced(k), "unknown key %s", doc.Quote(k.Name))
		}
	}
	return root.Get("hooks")
}

// misplaced is the hint for a key that does not belong at the top.
func misplaced(k doc.Field) string {
	if _, ok := wire.ZeroCode.Event(k.Name); ok {
		return "events stand inside hooks: {\"hooks\": {" + doc.Quote(k.Name) + ": […]}}"
	}
	return "a hooks file has description and hooks alone"
}

// entry makes an entry of a handler, or reports why it is none.
func entry(h hostfile.Handler) (dialect.Entry, bool) {
	if !h.Kind("command", "prompt", "agent") {
		return dialect.Entry{}, false
	}
	d, ok := define(h)
	if !ok {
		return dialect.Entry{}, false
	}
	hash := hostfile.Hash(h.Event.Label, d.fields(h), nil)
	if !h.Absent {
		hash = hostfile.Hash(h.Event.Label, d.fields(h), &h.Written)
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
		Build: build, Hash: hash, Command: d.command, Matcher: h.Written, Timeout: int(d.timeout), Limit: d.limit,
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
	case strings.TrimSpace(d.command) == "":
		h.Skip(h.At("command"), "", "the command is blank: skipped")
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
