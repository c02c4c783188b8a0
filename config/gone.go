package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
)

// The reasons for which an accepted hook is gone.
const (
	fileGone = "the file is gone"
	hookGone = "no longer in the file"
	unnamed  = "the plugin no longer names the file"
)

// gone returns the hooks that were accepted in a place that was looked into, and not found there: somebody removed a
// check. What was turned off is missed by nobody.
func (l *loader) gone() []Entry {
	if l.court.ledger == nil {
		return nil
	}
	taken, met := map[string]bool{}, map[string]bool{}
	for _, e := range l.entries {
		taken[e.Hook.Name], met[e.Key] = true, true
	}
	var gone []Entry
	for _, key := range sortedKeys(l.court.ledger.Hooks) {
		t := l.court.ledger.Hooks[key]
		why := l.whyGone(t.File)
		if met[key] || t.Definition == "" || !enabled(t, hostState{}) || why == "" {
			continue
		}
		name := t.Name
		if taken[name] {
			name = free(name, taken)
		}
		taken[name] = true
		e := Entry{Status: Gone, Enabled: true, Digest: combine(t.Definition, t.Scripts), Reason: why}
		e.Key, e.Hash, e.Command = key, t.Definition, t.Command
		e.Hook = pawl.Hook{Name: name, On: t.Trigger, Origin: pawl.Origin{Layer: l.layerOf(t.File), File: t.File}}
		if t.Refuses {
			e.Hook.Effects = pawl.MayRefuse
		}
		gone = append(gone, e)
	}
	return gone
}

// whyGone says why a hook that was accepted in file and was not found is gone. It is empty where that is said
// already, of a file that does not load or is turned off, and where the file was not looked for.
func (l *loader) whyGone(file string) string {
	layer := l.layerOf(file)
	loaded, met := l.loaded[file]
	switch {
	case layer == "" || met && !loaded:
		return ""
	case met:
		return hookGone
	case !l.disk.exists(file):
		return fileGone
	case layer == layerPlugin:
		return unnamed
	}
	return ""
}

// layerOf returns the layer that was looked for in the folder of a file; empty: it was not looked into.
func (l *loader) layerOf(file string) string {
	for root, read := range l.plugins {
		if read && within(root, file) {
			return layerPlugin
		}
	}
	return l.looked[filepath.Dir(file)]
}

// missed warns of hooks that are gone, once for each file.
func missed(gone []Entry) []dialect.Issue {
	type loss struct{ file, why string }
	var losses []loss
	names := map[loss][]string{}
	for _, e := range gone {
		at := loss{e.Hook.Origin.File, e.Reason}
		if names[at] == nil {
			losses = append(losses, at)
		}
		names[at] = append(names[at], e.Hook.Name)
	}
	var issues []dialect.Issue
	for _, at := range losses {
		issues = append(issues, about(at.file, dialect.Warning,
			fmt.Sprintf("accepted, and no longer run: %s: %s", strings.Join(names[at], ", "), at.why),
			"put it back, or forget it: pawl trust revoke "+strings.Join(names[at], " ")))
	}
	return issues
}
