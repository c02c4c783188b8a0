package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-hooks/pawl"
)

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
