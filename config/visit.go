package config

import (
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
)

// visit reads what a dialect keeps in a folder, unless the folder was met before under another name.
func (l *loader) visit(p place) {
	p.spelled, p.dir = p.dir, l.disk.real(p.dir)
	l.looked[p.spelled] = p.layer
	if l.folders[p.dialect] == nil {
		l.folders[p.dialect] = &seen{disk: l.disk}
	}
	local := p.dialect == claude && p.layer == layerProject // has a file that the user's, of the same folder, has not
	if l.disk.isDir(p.dir) && (l.folders[p.dialect].first(p.dir) || local) {
		map[string]func(place){native: l.visitNative, zerocode: l.visitZeroCode, claude: l.visitClaude}[p.dialect](p)
	} else {
		l.blocked(p)
	}
	if p.redirected(l.disk) {
		l.own(p)
	}
}

// redirected reports a folder that stands for another one, of a linked worktree.
func (p place) redirected(d disk) bool { return p.config != "" && d.real(p.config) != p.dir }

// blocked reports a folder that cannot be looked into: not the same as one that is not there.
func (l *loader) blocked(p place) {
	if _, err := l.disk.stat(p.dir); err != nil && l.disk.exists(p.dir) {
		l.told(isManaged(p.layer), unread(p.dir, err))
	}
}

// add reads a file that should be there and makes a source of it. A nil result means that it could not be
// read, or that it was met before.
func (l *loader) add(p place, file, format string) *source {
	real := p.dialect + " " + l.disk.real(file)
	if l.files[real] {
		return nil
	}
	l.files[real] = true
	data, err := l.disk.read(file)
	if err != nil {
		l.told(isManaged(p.layer), unread(file, err))
		return nil
	}
	s := &source{dialect: p.dialect, place: p, found: p.found(file), Source: dialect.Source{
		Layer: p.layer, File: file, KeySource: file, Data: data, Format: format, Managed: isManaged(p.layer),
	}}
	if p.layer == layerUser && p.spelled != p.dir {
		s.hostKey = filepath.Join(p.spelled, filepath.Base(file))
	}
	l.sources = append(l.sources, s)
	return s
}

// found returns the path by which a file of p's folder was come by.
func (p place) found(file string) string {
	rel, err := filepath.Rel(p.dir, file)
	if p.spelled == "" || err != nil {
		return file
	}
	return filepath.Join(p.spelled, rel)
}

func isManaged(layer string) bool { return layer == layerManaged || layer == layerSystem }

// drop forgets the source that was added last: it turned out to hold no hooks.
func (l *loader) drop() {
	last := len(l.sources) - 1
	l.loaded[l.sources[last].found] = true
	l.sources = l.sources[:last]
}

// almost tells of a file that nobody reads, called almost like one of those that are, where none of them is: beside
// one it is a copy.
func (l *loader) almost(p place, host string, names ...string) {
	there, _ := l.disk.list(p.dir)
	if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(there, name) }) {
		return
	}
	for _, name := range there {
		file := filepath.Join(p.dir, name)
		near := doc.Nearest(name, names...)
		if p.dialect == claude && name == hooksJSON {
			near = names[0]
		}
		if near != "" && l.disk.isFile(file) {
			l.told(false, about(file, l.notRead(), "this file is not read", host+"'s is called "+near))
		}
	}
}

func (l *loader) visitZeroCode(p place) {
	l.almost(p, "ZeroCode", hooksJSON, configTOML)
	if file := filepath.Join(p.dir, hooksJSON); l.disk.exists(file) {
		l.add(p, file, dialect.JSON)
	}
	l.settingsFile(p, configTOML)
}

// settingsFile reads a config.toml: what it says of hooks in general, and its inline hooks.
func (l *loader) settingsFile(p place, name string) {
	file := filepath.Join(p.dir, name)
	if !l.disk.exists(file) {
		return
	}
	s := l.add(p, file, dialect.TOML)
	if s == nil {
		return
	}
	set, issues := readSettings(file, s.Data, l.opts.goos(), dialect.Warning)
	l.told(isManaged(p.layer), issues...)
	if !set.inline {
		l.strays(s, set)
		l.drop()
	}
	if !p.redirected(l.disk) {
		l.apply(p, set)
	}
}

// strays tells what a file without hooks says of some beside them.
func (l *loader) strays(s *source, set settings) {
	if set.document != nil { // else it is told what is wrong with it
		src := s.Source
		src.Strict = l.opts.Strict
		_, issues := l.reader(s.dialect)(src)
		l.told(s.Managed, issues...)
	}
}

// own reads the settings of a linked worktree's own folder, whose hooks stay unread: the root checkout's
// stand in their place.
func (l *loader) own(p place) {
	l.shadowed(p)
	file := filepath.Join(p.config, configTOML)
	if p.dialect != zerocode || !l.disk.exists(file) {
		return
	}
	data, err := l.disk.read(file)
	if err != nil {
		l.told(false, unread(file, err))
		return
	}
	set, issues := readSettings(file, data, l.opts.goos(), dialect.Warning)
	l.told(false, issues...)
	l.apply(p, set)
	if set.inline {
		l.differs(p, configTOML, data)
	}
}

// shadowed tells of a worktree's hook files that differ from those of the root checkout.
func (l *loader) shadowed(p place) {
	names := map[string][]string{
		native: nativeNames(), zerocode: {hooksJSON}, claude: {"settings.json", "settings.local.json"},
	}[p.dialect]
	for _, name := range names {
		if file := filepath.Join(p.config, name); l.disk.exists(file) {
			data, _ := l.disk.read(file) // what cannot be read differs
			l.differs(p, name, data)
		}
	}
}

