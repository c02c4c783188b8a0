package config

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/pawl-hooks/pawl"
)

// pinned holds a program to the scripts that were accepted for it, for as long as the registry lives: an
// agent that can write to its workspace can write to the script that watches it. It looks just before the
// program starts; what changes in the blink between is beyond it.
type pinned struct {
	pawl.Program
	scripts []pin
}

// A pin is one script as it was accepted. Large files are read again only when they look different.
type pin struct {
	Script
	size    int64
	changed time.Time
}

// pinSize is the size in bytes up to which a script is read before every run.
const pinSize = 1 << 20

// Handle runs the program, unless one of its scripts is another one by now.
func (p *pinned) Handle(ctx context.Context, ev *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
	for _, s := range p.scripts {
		if err := s.check(); err != nil {
			return pawl.Decision{}, &pawl.Failure{Cause: pawl.CauseUntrusted, Err: err}
		}
	}
	return p.Program.Handle(ctx, ev, gate)
}

func (s pin) check() error {
	info, err := os.Stat(s.File)
	if err == nil && info.Size() > pinSize && info.Size() == s.size && info.ModTime().Equal(s.changed) {
		return nil
	}
	if (disk{}).script(s.File) != s.Digest {
		return fmt.Errorf("script %s changed since it was accepted", s.File)
	}
	return nil
}

// pin returns e's hook as it may run: held to its scripts where a person accepted them.
func (l *loader) pin(e *Entry) pawl.Hook {
	h := e.Hook
	program, ok := h.Handler.(pawl.Program)
	if !ok || e.By != ByStore || len(e.Scripts) == 0 || l.opts.DefinitionOnly || l.opts.FS != nil {
		return h
	}
	p := &pinned{Program: program}
	for _, s := range e.Scripts {
		held := pin{Script: s}
		if info, err := os.Stat(s.File); err == nil {
			held.size, held.changed = info.Size(), info.ModTime()
		}
		p.scripts = append(p.scripts, held)
	}
	h.Handler = p
	return h
}
