package main

import (
	"os"
)

// A look is how text to one stream is dressed: the zero look leaves it plain.
type look struct {
	terminal bool
	colour   bool
}

// lookOf is plain for anything but a terminal, and has no colours where the person asked for none.
func lookOf(f *os.File, getenv func(string) string) look {
	info, err := f.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0 && getenv("TERM") != "dumb"
	return look{terminal: terminal, colour: terminal && getenv("NO_COLOR") == ""}
}

func (l look) good(s string) string { return l.paint("32", s) }
func (l look) bad(s string) string  { return l.paint("31", s) }
func (l look) warn(s string) string { return l.paint("33", s) }
func (l look) dim(s string) string  { return l.paint("2", s) }

func (l look) paint(code, s string) string {
	if !l.colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