// differs tells of a worktree's file with hooks that are not in the one which is read in its place.
func (l *loader) differs(p place, name string, data []byte) {
	other, err := l.disk.read(filepath.Join(p.dir, name))
	if err == nil && string(other) == string(data) {
		return
	}
	own, readable := l.definitions(p, name, data)
	read, _ := l.definitions(p, name, other)
	missing := slices.ContainsFunc(own, func(hook string) bool { return !slices.Contains(read, hook) })
	if missing || !readable {
		l.told(false, about(filepath.Join(p.config, name), l.notRead(),
			"its hooks are not read: a linked worktree uses those of its root checkout, "+p.dir,
			"bring them there, or name the file with --config"))
	}
}

// definitions are the hooks of a file, whatever they are called and wherever they stand in it; not ok: it does not
// load.
func (l *loader) definitions(p place, name string, data []byte) (hooks []string, ok bool) {
	entries, issues := l.reader(p.dialect)(dialect.Source{File: name, Data: data, OS: l.opts.goos()})
	for _, e := range entries {
		hooks = append(hooks, e.Event+" "+e.Hash)
	}
	return hooks, !dialect.HasErrors(issues)
}

// apply takes in what a layer's settings say, later layers over earlier ones.
func (l *loader) apply(p place, set settings) {
	if ok, _, _ := l.court.folder(p.gate); ok {
		l.switches[zerocode].say(p.layer, set.features)
	}
	if p.layer == layerUser {
		for dir, level := range set.projects {
			l.court.projects[dir] = level
		}
	}
	if p.layer == layerUser || p.layer == layerSession {
		for key, state := range set.state {
			l.court.state[key] = l.court.state[key].merge(state)
		}
	}
}

func (l *loader) visitClaude(p place) {
	if p.layer == layerSystem {
		p.layer = layerManaged
		l.claudeFile(p, filepath.Join(p.dir, "managed-settings.json"))
		for _, file := range l.inFolder(filepath.Join(p.dir, "managed-settings.d"), ".json") {
			l.claudeFile(p, file)
		}
		return
	}
	names := []string{"settings.json"}
	if p.layer == layerProject {
		names = append(names, "settings.local.json")
	}
	l.almost(p, "Claude Code", names...)
	for _, name := range names {
		l.claudeFile(p, filepath.Join(p.dir, name))
	}
}

func (l *loader) claudeFile(p place, file string) {
	if !l.disk.exists(file) {
		return
	}
	s := l.add(p, file, dialect.JSON)
	if s == nil {
		return
	}
	switched, only, issues := claudeSettings(s.Source)
	l.told(s.Managed, issues...)
	if p.layer == layerManaged && switched != nil {
		l.switches[claude].pinned = switched
	} else if ok, _, _ := l.court.folder(p.gate); ok {
		l.switches[claude].say(p.layer, switched)
	}
	if l.only == "" {
		l.only = only
	}
}

// inFolder lists the files of a folder with a given ending, in order.
func (l *loader) inFolder(dir, ending string) []string {
	if !l.disk.exists(dir) {
		return nil
	}
	names, err := l.disk.list(dir)
	if err != nil {
		l.told(true, unread(dir, err))
		return nil
	}
	var files []string
	for _, name := range names {
		if strings.HasSuffix(name, ending) {
			files = append(files, filepath.Join(dir, name))
		}
	}
	sort.Strings(files)
	return files
}

// profile reads the user's profile, which shares the folder and so the hooks.json of the user layer.
func (l *loader) profile(places []place) {
	if l.opts.Profile == "" {
		return
	}
	name, found := l.opts.Profile+"."+configTOML, false
	met := seen{disk: l.disk}
	for _, p := range places {
		p.spelled, p.dir = p.dir, l.disk.real(p.dir)
		if p.dialect != zerocode || !l.disk.exists(filepath.Join(p.dir, name)) || !met.first(p.dir) {
			continue
		}
		found = true
		l.settingsFile(p, name)
	}
	if !found {
		l.told(false, about(name, dialect.Error, "there is no such profile in the user's folders", ""))
	}
}

// session reads the overrides of this session.
func (l *loader) session() {
	if len(l.opts.Session) == 0 {
		return
	}
	data := []byte(strings.Join(l.opts.Session, "\n") + "\n")
	set, issues := readSettings(sessionFile, data, l.opts.goos(), dialect.Error)
	l.told(false, issues...)
	p := place{layer: layerSession, dialect: zerocode, dir: filepath.Dir(sessionFile)}
	l.apply(p, set)
	l.bypass = set.bypass
	if set.inline {
		l.sources = append(l.sources, &source{dialect: zerocode, place: p, Source: dialect.Source{
			Layer: layerSession, File: sessionFile, KeySource: sessionFile, Data: data, Format: dialect.TOML,
		}})
	}
}

// given reads a file that the caller named outright.
func (l *loader) given(file string) {
	name := l.opts.Dialect
	data, err := l.disk.read(file)
	if err != nil {
		l.told(false, unread(file, err))
		return
	}
	if name == "" {
		name = dialectOf(file, data)
	}
	p := place{layer: layerConfig, dialect: name, dir: filepath.Dir(file)}
	s := l.add(p, l.disk.real(file), "")
	if s == nil {
		return
	}
	s.File, s.given = file, true
	switch {
	case name == claude:
		s.own, _, _ = claudeSettings(s.Source)
	case name == zerocode && doc.FormatOf(file) == doc.TOML:
		set, issues := readSettings(file, s.Data, l.opts.goos(), dialect.Warning)
		if s.own = set.features; set.document != nil {
			l.told(false, issues...) // what does not parse its dialect says
		}
	}
}
