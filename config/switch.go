package config

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
)

// A toggle turns hooks on or off, and remembers who said so.
type toggle struct {
	on bool
	at string // file:line
}

// switches are what the layers say of one dialect's hooks in general. The zero value leaves all on.
type switches struct {
	pinned *toggle            // by policy, over every layer
	layers map[string]*toggle // by layer: the last of its files that says so
}

// say notes what a file of a layer says. A nil toggle says nothing.
func (s *switches) say(layer string, t *toggle) {
	if t == nil {
		return
	}
	if s.layers == nil {
		s.layers = map[string]*toggle{}
	}
	s.layers[layer] = t
}

// over returns the word that holds for the hooks of a layer; nil: nobody's. A switch reaches no layer above its
// own, or a repository could turn its user's guards off: a project's holds for the project alone, and a user's
// for all that is not managed. What the user turned off, a project does not turn on.
func (s *switches) over(layer string) *toggle {
	switch {
	case s.pinned != nil:
		return s.pinned
	case isManaged(layer):
		return s.layers[layerSystem]
	}
	person := cmp.Or(s.layers[layerSession], s.layers[layerUser], s.layers[layerSystem])
	own := s.layers[layerProject]
	if layer == layerProject && own != nil && s.layers[layerSession] == nil && (person == nil || person.on) {
		return own
	}
	return person
}

// notRead is how grave it is that hooks were written and not read: under Strict a check that was not read has not
// passed.
func (l *loader) notRead() dialect.Severity {
	if l.opts.Strict {
		return dialect.Error
	}
	return dialect.Warning
}

// switchOff leaves out the sources that a switch turns off, and says so once for each switch.
func (l *loader) switchOff() {
	counts, order := map[string]int{}, []string{}
	for _, s := range l.sources {
		if s.off = l.switchedOff(s); s.off != "" {
			if counts[s.off] == 0 {
				order = append(order, s.off)
			}
			counts[s.off]++
		}
	}
	for _, why := range order {
		at, what, _ := strings.Cut(why, ": ")
		l.told(false, about(at, l.notRead(), fmt.Sprintf("%s: %s not read", what, doc.Plural(counts[why], "hooks file")), ""))
	}
}

func (l *loader) switchedOff(s *source) string {
	t := s.own
	if !s.given {
		if l.only != "" && !s.Managed {
			return l.only + ": only managed hooks are allowed"
		}
		t = l.switches[s.dialect].over(s.Layer)
	}
	if t == nil || t.on {
		return ""
	}
	return t.at + ": hooks are turned off"
}
