package gate

import (
	"context"
	"errors"
	"time"

	"github.com/pawl-hooks/pawl"
)

// ErrNobody is returned by an [Approver] or a [Reviewer] who is not there. Any error of theirs refuses; this
// one is recorded as nobody_to_ask.
var ErrNobody = errors.New("nobody can be asked")

// An Approver puts a question to a person and waits for the answer. It may be called concurrently, for
// different actions. When ctx is done nobody waits for it any more.
type Approver interface {
	Approve(ctx context.Context, q Question) (Reply, error)
}

// A Reviewer is an agent that looks at a command instead of a person, or before one. It may be called
// concurrently. When ctx is done nobody waits for it any more.
type Reviewer interface {
	Review(ctx context.Context, q Question) (Review, error)
}

// A Question is one command that may run only if somebody says so.
type Question struct {
	ID       int64 // what the answer must repeat; from 1
	Action   string
	Ruling   Ruling // AgentThenHuman, Ask or AgentReview
	Call     string // the command's id
	Args     []string
	Dir      string
	Hook     string       // the hook whose program it is; empty where it is nobody's
	Trigger  pawl.Trigger // what the hook fired on
	Tool     string       // the tool that is about
	Agent    pawl.Agent   // whose event it is
	Deadline time.Time    // when no answer counts any more
	Review   *Review      // what the reviewer said; nil where none was asked
}

// A Reply is a person's answer. The zero Reply is no.
type Reply struct {
	ID     int64 // of the question: an answer to another one refuses
	Choice Choice
	By     string // who; may be empty
	Reason string // may be empty
}

// A Choice is what a person makes of a question.
type Choice uint8

// The choices.
const (
	No      Choice = iota
	Once           // this command runs
	Session        // it runs, and this process asks no more about the same action
)

// A Review is a reviewer's answer. The zero Review is no.
type Review struct {
	ID     int64 // of the question: an answer to another one refuses
	Permit bool
	Reason string // one sentence; shown to the person, and in the refusal
}
