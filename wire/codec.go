// Package wire is the JSON that ZeroCode and Claude Code speak with a hook's program ([Codec]), and pawl's own
// ([JSON], [EncodeEvent]): one object on its standard input, an exit code and perhaps one object on its standard
// output. What follows is of the hosts'. One table has a row per event and flavour; the codec reads the rows and
// knows no event by name.
//
// Where a host would lose what a hook meant to forbid, this codec keeps it: a deny beside a field nobody
// knows, with a blank reason, repeated, or printed by a program that then failed is a deny. An answer that
// cannot be read is a failure, never silence. Standard error is told to people and never read as an answer.
//
// # Exit codes
//
// Code 0: standard output is the answer. It is one object; or it is text, which is context at session.start,
// prompt.submit and (ZeroCode) agent.start, a failure at ZeroCode's Stop and SubagentStop, and otherwise no
// opinion, unless the codec is Strict; before a tool and at a request for approval that is warned of. Text in which
// a line begins an object, or in which an object anywhere has a key by which answers decide, is an answer that
// cannot be read; where text is context, it is that only if such an object restricts. What is within an object
// that can be read to its end is no answer: a note may speak of one.
//
// Code 2: the program objects, and standard error says why. That refuses at PreToolUse, PermissionRequest,
// UserPromptSubmit, Stop, SubagentStop, ZeroCode's PostToolUse and Claude's PreCompact; it is a note beside
// the result at Claude's PostToolUse and PostToolUseFailure. Elsewhere it is a failure. An empty standard
// error changes nothing of that. Of a ZeroCode hook's standard output a continue:false alone still counts.
//
// Any other code and a signal are failures; Claude's hooks may answer by an object beside another code,
// unless the codec is Strict.
//
// # Keys
//
// Names are exact in case. A repeated name, a second value, a known key of the wrong kind, a decision in a
// word that the event does not know, a reason without a decision, and an object that says nothing the event
// knows are failures. A key that the event does not know is warned of and ignored, but beside an allow, and
// for a Strict codec, it is a failure: it may qualify what is granted. What is refused, halted or asked
// stands in all of these cases, in a word of another case too, and a rewrite that cannot be believed refuses, since
// the hook said that the original must not run.
package wire

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
)

// A Flavour is one host's dialect of the wire.
type Flavour uint8

// The flavours.
const (
	ZeroCode Flavour = iota // ZeroCode's eleven events, Codex's too
	Claude                  // Claude Code's, those that have a trigger
)

func (f Flavour) String() string {
	switch f {
	case ZeroCode:
		return "zerocode"
	case Claude:
		return "claude"
	}
	return fmt.Sprintf("flavour(%d)", uint8(f))
}

// MaxOutput is how many bytes of each stream a program of this wire is granted: 8 MiB, so that a file of
// spilled output holds what was printed.
const MaxOutput = 8 << 20

// DefaultLimit is the size, in tokens of four bytes, above which text for the model is spilled.
const DefaultLimit = 2500

// A Codec tells programs of events and reads their answers. The zero Codec speaks ZeroCode's flavour and
// spills by the defaults. It may be used concurrently.
type Codec struct {
	Flavour Flavour
	Strict  bool // an answer that is not wholly understood is a failure, whatever else it says

	// Limit is the size in tokens above which a hook's own context is spilled; nil: DefaultLimit. Zero
	// never spills. What a hook refuses with, at whatever event, keeps the default.
	Limit *int

	Spill Spill

	// Hook is the name of whose codec it is, for what people are told; empty: it goes by "the hook".
	Hook string

	// Warned is set once a Warning was given that an "allow" means nothing where it does not answer a
	// question; codecs of one load share it. Nil: each answer warns.
	Warned *atomic.Bool
}

var _ command.Codec = Codec{}

// String returns all of c's definition that decides how an answer is read.
func (c Codec) String() string {
	limit := DefaultLimit
	if c.Limit != nil {
		limit = *c.Limit
	}
	return fmt.Sprintf("%s strict=%t limit=%d", c.Flavour, c.Strict, limit)
}

// named tells of the hook what it did.
func (c Codec) named(did string) string {
	if c.Hook == "" {
		return "the hook " + did
	}
	return "hook " + c.Hook + " " + did
}

// Lines says that a program of this codec may be kept: each event is one line. Its exit codes then mean the
// end of the program, and its answers are JSON.
func (Codec) Lines() bool { return true }

// Encode returns ev's object, made once per event and flavour however many hooks are asked. A trigger that
// the flavour has no event for is an error.
func (c Codec) Encode(ev *pawl.Event) (command.Message, error) {
	r, ok := c.Flavour.row(ev.Trigger)
	if !ok {
		return command.Message{}, fmt.Errorf("%s has no event for %s", c.Flavour, ev.Trigger)
	}
	in, _ := ev.Once(c.Flavour, func() any { return r.encode(ev) }).([]byte)
	msg := command.Message{Stdin: in}
	if c.Flavour != Claude {
		return msg, nil
	}
	for _, v := range [][2]string{{"CLAUDE_PROJECT_DIR", ev.Dir}, {"CLAUDE_CODE_SESSION_ID", ev.Session}} {
		if v[1] != "" && !strings.ContainsRune(v[1], 0) {
			msg.Env = append(msg.Env, v[0]+"="+v[1])
		}
	}
	return msg, nil
}

// Decode reads what the program left behind, by the row of ev's trigger.
func (c Codec) Decode(ev *pawl.Event, res pawl.Result) (pawl.Decision, error) {
	r, ok := c.Flavour.row(ev.Trigger)
	if !ok {
		return pawl.Decision{}, unreadable("%s has no event for %s", c.Flavour, ev.Trigger)
	}
	return (&reading{codec: c, row: r, ev: ev, res: res}).decide()
}
