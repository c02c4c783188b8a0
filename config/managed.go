package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/docissue"
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
	if pinned := &l.switches[zerocode].pinned; *pinned == nil {
		*pinned = set.features
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
			l.told(true, docissue.Of(fault, dialect.Error))
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
	return []dialect.Issue{e.warning(message, "use an absolute path under it")}
}
