package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/internal/doc"
)

// storeVersion is the form of the trust store that this package reads and writes.
const storeVersion = 1

// A trustStore is pawl's own: a private JSON file, changed by the operations of a [Set] alone and never by a
// run. A file that does not exist is an empty store.
type trustStore struct {
	path string
	home string // the user's home directory; empty: unknown
}

// A StoreError says why a trust store cannot be believed. Nothing is trusted by such a store.
type StoreError struct {
	Path string
	Err  error
}

func (e *StoreError) Error() string {
	var at *doc.Fault
	if e.Path == "" || errors.As(e.Err, &at) { // which names the file
		return "trust store: " + e.Err.Error()
	}
	return "trust store " + e.Path + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *StoreError) Unwrap() error { return e.Err }

// ledger is what a trust store holds.
type ledger struct {
	Version  int               `json:"version"`
	Hooks    map[string]ticket `json:"hooks"`    // by key
	Projects map[string]folder `json:"projects"` // by real path
}

// ticket is what was decided about one hook. What is not set was not decided, and a host's store may say.
type ticket struct {
	Definition string            `json:"definition,omitzero"` // digest of the accepted definition
	Scripts    map[string]string `json:"scripts,omitzero"`    // digests of the scripts it names, as it names them
	Revoked    bool              `json:"revoked,omitzero"`    // not trusted, whatever a host's store says
	Enabled    *bool             `json:"enabled,omitzero"`
	Dir        string            `json:"dir,omitzero"`  // the working directory it was accepted in
	File       string            `json:"file,omitzero"` // where it was found, and what is missed with it
	Trigger    pawl.Trigger      `json:"trigger,omitzero"`
	Refuses    bool              `json:"refuses,omitzero"` // it had a say: where its trigger can refuse, its failure does
	Name       string            `json:"name,omitzero"`    // for people who read the file
	Command    string            `json:"command,omitzero"`
}

// folder is what was decided about a project.
type folder struct {
	Trusted bool `json:"trusted"`
}

func emptyLedger() *ledger {
	return &ledger{Version: storeVersion, Hooks: map[string]ticket{}, Projects: map[string]folder{}}
}

func (s trustStore) fail(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) && p.Path == s.path {
		err = fmt.Errorf("%s: %w", p.Op, p.Err)
	}
	return &StoreError{Path: s.path, Err: err}
}

// load reads the store.
func (s trustStore) load(d disk) (*ledger, error) {
	if s.path == "" {
		return emptyLedger(), nil
	}
	info, err := d.stat(s.path)
	if errors.Is(err, fs.ErrNotExist) && !d.exists(s.path) {
		return emptyLedger(), nil
	}
	if err == nil && d.fsys == nil {
		err = s.private(info)
	}
	if err != nil {
		return nil, s.fail(err)
	}
	data, err := d.read(s.path)
	if err != nil {
		return nil, s.fail(err)
	}
	l, err := decodeLedger(s.path, data)
	if err != nil {
		return nil, s.fail(err)
	}
	return l, nil
}

// private reports who else than the user may change the store, or put another in its place: by the file, by its
// folder, by those above it up to the user's home; and where it is a link, by the file it leads to.
func (s trustStore) private(info fs.FileInfo) error {
	if info != nil {
		if err := private(s.path, info, false); err != nil {
			return err
		}
	}
	if err := privateFolders(s.path, s.home); err != nil {
		return err
	}
	d := disk{}
	return privateFolders(d.real(s.path), d.real(s.home))
}

// privateFolders looks at the folder of a file and those above it: up to home, or, outside of it, one more.
func privateFolders(file, home string) error {
	dir := filepath.Dir(file)
	last := filepath.Dir(dir)
	if home != "" && within(home, dir) {
		last = home
	}
	for name := dir; ; name = filepath.Dir(name) {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if err := private(name, info, name != dir); err != nil {
			return err
		}
		if name == last || filepath.Dir(name) == name {
			return nil
		}
	}
}

