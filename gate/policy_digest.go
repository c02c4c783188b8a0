package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// Digest returns a SHA-256, in hexadecimal, of what the policy says: its rules, defaults, ceilings, kinds and
// the promises made so far. Neither their order within a layer nor where they were written counts, and the
// Namer and Chain, which are code, are not part of it.
func (p *Policy) Digest() string {
	h := sha256.New()
	layer := func(name string, lines []string) {
		slices.Sort(lines)
		fmt.Fprintf(h, "%s %d\n", name, len(lines))
		for _, line := range lines {
			fmt.Fprintf(h, "%s\n", line)
		}
	}
	layer("project", ruleLines(p.Rules))
	layer("default", ruleLines(p.defaults()))
	for _, rules := range p.Ceilings {
		layer("ceiling", ruleLines(rules))
	}
	layer("promise", ruleLines(p.Promises.all()))
	kinds := make([]string, len(p.Kinds))
	for i, k := range p.Kinds {
		kinds[i] = fmt.Sprintf("%q %q", k.Name, k.Parent)
	}
	layer("kind", kinds)
	return hex.EncodeToString(h.Sum(nil))
}

func ruleLines(rules []Rule) []string {
	lines := make([]string, len(rules))
	for i, r := range rules {
		lines[i] = fmt.Sprintf("%q %q %q %q %s", r.Action, r.Tool, r.Model, r.AgentKind, r.Decision)
	}
	return lines
}
