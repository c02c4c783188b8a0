package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/internal/doc"
)

// MaxEvent is the size in bytes of the largest event that [DecodeEvent] reads.
const MaxEvent = 64 << 20

// An EventFault is one thing wrong with an event that was given as JSON. It is an error with the fields File, Line,
// Column (in bytes; both from 1), Message, Hint and Source, the text of the line.
type EventFault = doc.Fault

// An eventField is one key of pawl's own event JSON, and where an event of type T keeps it: at returns a
// pointer.
type eventField[T any] struct {
	name string
	at   func(*T) any
}

// eventFields are the keys of pawl's event JSON in the order they are written. Payload is the runtime's own
// and has none.
var eventFields = []eventField[pawl.Event]{
	{"trigger", func(ev *pawl.Event) any { return (*string)(&ev.Trigger) }},
	{"session", func(ev *pawl.Event) any { return &ev.Session }},
	{"turn", func(ev *pawl.Event) any { return &ev.Turn }},
	{"step", func(ev *pawl.Event) any { return &ev.Step }},
	{"call", func(ev *pawl.Event) any { return &ev.Call }},
	{"tool", func(ev *pawl.Event) any { return &ev.Tool }},
	{"aliases", func(ev *pawl.Event) any { return &ev.Aliases }},
	{"action", func(ev *pawl.Event) any { return &ev.Action }},
	{"paths", func(ev *pawl.Event) any { return &ev.Paths }},
	{"dir", func(ev *pawl.Event) any { return &ev.Dir }},
	{"input", func(ev *pawl.Event) any { return &ev.Input }},
	{"output", func(ev *pawl.Event) any { return &ev.Output }},
	{"failed", func(ev *pawl.Event) any { return &ev.Failed }},
	{"output_bytes", func(ev *pawl.Event) any { return &ev.OutputBytes }},
	{"source", func(ev *pawl.Event) any { return &ev.Source }},
	{"agent", func(ev *pawl.Event) any { return &ev.Agent }},
	{"prompt", func(ev *pawl.Event) any { return &ev.Prompt }},
	{"model", func(ev *pawl.Event) any { return &ev.Model }},
	{"permission_mode", func(ev *pawl.Event) any { return &ev.PermissionMode }},
	{"transcript", func(ev *pawl.Event) any { return &ev.Transcript }},
	{"last_message", func(ev *pawl.Event) any { return &ev.LastMessage }},
	{"stop_active", func(ev *pawl.Event) any { return &ev.StopActive }},
	{"verdict", func(ev *pawl.Event) any { return &ev.Verdict }},
	{"recheck", func(ev *pawl.Event) any { return &ev.Recheck }},
	{"stand_in", func(ev *pawl.Event) any { return &ev.StandIn }},
	{"extra", func(ev *pawl.Event) any { return &ev.Extra }},
}

var eventAgentFields = []eventField[pawl.Agent]{
	{"id", func(a *pawl.Agent) any { return &a.ID }},
	{"type", func(a *pawl.Agent) any { return &a.Type }},
	{"depth", func(a *pawl.Agent) any { return &a.Depth }},
	{"transcript", func(a *pawl.Agent) any { return &a.Transcript }},
}

// EncodeEvent returns ev as pawl's own JSON: one object on one line, without a newline. Keys without a
// value are left out. Nothing is escaped that JSON does not ask for, and Input, Output and Extra stand byte
// for byte as the runtime gave them; only where they would break the line are they put on one. An Input, an
// Output or an Extra that is no JSON is an error.
func EncodeEvent(ev *pawl.Event) ([]byte, error) {
	room := 512 + len(ev.Input) + len(ev.Output) + len(ev.Prompt) + len(ev.LastMessage)
	return appendFields(make([]byte, 0, room), eventFields, ev)
}

func appendFields[T any](b []byte, fields []eventField[T], from *T) ([]byte, error) {
	start := len(b)
	b = append(b, '{')
	for _, f := range fields {
		before := len(b)
		if before > start+1 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, f.name...)
		b = append(b, '"', ':')
		value := len(b)
		var err error
		if b, err = appendField(b, f.at(from)); err != nil {
			return b[:start], fmt.Errorf("%s: %w", f.name, err)
		}
		if len(b) == value {
			b = b[:before]
		}
	}
	return append(b, '}'), nil
}

// appendField appends what p points to; nothing where that is empty.
func appendField(b []byte, p any) ([]byte, error) {
	switch p := p.(type) {
	case *string:
		if *p != "" {
			b = quote(b, *p)
		}
	case *bool:
		if *p {
			b = append(b, "true"...)
		}
	case *int:
		if *p != 0 {
			b = strconv.AppendInt(b, int64(*p), 10)
		}
	case *pawl.Verdict:
		if *p != pawl.Pass {
			b = quote(b, p.String())
		}
	case *[]string:
		b = appendTexts(b, *p)
	case *pawl.Agent:
		if *p != (pawl.Agent{}) {
			return appendFields(b, eventAgentFields, p)
		}
	case *json.RawMessage:
		return appendRaw(b, *p)
	case *map[string]json.RawMessage:
		return appendExtra(b, *p)
	}
	return b, nil
}

