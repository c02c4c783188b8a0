package gate

import (
	"context"
	"sync"
	"time"

	"github.com/pawl-hooks/pawl"
)

// The wait for an answer.
const (
	DefaultApprovalTimeout = 5 * time.Minute
	MaxApprovalTimeout     = time.Hour
)

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
