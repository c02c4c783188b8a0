package gate

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/internal/cut"
	"github.com/pawl-hooks/pawl/internal/jsonline"
)

// recordWait bounds the writing of a result: the context of the call may be over by then.
const recordWait = 500 * time.Millisecond

// Record is a [Middleware] that writes what happens to a command: a [ToolCall] before anything is decided
// or started, a [ToolResult] after. A command whose call cannot be recorded does not start; one whose
// result cannot be recorded counts as failed. Both failures are a [pawl.Failure] of [pawl.CauseLog].
//
// The zero Record writes nothing. A Record may be used concurrently as far as its Log may.
type Record struct {
	Log    pawl.Log
	Redact func([]byte) []byte // over words and outputs; nil: as they are. Outputs cut by Exec need its own
	Limit  int                 // bytes of output kept in a record; zero: 64 KiB
}

// Wrap puts r in front of next.
func (r Record) Wrap(next pawl.Gate) pawl.Gate {
	if r.Log == nil {
		return next
	}
	return pawl.GateFunc(func(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
		if err := r.append(ctx, r.call(cmd)); err != nil {
			return pawl.Result{}, err
		}
		var health *WorkerHealth
		if cmd.Keep {
			health = new(WorkerHealth)
			ctx = context.WithValue(ctx, healthKey{}, health)
		}
		res, err := next.Run(ctx, cmd)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordWait)
		defer cancel()
		rec := r.result(cmd, res, err)
		if health != nil && health.PID != 0 {
			rec.Worker = health
		}
		if logErr := r.append(ctx, rec); logErr != nil && err == nil {
			err = logErr
		}
		return res, err
	})
}

func (r Record) append(ctx context.Context, rec pawl.Record) error {
	if err := r.Log.Append(ctx, rec); err != nil {
		return &pawl.Failure{Cause: pawl.CauseLog, Err: fmt.Errorf("%s not recorded: %w", rec.Kind(), err)}
	}
	return nil
}

func (r Record) call(cmd pawl.Command) *ToolCall {
	words := make([]string, len(cmd.Args))
	for i, a := range cmd.Args {
		words[i] = string(r.redacted([]byte(a)))
	}
	return &ToolCall{ID: cmd.ID, Tool: HookTool, Arguments: words}
}

func (r Record) result(cmd pawl.Command, res pawl.Result, err error) *ToolResult {
	rec := &ToolResult{ID: cmd.ID, IsError: err != nil || res.Code != 0, Truncated: res.Cut > 0}
	if err != nil {
		rec.Output = string(r.redacted([]byte(err.Error())))
		return rec
	}
	stdout, stderr := res.Stdout, res.Stderr
	if res.Cut > 0 { // either may end inside a rune
		stdout, stderr = cut.Whole(stdout), cut.Whole(stderr)
	}
	text := r.redacted(append(bytes.Clone(stdout), stderr...))
	limit := r.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	if len(text) > limit {
		text, rec.Truncated = cut.Head(text, limit), true
	}
	if !utf8.Valid(text) {
		text = fmt.Appendf(nil, "%d bytes that are not UTF-8", len(text))
	}
	rec.Output = status(res) + "\n" + string(text)
	return rec
}

func (r Record) redacted(b []byte) []byte {
	if r.Redact == nil {
		return b
	}
	return r.Redact(b)
}

func status(res pawl.Result) string {
	if res.Signal != "" {
		return "killed by signal: " + res.Signal
	}
	return "exit status: " + strconv.Itoa(res.Code)
}

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
