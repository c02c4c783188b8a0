package wire

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pawl-hooks/pawl"
)

// A key is one member of the object a program is told an event by.
type key struct {
	name  string
	label string // as it is written
	value func(b []byte, ev *pawl.Event) []byte
	when  func(ev *pawl.Event) bool // nil: always
}

// keys is one list of the groups' keys.
func keys(groups ...[]key) []key {
	list := slices.Concat(groups...)
	for i, k := range list {
		list[i].label = `"` + k.name + `":`
	}
	return list
}

// The groups that rows are made of.
var (
	where = []key{
		{name: "session_id", value: text(func(ev *pawl.Event) string { return ev.Session })},
		{name: "transcript_path", value: nullable(func(ev *pawl.Event) string { return ev.Transcript })},
		{name: "cwd", value: text(func(ev *pawl.Event) string { return ev.Dir })},
		{name: "hook_event_name"}, // the row's own
	}
	common = keys(where, []key{
		{name: "permission_mode", value: text(func(ev *pawl.Event) string { return cmp.Or(ev.PermissionMode, "default") })},
	})
	turn  = []key{{name: "turn_id", value: text(func(ev *pawl.Event) string { return ev.Turn })}}
	model = []key{{name: "model", value: text(func(ev *pawl.Event) string { return ev.Model })}}
	agent = []key{
		{name: "agent_id", value: agentID, when: inAgent},
		{name: "agent_type", value: agentType, when: inAgent},
	}
	agentAlways     = []key{{name: "agent_id", value: agentID}, {name: "agent_type", value: agentType}}
	agentTranscript = []key{{
		name: "agent_transcript_path", value: nullable(func(ev *pawl.Event) string { return ev.Agent.Transcript }),
	}}
	tool = []key{
		{name: "tool_name", value: text(func(ev *pawl.Event) string { return ev.Tool })},
		{name: "tool_input", value: func(b []byte, ev *pawl.Event) []byte { return splice(b, ev.Input, "{}") }},
	}
	callID   = []key{{name: "tool_use_id", value: text(func(ev *pawl.Event) string { return ev.Call })}}
	response = []key{{
		name: "tool_response", value: func(b []byte, ev *pawl.Event) []byte { return splice(b, ev.Output, "null") },
	}}
	failure    = []key{{name: "error", value: text(failureText)}}
	source     = []key{{name: "source", value: text(func(ev *pawl.Event) string { return cmp.Or(ev.Source, "startup") })}}
	compaction = []key{{name: "trigger", value: text(func(ev *pawl.Event) string { return cmp.Or(ev.Source, "auto") })}}
	ending     = []key{{name: "reason", value: text(func(ev *pawl.Event) string { return cmp.Or(ev.Source, "other") })}}
	prompt     = []key{{name: "prompt", value: text(promptOf)}}
	stopping   = []key{
		{name: "stop_hook_active", value: func(b []byte, ev *pawl.Event) []byte {
			return strconv.AppendBool(b, ev.StopActive)
		}},
		{name: "last_assistant_message", value: nullable(func(ev *pawl.Event) string { return ev.LastMessage })},
	}
	modelIfAny = []key{{
		name: "model", value: model[0].value, when: func(ev *pawl.Event) bool { return ev.Model != "" },
	}}
	instructions = []key{{name: "custom_instructions", value: text(promptOf)}}
	summary      = []key{{name: "compact_summary", value: text(func(ev *pawl.Event) string { return ev.LastMessage })}}
	pending      = []key{
		{name: "background_tasks", value: empty, when: noExtra("background_tasks")},
		{name: "session_crons", value: empty, when: noExtra("session_crons")},
	}
)

// encode writes ev as one line: the row's keys, then what else the host told the runtime.
func (r *row) encode(ev *pawl.Event) []byte {
	b := make([]byte, 0, 512+len(ev.Input)+len(ev.Output)+len(ev.Prompt))
	b = append(b, '{')
	for _, k := range r.input {
		switch {
		case k.when != nil && !k.when(ev):
		case k.value == nil:
			b = quote(append(next(b), k.label...), r.event)
		default:
			b = k.value(append(next(b), k.label...), ev)
		}
	}
	if len(ev.Extra) > 0 {
		b = r.extra(b, ev)
	}
	return append(b, '}')
}

// extra appends what else the host told the runtime.
func (r *row) extra(b []byte, ev *pawl.Event) []byte {
	for _, name := range slices.Sorted(maps.Keys(ev.Extra)) {
		if !slices.ContainsFunc(r.input, func(k key) bool { return k.name == name && written(k, ev) }) {
			b = splice(append(quote(next(b), name), ':'), ev.Extra[name], "null")
		}
	}
	return b
}

func written(k key, ev *pawl.Event) bool { return k.when == nil || k.when(ev) }

// next begins the next member of the object that b is.
func next(b []byte) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return b
}

func text(of func(*pawl.Event) string) func([]byte, *pawl.Event) []byte {
	return func(b []byte, ev *pawl.Event) []byte { return quote(b, of(ev)) }
}

func nullable(of func(*pawl.Event) string) func([]byte, *pawl.Event) []byte {
	return func(b []byte, ev *pawl.Event) []byte {
		if s := of(ev); s != "" {
			return quote(b, s)
		}
		return append(b, "null"...)
	}
}

// quote appends s as a JSON string in which only what must be is escaped: the bytes a program may search
// for, && and U+2028 among them, stay as they are. What is not UTF-8 becomes U+FFFD.
func quote(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}

// splice appends a raw value byte for byte, so that no number changes on the way. Only line breaks between
// its tokens go, and the escapes that Go's own encoder writes for the sake of HTML. What is no JSON value
// is told as the string it is.
func splice(b, raw []byte, none string) []byte {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return append(b, none...)
	}
	v := jsontext.Value(raw)
	if !v.IsValid(lenient...) {
		return quote(b, string(raw))
	}
	if escaped := bytes.ContainsRune(raw, '\\') && forHTML(raw); escaped || bytes.IndexByte(raw, '\n') >= 0 || bytes.IndexByte(raw, '\r') >= 0 {
		v = v.Clone()
		_ = v.Compact(jsontext.PreserveRawStrings(!escaped)) // it is valid
	}
	if !utf8.Valid(v) {
		v = bytes.ToValidUTF8(v, []byte("\uFFFD"))
	}
	return append(b, v...)
}

// forHTML reports whether raw holds an escape that encoding/json writes where JSON needs none. A guard that
// searches for && would not find it.
func forHTML(raw []byte) bool {
	for _, escape := range []string{`\u0026`, `\u003c`, `\u003e`, `\u2028`, `\u2029`} {
		if bytes.Contains(raw, []byte(escape)) {
			return true
		}
	}
	return false
}

func empty(b []byte, _ *pawl.Event) []byte { return append(b, "[]"...) }

func noExtra(name string) func(*pawl.Event) bool {
	return func(ev *pawl.Event) bool { _, ok := ev.Extra[name]; return !ok }
}

func inAgent(ev *pawl.Event) bool {
	return ev.Agent.ID != "" || ev.Agent.Type != "" || ev.Agent.Depth > 0
}

func agentID(b []byte, ev *pawl.Event) []byte   { return quote(b, ev.Agent.ID) }
func agentType(b []byte, ev *pawl.Event) []byte { return quote(b, ev.Agent.Type) }

func promptOf(ev *pawl.Event) string { return ev.Prompt }

// failureText is the failed call's output as a person would read it.
func failureText(ev *pawl.Event) string {
	if s, err := jsontext.AppendUnquote(nil, ev.Output); err == nil {
		return string(s)
	}
	return string(ev.Output)
}
