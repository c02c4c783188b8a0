package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-hooks/pawl"
)

// HookTool is the tool that a rule names to speak of the programs of hooks. It is never the tool that the
// event is about, so that a rule for the agent's own shell does not bind its checks.
const HookTool = "hook"

// A Policy decides which programs may run. The zero Policy is the shipped defaults: a program of the path,
// of the workspace or of the development shell may, and everything else asks.
//
// Where several rules match, the closest decides: by action, then tool, model and agent kind; an exact name
// before a prefix, a longer prefix before a shorter; of two equally close the stricter. Their order never
// matters. Any match among Rules goes before all of Defaults. Ceilings, Promises and the kinds of the agents
// that spawned this one only narrow the answer. Do not change a Policy once it is in use.
type Policy struct {
	Rules    []Rule   // the project's
	Defaults []Rule   // stand behind Rules; nil: ShippedDefaults; empty, not nil: none
	Ceilings [][]Rule // an organisation's: each narrows what it names and is silent on the rest
	Promises *Promises
	Kinds    []Kind // the kinds of agent and who spawns whom, for Check; may be empty

	// Chain lists the kinds of the agents that stand behind an event, the root's first and the asker's
	// last; the strictest answer of theirs holds. The event may be nil. Nil: the declared line of Kinds,
	// else main, and behind it for a sub-agent sub and its type. A chain that is empty, has an empty link or
	// does not end with the asker asks.
	Chain func(*pawl.Event) []string

	Namer Namer // what an action is called; nil: the zero ExecNamer
}

// A Query is one action to decide on.
type Query struct {
	Action, Tool, Model, AgentKind string
}

// An Answer is what a policy said of a command and why.
type Answer struct {
	Action string // empty where the command could not be named
	Shell  string // the shell's action, where the command goes without its shell and was decided under its own
	Ruling Ruling
	Rule   *Rule  // the one that decided; nil where none named the action
	Layer  string // where Rule stands: project, default, ceiling, promise; empty with no Rule
	Agent  string // the kind of agent it was decided for
	Why    string // why no rule could decide; empty where one did
}

// recorded is the action that the record of a hook shows: the shell's, where there is one.
func (a Answer) recorded() string { return cmp.Or(a.Shell, a.Action) }

// String says the answer and its rule on one line.
func (a Answer) String() string {
	s := fmt.Sprintf("%s %s", a.Ruling, a.Action)
	if a.Rule == nil {
		return s + ": " + a.Why
	}
	s += ": " + a.Layer + " rule " + a.Rule.String()
	if at := a.Rule.Origin.String(); at != "" {
		s += " (" + at + ")"
	}
	return s
}

// Promises are rules that a session took upon itself while it ran. They narrow at once and are never taken
// back. The zero Promises are none. They may be used concurrently.
type Promises struct {
	mu    sync.RWMutex
	rules []Rule
}

// Add adds one promise. It is an error when the rule is not well formed or names no action.
func (p *Promises) Add(r Rule) error {
	if field, why := r.fault(); why != "" {
		return fmt.Errorf("promise: %s: %s", field, why)
	}
	if r.Action == "" {
		return errors.New("promise: names no action")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.rules, r) {
		p.rules = append(p.rules, r)
	}
	return nil
}

