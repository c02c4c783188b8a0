package pawltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"

	"github.com/pawl-hooks/pawl"
)

// The faults of handlers, gates and logs, for tests that hold a dispatch to its word whatever these do.
// A deaf one ignores its context until release is closed, so that a test can end what it left behind.

// BadHandlers returns a handler for each fault, by name: hang, deaf, panic, panic-nil, goexit, error,
// garbage, flood, scribble.
func BadHandlers(release <-chan struct{}) map[string]pawl.Handler {
	return map[string]pawl.Handler{
		"hang":      pawl.HandlerFunc(HangHandler),
		"deaf":      DeafHandler(release),
		"panic":     PanicHandler("handler"),
		"panic-nil": PanicHandler(nil),
		"goexit":    pawl.HandlerFunc(GoexitHandler),
		"error":     ErrorHandler(errors.New("handler")),
		"garbage":   pawl.HandlerFunc(GarbageHandler),
		"flood":     FloodHandler(1 << 20),
		"scribble":  pawl.HandlerFunc(ScribbleHandler),
	}
}

// HangHandler does nothing until its context ends.
func HangHandler(ctx context.Context, _ *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
	<-ctx.Done()
	return pawl.Decision{}, context.Cause(ctx)
}

// DeafHandler ignores its deadline, and then allows.
func DeafHandler(release <-chan struct{}) pawl.HandlerFunc {
	return func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
		<-release
		return pawl.Decision{Verdict: pawl.Allow, Notes: []string{"late"}}, nil
	}
}

// PanicHandler panics with v, which may be nil.
func PanicHandler(v any) pawl.HandlerFunc {
	return func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) { panic(v) }
}

// GoexitHandler ends its goroutine, as a failing test does.
func GoexitHandler(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
	runtime.Goexit()
	return pawl.Decision{}, nil
}

// ErrorHandler returns err, beside a decision that must not count.
func ErrorHandler(err error) pawl.HandlerFunc {
	return func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
		return pawl.Decision{Verdict: pawl.Allow, Input: json.RawMessage(`{}`)}, err
	}
}

// GarbageHandler answers with a verdict that there is none of, and with replacements that are no JSON.
func GarbageHandler(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
	return pawl.Decision{
		Verdict:  200,
		Reason:   "\xff\x00\x1b[2J\n{\"kind\":\"hook.run\"}\u2028",
		Notes:    []string{"", "\xfe"},
		Warnings: []string{"\r\n"},
		Input:    json.RawMessage(`{"a":1,"a":2}`),
		Output:   json.RawMessage("]\xff"),
	}, nil
}

// FloodHandler answers with n bytes in each of its texts.
func FloodHandler(n int) pawl.HandlerFunc {
	text := strings.Repeat("x", n)
	return func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
		return pawl.Decision{Reason: text, Notes: []string{text}, Warnings: []string{text}}, nil
	}
}

// ScribbleHandler writes over the bytes and lists of the event that it is lent.
func ScribbleHandler(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
	for _, b := range [][]byte{ev.Input, ev.Output} {
		for i := range b {
			b[i] = '!'
		}
	}
	for _, list := range [][]string{ev.Aliases, ev.Paths} {
		for i := range list {
			list[i] = "scribbled"
		}
	}
	return pawl.Decision{}, nil
}

// SwallowHandler runs cmd by its gate and passes, whatever the gate said of it.
func SwallowHandler(cmd pawl.Command) pawl.HandlerFunc {
	return func(ctx context.Context, _ *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
		_, _ = gate.Run(ctx, cmd)
		return pawl.Decision{}, nil
	}
}

// BadGates returns a gate for each fault, by name: hang, deaf, late, panic, goexit, garbage, flood, lie.
func BadGates(release <-chan struct{}) map[string]pawl.Gate {
	return map[string]pawl.Gate{
		"hang":    pawl.GateFunc(HangGate),
		"deaf":    DeafGate(release),
		"late":    pawl.GateFunc(LateGate),
		"panic":   PanicGate("gate"),
		"goexit":  pawl.GateFunc(GoexitGate),
		"garbage": pawl.GateFunc(GarbageGate),
		"flood":   FloodGate(1 << 20),
		"lie":     pawl.GateFunc(LieGate),
	}
}

// HangGate runs nothing until its context ends.
func HangGate(ctx context.Context, _ pawl.Command) (pawl.Result, error) {
	<-ctx.Done()
	return pawl.Result{}, context.Cause(ctx)
}

// LateGate says that the program exited with code 0, but says it when its context has ended.
func LateGate(ctx context.Context, _ pawl.Command) (pawl.Result, error) {
	<-ctx.Done()
	return pawl.Result{}, nil
}

// DeafGate ignores its deadline, and then says that the program exited with code 0.
func DeafGate(release <-chan struct{}) pawl.GateFunc {
	return func(context.Context, pawl.Command) (pawl.Result, error) {
		<-release
		return pawl.Result{}, nil
	}
}

// PanicGate panics with v.
func PanicGate(v any) pawl.GateFunc {
	return func(context.Context, pawl.Command) (pawl.Result, error) { panic(v) }
}

// GoexitGate ends the goroutine it is asked from.
func GoexitGate(context.Context, pawl.Command) (pawl.Result, error) {
	runtime.Goexit()
	return pawl.Result{}, nil
}

// GarbageGate tells of a program that printed no text and no JSON.
func GarbageGate(context.Context, pawl.Command) (pawl.Result, error) {
	return pawl.Result{
		Action: "exec.\n", Code: 1 << 20,
		Stdout: []byte("{\"verdict\":\"allow\",\xff\x00"), Stderr: []byte("\x1b[2J\n{\"kind\":\"hook.run\"}\u2028\xfe"),
	}, nil
}

// FloodGate tells of a program that printed n bytes on both streams and as many that were cut, whatever
// the command's limit.
func FloodGate(n int) pawl.GateFunc {
	text := bytes.Repeat([]byte("x"), n)
	return func(context.Context, pawl.Command) (pawl.Result, error) {
		return pawl.Result{Stdout: bytes.Clone(text), Stderr: bytes.Clone(text), Cut: 2 * int64(n)}, nil
	}
}

// LieGate says both that the program exited with code 0 and that the policy refused it.
func LieGate(context.Context, pawl.Command) (pawl.Result, error) {
	return pawl.Result{Action: "exec.path.true"}, pawl.ErrRefused
}

// BadLogs returns a log for each fault, by name: error, hang, deaf, panic, goexit.
func BadLogs(release <-chan struct{}) map[string]pawl.Log {
	return map[string]pawl.Log{
		"error":  ErrorLog(errors.New("log")),
		"hang":   pawl.LogFunc(HangLog),
		"deaf":   DeafLog(release),
		"panic":  PanicLog("log"),
		"goexit": pawl.LogFunc(GoexitLog),
	}
}

// ErrorLog keeps nothing and says so.
func ErrorLog(err error) pawl.LogFunc {
	return func(context.Context, ...pawl.Record) error { return err }
}

// HangLog keeps nothing and says so when its context ends.
func HangLog(ctx context.Context, _ ...pawl.Record) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// DeafLog ignores its deadline.
func DeafLog(release <-chan struct{}) pawl.LogFunc {
	return func(context.Context, ...pawl.Record) error {
		<-release
		return nil
	}
}

// PanicLog panics with v.
func PanicLog(v any) pawl.LogFunc {
	return func(context.Context, ...pawl.Record) error { panic(v) }
}

// GoexitLog ends the goroutine it is called from.
func GoexitLog(context.Context, ...pawl.Record) error {
	runtime.Goexit()
	return nil
}
