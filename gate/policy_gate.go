package gate

import (
	"context"
	"slices"

	"github.com/pawl-hooks/pawl"
)

// An Asker decides with somebody's help on what a policy left open. Ask returns nil where the command may
// run, else a refusal. It is told of every answer, those that leave nothing open included, so that it can
// record them; whatever it says of a Deny, the command does not run.
type Asker interface {
	Ask(ctx context.Context, ans Answer, cmd pawl.Command) error
}

// Wrap returns a Gate that decides on each command, refuses what the policy does not allow, and hands the
// rest to next. What asks goes to next's [Asker], which is what [Approve.Wrap] returns: it must be wrapped
// by the policy with nothing in between. Where next is no Asker, what asks is refused. The policy is read
// here; a fault in it refuses every command.
func (p *Policy) Wrap(next pawl.Gate) pawl.Gate {
	frozen := *p
	frozen.Rules, frozen.Defaults = slices.Clone(p.Rules), slices.Clone(p.defaults())
	frozen.Ceilings = make([][]Rule, len(p.Ceilings))
	for i, rules := range p.Ceilings {
		frozen.Ceilings[i] = slices.Clone(rules)
	}
	frozen.Kinds = slices.Clone(p.Kinds)
	g := &policyGate{policy: frozen, fault: frozen.Check(), next: next}
	g.asker, _ = next.(Asker)
	return g
}

type policyGate struct {
	policy Policy
	fault  error
	next   pawl.Gate
	asker  Asker // nil: nobody can be asked
}

// Run decides, and runs the command where it may.
func (g *policyGate) Run(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
	if g.fault != nil {
		return pawl.Result{}, &pawl.RefusedError{Reason: "the policy has a fault: " + g.fault.Error()}
	}
	ans := g.policy.decide(pawl.EventFrom(ctx), cmd)
	if err := g.settle(ctx, ans, cmd); err != nil {
		return pawl.Result{Action: ans.recorded()}, err
	}
	res, err := g.next.Run(ctx, cmd)
	res.Action = ans.recorded()
	return res, err
}

// settle returns nil where the command may run.
func (g *policyGate) settle(ctx context.Context, ans Answer, cmd pawl.Command) error {
	var err error
	if g.asker != nil {
		err = g.asker.Ask(ctx, ans, cmd)
	}
	switch {
	case ans.Ruling == Deny:
		return &pawl.RefusedError{Action: ans.recorded(), Reason: denyReason(ans)}
	case g.asker == nil && ans.Ruling != Allow:
		return &pawl.RefusedError{Action: ans.recorded(), Reason: "it needs approval and nobody can be asked"}
	}
	return err
}

// denyReason keeps the policy's rules to itself: the reason may reach the model.
func denyReason(ans Answer) string {
	if ans.Rule == nil {
		return ans.Why
	}
	return ""
}
