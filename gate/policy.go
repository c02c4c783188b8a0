package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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

// Permits reports whether the policy allows any action at or below q.Action, for one kind of agent: whether
// it is worth offering at all.
func (p *Policy) Permits(q Query) bool {
	all := slices.Concat(p.Rules, p.defaults(), slices.Concat(p.Ceilings...), p.Promises.all())
	names := candidates(all, func(r Rule) string { return r.Action })
	below := q.Action + "."
	for _, name := range append(names, q.Action, below+other) {
		asked := q
		asked.Action = name
		if (name == q.Action || strings.HasPrefix(name, below)) && p.Judge(asked).Ruling == Allow {
			return true
		}
	}
	return false
}
