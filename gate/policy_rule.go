package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl"
)

// A Ruling is what a policy says of an action. The zero Ruling is Deny. A smaller one is stricter.
type Ruling uint8

// The rulings, from the strictest on.
const (
	Deny           Ruling = iota
	AgentThenHuman        // a reviewer looks first, and a person decides
	Ask                   // a person decides
	AgentReview           // a reviewer decides
	Allow
)

var rulingWords = [...]string{"deny", "agent_then_human", "ask", "agent_review", "allow"}

func (r Ruling) String() string {
	if int(r) < len(rulingWords) {
		return rulingWords[r]
	}
	return fmt.Sprintf("ruling(%d)", uint8(r))
}

// MarshalText writes the ruling's word.
func (r Ruling) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a ruling's word; a word it does not know is an error.
func (r *Ruling) UnmarshalText(b []byte) error {
	i := slices.Index(rulingWords[:], string(b))
	if i < 0 {
		return fmt.Errorf("unknown decision %q, want one of %s", b, strings.Join(rulingWords[:], ", "))
	}
	*r = Ruling(i)
	return nil
}

// A Rule says what becomes of the actions it matches. Each of its four patterns is an exact name or
// "prefix.*", which matches every name below the prefix and not the prefix itself; an empty one matches
// anything. The zero Rule denies everything.
type Rule struct {
	Action    string // exec.path.jq
	Tool      string // "hook" for the program of a hook
	Model     string
	AgentKind string // main, sub, or the type of an agent
	Decision  Ruling
	Origin    pawl.Origin // where it was written; shown by explain
}

// String shows the rule as it could be written on one line.
func (r Rule) String() string {
	var b strings.Builder
	for _, f := range r.fields() {
		if f.pattern != "" {
			fmt.Fprintf(&b, "%s=%s ", f.name, f.pattern)
		}
	}
	return b.String() + "decision=" + r.Decision.String()
}

type ruleField struct{ name, pattern string }

// fields lists the patterns in the order in which one outweighs the next.
func (r Rule) fields() [4]ruleField {
	return [4]ruleField{{"action", r.Action}, {"tool", r.Tool}, {"model", r.Model}, {"agent_kind", r.AgentKind}}
}

// fault says what is wrong with the rule: the field and why; empty when nothing is.
func (r Rule) fault() (field, why string) {
	for _, f := range r.fields() {
		if why := patternFault(f.pattern); f.pattern != "" && why != "" {
			return f.name, why
		}
	}
	if int(r.Decision) >= len(rulingWords) {
		return "decision", "unknown decision"
	}
	return "", ""
}

// patternFault says why a pattern is not well formed; empty when it is.
func patternFault(p string) string {
	stem := strings.TrimSuffix(p, ".*")
	switch {
	case p == "":
		return "empty"
	case p == "*":
		return `a bare "*" is no pattern: leave the field out to match anything`
	case strings.ContainsRune(p, 0):
		return "holds a NUL byte"
	case stem == "" || stem == "*":
		return `nothing before ".*"`
	case strings.Contains(stem, "*"):
		return `"*" may stand only at the end, after a dot`
	}
	return ""
}

// matchPattern reports whether the name is one that p speaks of.
func matchPattern(p, name string) bool {
	if p == "" {
		return true
	}
	if stem, ok := strings.CutSuffix(p, "*"); ok {
		return len(name) > len(stem) && strings.HasPrefix(name, stem)
	}
	return p == name
}

// weight orders patterns by how closely they name a thing: nothing, a prefix by its segments, a name.
func weight(p string) int {
	switch {
	case p == "":
		return 0
	case strings.HasSuffix(p, ".*"):
		return strings.Count(p, ".")
	}
	return math.MaxInt
}

// beats reports whether r decides where both r and o match: the closer one does, field by field, and of
// two equally close the stricter.
func (r *Rule) beats(o *Rule) bool {
	rf, of := r.fields(), o.fields()
	for i := range rf {
		if a, b := weight(rf[i].pattern), weight(of[i].pattern); a != b {
			return a > b
		}
	}
	return r.Decision < o.Decision
}

// match reports whether the rule speaks of q.
func (r *Rule) match(q Query) bool {
	return matchPattern(r.Action, q.Action) && matchPattern(r.Tool, q.Tool) &&
		matchPattern(r.Model, q.Model) && matchPattern(r.AgentKind, q.AgentKind)
}

// closest returns the rule that decides q among rules, or nil where none speaks of it.
func closest(rules []Rule, q Query) *Rule {
	var best *Rule
	for i := range rules {
		if r := &rules[i]; r.match(q) && (best == nil || r.beats(best)) {
			best = r
		}
	}
	return best
}

// ShippedDefaults returns the rules that stand behind a policy's own: programs of the path, of the
// workspace and of the development shell may run. What no rule names asks.
func ShippedDefaults() []Rule {
	return []Rule{
		{Action: "exec.path.*", Decision: Allow},
		{Action: "exec.workspace.*", Decision: Allow},
		{Action: "exec.devshell.*", Decision: Allow},
	}
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
