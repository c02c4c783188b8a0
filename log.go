package pawl

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/pawl-hooks/pawl/internal/jsonline"
)

// A Record is one entry of a Log: a [Run], or a kind of the caller's own. It must marshal as one JSON object
// whose first field is "kind".
type Record interface{ Kind() string }

// A Log keeps records. Append is called once per dispatch, from any goroutine, keeps the order of recs, and
// honours ctx. It may hold on to recs and must not change them. An error means that the records may be lost; [Options.LogFailure] says what follows.
type Log interface {
	Append(ctx context.Context, recs ...Record) error
}

// LogFunc is a func that is a Log.
type LogFunc func(ctx context.Context, recs ...Record) error

// Append calls f.
func (f LogFunc) Append(ctx context.Context, recs ...Record) error { return f(ctx, recs...) }

// The outcomes of a Run.
const (
	Ran             = "ran"
	RefusedByPolicy = "refused_by_policy"
	CouldNotRun     = "could_not_run"
)

// A Run is the record of one hook run, kind hook.run. Its kind and the first seven fields are always there and
// come first; of the others, empty ones are left out.
type Run struct {
	Name    string
	Trigger Trigger
	Tool    string
	Action  string // what the policy decided the hook's program under: exec.path.zig
	Outcome string // Ran, RefusedByPolicy or CouldNotRun
	Errored bool   // it ran and gave no valid answer, or ended badly
	Refused bool   // its settled verdict is Refuse or Halt and was enforced

	Time         time.Time // of its start, by Options.Now
	Session      string
	Turn         string
	Call         string
	Agent        string // the agent's id; empty for the main agent
	ID           string // "hook:" name ":" call id or trigger; ends in ":2" for a recheck
	Source       string // layer:file:line:column
	Stage        string // rewrite, check, recheck or observe
	Effects      Effect // of its decision
	Verdict      Verdict
	Reason       string // at most its first and last 4 KiB
	Cause        Cause  // why it failed; empty: it did not
	Code         int    // the program's exit code, as received; -1 when killed by Signal
	Signal       string
	TimedOut     bool
	PassedOpen   bool // it failed, or its refusal was over the cap, and the event went through
	Shadow       bool
	Cut          int64 // bytes of its output that were not kept
	Orphans      bool  // a descendant is known to live on
	Elapsed      time.Duration
	InputDigest  string // SHA-256 of the input it judged
	ConfigDigest string // Registry.Digest
	Stderr       string // its first 1 KiB
	Err          error  // what went wrong, for Go callers; not part of the record
}

// Kind returns "hook.run".
func (r *Run) Kind() string { return "hook.run" }

// appendTime appends t in UTC, by RFC 3339 with all nine digits of its nanoseconds. Package time is quicker
// without the fraction.
func appendTime(b []byte, t time.Time) []byte {
	b = t.UTC().AppendFormat(b, time.RFC3339)
	b = b[:len(b)-len("Z")]
	point := len(b)
	b = strconv.AppendInt(b, 1e9+int64(t.Nanosecond()), 10)
	b[point] = '.' // for the 1 that kept the zeros
	return append(b, 'Z')
}

// appendThousandths appends n/1000 without zeros at its end.
func appendThousandths(b []byte, n int64) []byte {
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	b = strconv.AppendInt(b, n/1000, 10)
	if n %= 1000; n != 0 {
		b = append(b, '.', byte('0'+n/100), byte('0'+n/10%10), byte('0'+n%10))
		b = bytes.TrimRight(b, "0")
	}
	return b
}

// AppendJSON appends the record as one JSON object on one line, without a line end. No string in it carries
// a raw control character.
func (r *Run) AppendJSON(b []byte) []byte {
	w := lineWriter{append(b, `{"kind":"hook.run"`...)}
	w.always("name", r.Name)
	w.always("trigger", string(r.Trigger))
	w.always("tool", r.Tool)
	w.always("action", r.Action)
	w.always("outcome", r.Outcome)
	w.b = strconv.AppendBool(append(w.b, `,"errored":`...), r.Errored)
	w.b = strconv.AppendBool(append(w.b, `,"refused":`...), r.Refused)
	if !r.Time.IsZero() {
		w.b = append(appendTime(append(w.b, `,"time":"`...), r.Time), '"')
	}
	w.text("session", r.Session)
	w.text("turn", r.Turn)
	w.text("call", r.Call)
	w.text("agent", r.Agent)
	w.text("id", r.ID)
	w.text("source", r.Source)
	w.text("stage", r.Stage)
	w.effects(r.Effects)
	if r.Verdict != Pass {
		w.text("verdict", r.Verdict.String())
	}
	w.text("reason", r.Reason)
	w.text("cause", string(r.Cause))
	w.number("code", int64(r.Code))
	w.text("signal", r.Signal)
	w.flag("timed_out", r.TimedOut)
	w.flag("passed_open", r.PassedOpen)
	w.flag("shadow", r.Shadow)
	w.number("cut", r.Cut)
	w.flag("orphans", r.Orphans)
	if us := r.Elapsed.Microseconds(); us != 0 {
		w.b = appendThousandths(append(w.b, `,"elapsed_ms":`...), us)
	}
	w.text("input_digest", r.InputDigest)
	w.text("config_digest", r.ConfigDigest)
	w.text("stderr", r.Stderr)
	return append(w.b, '}')
}