// all returns the promises made so far. Those made later go to another part of the slice.
func (p *Promises) all() []Rule {
	if p == nil {
		return nil
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.rules
}

// Decide says what the policy makes of a command on behalf of an event, which may be nil, and which rule
// made it. A policy with a fault denies everything.
func (p *Policy) Decide(ev *pawl.Event, cmd pawl.Command) Answer {
	if err := p.Check(); err != nil {
		return Answer{Ruling: Deny, Why: err.Error()}
	}
	return p.decide(ev, cmd)
}

// decide takes the stricter answer for a command that may go without its shell.
func (p *Policy) decide(ev *pawl.Event, cmd pawl.Command) Answer {
	ans := p.decideWords(ev, cmd)
	if cmd.Direct == nil {
		return ans
	}
	cmd.Args = cmd.Direct
	if own := p.decideWords(ev, cmd); own.Ruling <= ans.Ruling { // of two that ask, the narrower one is asked about
		own.Shell = ans.Action
		return own
	}
	return ans
}

func (p *Policy) decideWords(ev *pawl.Event, cmd pawl.Command) Answer {
	namer := p.Namer
	if namer == nil {
		namer = ExecNamer{}
	}
	action, err := namer.Action(cmd)
	if err != nil || action == "" {
		return Answer{Ruling: Deny, Why: fmt.Sprintf("the command has no action name: %v", err)}
	}
	q := Query{Action: action, Tool: HookTool}
	if ev != nil {
		q.Model = ev.Model
	}
	return p.fold(q, p.chain(ev), kindOf(ev))
}

// Judge says what the policy makes of an action, asked by an agent with no other behind it.
func (p *Policy) Judge(q Query) Answer { return p.narrowed(p.answer(q), q) }

// JudgeChain says what the policy makes of an action asked by the last agent of a chain of kinds.
func (p *Policy) JudgeChain(q Query, chain ...string) Answer { return p.fold(q, chain, q.AgentKind) }

// fold takes the strictest of what the policy says for each kind in the chain and of what narrows it.
func (p *Policy) fold(q Query, chain []string, asker string) Answer {
	ans := Answer{Action: q.Action, Ruling: Allow, Agent: asker}
	if why := chainFault(chain, asker); why != "" {
		ans.Ruling, ans.Why = Ask, why
	}
	for i, kind := range chain {
		q.AgentKind = kind
		if next := p.answer(q); i == 0 && ans.Why == "" || next.Ruling < ans.Ruling {
			ans = next
		}
	}
	q.AgentKind = asker
	return p.narrowed(ans, q)
}

// narrowed lowers an answer to what the ceilings and the promises leave.
func (p *Policy) narrowed(ans Answer, q Query) Answer {
	for _, rules := range p.Ceilings {
		ans = narrow(ans, q, rules, "ceiling")
	}
	return narrow(ans, q, p.Promises.all(), "promise")
}

// answer is what the policy's own rules and the defaults behind them say, for one kind of agent.
func (p *Policy) answer(q Query) Answer {
	ans := Answer{Action: q.Action, Agent: q.AgentKind}
	if r := closest(p.Rules, q); r != nil {
		ans.Ruling, ans.Rule, ans.Layer = r.Decision, r, "project"
	} else if r := closest(p.defaults(), q); r != nil {
		ans.Ruling, ans.Rule, ans.Layer = r.Decision, r, "default"
	} else {
		ans.Ruling, ans.Why = Ask, "no rule names it"
	}
	return ans
}

func (p *Policy) defaults() []Rule {
	if p.Defaults == nil {
		return ShippedDefaults()
	}
	return p.Defaults
}

// narrow lowers the answer to that of rules; where they are silent or milder it stands.
func narrow(ans Answer, q Query, rules []Rule, layer string) Answer {
	if r := closest(rules, q); r != nil && r.Decision < ans.Ruling {
		return Answer{Action: q.Action, Ruling: r.Decision, Rule: r, Layer: layer, Agent: q.AgentKind}
	}
	return ans
}

func (p *Policy) chain(ev *pawl.Event) []string {
	if p.Chain != nil {
		return p.Chain(ev)
	}
	kind := kindOf(ev)
	if line := p.line(kind); line != nil {
		return line
	}
	switch kind {
	case "main":
		return []string{"main"}
	case "sub":
		return []string{"main", "sub"}
	}
	return []string{"main", "sub", kind}
}

// kindOf is the kind of agent whose event it is.
func kindOf(ev *pawl.Event) string {
	switch {
	case ev == nil || ev.Agent == pawl.Agent{}:
		return "main"
	case ev.Agent.Type == "":
		return "sub"
	}
	return ev.Agent.Type
}

// chainFault says why a chain cannot be folded; empty when it can.
func chainFault(chain []string, asker string) string {
	switch {
	case len(chain) == 0:
		return "the chain of agents is empty"
	case slices.Contains(chain, ""):
		return "an agent in the chain has no kind"
	case chain[len(chain)-1] != asker:
		return fmt.Sprintf("the chain of agents ends with %q, not with %q who asks", chain[len(chain)-1], asker)
	}
	return ""
}

// Check returns every fault of the policy, joined; nil where there is none.
func (p *Policy) Check() error {
	var faults []error
	check := func(what string, rules []Rule) {
		for i, r := range rules {
			if field, why := r.fault(); why != "" {
				faults = append(faults, &RuleError{Where: fmt.Sprintf("%s rule %d", what, i+1), Origin: r.Origin, Field: field, Why: why})
			}
		}
	}
	check("project", p.Rules)
	check("default", p.Defaults)
	for _, rules := range p.Ceilings {
		check("ceiling", rules)
	}
	return errors.Join(append(faults, p.checkKinds()...)...)
}

// A RuleError is a rule that is not well formed.
type RuleError struct {
	Where  string // project rule 3
	Origin pawl.Origin
	Field  string // action, tool, model, agent_kind, decision
	Why    string
}

func (e *RuleError) Error() string {
	return strings.TrimPrefix(fmt.Sprintf("%s: %s: %s: %s", e.Origin, e.Where, e.Field, e.Why), ": ")
}

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
