package config

import (
	"fmt"
	"strings"

	"github.com/pawl-hooks/pawl"
)

// once keeps Claude Code's rule that a handler which is written in several settings files runs once an
// event. A plugin's copy is another handler, and ZeroCode knows no such rule.
type once map[string][]*Entry

// repeated reports a handler that is in every way the same as one that was met before. Where only the
// matchers differ both are kept, and the later one leaves those events alone that an earlier one accepts.
func (o once) repeated(e *Entry) bool {
	if e.Dialect != claude || e.Plugin != "" {
		return false
	}
	key := fmt.Sprintf("%s %q %q %d %d", e.Event, e.Command, e.Args, e.Hook.Timeout, e.Hook.Effects)
	for _, first := range o[key] {
		if first.Digest == e.Digest {
			first.Also = append(first.Also, e.Hook.Origin)
			e.Reason = "the same handler as hook " + first.Hook.Name + "; it runs once"
			return true
		}
	}
	for _, first := range o[key] {
		e.Hook.Match = unless{match: e.Hook.Match, but: first.Hook.Match, name: first.Hook.Name}
	}
	o[key] = append(o[key], e)
	return false
}

// unless accepts what match accepts and but does not. A nil matcher accepts everything.
type unless struct {
	match, but pawl.Matcher
	name       string // of the hook that but belongs to
}

// Match reports whether the event is left to this hook.
func (u unless) Match(ev *pawl.Event) bool {
	return (u.match == nil || u.match.Match(ev)) && u.but != nil && !u.but.Match(ev)
}

// String shows the matcher and whose events it leaves alone.
func (u unless) String() string {
	var b strings.Builder
	if u.match != nil {
		b.WriteString(u.match.String() + " ")
	}
	return b.String() + "unless " + u.name + " runs"
}
