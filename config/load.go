package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/pawl-hooks/pawl/dialect"
	nativefile "github.com/pawl-hooks/pawl/dialect/native"
)

// Load finds the hooks that apply and decides which of them may run. Everything merges and nothing
// replaces, in this order: managed requirements, system, user, the user's profile, the project's directories
// from the root down, session overrides, plugins. A file that does not load is an error among the Set's
// Issues and takes nothing with it but itself, unless it is managed: then the load fails, and the Set holds
// no hook, only Issues. An error is otherwise about the options. Load runs nothing and writes no trust.
func Load(opts Options) (Set, error) {
	if err := opts.check(); err != nil {
		return Set{}, err
	}
	l, err := newLoader(opts)
	if err != nil {
		return Set{}, err
	}
	l.gather()
	l.switchOff()
	l.read()
	set := l.finish()
	if err := l.broken(); err != nil {
		return Set{Issues: set.Issues, store: set.store, disk: set.disk}, err
	}
	return set, nil
}

// A source is one file, or one part of a file, with what its folder and layer say about it.
type source struct {
	dialect.Source
	dialect string
	place   place
	given   bool   // named outright: trusted
	hostKey string // another spelling of KeySource, which a host may have written down
	dir     string // managed_dir, where the source has one
	vars    map[string]string
	off     string // why its hooks do not load; empty: they do
	entries int
}

// loader holds what one load knows so far.
type loader struct {
	opts  Options
	home  string
	disk  disk
	store Store
	court court
	top   string // of the working tree, for git rev-parse --show-toplevel

	sources  []*source
	issues   []dialect.Issue
	faults   []dialect.Issue // of managed files
	warnings []string
	entries  []Entry
	sourceOf []*source
	warned   atomic.Bool

	pinned   *toggle            // by requirements
	features *toggle            // by the layers, the last one that says so
	claude   map[string]*toggle // disableAllHooks by layer kind
	only     string             // who allows managed hooks alone
	folders  map[string]*seen   // by dialect
	files    map[string]bool    // real paths, by dialect
	dirs     map[string]string  // managed_dir and who said it
	bypass   bool
	refused  error // of the trust store
}

func newLoader(opts Options) (*loader, error) {
	home, err := opts.home()
	if err != nil {
		return nil, err
	}
	path, err := opts.StorePath()
	if err != nil {
		return nil, err
	}
	l := &loader{
		opts: opts, home: home, disk: disk{opts.FS}, store: Store{path},
		claude: map[string]*toggle{}, folders: map[string]*seen{}, files: map[string]bool{}, dirs: map[string]string{},
	}
	l.top = l.disk.checkout(l.disk.real(l.workdir())).top
	l.court = court{
		mode: opts.Trust, definitionOnly: opts.DefinitionOnly, disk: l.disk,
		state: map[string]hostState{}, projects: map[string]string{},
	}
	l.court.ledger, l.refused = l.store.load(l.disk)
	if l.refused != nil {
		l.issues = append(l.issues, about(path, dialect.Error, reasonOf(l.refused),
			"nothing that needs trust runs until the file is repaired or removed"))
	}
	return l, nil
}

func reasonOf(err error) string {
	var s *StoreError
	if errors.As(err, &s) {
		return "the trust store cannot be read: " + s.Err.Error()
	}
	return err.Error()
}

func (l *loader) workdir() string { return orElse(orElse(l.opts.Dir, l.opts.Root), l.home) }

// gather looks in every place and reads the files that stand there.
func (l *loader) gather() {
	l.requirements()
	if l.opts.Files != nil {
		for _, file := range l.opts.Files {
			l.given(file)
		}
	} else {
		for _, p := range l.opts.systemPlaces() {
			l.visit(p)
		}
		user := l.opts.userPlaces(l.home)
		for _, p := range user {
			l.visit(p)
		}
		l.profile(user)
		for _, p := range l.opts.projectPlaces(l.disk) {
			l.visit(p)
		}
	}
	l.session()
	for _, p := range l.opts.Plugins {
		l.plugin(p)
	}
}

// visit reads what a dialect keeps in a folder, unless the folder was met before under another name.
func (l *loader) visit(p place) {
	p.spelled, p.dir = p.dir, l.disk.real(p.dir)
	if l.folders[p.dialect] == nil {
		l.folders[p.dialect] = &seen{disk: l.disk}
	}
	if l.disk.isDir(p.dir) && l.folders[p.dialect].first(p.dir) {
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

// told keeps an issue, and remembers where it is one that fails the load.
func (l *loader) told(managed bool, issues ...dialect.Issue) {
	l.issues = append(l.issues, issues...)
	if managed && dialect.HasErrors(issues) {
		l.faults = append(l.faults, issues...)
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
	s := &source{dialect: p.dialect, place: p, Source: dialect.Source{
		Layer: p.layer, File: file, KeySource: file, Data: data, Format: format, Managed: isManaged(p.layer),
	}}
	if p.layer == layerUser && p.spelled != p.dir {
		s.hostKey = filepath.Join(p.spelled, filepath.Base(file))
	}
	l.sources = append(l.sources, s)
	return s
}

func isManaged(layer string) bool { return layer == layerManaged || layer == layerSystem }

// drop forgets the source that was added last: it turned out to hold no hooks.
func (l *loader) drop() { l.sources = l.sources[:len(l.sources)-1] }

func (l *loader) visitZeroCode(p place) {
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
		l.drop()
	}
	if !p.redirected(l.disk) {
		l.apply(p, set)
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
}

// shadowed warns of a worktree's hook files that differ from those of the root checkout.
func (l *loader) shadowed(p place) {
	names := map[string][]string{
		native: nativefile.Names(), zerocode: {hooksJSON}, claude: {"settings.json", "settings.local.json"},
	}[p.dialect]
	for _, name := range names {
		file := filepath.Join(p.config, name)
		mine, err := l.disk.read(file)
		if err != nil {
			continue
		}
		if other, err := l.disk.read(filepath.Join(p.dir, name)); err != nil || string(mine) != string(other) {
			l.told(false, about(file, dialect.Warning, "not read: a linked worktree uses the hooks of its root checkout, "+p.dir, ""))
		}
	}
}

// apply takes in what a layer's settings say, later layers over earlier ones.
func (l *loader) apply(p place, set settings) {
	if ok, _ := l.court.folder(p.gate); ok && set.features != nil {
		l.features = set.features
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
	l.claudeFile(p, filepath.Join(p.dir, "settings.json"))
	if p.layer == layerProject {
		l.claudeFile(p, filepath.Join(p.dir, "settings.local.json"))
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
	disable, only := claudeSettings(s.Source)
	if ok, _ := l.court.folder(p.gate); ok && disable != nil {
		kind := layerUser
		if p.layer == layerManaged {
			kind = layerManaged
		}
		l.claude[kind] = disable
	}
	if only != "" && p.layer == layerManaged && l.only == "" {
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
		name = DialectOf(file, data)
	}
	p := place{layer: layerConfig, dialect: name, dir: filepath.Dir(file)}
	s := l.add(p, l.disk.real(file), "")
	if s == nil {
		return
	}
	s.File, s.given = file, true
}

// broken returns what fails the load: a managed file that did not load.
func (l *loader) broken() error {
	if len(l.faults) == 0 {
		return nil
	}
	return fmt.Errorf("managed hooks do not load: %w", &dialect.IssueError{Issues: slices.Clone(l.faults)})
}
