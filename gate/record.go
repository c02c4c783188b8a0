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
)

// recordWait bounds the writing of a record where the context of the call may be over by then.
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
		if err := record(ctx, r.Log, r.call(cmd)); err != nil {
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
		if logErr := record(ctx, r.Log, rec); logErr != nil && err == nil {
			err = logErr
		}
		return res, err
	})
}

// record writes one record.
func record(ctx context.Context, log pawl.Log, rec pawl.Record) error {
	if err := log.Append(ctx, rec); err != nil {
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
	if res.Code < 0 {
		return "exit status: not known"
	}
	return "exit status: " + strconv.Itoa(res.Code)
}
