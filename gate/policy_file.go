package gate

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/internal/doc"
)

// LoadPolicy reads a policy file of at most 1 MiB. A file that is not there is an error: a policy that was
// named must not be missed in silence. See [ParsePolicy].
func LoadPolicy(path string) (*Policy, error) {
	data, fault := doc.ReadFile(os.DirFS(filepath.Dir(path)), filepath.Base(path), path)
	if fault != nil {
		return nil, doc.Faults{fault}.Err()
	}
	return ParsePolicy(path, data)
}

// ParsePolicy reads a policy in TOML, JSON or ZON, as the name of the file says:
//
//	[[rules]]
//	action = "exec.path.*"
//	decision = "deny"
//
//	[[agents]]
//	kind = "reviewer"
//	parent = "main"
//
// A rule may also have agent_kind, model and tool. An action that begins with exec is one that [ExecNamer] gives: a
// pattern that none of its names can match is a fault, since what it denies would not be denied. Other actions are the
// runtime's own. In a file of more than the policy, such as a project's
// whole configuration, both lists stand in a table called policy, and what is beside it is not read. The
// defaults stay behind the rules.
//
// The error joins every fault, each with file, line, column and a hint; no policy comes with one.
func ParsePolicy(file string, data []byte) (*Policy, error) {
	d, faults := doc.Parse(file, data, doc.FormatOf(file))
	if len(faults) > 0 {
		return nil, faults.Err()
	}
	l := policyLoader{doc: d, Reader: doc.NewReader(d)}
	p := l.policy(d.Root)
	if len(l.Faults()) == 0 {
		l.check(p)
	}
	if err := l.Faults().Err(); err != nil {
		return nil, err
	}
	return p, nil
}

type policyLoader struct {
	*doc.Reader
	doc *doc.Document
}

func (l *policyLoader) policy(root *doc.Node) *Policy {
	if inner := root.Field("policy"); inner != nil {
		root = inner.Value
	}
	var p Policy
	if !l.Table(root, "policy", "rules", "agents") {
		return &p
	}
	rules, _ := l.List(root.Get("rules"), "rules")
	for _, n := range rules {
		p.Rules = append(p.Rules, l.rule(n))
	}
	kinds, _ := l.List(root.Get("agents"), "agents")
	for _, n := range kinds {
		p.Kinds = append(p.Kinds, l.kind(n))
	}
	return &p
}

func (l *policyLoader) origin(n *doc.Node) pawl.Origin {
	return pawl.Origin{File: l.doc.File, Line: n.Pos.Line, Column: n.Pos.Column}
}

func (l *policyLoader) rule(n *doc.Node) Rule {
	r := Rule{Origin: l.origin(n)}
	if !l.Table(n, "rules", "action", "decision", "agent_kind", "model", "tool") {
		return r
	}
	r.Action, r.Tool = l.pattern(n, "action"), l.pattern(n, "tool")
	r.Model, r.AgentKind = l.pattern(n, "model"), l.pattern(n, "agent_kind")
	l.Require(n, "decision")
	if word, ok := l.OneOf(n.Get("decision"), "decision", rulingWords[:]...); ok {
		_ = r.Decision.UnmarshalText([]byte(word)) // one of the words it knows
	}
	return r
}

func (l *policyLoader) pattern(rule *doc.Node, key string) string {
	n := rule.Get(key)
	s, ok := l.String(n, key)
	if why, hint := written(key, s); ok && why != "" {
		l.Fault(n.Pos, hint, "`%s` %s: %s", key, doc.Quote(s), why)
	}
	return s
}

// written says why a pattern of a key is not well formed or can match nothing, and what to write; empty when it can.
func written(key, p string) (why, hint string) {
	if why = patternFault(p); why != "" {
		return why, "write an exact name or prefix.*; leave the key out to match anything"
	}
	if why, hint = blankFault(p); why == "" && key == "action" {
		return actionFault(p)
	}
	return why, hint
}

func (l *policyLoader) kind(n *doc.Node) Kind {
	k := Kind{Origin: l.origin(n)}
	if l.Table(n, "agents", "kind", "parent") {
		l.Require(n, "kind")
		k.Name, _ = l.String(n.Get("kind"), "kind")
		k.Parent, _ = l.String(n.Get("parent"), "parent")
	}
	return k
}

// check turns what is wrong with the whole into faults of the file.
func (l *policyLoader) check(p *Policy) {
	for _, err := range p.checkKinds() {
		at := l.doc.Root.Pos
		if k := (*KindError)(nil); errors.As(err, &k) {
			at = doc.Pos{Line: k.Origin.Line, Column: k.Origin.Column}
			k.Origin = pawl.Origin{}
		}
		l.Fault(at, "", "%v", err)
	}
}
