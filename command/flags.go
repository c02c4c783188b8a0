package command

import (
	"fmt"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/internal/cut"
)

// The facts that [Flags] can tell a program.
const (
	InputTrigger = "trigger" // the trigger's name
	InputTool    = "tool"    // the tool's canonical name
	InputAction  = "action"  // the action the call is gated under
	InputSession = "session" // the session's id
)

// An Output says what a program's end means to [Flags].
type Output string

// The outputs. The empty Output is OutputIgnore.
const (
	OutputIgnore Output = "ignore" // nothing; an exit code other than 0 is a warning
	OutputRefuse Output = "refuse" // an exit code other than 0 refuses, with what the program printed
	OutputNote   Output = "note"   // what it printed on stdout is a note, whatever the exit code
)

// Flags is the codec of native hooks, and chock's: the program is told the facts it asked for as arguments, and nothing on stdin;
// the answer is its exit code or its text. The zero Flags tells nothing and takes no answer.
type Flags struct {
	Inputs []string // facts to tell, in the order written; one without a value leaves both its words out
	Output Output
}

// Signed says that refusals are told under the hook's name.
func (Flags) Signed() bool { return true }

// String returns the codec's definition.
func (f Flags) String() string {
	output := f.Output
	if output == "" {
		output = OutputIgnore
	}
	return fmt.Sprintf("flags inputs=%q output=%s", f.Inputs, output)
}

// Encode tells each input as two words: --tool write_file. An input it does not know is an error.
func (f Flags) Encode(ev *pawl.Event) (Message, error) {
	var msg Message
	for _, input := range f.Inputs {
		value, err := fact(ev, input)
		if err != nil {
			return Message{}, err
		}
		if value != "" {
			msg.Args = append(msg.Args, "--"+input, value)
		}
	}
	return msg, nil
}

func fact(ev *pawl.Event, input string) (string, error) {
	switch input {
	case InputTrigger:
		return string(ev.Trigger), nil
	case InputTool:
		return ev.Tool, nil
	case InputAction:
		return ev.Action, nil
	case InputSession:
		return ev.Session, nil
	}
	return "", fmt.Errorf("unknown input %q: it is one of trigger, tool, action, session", input)
}

// Decode reads the program's end by the Output. Text that the limit cut is an answer all the same.
func (f Flags) Decode(_ *pawl.Event, res pawl.Result) (pawl.Decision, error) {
	if res.Signal != "" || res.Code < 0 {
		return pawl.Decision{}, Exited(res)
	}
	d := pawl.Decision{Errored: res.Code != 0}
	switch f.Output {
	case OutputRefuse:
		if d.Errored {
			d.Verdict, d.Reason = pawl.Refuse, refusal(res)
		}
	case OutputNote:
		if text := said(res.Stdout, res.Cut); text != "" {
			d.Notes = []string{text}
		}
	case OutputIgnore, "":
		if d.Errored {
			d.Warnings = []string{complaint(res)}
		}
	default:
		return d, fmt.Errorf("unknown output %q: it is one of ignore, refuse, note", f.Output)
	}
	return d, nil
}

const (
	reasonLimit    = 8 << 10 // bytes of a refusal's text
	complaintLimit = 1 << 10 // bytes of a warning's
)

// refusal is what the program printed, stdout first: a test runner's report, a linter's findings. A program
// that printed nothing refused all the same; its exit code is the only thing to tell.
func refusal(res pawl.Result) string {
	text := headTail(strings.Trim(said(res.Stdout, res.Cut)+"\n"+said(res.Stderr, res.Cut), "\n"), reasonLimit)
	if text == "" {
		return fmt.Sprintf("exit code %d, and it printed nothing", res.Code)
	}
	return text
}

func complaint(res pawl.Result) string {
	text := fmt.Sprintf("exit code %d", res.Code)
	if why := headTail(said(res.Stderr, res.Cut), complaintLimit); why != "" {
		text += ": " + why
	}
	return text
}

// said is a stream as text: trimmed, without the half of a character that a cut may have left at its end,
// and with what is no UTF-8 marked as such.
func said(stream []byte, missing int64) string {
	if missing > 0 {
		stream = cut.Whole(stream)
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(stream), "\uFFFD"))
}

// headTail shortens s to at most limit bytes, keeping its beginning and its end: the command that ran, and
// the verdict a test runner prints last.
func headTail(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const room = 48 // for the line that says how much is missing
	half := (limit - room) / 2
	head, tail := cut.Head(s, half), cut.Tail(s, half)
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", head, len(s)-len(head)-len(tail), tail)
}
