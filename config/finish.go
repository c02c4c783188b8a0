package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-hooks/pawl/dialect"
)

// finish judges every entry and puts the set together.
func (l *loader) finish() Set {
	l.bothForms()
	l.rename()
	if l.bypass && l.court.mode != TrustNone {
		l.court.mode = TrustAll
	}
	set := Set{store: l.store, disk: l.disk, dir: l.court.dir}
	once := once{}
	for i := range l.entries {
		e, s := &l.entries[i], l.sourceOf[i]
		runs := l.court.judge(e, s)
		switch {
		case runs && once.repeated(e):
			runs = false
			l.told(false, e.warning(e.Reason, "")) // it is left out
		case runs:
			set.Hooks = append(set.Hooks, l.pin(e, l.searches[i]))
		case e.Enabled:
			set.Pending = append(set.Pending, *e)
			if h, ok := l.refusing(*e); ok && l.opts.Strict {
				set.Hooks = append(set.Hooks, h)
			}
		}
		l.prepare(runs, s)
	}
	set.Gone = l.gone()
	l.told(false, missed(set.Gone)...)
	for _, e := range set.Gone {
		if h, ok := l.refusing(e); ok && l.opts.Strict {
			set.Hooks = append(set.Hooks, h)
		}
	}
	set.Entries, set.Issues = l.entries, l.issues
	set.Warnings = l.warn(set)
	return set
}

// prepare makes the data directory of a plugin whose hooks run, if it is pawl's to make.
func (l *loader) prepare(runs bool, s *source) {
	own := filepath.Join(l.home, ".local", "state", "pawl", "plugins")
	if data := s.vars["PLUGIN_DATA"]; runs && l.opts.FS == nil && data != "" && within(own, data) {
		if err := os.MkdirAll(data, 0o700); err != nil {
			l.told(false, about(data, dialect.Warning, "the plugin's data directory cannot be made: "+err.Error(), ""))
		}
	}
}

// bothForms warns of a layer that writes hooks in both of ZeroCode's forms: both load.
func (l *loader) bothForms() {
	json := map[string]*source{}
	for _, s := range l.sources {
		if s.dialect != zerocode || s.entries == 0 || s.given || s.place.layer == layerPlugin {
			continue
		}
		if filepath.Base(s.File) == hooksJSON {
			json[s.place.dir] = s
			continue
		}
		if other := json[s.place.dir]; other != nil && filepath.Base(s.File) == configTOML {
			l.told(false, about(s.File, dialect.Warning, fmt.Sprintf(
				"loading hooks from both %s and %s; prefer a single representation for this layer", other.File, s.File), ""))
		}
	}
}

// rename gives every hook a name of its own. The first to ask keeps the name; the others get a number
// behind it that is nobody's name.
func (l *loader) rename() {
	taken := map[string]bool{}
	for _, e := range l.entries {
		taken[e.Hook.Name] = true
	}
	met := map[string]*Entry{}
	for i := range l.entries {
		e := &l.entries[i]
		name := e.Hook.Name
		first := met[name]
		if first == nil {
			met[name] = e
			continue
		}
		e.Rename(free(name, taken))
		met[e.Hook.Name] = e
		if first.Dialect == native || e.Dialect == native {
			l.told(false, renamed(e, name, first))
		}
	}
}

// free returns name with a number behind it that makes it nobody's, and takes it.
func free(name string, taken map[string]bool) string {
	n := 2
	for taken[fmt.Sprintf("%s-%d", name, n)] {
		n++
	}
	name = fmt.Sprintf("%s-%d", name, n)
	taken[name] = true
	return name
}

// renamed warns of a hook that does not bear the name it was given. Names of hosts' hooks are made of places, and
// nobody looks for those.
func renamed(e *Entry, name string, first *Entry) dialect.Issue {
	other := first.Hook.Origin
	return e.warning(fmt.Sprintf("the name %s is taken by the hook at %s:%d:%d: this one is called %s",
		quote(name), other.File, other.Line, other.Column, quote(e.Hook.Name)), "give one of the two another name")
}

// warn says once what a person has to know: that trust is bypassed, and which hooks wait.
func (l *loader) warn(set Set) []string {
	warnings := l.warnings
	if l.court.mode == TrustAll {
		warnings = append(warnings, "hook trust is bypassed: enabled hooks may run without review in this run")
	}
	if len(set.Pending) == 0 {
		return warnings
	}
	return append(warnings, pending(set.Pending))
}

// pending says which hooks wait, those together that wait for the same, and the command that gives it.
func pending(entries []Entry) string {
	type lack struct{ why, folder string }
	var lacks []lack
	names, first := map[lack][]string{}, map[lack]Entry{}
	for _, e := range entries {
		l := lack{e.waitsFor(), e.folder}
		if names[l] == nil {
			lacks, first[l] = append(lacks, l), e
		}
		names[l] = append(names[l], e.Hook.Name)
	}
	var parts []string
	for _, l := range lacks {
		what := ""
		switch e := first[l]; {
		case e.unread:
			what = "; see pawl trust list, then " + e.remedy(strings.Join(names[l], " "))
		case e.folder != "":
			what = "; " + e.remedy("")
		}
		parts = append(parts, waits(len(names[l]))+" and will not run"+l.why+": "+strings.Join(names[l], ", ")+what)
	}
	return strings.Join(parts, ". ")
}

// waitsFor says what is missing for e to run.
func (e *Entry) waitsFor() string {
	switch {
	case e.unread && e.folder != "":
		return " until reviewed and the folder " + e.folder + " is trusted"
	case e.unread:
		return " until reviewed"
	case e.folder != "":
		return ", though reviewed, until the folder " + e.folder + " is trusted"
	}
	return " (" + e.Reason + ")"
}

func waits(n int) string {
	if n == 1 {
		return "1 hook waits"
	}
	return fmt.Sprintf("%d hooks wait", n)
}
