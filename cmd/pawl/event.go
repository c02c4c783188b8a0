package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/wire"
)

// eventFlag names the event to look at.
type eventFlag struct {
	Event string `required:"" placeholder:"FILE" help:"The event, in pawl's JSON or a host's own; - reads it from stdin."`
}

func (f *eventFlag) event(a *app) (*pawl.Event, error) {
	name, in := f.Event, a.in
	if name == "-" {
		name = "standard input"
	} else {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, wire.MaxEvent+1))
	if err != nil {
		return nil, err
	}
	if len(data) > wire.MaxEvent {
		return nil, fmt.Errorf("%s: the event is larger than %d bytes", name, wire.MaxEvent)
	}
	ev, err := decode(name, data)
	if err != nil {
		return nil, err
	}
	return ev, known(name, data, ev)
}

// hostKey is what a host's event has and pawl's own has not.
const hostKey = "hook_event_name"

// eventForm is told where there is no event at all.
const eventForm = `an event is an object: {"trigger": "tool.before", "tool": "write_file"}`

// decode reads an event in either form.
func decode(name string, data []byte) (*pawl.Event, error) {
	d, faults := doc.ParseUpTo(wire.MaxEvent, name, data, doc.JSON)
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		faults[0].Hint = eventForm
		fallthrough
	case len(faults) > 0:
		return nil, faults.Err()
	case !d.Root.Is(doc.Table):
		return nil, d.FaultAt(d.Root.Pos, "expected an event, found "+d.Root.Describe(), eventForm)
	}
	event := d.Root.Get(hostKey)
	if event == nil {
		return wire.DecodeEvent(name, data)
	}
	if !event.Is(doc.String) {
		return nil, d.FaultAt(event.Pos, hostKey+": expected a string, found "+event.Describe(), `write "hook_event_name": "PreToolUse"`)
	}
	ev, err := wire.ReadEvent(data)
	if err != nil {
		return nil, hostFault(d, err)
	}
	return ev, nil
}

// hostFault puts what is wrong with a host's event at the key that it is about.
func hostFault(d *doc.Document, err error) error {
	message := strings.TrimPrefix(err.Error(), "event: ")
	for _, f := range d.Root.Fields {
		if strings.HasPrefix(message, f.Name+":") {
			return d.FaultAt(f.Value.Pos, message, "")
		}
	}
	event := d.Root.Get(hostKey)
	var names []string
	for _, e := range append(wire.ZeroCode.Events(), wire.Claude.Events()...) {
		names = append(names, e.Name)
	}
	return d.FaultAt(event.Pos, message, doc.DidYouMean(event.Text, names...))
}

// known is an error, at its place, where ev is none that hooks could answer: an unknown trigger, or no
// subject.
func known(name string, data []byte, ev *pawl.Event) error {
	none, err := pawl.New(pawl.Options{})
	if err == nil {
		_, err = none.Dispatch(context.Background(), ev)
	}
	d, faults := doc.ParseUpTo(wire.MaxEvent, name, data, doc.JSON)
	if err == nil || len(faults) > 0 {
		return err
	}
	message := reason(err)
	if host := d.Root.Get(hostKey); host != nil {
		return d.FaultAt(host.Pos, message, missing(ev.Trigger, `"tool_name": "Bash"`))
	}
	return d.FaultAt(d.Root.Get("trigger").Pos, message, nearest(ev.Trigger))
}

// reason is why hooks cannot be asked about an event: that they cannot is no news where it is told.
func reason(err error) string { return strings.TrimSuffix(err.Error(), ": "+pawl.ErrTrigger.Error()) }

// nearest suggests the trigger that another system's name or a misspelt one most likely means.
func nearest(t pawl.Trigger) string {
	var names []string
	for _, row := range pawl.TriggerRows() {
		if string(t) == row.ZeroCode || slices.Contains(strings.Split(row.Zidane, ", "), string(t)) {
			return "here it is called " + string(row.Trigger)
		}
		names = append(names, string(row.Trigger))
	}
	if slices.Contains(names, string(t)) {
		return missing(t, `"tool": "write_file"`)
	}
	if best := doc.Nearest(string(t), names...); best != "" {
		return "did you mean " + best + "?"
	}
	return "pawl schema --triggers lists them"
}

// missing says what an event of a known trigger lacks, and so what to add: tool is how its form names a tool.
func missing(t pawl.Trigger, tool string) string {
	switch pawl.DefaultTriggers()[t].Subject {
	case pawl.AboutTool:
		return "add " + tool
	case pawl.AboutAgent:
		return `add "agent": {"id": "a1", "type": "reviewer", "depth": 1}`
	}
	return ""
}

// eventJSON is ev in pawl's own JSON; null where a runtime's value in it is no JSON.
func eventJSON(ev *pawl.Event) json.RawMessage {
	if ev == nil {
		return nil
	}
	b, err := wire.EncodeEvent(ev)
	if err != nil {
		return nil
	}
	return b
}
