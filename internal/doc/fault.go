package doc

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-hooks/pawl/internal/legible"
)

// A Fault is one thing wrong with a file, and where.
type Fault struct {
	File    string
	Line    int // from 1; 0 where the file could not be read
	Column  int // from 1, in bytes
	Message string
	Hint    string // what to write instead; may be empty
	Source  string // the text of the line, for the caret; may be empty
}

// FaultAt returns a fault at a place of d.
func (d *Document) FaultAt(at Pos, message, hint string) *Fault {
	return &Fault{File: d.File, Line: at.Line, Column: at.Column, Message: message, Hint: hint, Source: d.line(at.Line)}
}

// Error returns file:line:column: message, and the hint in parentheses.
func (f *Fault) Error() string {
	s := f.where() + ": " + f.Message
	if f.Hint != "" {
		s += " (" + f.Hint + ")"
	}
	return s
}

func (f *Fault) where() string {
	if f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
}

// Caret returns f over several lines: the message, the line with a caret below the column, and the hint.
func (f *Fault) Caret() string {
	return Caret(f.where()+": "+f.Message, f.Source, f.Column, f.Hint)
}

// Caret renders a message over the source line it is about, with a caret below the byte column (from 1),
// and a hint. Without source there is no caret, without hint no hint line. Control characters of the source
// are shown as blanks, and of a long line only what is near the column.
func Caret(message, source string, column int, hint string) string {
	var b strings.Builder
	b.WriteString(message)
	b.WriteByte('\n')
	if source != "" && column > 0 {
		line, at := window(source, column-1)
		b.WriteString("    " + line + "\n    " + strings.Repeat(" ", at) + "^\n")
	}
	if hint != "" {
		b.WriteString("    hint: " + hint + "\n")
	}
	return b.String()
}

// window cuts a line around a byte offset and returns where in it, in characters, the offset is.
func window(line string, offset int) (string, int) {
	const before, width = 60, 100 // characters
	offset = min(offset, len(line))
	from, to := offset, min(len(line), offset+width*utf8.UTFMax)
	for n := 0; from > 0 && (n < before || len(line) <= width); n++ {
		_, size := utf8.DecodeLastRuneInString(line[:from])
		from -= size
	}
	at := utf8.RuneCountInString(line[from:offset])
	runes := []rune(line[from:to])
	for i, r := range runes {
		switch {
		case r == '\t':
			runes[i] = ' '
		case legible.Hidden(r):
			runes[i] = unicode.ReplacementChar
		}
	}
	return strings.TrimRight(string(runes[:min(len(runes), width)]), " "), at
}

// Faults are all that is wrong with a file. Nil is nothing.
type Faults []*Fault

// Err returns the faults as one error, or nil where there is none.
func (fs Faults) Err() error {
	errs := make([]error, len(fs))
	for i, f := range fs {
		errs[i] = f
	}
	return errors.Join(errs...)
}

func (fs Faults) sorted() Faults {
	sort.SliceStable(fs, func(i, j int) bool {
		a, b := fs[i], fs[j]
		return Pos{a.Line, a.Column}.before(Pos{b.Line, b.Column})
	})
	return fs
}