// MarshalJSON is AppendJSON.
func (r *Run) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

// lineWriter appends the fields of a record; all but always leave out what is empty.
type lineWriter struct{ b []byte }

func (w *lineWriter) key(k string) {
	w.b = append(w.b, ',', '"')
	w.b = append(append(w.b, k...), '"', ':')
}

func (w *lineWriter) always(k, v string) {
	w.key(k)
	w.b = jsonline.AppendString(w.b, v)
}

func (w *lineWriter) text(k, v string) {
	if v != "" {
		w.always(k, v)
	}
}

func (w *lineWriter) number(k string, v int64) {
	if v != 0 {
		w.key(k)
		w.b = strconv.AppendInt(w.b, v, 10)
	}
}

func (w *lineWriter) flag(k string, v bool) {
	if v {
		w.key(k)
		w.b = append(w.b, "true"...)
	}
}

func (w *lineWriter) effects(e Effect) {
	if e == 0 {
		return
	}
	w.key("effects")
	sep := byte('[')
	for _, word := range e.Words() {
		w.b = jsonline.AppendString(append(w.b, sep), word)
		sep = ','
	}
	w.b = append(w.b, ']')
}

// runJSON is a Run as it is read.
type runJSON struct {
	Name         string    `json:"name"`
	Trigger      Trigger   `json:"trigger"`
	Tool         string    `json:"tool"`
	Action       string    `json:"action"`
	Outcome      string    `json:"outcome"`
	Errored      bool      `json:"errored"`
	Refused      bool      `json:"refused"`
	Time         time.Time `json:"time"`
	Session      string    `json:"session"`
	Turn         string    `json:"turn"`
	Call         string    `json:"call"`
	Agent        string    `json:"agent"`
	ID           string    `json:"id"`
	Source       string    `json:"source"`
	Stage        string    `json:"stage"`
	Effects      Effect    `json:"effects"`
	Verdict      Verdict   `json:"verdict"`
	Reason       string    `json:"reason"`
	Cause        Cause     `json:"cause"`
	Code         int       `json:"code"`
	Signal       string    `json:"signal"`
	TimedOut     bool      `json:"timed_out"`
	PassedOpen   bool      `json:"passed_open"`
	Shadow       bool      `json:"shadow"`
	Cut          int64     `json:"cut"`
	Orphans      bool      `json:"orphans"`
	ElapsedMS    float64   `json:"elapsed_ms"`
	InputDigest  string    `json:"input_digest"`
	ConfigDigest string    `json:"config_digest"`
	Stderr       string    `json:"stderr"`
}

// UnmarshalJSON reads what AppendJSON wrote. Fields it does not know are left alone.
func (r *Run) UnmarshalJSON(b []byte) error {
	var in runJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("hook.run record: %w", err)
	}
	*r = Run{
		Name: in.Name, Trigger: in.Trigger, Tool: in.Tool, Action: in.Action, Outcome: in.Outcome, Errored: in.Errored,
		Refused: in.Refused, Time: in.Time, Session: in.Session, Turn: in.Turn, Call: in.Call, Agent: in.Agent, ID: in.ID,
		Source: in.Source, Stage: in.Stage, Effects: in.Effects, Verdict: in.Verdict, Reason: in.Reason, Cause: in.Cause,
		Code: in.Code, Signal: in.Signal, TimedOut: in.TimedOut, PassedOpen: in.PassedOpen, Shadow: in.Shadow, Cut: in.Cut,
		Orphans: in.Orphans, Elapsed: time.Duration(in.ElapsedMS * float64(time.Millisecond)),
		InputDigest: in.InputDigest, ConfigDigest: in.ConfigDigest, Stderr: in.Stderr,
	}
	return nil
}

// JSONLog returns a Log that writes one JSON object a line to w, with one Write a record. Appends take
// turns. A record that has AppendJSON([]byte) []byte is written by it, any other by encoding/json.
func JSONLog(w io.Writer) Log { return &jsonLog{w: w} }

type jsonLog struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
}

func (l *jsonLog) Append(ctx context.Context, recs ...Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, rec := range recs {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := AppendRecord(l.buf[:0], rec)
		if err != nil {
			return err
		}
		l.buf = append(line, '\n')
		if n, err := l.w.Write(l.buf); err != nil {
			return fmt.Errorf("record %s: %w", rec.Kind(), err)
		} else if n < len(l.buf) {
			return fmt.Errorf("record %s: %w", rec.Kind(), io.ErrShortWrite)
		}
	}
	return nil
}

// AppendRecord appends rec as one JSON object on one line, without a line end.
func AppendRecord(b []byte, rec Record) ([]byte, error) {
	if a, ok := rec.(interface{ AppendJSON([]byte) []byte }); ok {
		return a.AppendJSON(b), nil
	}
	line, err := json.Marshal(rec)
	if err != nil {
		return b, fmt.Errorf("record %s: %w", rec.Kind(), err)
	}
	return jsonline.AppendClean(b, line), nil
}
