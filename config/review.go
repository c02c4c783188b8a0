package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl/internal/doc"
)

// The reasons for which an operation on a hook is refused.
var (
	ErrUnknown = errors.New("no such hook")
	ErrManaged = errors.New("it is managed: trusted by policy, and not a person's to change")
	ErrGone    = errors.New("it is not there any more, and can only be revoked, which forgets it")
	ErrDigest  = errors.New("its digest is another one now: review it again")
)

// A ReviewError says which hook an operation was refused for. Nothing was written.
type ReviewError struct {
	Name string
	Err  error
}

func (e *ReviewError) Error() string { return "hook " + e.Name + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *ReviewError) Unwrap() error { return e.Err }

// StorePath returns where the operations write: $XDG_STATE_HOME/pawl/trust.json, by default below
// <home>/.local/state.
func (s *Set) StorePath() string { return s.store.path }

// Accept writes down that hooks were reviewed, as they are in s: their definition and the content of the
// scripts they name. Each name may be NAME@DIGEST, which holds it to that digest. It returns the entries as
// they now stand. Where one of the names is at fault nothing is written, and every fault is returned.
// Accepting a hook does not enable it, nor does it trust its folder.
func (s *Set) Accept(names ...string) ([]Entry, error) {
	return s.change(names, s.find, func(t *ticket, e *Entry) {
		t.Definition, t.Scripts, t.Revoked = e.Hash, scriptDigests(e.Scripts), false
		t.Name, t.Command, t.Dir = e.Hook.Name, e.shown(), s.dir
		t.File, t.Trigger, t.Refuses = e.found, e.Hook.On, hasSay(e.Hook)
		e.Status, e.By = Trusted, ByStore
	})
}

// AcceptAll accepts every hook that is not trusted. None is no error.
func (s *Set) AcceptAll() ([]Entry, error) {
	var names []string
	for _, e := range s.Entries {
		if e.Status == Untrusted || e.Status == Modified {
			names = append(names, e.Hook.Name+"@"+e.Digest)
		}
	}
	return s.Accept(names...)
}

// Revoke takes trust away, a host's included. A hook that is gone is forgotten.
func (s *Set) Revoke(names ...string) ([]Entry, error) {
	return s.change(names, s.findEver, func(t *ticket, e *Entry) {
		if e.Status == Gone {
			return // and so is its ticket
		}
		*t = ticket{Revoked: true, Enabled: t.Enabled, Name: e.Hook.Name, Command: e.shown()}
		e.Status, e.By = Untrusted, ""
	})
}

// RevokeAll takes trust away from every hook that is not managed.
func (s *Set) RevokeAll() ([]Entry, error) {
	var names []string
	for _, e := range slices.Concat(s.Entries, s.Gone) {
		if !e.Managed && e.By != ByCaller {
			names = append(names, e.Hook.Name)
		}
	}
	return s.Revoke(names...)
}

// Enable lets hooks run that a person turned off. It gives no trust.
func (s *Set) Enable(names ...string) ([]Entry, error) { return s.turn(true, names) }

// Disable keeps hooks from running, whatever their trust. A managed hook cannot be disabled.
func (s *Set) Disable(names ...string) ([]Entry, error) { return s.turn(false, names) }

func (s *Set) turn(on bool, names []string) ([]Entry, error) {
	return s.change(names, s.find, func(t *ticket, e *Entry) {
		t.Enabled, t.Name = &on, e.Hook.Name
		e.Enabled = on
	})
}

// change applies one change to the tickets of all names, or to none. Of a hook that is gone the ticket goes too.
func (s *Set) change(names []string, find func(string) (Entry, error), apply func(*ticket, *Entry)) ([]Entry, error) {
	var entries []Entry
	var errs []error
	for _, arg := range names {
		e, err := find(arg)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		entries = append(entries, e)
	}
	if err := errors.Join(errs...); err != nil || len(entries) == 0 {
		return nil, err
	}
	err := s.store.update(func(l *ledger) error {
		for i := range entries {
			t := l.Hooks[entries[i].Key]
			apply(&t, &entries[i])
			l.Hooks[entries[i].Key] = t
			if entries[i].Status == Gone {
				delete(l.Hooks, entries[i].Key)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// find looks NAME or NAME@DIGEST up.
func (s *Set) find(arg string) (Entry, error) {
	e, err := s.findEver(arg)
	if err == nil && e.Status == Gone {
		return Entry{}, &ReviewError{e.Hook.Name, ErrGone}
	}
	return e, err
}

// findEver looks NAME or NAME@DIGEST up, of a hook that is there or was.
func (s *Set) findEver(arg string) (Entry, error) {
	name, digest, held := strings.Cut(arg, "@")
	e, ok := entryOf(slices.Concat(s.Entries, s.Gone), name)
	switch {
	case !ok:
		return Entry{}, &ReviewError{cmp.Or(name, arg), s.unknown(name)}
	case e.Managed:
		return Entry{}, &ReviewError{name, ErrManaged}
	case held && strings.TrimPrefix(digest, digestPrefix) != strings.TrimPrefix(e.Digest, digestPrefix):
		return Entry{}, &ReviewError{name, fmt.Errorf("%w (%s)", ErrDigest, e.Digest)}
	}
	return e, nil
}

// unknown says that there is no such hook, and which one was meant perhaps.
func (s *Set) unknown(name string) error {
	var names []string
	for _, e := range slices.Concat(s.Entries, s.Gone) {
		names = append(names, e.Hook.Name)
	}
	if hint := doc.DidYouMean(name, names...); hint != "" {
		return fmt.Errorf("%w: %s", ErrUnknown, hint)
	}
	return ErrUnknown
}

// AcceptProject trusts a folder: hooks found in it may be accepted and then run. It returns the folder as
// written down: its real path, and of a linked worktree the root checkout's.
func (s *Set) AcceptProject(dir string) (string, error) { return s.decide(dir, true) }

// RevokeProject marks a folder as untrusted, whatever a host's settings say of it.
func (s *Set) RevokeProject(dir string) (string, error) { return s.decide(dir, false) }

func (s *Set) decide(dir string, trusted bool) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", &OptionError{"project", dir, errNotAbsolute}
	}
	if !(disk{}).isDir(dir) {
		return "", &OptionError{"project", dir, errNoFolder}
	}
	dir = disk{}.real(dir)
	if tree := (disk{}).checkout(dir); tree.top == dir {
		dir = tree.main
	}
	return dir, s.store.update(func(l *ledger) error {
		l.Projects[dir] = folder{Trusted: trusted}
		return nil
	})
}

// Projects returns the folders that pawl's own store decides about, and whether it trusts them.
func (s *Set) Projects() (map[string]bool, error) {
	l, err := s.store.load(s.disk)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for dir, f := range l.Projects {
		out[dir] = f.Trusted
	}
	return out, nil
}
