package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
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
	found   string  // the path it was found by; differs from File where a folder is a link
	own     *toggle // of a file named outright: what it says itself, for itself
	off     string  // why its hooks do not load; empty: they do
	entries int
}

// loader holds what one load knows so far.
type loader struct {
	opts  Options
	home  string
	disk  disk
	store trustStore
	court court
	top   string // of the working tree, for git rev-parse --show-toplevel

	sources  []*source
	issues   []dialect.Issue
	faults   []dialect.Issue // of managed files
	warnings []string
	entries  []Entry
	sourceOf []*source
	searches []search
	warned   atomic.Bool

	switches map[string]*switches // by dialect
	only     string               // who allows managed hooks alone
	folders  map[string]*seen     // by dialect
	files    map[string]bool      // real paths, by dialect
	dirs     map[string]string    // managed_dir and who said it
	bypass   bool
	refused  error // of the trust store

	looked  map[string]string // layers, by the folders that were looked into, as they were come by
	loaded  map[string]bool   // files by how they were found; false: one that has an error, or is turned off
	plugins map[string]bool   // by root; false: one whose manifest does not read
}

func newLoader(opts Options) (*loader, error) {
	home, err := opts.home()
	if err != nil {
		return nil, err
	}
	path, err := opts.storePath()
	if err != nil {
		return nil, err
	}
	l := &loader{
		opts: opts, home: home, disk: disk{opts.FS}, store: trustStore{path, home},
		switches: map[string]*switches{native: {}, zerocode: {}, claude: {}}, folders: map[string]*seen{}, files: map[string]bool{}, dirs: map[string]string{},
		looked: map[string]string{}, loaded: map[string]bool{}, plugins: map[string]bool{},
	}
	dir := l.disk.real(l.workdir())
	l.top = l.disk.checkout(dir).top
	l.court = court{
		mode: opts.Trust, definitionOnly: opts.DefinitionOnly, disk: l.disk, dir: dir,
		state: map[string]hostState{}, projects: map[string]string{},
	}
	l.court.ledger, l.refused = l.store.load(l.disk)
	if l.refused != nil {
		severity := dialect.Error
		if opts.Files != nil { // those were named outright and are trusted as given
			severity = dialect.Warning
		}
		l.issues = append(l.issues, refusal(path, severity, l.refused))
	}
	return l, nil
}

// refusal says why a trust store is not believed, at its place where it has one.
func refusal(path string, severity dialect.Severity, err error) dialect.Issue {
	issue := about(path, severity, "", "nothing that needs trust runs until the file is repaired or removed")
	var store *StoreError
	var at *doc.Fault
	switch {
	case errors.As(err, &at):
		issue.Line, issue.Column, issue.Source, err = at.Line, at.Column, at.Source, errors.New(at.Message)
	case errors.As(err, &store):
		err = store.Err
	}
	issue.Message = "the trust store cannot be read: " + err.Error()
	return issue
}

func (l *loader) workdir() string {
	return cmp.Or(cmp.Or(l.opts.Dir, l.opts.Root), cmp.Or(l.home, string(filepath.Separator)))
}

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

// told keeps an issue, and remembers where it is one that fails the load.
func (l *loader) told(managed bool, issues ...dialect.Issue) {
	l.issues = append(l.issues, issues...)
	if managed && dialect.HasErrors(issues) {
		l.faults = append(l.faults, issues...)
	}
}

// broken returns what fails the load: a managed file that did not load.
func (l *loader) broken() error {
	if len(l.faults) == 0 {
		return nil
	}
	return fmt.Errorf("managed hooks do not load: %w", &dialect.IssueError{Issues: slices.Clone(l.faults)})
}