// decodeLedger refuses what it does not know: a member that was skipped might have been a "no".
func decodeLedger(path string, data []byte) (*ledger, error) {
	d, faults := doc.ParseUpTo(maxFile, path, data, doc.JSON)
	if len(faults) > 0 {
		return nil, faults[0]
	}
	l := new(ledger)
	if err := json.Unmarshal(data, l, json.RejectUnknownMembers(true)); err != nil {
		return nil, misread(d, err)
	}
	if l.Version != storeVersion {
		return nil, fmt.Errorf("version %d, want %d: it was written by another version of pawl", l.Version, storeVersion)
	}
	if l.Hooks == nil {
		l.Hooks = map[string]ticket{}
	}
	if l.Projects == nil {
		l.Projects = map[string]folder{}
	}
	return l, nil
}

// misread says at its place what is not as in a trust store.
func misread(d *doc.Document, err error) error {
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return err
	}
	n, at, name := d.Root, d.Root.Pos, ""
	for part := range semantic.JSONPointer.Tokens() {
		if f := n.Field(part); f != nil {
			n, at, name = f.Value, f.Pos, part
		}
	}
	if errors.Is(err, json.ErrUnknownName) {
		return d.FaultAt(at, "unknown key "+quote(name), "it was written by another version of pawl")
	}
	return d.FaultAt(at, quote(name)+" is of another kind than in a trust store", "")
}

// update changes the store: read, change and write under a lock, so that two processes do not lose one
// another's decisions; the new file takes the old one's place at once and whole.
func (s trustStore) update(change func(*ledger) error) error {
	if s.path == "" {
		return &StoreError{Err: errors.New("there is no home directory to keep it in")}
	}
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return s.fail(err)
	}
	if err := s.private(nil); err != nil {
		return s.fail(err)
	}
	guard, err := os.OpenFile(s.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return s.fail(err)
	}
	defer guard.Close()
	if err := lock(guard); err != nil {
		return s.fail(err)
	}
	l, err := s.load(disk{})
	if err != nil {
		return err
	}
	if err := change(l); err != nil {
		return err
	}
	if err := s.write(l); err != nil {
		return s.fail(err)
	}
	return nil
}

func (s trustStore) write(l *ledger) (err error) {
	data, err := json.Marshal(l, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	target := disk{}.real(s.path) // a link to the store stays a link
	tmp, err := os.CreateTemp(filepath.Dir(target), ".trust-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if _, err = tmp.Write(append(data, '\n')); err != nil {
		return err
	}
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	if err = os.Rename(tmp.Name(), target); err != nil {
		return err
	}
	return syncDir(filepath.Dir(target))
}

// accepts reports whether t accepts exactly this definition with exactly these scripts.
func (t ticket) accepts(definition string, scripts map[string]string, definitionOnly bool) bool {
	if t.Revoked || t.Definition == "" || t.Definition != definition {
		return false
	}
	return definitionOnly || maps.Equal(t.Scripts, scripts)
}

// changed says what is not as it was accepted, for people: the same command names other files in another working
// directory, dir, and nobody changed those.
func (t ticket) changed(definition string, scripts map[string]string, dir string) string {
	if t.Definition != definition {
		return "its definition changed since it was accepted"
	}
	var words []string
	moved := t.Dir != "" && t.Dir != dir
	note := func(word, what string) {
		words = append(words, word+" "+what)
		moved = moved && relative(word)
	}
	for _, word := range sortedKeys(scripts) {
		switch was, ok := t.Scripts[word]; {
		case !ok:
			note(word, "is new")
		case was != scripts[word]:
			note(word, "changed")
		}
	}
	for _, word := range sortedKeys(t.Scripts) {
		if _, ok := scripts[word]; !ok {
			note(word, "is gone")
		}
	}
	if moved {
		return fmt.Sprintf("it was accepted in %s and names other files in the working directory %s: %s", t.Dir, dir, strings.Join(words, ", "))
	}
	return "a script changed since it was accepted: " + strings.Join(words, ", ")
}

// relative reports a script's word that stands for one file here and another there.
func relative(word string) bool {
	word = strings.TrimLeft(word, `"'`)
	for _, here := range []string{"$PWD", "${PWD}", "$(pwd)", "`pwd`"} {
		if strings.HasPrefix(word, here) {
			return true
		}
	}
	return word != "" && !strings.ContainsAny(word[:1], "/~$`") && !filepath.IsAbs(word)
}