func appendTexts(b []byte, list []string) []byte {
	for i, s := range list {
		b = quote(append(b, "[,"[min(i, 1)]), s)
	}
	if len(list) > 0 {
		b = append(b, ']')
	}
	return b
}

var errNoJSON = errors.New("it is not one JSON value")

// appendRaw splices a value. A text that is none could close the object around it and go on as pawl's own
// words, so it is refused. Names that it repeats are its author's matter.
func appendRaw(b []byte, raw json.RawMessage) ([]byte, error) {
	if raw == nil {
		return b, nil
	}
	v := jsontext.Value(raw)
	if !v.IsValid(jsontext.AllowDuplicateNames(true)) {
		return b, errNoJSON
	}
	if bytes.ContainsAny(v, "\n\r") {
		v = v.Clone()
		if err := v.Compact(jsontext.AllowDuplicateNames(true)); err != nil {
			return b, err
		}
	}
	return append(b, v...), nil
}

func appendExtra(b []byte, extra map[string]json.RawMessage) ([]byte, error) {
	open := byte('{')
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		raw := extra[name]
		if raw == nil {
			raw = json.RawMessage("null")
		}
		b = append(quote(append(b, open), name), ':')
		var err error
		if b, err = appendRaw(b, raw); err != nil {
			return b, fmt.Errorf("%q: %w", name, err)
		}
		open = ','
	}
	if len(extra) > 0 {
		b = append(b, '}')
	}
	return b, nil
}

// DecodeEvent reads an event from pawl's own JSON. It is strict: a key it does not know, one given twice at
// any depth, a value of another type, a second document, a missing trigger, or what is no UTF-8 is an
// error: every [EventFault] at once, joined, and no event. File is for them alone.
func DecodeEvent(file string, data []byte) (*pawl.Event, error) {
	d, faults := doc.ParseUpTo(MaxEvent, file, data, doc.JSON)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	ev := &pawl.Event{}
	r := eventReader{doc.NewReader(d), d}
	if readFields(r, d.Root, "", eventFields, ev) {
		r.trigger(d.Root)
	}
	if err := r.Faults().Err(); err != nil {
		return nil, err
	}
	return ev, nil
}

type eventReader struct {
	*doc.Reader
	doc *doc.Document
}

func (r eventReader) trigger(root *doc.Node) {
	const hint = `every event names its trigger: "trigger": "tool.before"`
	switch n := root.Get("trigger"); {
	case n == nil:
		r.Fault(root.Pos, hint, "`trigger` is missing")
	case n.Kind == doc.String && n.Text == "":
		r.Fault(n.Pos, hint, "`trigger` is empty")
	}
}

// readFields reports whether n was a table at all.
func readFields[T any](r eventReader, n *doc.Node, what string, fields []eventField[T], into *T) bool {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	if !r.Table(n, what, names...) {
		return false
	}
	for _, f := range fields {
		if value := n.Get(f.name); value != nil {
			r.field(value, f.name, f.at(into))
		}
	}
	return true
}

// field reads n into what p points to.
func (r eventReader) field(n *doc.Node, name string, p any) {
	switch p := p.(type) {
	case *string:
		*p, _ = r.String(n, name)
	case *bool:
		*p, _ = r.Bool(n, name)
	case *int:
		v, _ := r.Int(n, name, 0, math.MaxInt32)
		*p = int(v)
	case *pawl.Verdict:
		r.verdict(n, name, p)
	case *[]string:
		*p, _ = r.Strings(n, name)
	case *pawl.Agent:
		readFields(r, n, name, eventAgentFields, p)
	case *json.RawMessage:
		*p = bytes.Clone(r.doc.Raw(n))
	case *map[string]json.RawMessage:
		r.extra(n, name, p)
	}
}

func (r eventReader) verdict(n *doc.Node, name string, v *pawl.Verdict) {
	var words []string
	for v := pawl.Pass; v <= pawl.Halt; v++ {
		words = append(words, v.String())
	}
	if word, ok := r.OneOf(n, name, words...); ok {
		*v = pawl.Verdict(slices.Index(words, word))
	}
}

func (r eventReader) extra(n *doc.Node, name string, extra *map[string]json.RawMessage) {
	if !r.Table(n, name) {
		return
	}
	*extra = make(map[string]json.RawMessage, len(n.Fields))
	for _, f := range n.Fields {
		(*extra)[f.Name] = bytes.Clone(r.doc.Raw(f.Value))
	}
}
