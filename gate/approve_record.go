package gate

import (
	"context"
	"encoding/json"
	"time"

	"github.com/pawl-hooks/pawl"
)

// An Outcome is what came of an answer of the policy.
type Outcome string

// The outcomes. The first three let the command run.
const (
	AllowedByPolicy  Outcome = "allowed_by_policy"
	ApprovedByUser   Outcome = "approved_by_user"
	ApprovedByReview Outcome = "approved_by_review"
	RefusedByPolicy  Outcome = "refused_by_policy"
	RefusedByUser    Outcome = "refused_by_user"
	RefusedByReview  Outcome = "refused_by_review"
	Expired          Outcome = "expired"
	Mismatched       Outcome = "mismatched" // the answer was to another question
	NobodyToAsk      Outcome = "nobody_to_ask"
	Unavailable      Outcome = "unavailable" // asking failed
	Cancelled        Outcome = "cancelled"   // the hook ended before the answer
)

func (o Outcome) permits() bool {
	return o == AllowedByPolicy || o == ApprovedByUser || o == ApprovedByReview
}

// An ApprovalRequest is the record of a question that is about to be asked, kind approval.request.
type ApprovalRequest struct {
	Request  int64     `json:"request_id"` // of the process, from 1
	Call     string    `json:"tool_call_id"`
	Action   string    `json:"action"`
	Decision Ruling    `json:"decision"`
	Args     []string  `json:"arguments"`
	Deadline time.Time `json:"deadline"`
}

// Kind returns "approval.request".
func (*ApprovalRequest) Kind() string { return "approval.request" }

// MarshalJSON writes one object, kind first.
func (r *ApprovalRequest) MarshalJSON() ([]byte, error) {
	type fields ApprovalRequest
	return json.Marshal(struct {
		Kind string `json:"kind"`
		*fields
	}{r.Kind(), (*fields)(r)})
}

func requestOf(q Question) *ApprovalRequest {
	return &ApprovalRequest{Request: q.ID, Call: q.Call, Action: q.Action, Decision: q.Ruling, Args: q.Args, Deadline: q.Deadline.UTC()}
}

// An ApprovalResponse is the record of what came of an answer of the policy, kind approval.response. There
// is one for every command that the policy decided on, whether somebody was asked or not.
type ApprovalResponse struct {
	Request int64   `json:"request_id"` // of its ApprovalRequest; 0 where nobody was asked
	Call    string  `json:"tool_call_id"`
	Action  string  `json:"action"`
	Outcome Outcome `json:"outcome"`
	Session bool    `json:"session,omitempty"` // granted for the session, now or before
	By      string  `json:"by,omitempty"`
	Reason  string  `json:"reason,omitempty"`
}

// Kind returns "approval.response".
func (*ApprovalResponse) Kind() string { return "approval.response" }

// MarshalJSON writes one object, kind first.
func (r *ApprovalResponse) MarshalJSON() ([]byte, error) {
	type fields ApprovalResponse
	return json.Marshal(struct {
		Kind string `json:"kind"`
		*fields
	}{r.Kind(), (*fields)(r)})
}

func (r *ApprovalResponse) permits() bool { return r.Outcome.permits() }

// refusal says in words why the command does not run.
func (r *ApprovalResponse) refusal() string {
	s := map[Outcome]string{
		RefusedByPolicy: "",
		RefusedByUser:   "the person asked said no",
		RefusedByReview: "the reviewer said no",
		Expired:         "it needs approval and nobody answered in time",
		Mismatched:      "it needs approval and the answer was to another question",
		NobodyToAsk:     "it needs approval and nobody can be asked",
		Unavailable:     "it needs approval and asking failed",
		Cancelled:       "it needs approval and the wait for it was cancelled",
	}[r.Outcome]
	if r.Reason != "" {
		s += ": " + r.Reason
	}
	return s
}

func (a *Approve) record(ctx context.Context, rec pawl.Record) error {
	if a.Log == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordWait)
	defer cancel()
	return record(ctx, a.Log, rec)
}
