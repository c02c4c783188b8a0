package command

import (
	"fmt"

	"github.com/pawl-hooks/pawl"
)

// A Codec says how a program is told about an event and how its answer is read. It may be called
// concurrently and keeps nothing of what it is given.
type Codec interface {
	// Encode says what the command gets beside its own words. It is called once for each hook asked; a
	// codec whose encoding is the same for several hooks shares it by [pawl.Event.Once], which must not
	// be called again from within. An error is a failure of the hook.
	Encode(ev *pawl.Event) (Message, error)

	// Decode reads what the program left behind; the codec alone knows which exit codes are answers. An
	// error is a check that did not happen: a [pawl.Failure] with CauseExit, CauseSignal or CauseOutput.
	// What the Decision beside it refuses, halts or asks still counts. A death by signal fails the hook
	// whatever Decode says of it.
	Decode(ev *pawl.Event, res pawl.Result) (pawl.Decision, error)

	// String is the codec's definition, all of it: part of the program's digest.
	String() string
}

// A Message is what a program is told about an event. The zero Message tells it nothing.
type Message struct {
	Args  []string // behind the configured words
	Stdin []byte   // written whole; empty: nothing to read
	Env   []string // KEY=value; the hook's own Env wins over it
}

// A Signer is a Codec whose refusals and warnings are told under the hook's name: "hook NAME refused: …".
// Those of other codecs are told as the program worded them, and only a refusal without words gets the name.
type Signer interface {
	Codec
	Signed() bool
}

// A Liner is a Codec that tells an event by one line on standard input and reads the answer from one line on
// standard output, its exit code being no answer: only with one can a program be kept alive. An empty answer
// never reaches it, and one that was cut or has a second line must be a failure to it.
type Liner interface {
	Codec
	Lines() bool
}

// Exited fails a program that ended otherwise than by exit code 0; it returns nil for one that did not.
func Exited(res pawl.Result) error {
	switch {
	case res.Signal != "":
		return &pawl.Failure{Cause: pawl.CauseSignal, Err: fmt.Errorf("ended by a signal: %s", res.Signal)}
	case res.Code < 0:
		return &pawl.Failure{Cause: pawl.CauseExit, Err: fmt.Errorf("exit code %d, so nobody knows how it ended: "+
			"the host ignores SIGCHLD, or something in it waits for programs that are not its own", res.Code)}
	case res.Code != 0:
		return &pawl.Failure{Cause: pawl.CauseExit, Err: fmt.Errorf("exit code %d", res.Code)}
	}
	return nil
}
