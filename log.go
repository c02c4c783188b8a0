package pawl

import (
	"context"
	"time"
)

// A Record is one entry of a Log: a [Run], or a kind of the caller's own. It must marshal as one JSON object
// whose first field is "kind".
type Record interface{ Kind() string }

// A Log keeps records. Append is called once per dispatch, from any goroutine, keeps the order of recs, and
// honours ctx. An error means that the records may be lost; [Options.LogFailure] says what follows.
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

// A Run is the record of one hook run, kind hook.run: chock's eight fields first, in its order. Of the
// others, empty ones are left out.
type Run struct {
	Name    string
	Trigger Trigger
	Tool    string
	Action  string // what the policy decided the hook's program under: exec.path.zig
	Outcome string // Ran, RefusedByPolicy or CouldNotRun
	Errored bool   // it ran and gave no valid answer, or ended badly
	Refused bool   // its settled verdict is Refuse or Halt and was enforced

	Time          time.Time // of its start, by Options.Now
	Session       string
	Turn          string
	Call          string
	Agent         string // the agent's id; empty for the main agent
	ID            string // "hook:" name ":" call id or trigger; ends in ":2" for a recheck
	Source        string // layer:file:line:column
	Stage         string // rewrite, check, recheck or observe
	Effects       Effect // of its decision
	Verdict       Verdict
	Reason        string
	Cause         Cause // why it failed; empty: it did not
	Code          int   // the program's exit code, as received; -1 when killed by Signal
	Signal        string
	TimedOut      bool
	PassedOpen    bool // it failed, or its refusal was over the cap, and the event went through
	Shadow        bool
	Cut           int64 // bytes of its output that were not kept
	Orphans       bool  // a descendant is known to live on
	Elapsed       time.Duration
	InputDigest   string // SHA-256 of the input it judged
	ConfigDigest  string // Registry.Digest
	Stderr        string // its first 1 KiB
	Err           error  // what went wrong, for Go callers; not part of the record
	Notes, Warned int    // how many; not part of the record
}

// Kind returns "hook.run".
func (r *Run) Kind() string { return "hook.run" }
