package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
)

// requirements reads the managed requirements, the highest first.
func (l *loader) requirements() {
	files := l.opts.Requirements
	if files == nil && l.opts.Files == nil {
		for _, p := range l.opts.systemPlaces() {
			if file := filepath.Join(p.dir, requirements); p.dialect == zerocode && l.disk.exists(file) {
				files = append(files, file)
			}
		}
	}
	for _, file := range files {
		l.requirement(file)
	}
}

func (l *loader) requirement(file string) {
	p := place{layer: layerManaged, dialect: zerocode, dir: filepath.Dir(file)}
	s := l.add(p, file, dialect.TOML)
	if s == nil {
		return
	}
	set, issues := readSettings(file, s.Data, l.opts.goos(), dialect.Error)
	l.told(true, issues...)
	if l.pinned == nil {
		l.pinned = set.features
	}
	if set.only && l.only == "" {
		l.only = file
	}
	if set.dir != "" {
		l.managedDir(s, set)
	}
	if !set.inline || issues != nil && set.document == nil {
		l.drop()
	}
}

// managedDir notes where managed scripts live. Two answers are one too many.
func (l *loader) managedDir(s *source, set settings) {
	const key = "hooks.managed_dir"
	for dir, file := range l.dirs {
		if dir != set.dir {
			fault := set.document.FaultAt(set.dirAt, fmt.Sprintf("%s is %s here and %s in %s", key, quote(set.dir), quote(dir), file), "")
			l.told(true, dialect.FromFault(fault, dialect.Error))
			return
		}
	}
	l.dirs[set.dir] = s.File
	s.dir = set.dir
	if filepath.IsAbs(set.dir) {
		s.KeySource = filepath.Clean(set.dir)
	}
}

// outside returns a warning for a managed command whose script is not where managed scripts live: whoever
// may write there may change what the policy runs.
func (l *loader) outside(e *Entry, s *source) []dialect.Issue {
	if s.dir == "" {
		return nil
	}
	dir := s.dir
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		dir = filepath.Join(l.home, rest)
	}
	message := ""
	for _, script := range e.Scripts {
		if !within(filepath.Clean(dir), script.File) || !within(l.disk.real(dir), l.disk.real(script.File)) {
			message = "the managed command runs " + script.File + ", outside of managed_dir " + s.dir
		}
	}
	if len(e.Scripts) == 0 && !strings.Contains(e.Command, s.dir) && !strings.Contains(e.Command, dir) {
		message = "the managed command names no script under managed_dir " + s.dir
	}
	if message == "" {
		return nil
	}
	at := e.Hook.Origin
	return []dialect.Issue{{
		Severity: dialect.Warning, File: at.File, Line: at.Line, Column: at.Column,
		Event: e.Event, Index: fmt.Sprintf("%d.%d", e.Group, e.Handler), Message: message,
		Hint: "use an absolute path under it",
	}}
}

// claudeSettings reads the switches of a settings file that hold for all hooks: disableAllHooks and, of a managed
// file, allowManagedHooksOnly, which must not be lost by a slip. What else is wrong with the file its dialect
// says.
func claudeSettings(src dialect.Source) (disable *toggle, only string, issues []dialect.Issue) {
	d, faults := doc.Parse(src.File, src.Data, doc.JSON)
	if faults != nil || !d.Root.Is(doc.Table) {
		return nil, "", nil
	}
	if n := d.Root.Get("disableAllHooks"); n != nil && n.Is(doc.Bool) {
		disable = &toggle{on: n.Bool(), at: position(src.File, n.Pos)}
	}
	if !src.Managed {
		return disable, "", nil
	}
	r := doc.NewReader(d)
	if on, _ := r.Bool(d.Root.Get("allowManagedHooksOnly"), "allowManagedHooksOnly"); on {
		only = src.File
	}
	return disable, only, dialect.FromFaults(r.Faults())
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
		l.told(false, about(at, dialect.Warning, fmt.Sprintf("%s: %s not read", what, plural(counts[why], "hooks file")), ""))
	}
}

func (l *loader) switchedOff(s *source) string {
	if s.given {
		return ""
	}
	if l.only != "" && !s.Managed {
		return l.only + ": only managed hooks are allowed"
	}
	switch s.dialect {
	case zerocode:
		if t := firstToggle(l.pinned, l.features); t != nil && !t.on {
			return t.at + ": hooks are turned off"
		}
	case claude:
		if t := firstToggle(l.claude[layerManaged], nil); t != nil && t.on {
			return t.at + ": hooks are disabled"
		}
		if t := l.claude[layerUser]; t != nil && t.on && !s.Managed {
			return t.at + ": hooks are disabled"
		}
	}
	return ""
}

func firstToggle(a, b *toggle) *toggle {
	if a != nil {
		return a
	}
	return b
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
