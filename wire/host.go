package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pawl-hooks/pawl"
)

// ReadEvent reads the object by which a host tells a program of an event, the one with hook_event_name, as
// an event of a runtime. Keys that it has no field for are in Extra and so handed on. A name given twice, a
// second value, an event that pawl has no trigger for and a value of the wrong kind are errors.
func ReadEvent(data []byte) (*pawl.Event, error) {
	v := jsontext.Value(bytes.TrimSpace(data))
	if !v.IsValid() {
		return nil, fmt.Errorf("event: %s", whyInvalid(v))
	}
	o, _, _ := parse(bytes.Clone(v)) // the event keeps what it is made of
	if o == nil {
		return nil, errors.New("event: not a JSON object")
	}
	name, ok := o.text("hook_event_name")
	if !ok {
		return nil, errors.New("event: it has no hook_event_name")
	}
	r := hostRow(name)
	if r == nil {
		return nil, fmt.Errorf("event: hook_event_name %q has no trigger; those that have one are %s",
			name, strings.Join(eventNames(), ", "))
	}
	ev := &pawl.Event{Trigger: r.trigger}
	for _, m := range o {
		if err := r.set(ev, m); err != nil {
			return nil, fmt.Errorf("event: %s: %w", m.name, err)
		}
	}
	finish(ev)
	return ev, nil
}

// Aliased lists the tools that have [Aliases].
func Aliased() []string { return []string{"apply_patch", "spawn_agent"} }

// Aliases are the further names that a host's matchers know a tool by.
func Aliases(tool string) []string {
	switch tool {
	case "apply_patch":
		return []string{"Write", "Edit"}
	case "spawn_agent":
		return []string{"Agent"}
	}
	return nil
}

func whyInvalid(v jsontext.Value) string {
	if len(v) == 0 {
		return "empty"
	}
	d := jsontext.NewDecoder(bytes.NewReader(v))
	if _, err := d.ReadValue(); err != nil {
		return plainly(err)
	}
	return "more than one JSON value"
}

func hostRow(name string) *row {
	if r := ZeroCode.named(name); r != nil {
		return r
	}
	return Claude.named(name)
}

func eventNames() []string {
	var names []string
	for _, e := range ZeroCode.Events() {
		names = append(names, e.Name)
	}
	return append(names, "PostToolUseFailure")
}

// set puts one member where it belongs.
func (r *row) set(ev *pawl.Event, m objectMember) error {
	if to := field(ev, m.name); to != nil {
		return assign(to, m.value)
	}
	if to := r.ownField(ev, m.name); to != nil {
		return assign(to, m.value)
	}
	switch {
	case m.name == "hook_event_name":
	case m.name == "tool_input":
		ev.Input = json.RawMessage(m.value)
	case m.name == "tool_response":
		ev.Output = json.RawMessage(m.value)
	case m.name == "error" && r.trigger == pawl.ToolFailed:
		ev.Output = json.RawMessage(m.value)
	case m.name == "stop_hook_active":
		if !isTruth(m.value) {
			return fmt.Errorf("expected true or false, found %s", m.value)
		}
		ev.StopActive = m.value.Kind() == 't'
	default:
		keep(ev, m.name, m.value)
	}
	return nil
}

func keep(ev *pawl.Event, name string, raw []byte) {
	if ev.Extra == nil {
		ev.Extra = map[string]json.RawMessage{}
	}
	ev.Extra[name] = raw
}

// field is where a key goes that means the same at every event.
func field(ev *pawl.Event, name string) *string {
	return map[string]*string{
		"session_id": &ev.Session, "turn_id": &ev.Turn, "transcript_path": &ev.Transcript, "cwd": &ev.Dir,
		"permission_mode": &ev.PermissionMode, "model": &ev.Model,
		"agent_id": &ev.Agent.ID, "agent_type": &ev.Agent.Type, "agent_transcript_path": &ev.Agent.Transcript,
		"tool_name": &ev.Tool, "tool_use_id": &ev.Call,
		"prompt": &ev.Prompt, "last_assistant_message": &ev.LastMessage,
	}[name]
}

// ownField is where a key goes that only some events have.
func (r *row) ownField(ev *pawl.Event, name string) *string {
	switch {
	case name == "source" && r.trigger == pawl.SessionStart,
		name == "reason" && r.trigger == pawl.SessionEnd,
		name == "trigger" && (r.trigger == pawl.CompactBefore || r.trigger == pawl.CompactAfter):
		return &ev.Source
	case name == "custom_instructions" && r.trigger == pawl.CompactBefore:
		return &ev.Prompt
	case name == "compact_summary" && r.trigger == pawl.CompactAfter:
		return &ev.LastMessage
	}
	return nil
}

func assign(to *string, v jsontext.Value) error {
	if !isText(v) {
		return fmt.Errorf("expected a string, found %s", v)
	}
	*to, _ = unquote(v)
	return nil
}

// finish adds what a host's object implies. An agent's type without its id is the main agent's, under a
// profile, and stays a key of the host's.
func finish(ev *pawl.Event) {
	ev.Aliases = Aliases(ev.Tool)
	ev.OutputBytes = len(ev.Output)
	ev.Failed = ev.Trigger == pawl.ToolFailed
	switch agent := &ev.Agent; {
	case agent.ID != "" || ev.Trigger == pawl.AgentStart || ev.Trigger == pawl.AgentStop:
		agent.Depth = 1
	case agent.Type != "":
		keep(ev, "agent_type", quote(nil, agent.Type))
		agent.Type = ""
	}
}
