package gate

import (
	"github.com/pawl-hooks/pawl/internal/jsonline"
)

// A ToolCall is the record of a program that is about to be decided on and started, kind tool.call.
type ToolCall struct {
	ID        string   // the command's: "hook:" name ":" what it is about
	Tool      string   // "hook"
	Arguments []string // its words
}

// Kind returns "tool.call".
func (c *ToolCall) Kind() string { return "tool.call" }

// MarshalJSON writes one object, kind first, on one line without control characters.
func (c *ToolCall) MarshalJSON() ([]byte, error) {
	return marshalLine(struct {
		Kind      string   `json:"kind"`
		ID        string   `json:"id"`
		Tool      string   `json:"tool"`
		Arguments []string `json:"arguments"`
	}{c.Kind(), c.ID, c.Tool, c.Arguments})
}

// A ToolResult is the record of how a program ended, kind tool.result.
type ToolResult struct {
	ID        string // of its ToolCall
	Output    string // a line of status, then stdout, then stderr; of one that did not run, why
	IsError   bool   // anything but exit status 0
	Truncated bool   // there was more output

	Worker *WorkerHealth // of a kept program that was asked; nil for others
}

// Kind returns "tool.result".
func (r *ToolResult) Kind() string { return "tool.result" }

// MarshalJSON writes one object, kind first, on one line without control characters.
func (r *ToolResult) MarshalJSON() ([]byte, error) {
	return marshalLine(struct {
		Kind      string `json:"kind"`
		ID        string `json:"id"`
		Output    string `json:"output"`
		IsError   bool   `json:"is_error"`
		Truncated bool   `json:"truncated"`

		Worker *WorkerHealth `json:"worker,omitempty"`
	}{r.Kind(), r.ID, r.Output, r.IsError, r.Truncated, r.Worker})
}

// marshalLine escapes what encoding/json leaves: DEL and the C1 control characters, which move a terminal's
// cursor as ESC does.
func marshalLine(v any) ([]byte, error) {
	b, err := jsonline.Marshal(v)
	return jsonline.AppendClean(nil, b), err
}
