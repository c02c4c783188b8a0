package config

import (
	"cmp"

	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/dialect"
	claudefile "github.com/pawl-hooks/pawl/dialect/claude"
	zerocodefile "github.com/pawl-hooks/pawl/dialect/zerocode"
)

// A reader makes entries of a file. A file with an error gives none.
type reader func(dialect.Source) ([]dialect.Entry, []dialect.Issue)

func (l *loader) reader(name string) reader {
	return map[string]reader{native: l.readNative, zerocode: zerocodefile.Load, claude: claudefile.Load}[name]
}

// read hands every source to its dialect.
func (l *loader) read() {
	for _, s := range l.sources {
		if s.off != "" {
			l.loaded[s.found] = false
			continue
		}
		s.Strict, s.OS, s.TempDir, s.Redact = l.opts.Strict, l.opts.goos(), l.opts.TempDir, l.opts.Redact
		s.Warned, s.Switched = &l.warned, true
		if l.opts.Root != "" {
			s.Root = l.disk.real(l.opts.Root)
		}
		entries, issues := l.reader(s.dialect)(s.Source)
		l.told(s.Managed, issues...)
		s.entries = len(entries)
		l.loaded[s.found] = !dialect.HasErrors(issues)
		for _, e := range entries {
			entry := Entry{Entry: e, found: s.found}
			find := l.search(&entry, s)
			entry.Scripts, entry.Missed = l.scripts(find)
			entry.Digest = combine(entry.Hash, l.covered(entry.Scripts))
			l.entries, l.sourceOf, l.searches = append(l.entries, entry), append(l.sourceOf, s), append(l.searches, find)
			l.told(false, l.outside(&entry, s)...)
			l.told(false, entry.hidden()...)
		}
	}
}

// covered returns the scripts that acceptance covers.
func (l *loader) covered(scripts []Script) map[string]string {
	if l.opts.DefinitionOnly {
		return nil
	}
	return scriptDigests(scripts)
}

// scripts finds the files that an entry's command names, and what they hold now. Missed is as of a search.
func (l *loader) scripts(search search) (scripts []Script, missed string) {
	found, missed := search("")
	sums := l.disk.digests(found)
	for _, word := range sortedKeys(found) {
		scripts = append(scripts, Script{Word: word, File: found[word], Digest: sums[word]})
	}
	return scripts, missed
}

// A search finds the scripts of one hook's command, by the word that names each, as they stand when it runs
// in dir; empty: where the session began. Missed says why one that it names by a relative path is not found; empty:
// none is missed. It may be called concurrently.
type search func(dir string) (found map[string]string, missed string)

func (l *loader) search(e *Entry, s *source) search {
	vars := map[string]string{"HOME": l.home}
	if s.Root != "" {
		vars["CLAUDE_PROJECT_DIR"] = s.Root
	}
	for name, value := range s.vars {
		vars[name] = value
	}
	workdir := l.disk.real(l.workdir())
	f := finder{disk: l.disk, top: l.top, vars: vars, getenv: l.opts.getenv}
	f.at.bases = distinct(workdir, cmp.Or(s.Root, workdir))
	native, line, argv := e.Dialect == native, e.Command, append([]string{e.Command}, e.Args...)
	fixed := false
	if p, ok := e.Hook.Handler.(command.Program); ok && native && p.Dir != "" {
		f.at.bases, fixed = []string{against(f.at.bases[len(f.at.bases)-1], p.Dir)}, true
	}
	exec := native || e.Args != nil
	return func(dir string) (map[string]string, string) {
		f := f
		if dir != "" && !fixed {
			f.at.bases = distinct(append([]string{dir}, f.at.bases...)...)
		}
		if exec {
			f.argv(argv, !native)
		} else {
			f.line(line)
		}
		return f.found, f.missed
	}
}
