package claude

import (
	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/hostfile"
)

// A merger joins handlers that their host runs once however often they match.
type merger struct {
	entries []dialect.Entry
	at      map[string]int
	found   []found
}

// found is one entry and what it is made of.
type found struct {
	dialect.Entry
	definition []hostfile.Field
	match      pawl.Matcher
	base       pawl.Hook
	handler    func(name string) pawl.Handler
	absent     bool
}

func (l *merger) add(h hostfile.Handler, e found) {
	key := h.Event.Name + string(hostfile.Definition(nil, e.definition))
	if i, dup := l.at[key]; dup {
		first := &l.found[i]
		first.Also = append(first.Also, e.base.Origin)
		if e.Matcher != first.Matcher || e.absent != first.absent {
			first.match = hostfile.Either(first.match, e.match)
			first.Matcher = shown(first.Matcher) + " or " + shown(e.Matcher)
			first.absent = false
		}
		l.entries[i] = first.build(h)
		first.Entry = l.entries[i]
		return
	}
	if l.at == nil {
		l.at = map[string]int{}
	}
	l.at[key] = len(l.found)
	e.Entry = e.build(h)
	l.found = append(l.found, e)
	l.entries = append(l.entries, e.Entry)
}

// shown spells a matcher that accepts everything.
func shown(matcher string) string {
	if matcher == "" {
		return "*"
	}
	return matcher
}

// build makes the entry. Its hash is over every matcher, so that none is added to a handler unseen.
func (e found) build(h hostfile.Handler) dialect.Entry {
	matcher := &e.Matcher
	if e.absent {
		matcher = nil
	}
	e.Hash = hostfile.Hash(h.Event.Label, e.definition, matcher)
	e.Build = func(name string) pawl.Hook {
		hook := e.base
		hook.Name, hook.Match, hook.Handler = name, e.match, e.handler(name)
		return hook
	}
	if e.Hook.Name != "" {
		e.Rename(e.Hook.Name)
		return e.Entry
	}
	return h.Entry(e.Entry)
}
