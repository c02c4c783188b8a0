package gate

import (
	"fmt"

	"github.com/pawl-hooks/pawl"
)

// A WorkerKind says what is wrong with a program that is to be kept.
type WorkerKind string

// The kinds of a [WorkerError].
const (
	NoGreeting   WorkerKind = "is no worker" // it said something else first, ended, or said nothing in time
	WrongVersion WorkerKind = "speaks another version"
	NoAnswer     WorkerKind = "gave no answer"           // it ended with exit code 0, or its line was no JSON object
	SpokeUnasked WorkerKind = "spoke unasked"            // a second line behind an answer, or one before a question
	TooMuch      WorkerKind = "answered too much"        // a line longer than the command's limit
	Resting      WorkerKind = "is not started again yet" // it failed too often in a row
	NoLine       WorkerKind = "cannot be asked"          // the question is not one line
	Stopped      WorkerKind = "was stopped"              // the Workers are closed, or the context ended
)

// A WorkerError is a program that is to be kept and did not do as one. errors.As finds a [pawl.Failure] in it:
// of [pawl.CauseStart] where no question was put to the program, of [pawl.CauseOutput] where its answer is no
// good.
type WorkerError struct {
	Kind   WorkerKind
	Arg0   string // the first word of the command
	Detail string // the facts and a hint, for people

	ended pawl.Result // how a program ended that did not greet; nothing it printed as an answer
}

func (e *WorkerError) Error() string {
	return fmt.Sprintf("kept program %.200q %s: %s", e.Arg0, e.Kind, e.Detail)
}

// Unwrap returns the failure of the hook that this comes to.
func (e *WorkerError) Unwrap() error {
	switch e.Kind {
	case NoAnswer, SpokeUnasked, TooMuch:
		return &pawl.Failure{Cause: pawl.CauseOutput}
	}
	return &pawl.Failure{Cause: pawl.CauseStart}
}

func cannotKeep(cmd pawl.Command, detail string) error {
	return &StartError{Kind: CannotKeep, Arg0: arg0(cmd), Detail: detail}
}

// arg0 is the first word of a command, which may have none.
func arg0(cmd pawl.Command) string {
	if len(cmd.Args) == 0 {
		return ""
	}
	return cmd.Args[0]
}
