package config

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/pawl-hooks/pawl"
)

// pinned holds a program to the scripts that were accepted for it, for as long as the registry lives: an
// agent that can write to its workspace can write to the script that watches it, or beside it, and it may
// leave the folder for another one. It looks just before the program starts; what changes in the blink
// between is beyond it.
type pinned struct {
	pawl.Program
	find search
	pins map[string]pin // by word

	missed bool // a file was missed when they were accepted
}

// A pin is one script as it was accepted. Large files are read again only when they look different.
type pin struct {
	Script
	size    int64
	changed time.Time
}

// pinSize is the size in bytes up to which a script is read before every run.
const pinSize = 1 << 20

// Handle runs the program, unless one of the scripts that it would run where the event is was never accepted.
func (p *pinned) Handle(ctx context.Context, ev *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
	if err := p.check(ev.Dir); err != nil {
		return pawl.Decision{}, &pawl.Failure{Cause: pawl.CauseUntrusted, Err: err}
	}
	return p.Program.Handle(ctx, ev, gate)
}

func (p *pinned) check(dir string) error {
	found, missed := p.find(dir)
	if missed != "" && !p.missed {
		return fmt.Errorf("what it runs is not known here, as it was when the hook was accepted: %s", missed)
	}
	for _, word := range sortedKeys(p.pins) {
		if file := cmp.Or(found[word], p.pins[word].File); !p.pins[word].holds(file) {
			return p.pins[word].refusal(file)
		}
	}
	for _, word := range sortedKeys(found) {
		if _, ok := p.pins[word]; !ok {
			return fmt.Errorf("script %s was not there when the hook was accepted", found[word])
		}
	}
	return nil
}

// holds reports whether file has the content that was accepted.
func (s pin) holds(file string) bool {
	info, err := os.Stat(file)
	if err == nil && file == s.File && info.Size() > pinSize && info.Size() == s.size && info.ModTime().Equal(s.changed) {
		return true
	}
	return disk{}.script(file) == s.Digest
}

func (s pin) refusal(file string) error {
	if file != s.File {
		return fmt.Errorf("script %s is not the one that was accepted, %s", file, s.File)
	}
	return fmt.Errorf("script %s changed since it was accepted", file)
}

// pin returns e's hook as it may run: held to its scripts where a person accepted them.
func (l *loader) pin(e *Entry, find search) pawl.Hook {
	h := e.Hook
	program, ok := h.Handler.(pawl.Program)
	if !ok || e.By != ByStore || l.opts.DefinitionOnly || l.opts.FS != nil {
		return h
	}
	p := &pinned{Program: program, find: find, pins: map[string]pin{}, missed: e.Missed != ""}
	for _, s := range e.Scripts {
		held := pin{Script: s}
		if info, err := os.Stat(s.File); err == nil {
			held.size, held.changed = info.Size(), info.ModTime()
		}
		p.pins[s.Word] = held
	}
	h.Handler = p
	return h
}
