package on

import (
	"context"

	"github.com/pawl-hooks/pawl"
)

// A Ruling is what a check says about an event. The zero Ruling has no objection; no Ruling permits anything.
type Ruling struct {
	verdict pawl.Verdict
	reason  string
}

// Refuse refuses the event's subject. The reason is what the model is told.
func Refuse(reason string) Ruling { return Ruling{pawl.Refuse, reason} }

// Ask leaves it to a person, where the trigger can carry that: at tool.before.
func Ask(reason string) Ruling { return Ruling{pawl.Ask, reason} }

// Halt refuses and ends the run, where the trigger can carry that.
func Halt(reason string) Ruling { return Ruling{pawl.Halt, reason} }

// Check makes a hook that may refuse, and ask or halt as far as its trigger in the default table can carry it. At
// a trigger that cannot refuse, pawl.New objects to it. An error is a check that did not happen, and refuses.
func Check(name string, t pawl.Trigger, f func(ctx context.Context, ev *pawl.Event) (Ruling, error)) pawl.Hook {
	return made(f != nil, hook(name, t, checks(t), func(ctx context.Context, ev *pawl.Event) (pawl.Decision, error) {
		r, err := f(ctx, ev)
		return pawl.Decision{Verdict: r.verdict, Reason: r.reason}, err
	}))
}

// CheckAs is Check for a runtime whose Payload at this trigger is a P.
func CheckAs[P any](name string, t pawl.Trigger, f func(ctx context.Context, ev *pawl.Event, payload P) (Ruling, error)) pawl.Hook {
	return made(f != nil, Check(name, t, func(ctx context.Context, ev *pawl.Event) (Ruling, error) {
		p, err := payloadAs[P](ev)
		if err != nil {
			return Ruling{}, err
		}
		return f(ctx, ev, p)
	}))
}

// CheckInput is Check at tool.before with the input read as an I. Names of members are exact, members that I
// does not have are passed over, and an input that does not fit, or gives a name twice, is an error, which
// refuses. So is one that has members, none of which a struct I has: a check of members that are called otherwise
// would never find anything. Narrow the hook by [Tools] to those whose inputs it reads. It sees the input as it
// will run, after every rewrite.
func CheckInput[I any](name string, f func(ctx context.Context, ev *pawl.Event, input I) (Ruling, error)) pawl.Hook {
	return made(f != nil, Check(name, pawl.ToolBefore, func(ctx context.Context, ev *pawl.Event) (Ruling, error) {
		var in I
		if err := decode("input", ev.Input, &in, false); err != nil {
			return Ruling{}, err
		}
		if err := concerns[I](ev.Input); err != nil {
			return Ruling{}, err
		}
		return f(ctx, ev, in)
	}))
}

// An Answer is what an approver says to the question that the policy left open. The zero Answer leaves it to the
// person.
type Answer struct {
	verdict pawl.Verdict
	reason  string
}

// Yes allows the call.
func Yes(reason string) Answer { return Answer{pawl.Allow, reason} }

// No refuses it. The reason is what the model is told.
func No(reason string) Answer { return Answer{pawl.Refuse, reason} }

// Approve makes a hook at tool.approval that may answer in the person's place. An error drops a Yes and refuses.
func Approve(name string, f func(ctx context.Context, ev *pawl.Event) (Answer, error)) pawl.Hook {
	return made(f != nil, hook(name, pawl.ToolApproval, pawl.MayAllow|pawl.MayRefuse, func(ctx context.Context, ev *pawl.Event) (pawl.Decision, error) {
		a, err := f(ctx, ev)
		return pawl.Decision{Verdict: a.verdict, Reason: a.reason}, err
	}))
}

// checks are the verdicts a trigger can carry, and refuse: a check that cannot refuse is none.
func checks(t pawl.Trigger) pawl.Effect {
	return pawl.DefaultTriggers()[t].Can&(pawl.MayHalt|pawl.MayAsk) | pawl.MayRefuse
}
