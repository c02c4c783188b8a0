package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl"
)

// Bounds of a policy, above which Check refuses it.
const (
	MaxRules = 512
	MaxKinds = 64
)

// kindWork bounds the comparison of kinds, in bytes of pattern read.
const kindWork = 1 << 28

// A Kind declares a kind of agent and the kind that spawns it. Check refuses a policy that would give it
// more than its parent for any action; where a kind is declared, its line of parents is what stands behind
// its events.
type Kind struct {
	Name   string
	Parent string // empty: the root's
	Origin pawl.Origin
}

// A KindError is a fault in the kinds of agent. Where a child holds more than its parent, it says for what.
type KindError struct {
	Kind, Parent        string
	Action, Tool, Model string // empty: any that no rule names
	Child, Held         Ruling // what the child would get, and what its parent holds
	Origin              pawl.Origin
	Why                 string // another fault; empty where the child holds more
}

func (e *KindError) Error() string {
	s := fmt.Sprintf("agent kind %q: %s", e.Kind, e.Why)
	if e.Why == "" {
		s = fmt.Sprintf("agent kind %q would get %s where its parent %q has %s, for action %s, tool %s, model %s",
			e.Kind, e.Child, e.Parent, e.Held, orAny(e.Action), orAny(e.Tool), orAny(e.Model))
	}
	if at := e.Origin.String(); at != "" {
		s = at + ": " + s
	}
	return s
}

func orAny(s string) string {
	if s == "" {
		return "any"
	}
	return s
}

// checkKinds returns the faults of the declared kinds. They are compared with their parents only when they
// and the rules are otherwise sound.
func (p *Policy) checkKinds() []error {
	var faults []error
	if len(p.Rules) > MaxRules {
		faults = append(faults, fmt.Errorf("%d rules, at most %d", len(p.Rules), MaxRules))
	}
	if len(p.Kinds) > MaxKinds {
		faults = append(faults, fmt.Errorf("%d agent kinds, at most %d", len(p.Kinds), MaxKinds))
	}
	for i, k := range p.Kinds {
		if why := p.kindFault(i); why != "" {
			faults = append(faults, &KindError{Kind: k.Name, Parent: k.Parent, Origin: k.Origin, Why: why})
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return p.compareKinds()
}

// kindFault says what is wrong with the i-th kind; empty when nothing is.
func (p *Policy) kindFault(i int) string {
	k := p.Kinds[i]
	switch {
	case patternFault(k.Name) != "":
		return patternFault(k.Name)
	case strings.HasSuffix(k.Name, ".*"):
		return "a kind is a name, not a pattern"
	case slices.IndexFunc(p.Kinds, func(o Kind) bool { return o.Name == k.Name }) < i:
		return "declared twice"
	case k.Parent != "" && p.kind(k.Parent) == nil:
		return fmt.Sprintf("its parent %q is not declared", k.Parent)
	case p.line(k.Name) == nil:
		return "is its own ancestor"
	}
	return ""
}

func (p *Policy) kind(name string) *Kind {
	for i := range p.Kinds {
		if p.Kinds[i].Name == name {
			return &p.Kinds[i]
		}
	}
	return nil
}

// line returns a declared kind and its ancestors, the root first; nil where it has no end or no beginning.
func (p *Policy) line(name string) []string {
	var line []string
	for name != "" {
		k := p.kind(name)
		if k == nil || slices.Contains(line, name) {
			return nil
		}
		line = append(line, name)
		name = k.Parent
	}
	slices.Reverse(line)
	return line
}

// compareKinds asks about every action, tool and model that the rules tell apart.
func (p *Policy) compareKinds() []error {
	all := slices.Concat(p.Rules, p.defaults())
	actions := candidates(all, func(r Rule) string { return r.Action })
	tools := candidates(all, func(r Rule) string { return r.Tool })
	models := candidates(all, func(r Rule) string { return r.Model })
	size := 0
	for _, r := range all {
		size += len(r.Action) + len(r.Tool) + len(r.Model) + len(r.AgentKind) + 1
	}
	links := 0
	for _, k := range p.Kinds {
		if k.Parent != "" {
			links++
		}
	}
	if work := float64(links) * float64(len(actions)) * float64(len(tools)) * float64(len(models)) * float64(size); work > kindWork {
		return []error{fmt.Errorf("the rules are too complex to compare %d agent kinds with their parents", links)}
	}
	var faults []error
	for _, k := range p.Kinds {
		if err := p.widens(k, actions, tools, models); k.Parent != "" && err != nil {
			faults = append(faults, err)
		}
	}
	return faults
}

// widens returns the first key for which a kind would get more than its parent.
func (p *Policy) widens(k Kind, actions, tools, models []string) error {
	for _, action := range actions {
		for _, tool := range tools {
			for _, model := range models {
				q := Query{Action: action, Tool: tool, Model: model, AgentKind: k.Name}
				child := p.answer(q).Ruling
				q.AgentKind = k.Parent
				if held := p.answer(q).Ruling; child > held {
					return &KindError{Kind: k.Name, Parent: k.Parent, Origin: k.Origin, Child: child, Held: held,
						Action: shown(action), Tool: shown(tool), Model: shown(model)}
				}
			}
		}
	}
	return nil
}

// other stands for a name that no pattern spells: patterns hold no NUL.
const other = "\x00"

// candidates returns one name for each set of names that the patterns of a field do not tell apart.
func candidates(rules []Rule, field func(Rule) string) []string {
	names := []string{other}
	for _, r := range rules {
		name := field(r)
		if stem, ok := strings.CutSuffix(name, "*"); ok {
			name = stem + other
		}
		if name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func shown(candidate string) string {
	if stem, ok := strings.CutSuffix(candidate, other); ok {
		if stem == "" {
			return ""
		}
		return stem + "*"
	}
	return candidate
}
