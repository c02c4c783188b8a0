package pawl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// A Gate applies the caller's policy to a command and, if the policy agrees, runs it. A command that ran
// gives a nil error whatever its exit code; a refusal by the policy wraps [ErrRefused]; any other error
// means that it could not run. A Gate may be called concurrently, must return soon after ctx is done, and
// keeps nothing of cmd. [EventFrom] gives it the event that the command is about.
type Gate interface {
	Run(ctx context.Context, cmd Command) (Result, error)
}

// GateFunc is a func that is a Gate.
type GateFunc func(ctx context.Context, cmd Command) (Result, error)

// Run calls f.
func (f GateFunc) Run(ctx context.Context, cmd Command) (Result, error) { return f(ctx, cmd) }

// A Command is one program to run. The zero value names no program and cannot run.
type Command struct {
	ID      string   // "hook:" name ":" call id, or the trigger where there is none; set by the dispatch
	Args    []string // program and arguments: a list, never a line
	Direct  []string // what Args, a shell's, comes to without the shell: a gate may run it, if its policy agrees to both
	Dir     string   // working directory; empty: the gate's
	Env     []string // KEY=value, added to what the gate grants
	Inherit bool     // start from the host process's whole environment; a gate may refuse that
	Stdin   []byte   // written whole, then closed; empty: nothing to read
	Limit   int      // bytes of each stream kept; zero: the gate's own limit
	Linger  bool     // descendants that let go of the pipes may outlive a program that ended well

	// Keep asks for a program that lives on between commands: it gets Stdin as one line and answers by one
	// line, which is the Result's Stdout. A gate that keeps no programs must not run it in another way.
	Keep bool
}

// A Result is what a program that ran left behind.
type Result struct {
	Action         string // what the policy decided on: exec.path.zig
	Code           int    // exit code; -1 when killed by Signal, and where nobody knows: then Signal is empty
	Signal         string // "killed", "terminated"; empty when it exited by itself
	Stdout, Stderr []byte // each its first bytes, up to the limit
	Cut            int64  // bytes of both streams that were read and not kept
	Elapsed        time.Duration
	Orphans        bool // a descendant is known to live on
}

// ErrRefused is wrapped by the error of a Gate whose policy refused a command.
var ErrRefused = errors.New("refused by policy")

// A RefusedError is a Gate's refusal with its facts. errors.Is finds [ErrRefused] in it.
type RefusedError struct {
	Action string // what the policy decided on
	Reason string // for the person; may be empty
}

func (e *RefusedError) Error() string {
	s := ErrRefused.Error()
	if e.Action != "" {
		s += ": " + e.Action
	}
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	return s
}

// Unwrap returns [ErrRefused].
func (e *RefusedError) Unwrap() error { return ErrRefused }

// An Effect is a set of things a decision may do. The zero Effect does nothing: an observer's.
type Effect uint8

// The effects, in the order they are listed.
const (
	MayRefuse  Effect = 1 << iota // the subject of the event does not happen
	MayHalt                       // it does not happen and the run ends
	MayAsk                        // a person is asked
	MayAllow                      // answers the question that the policy left open; tool.approval alone
	MayNote                       // text for the model
	MayRewrite                    // replaces the input
	MayReplace                    // stands in for the call, or replaces its result
)

const allEffects = MayRefuse | MayHalt | MayAsk | MayAllow | MayNote | MayRewrite | MayReplace

var effectWords = [...]string{"refuse", "halt", "ask", "allow", "note", "rewrite", "replace"}

// Words lists the effects in e by name, in order.
func (e Effect) Words() []string {
	if e == 0 {
		return nil
	}
	words := make([]string, 0, bits.OnesCount8(uint8(e)))
	for i, w := range effectWords {
		if e&(1<<i) != 0 {
			words = append(words, w)
		}
	}
	if e&^allEffects != 0 {
		words = append(words, "unknown")
	}
	return words
}

// String lists the effects in e, separated by spaces; "none" for the zero Effect.
func (e Effect) String() string {
	if e == 0 {
		return "none"
	}
	return strings.Join(e.Words(), " ")
}

// MarshalJSON writes e as a list of words.
func (e Effect) MarshalJSON() ([]byte, error) {
	if e == 0 {
		return []byte("[]"), nil
	}
	return json.Marshal(e.Words())
}

// UnmarshalJSON reads what MarshalJSON wrote; a word it does not know is an error.
func (e *Effect) UnmarshalJSON(b []byte) error {
	var words []string
	if err := json.Unmarshal(b, &words); err != nil {
		return err
	}
	*e = 0
next:
	for _, w := range words {
		for i, known := range effectWords {
			if w == known {
				*e |= 1 << i
				continue next
			}
		}
		return fmt.Errorf("unknown effect %q", w)
	}
	return nil
}

// A Verdict says how far a decision goes. The zero value is Pass.
type Verdict uint8

