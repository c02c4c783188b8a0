package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pawl-hooks/pawl"
)

// The wait for an answer.
const (
	DefaultApprovalTimeout = 5 * time.Minute
	MaxApprovalTimeout     = time.Hour
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

// Approve is a middleware that answers what [Policy] leaves open. Stand it right behind the policy: what
// comes without a policy before it passes. Whatever is not a clear yes to the question asked, in time, by
// the one whom the policy names, is a refusal. The wait is not the hook's time.
//
// A person may say yes for the session: then the same action, spelled the same, is not asked about again
// in this process. It lifts no deny and no review.
//
// The zero Approve asks nobody and so refuses what asks. Its fields must not change once it is used, and it
// must not be copied then. It may be used concurrently.
type Approve struct {
	Approver Approver            // nil: nobody
	Reviewer Reviewer            // nil: nobody
	Timeout  time.Duration       // for each to answer; zero: 5 min; at most 1 h; below zero: at once
	Log      pawl.Log            // takes approval.request before a question and approval.response always; nil: none
	Redact   func([]byte) []byte // over the words of the command that are shown and recorded; nil: as they are

	mu      sync.Mutex
	lastID  int64
	granted map[string]bool          // actions
	open    map[string]chan struct{} // actions that a person is being asked about; closed when answered
}

// Wrap puts a in front of next. What it returns is an [Asker].
func (a *Approve) Wrap(next pawl.Gate) pawl.Gate { return approveGate{Approve: a, next: next} }

type approveGate struct {
	*Approve
	next pawl.Gate
}

func (g approveGate) Run(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
	return g.next.Run(ctx, cmd)
}

// Ask returns nil where the command may run.
func (a *Approve) Ask(ctx context.Context, ans Answer, cmd pawl.Command) error {
	v := a.judge(ctx, ans, cmd)
	v.Action, v.Call = ans.Action, cmd.ID
	if v.failure != nil {
		return v.failure
	}
	if err := a.record(ctx, &v.ApprovalResponse); err != nil {
		return err
	}
	if v.permits() {
		return nil
	}
	return &pawl.RefusedError{Action: ans.Action, Reason: v.refusal()}
}

// A verdict is what came of one answer of the policy.
type verdict struct {
	ApprovalResponse
	failure error // it could not even be asked: the log failed
}

func judged(outcome Outcome) verdict {
	return verdict{ApprovalResponse: ApprovalResponse{Outcome: outcome}}
}

func (a *Approve) judge(ctx context.Context, ans Answer, cmd pawl.Command) verdict {
	switch ans.Ruling {
	case Allow:
		return judged(AllowedByPolicy)
	case AgentThenHuman:
		v := a.review(ctx, a.question(ctx, ans, cmd))
		if v.failure != nil || !v.permits() {
			return v
		}
		return a.person(ctx, ans, cmd, &Review{ID: v.Request, Permit: true, Reason: v.Reason})
	case Ask:
		return a.person(ctx, ans, cmd, nil)
	case AgentReview:
		return a.review(ctx, a.question(ctx, ans, cmd))
	}
	return judged(RefusedByPolicy)
}

// question makes the next question.
func (a *Approve) question(ctx context.Context, ans Answer, cmd pawl.Command) Question {
	a.mu.Lock()
	a.lastID++
	q := Question{ID: a.lastID}
	a.mu.Unlock()
	q.Action, q.Ruling, q.Call, q.Dir = ans.Action, ans.Ruling, cmd.ID, cmd.Dir
	for _, word := range cmd.Args {
		if a.Redact != nil {
			word = string(a.Redact([]byte(word)))
		}
		q.Args = append(q.Args, word)
	}
	if h := pawl.HookFrom(ctx); h != nil {
		q.Hook = h.Name
	}
	if ev := pawl.EventFrom(ctx); ev != nil {
		q.Trigger, q.Tool, q.Agent = ev.Trigger, ev.Tool, ev.Agent
	}
	q.Deadline = time.Now().Add(a.timeout())
	return q
}

func (a *Approve) timeout() time.Duration {
	if a.Timeout == 0 {
		return DefaultApprovalTimeout
	}
	return min(max(a.Timeout, 0), MaxApprovalTimeout)
}

// review asks the reviewer.
func (a *Approve) review(ctx context.Context, q Question) verdict {
	if a.Reviewer == nil {
		return judged(NobodyToAsk)
	}
	var r Review
	v := a.put(ctx, q, func(ctx context.Context) (id int64, err error) {
		r, err = a.Reviewer.Review(ctx, q)
		return r.ID, err
	})
	switch {
	case v.Outcome != "" || v.failure != nil:
	case r.Permit:
		v.Outcome, v.Reason = ApprovedByReview, r.Reason
	default:
		v.Outcome, v.Reason = RefusedByReview, r.Reason
	}
	return v
}

// person asks the person, unless the action was granted to the session.
func (a *Approve) person(ctx context.Context, ans Answer, cmd pawl.Command, review *Review) verdict {
	resume := pawl.Pause(ctx, a.timeout())
	defer resume()
	done, granted, err := a.turn(ctx, ans.Action)
	if err != nil {
		return judged(outcomeOf(ctx, err))
	}
	if granted {
		return verdict{ApprovalResponse: ApprovalResponse{Outcome: ApprovedByUser, Session: true}}
	}
	defer done()
	if a.Approver == nil {
		return judged(NobodyToAsk)
	}
	q := a.question(ctx, ans, cmd)
	q.Review = review
	var r Reply
	v := a.put(ctx, q, func(ctx context.Context) (id int64, err error) {
		r, err = a.Approver.Approve(ctx, q)
		return r.ID, err
	})
	if v.Outcome != "" || v.failure != nil {
		return v
	}
	v.Outcome, v.Reason, v.By = RefusedByUser, r.Reason, r.By
	if r.Choice == Once || r.Choice == Session {
		v.Outcome, v.Session = ApprovedByUser, r.Choice == Session
	}
	if v.Session {
		a.grant(ans.Action)
	}
	return v
}

func (a *Approve) grant(action string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.granted == nil {
		a.granted = map[string]bool{}
	}
	a.granted[action] = true
}

// turn waits while a person is being asked about the same action, whose answer may settle this one too.
// Where it has not, done must be called once the next answer is there.
func (a *Approve) turn(ctx context.Context, action string) (done func(), granted bool, err error) {
	ctx, cancel := until(ctx, time.Now().Add(a.timeout()))
	defer cancel()
	for {
		a.mu.Lock()
		asked := a.open[action]
		switch {
		case a.granted[action]:
			a.mu.Unlock()
			return nil, true, nil
		case asked == nil:
			answered := make(chan struct{})
			if a.open == nil {
				a.open = map[string]chan struct{}{}
			}
			a.open[action] = answered
			a.mu.Unlock()
			return func() {
				a.mu.Lock()
				defer a.mu.Unlock()
				delete(a.open, action)
				close(answered)
			}, false, nil
		}
		a.mu.Unlock()
		select {
		case <-asked:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// put records a question, asks it, and waits until its deadline. The outcome is empty where an answer to
// this very question came in time.
func (a *Approve) put(ctx context.Context, q Question, ask func(context.Context) (id int64, err error)) verdict {
	if err := a.record(ctx, requestOf(q)); err != nil {
		return verdict{failure: err}
	}
	v := verdict{ApprovalResponse: ApprovalResponse{Request: q.ID}}
	resume := pawl.Pause(ctx, a.timeout())
	defer resume()
	limited, cancel := until(ctx, q.Deadline)
	defer cancel()
	got := answer(limited, ask)
	select {
	case <-limited.Done():
		v.Outcome = outcomeOf(ctx, limited.Err())
		return v
	case r := <-got:
		switch {
		case limited.Err() != nil:
			v.Outcome = outcomeOf(ctx, limited.Err())
		case r.err != nil:
			v.Outcome, v.Reason = outcomeOf(ctx, r.err), whyNot(r.err)
		case r.id != q.ID:
			v.Outcome = Mismatched
		}
		return v
	}
}

// whyNot is an approver's error in words, without what the outcome says already.
func whyNot(err error) string {
	if errors.Is(err, ErrNobody) {
		return strings.TrimPrefix(strings.TrimPrefix(err.Error(), ErrNobody.Error()), ": ")
	}
	return err.Error()
}

type reply struct {
	id  int64 // of the question it answers
	err error
}

// answer asks in a goroutine of its own, which nobody waits for after the deadline.
func answer(ctx context.Context, ask func(context.Context) (id int64, err error)) <-chan reply {
	got := make(chan reply, 1)
	go func() {
		r := reply{err: errors.New("it ended without an answer")}
		defer func() {
			if p := recover(); p != nil {
				r = reply{err: fmt.Errorf("it panicked: %v", p)}
			}
			got <- r
		}()
		r.id, r.err = ask(ctx)
	}()
	return got
}

// until returns a context that ends with ctx or at the deadline. The deadline of ctx itself is the hook's,
// which does not hold while its clock is stopped.
func until(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	stop := context.AfterFunc(ctx, cancel)
	return limited, func() {
		stop()
		cancel()
	}
}

func outcomeOf(ctx context.Context, err error) Outcome {
	switch {
	case ctx.Err() != nil:
		return Cancelled
	case errors.Is(err, context.DeadlineExceeded):
		return Expired
	case errors.Is(err, ErrNobody):
		return NobodyToAsk
	}
	return Unavailable
}