// The verdicts, in the order Join takes them. By strictness Allow stands below Pass.
const (
	Pass   Verdict = iota // no opinion
	Allow                 // the open question is answered with yes
	Ask                   // a person decides
	Refuse                // the subject of the event does not happen
	Halt                  // it does not happen, and the run ends: the session at session.start, else the turn
)

var verdictWords = [...]string{"pass", "allow", "ask", "refuse", "halt"}

func (v Verdict) String() string {
	if int(v) < len(verdictWords) {
		return verdictWords[v]
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// MarshalText writes the verdict's word.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a verdict's word; a word it does not know is an error.
func (v *Verdict) UnmarshalText(b []byte) error {
	for i, w := range verdictWords {
		if string(b) == w {
			*v = Verdict(i)
			return nil
		}
	}
	return fmt.Errorf("unknown verdict %q", b)
}

// stricter reports whether v is stricter than w: Allow < Pass < Ask < Refuse < Halt.
func (v Verdict) stricter(w Verdict) bool { return v.rank() > w.rank() }

func (v Verdict) rank() int {
	switch v {
	case Allow:
		return 0
	case Pass:
		return 1
	}
	return int(v)
}

// A Decision is what one hook asks for. The zero Decision asks for nothing.
type Decision struct {
	Verdict  Verdict
	Reason   string          // why; of a Refuse at tool.before, what the model is told
	Notes    []string        // text for the model
	Warnings []string        // text for the person
	Input    json.RawMessage // replaces Event.Input; one JSON value without duplicate names
	Output   json.RawMessage // at tool.before stands in for the call; at tool.after replaces the result
	Payload  any             // replaces Event.Payload, for Go handlers
	Fail     *bool           // the result is, or is not, an error; nil leaves it

	// Errored says that the program ended badly though the answer stands: a check that refuses by its
	// exit code. The record shows it; nothing else follows from it.
	Errored bool
}

// Effects returns what d would do. A verdict it does not know is beyond every effect. A Payload alone
// counts as a rewrite; beside an Output it is part of the replacement.
func (d Decision) Effects() Effect {
	e := d.Verdict.effect()
	if len(d.Notes) > 0 {
		e |= MayNote
	}
	if d.Input != nil || d.Payload != nil && d.Output == nil {
		e |= MayRewrite
	}
	if d.Output != nil || d.Fail != nil {
		e |= MayReplace
	}
	return e
}

func (v Verdict) effect() Effect {
	switch v {
	case Pass:
		return 0
	case Allow:
		return MayAllow
	case Ask:
		return MayAsk
	case Refuse:
		return MayRefuse
	case Halt:
		return MayHalt
	}
	return ^allEffects
}

// beyond returns the effects of d that a hook with the given effects may not have. A Payload alone rides
// on either right: it is the input or the result, as the trigger has it.
func (d Decision) beyond(may Effect) Effect {
	over := d.Effects() &^ may
	if over == MayRewrite && d.Input == nil && may&MayReplace != 0 {
		return 0
	}
	return over
}

// empty reports whether d says nothing.
func (d *Decision) empty() bool {
	return d.Verdict == Pass && d.Reason == "" && d.Notes == nil && d.Warnings == nil && d.Input == nil && d.Output == nil &&
		d.Payload == nil && d.Fail == nil && !d.Errored
}

// Join combines d with a later decision o: the higher verdict with the reasons of that verdict in order,
// joined by a blank line; notes and warnings one after another; the later Input, Output, Payload and Fail.
// Input and Output are dropped under Refuse and Halt.
func (d Decision) Join(o Decision) Decision {
	switch {
	case o.Verdict > d.Verdict:
		d.Verdict, d.Reason = o.Verdict, o.Reason
	case o.Verdict == d.Verdict && d.Reason == "":
		d.Reason = o.Reason
	case o.Verdict == d.Verdict && o.Reason != "":
		d.Reason += "\n\n" + o.Reason
	}
	d.Notes = appendCopy(d.Notes, o.Notes)
	d.Warnings = appendCopy(d.Warnings, o.Warnings)
	if o.Input != nil {
		d.Input = o.Input
	}
	if o.Output != nil {
		d.Output = o.Output
	}
	if o.Payload != nil {
		d.Payload = o.Payload
	}
	if o.Fail != nil {
		d.Fail = o.Fail
	}
	d.Errored = d.Errored || o.Errored
	if d.Verdict >= Refuse {
		d.Input, d.Output = nil, nil
	}
	return d
}

// appendCopy never writes into a's spare room: a Decision is joined by value.
func appendCopy(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	return append(a[:len(a):len(a)], b...)
}

// ReasonRefusedByHook is the end reason of a session that a session.start hook refused; the runtime then
// exits with code 3.
const ReasonRefusedByHook = "refused_by_hook"
