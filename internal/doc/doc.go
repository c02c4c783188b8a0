// Package doc reads JSON, JSONC, TOML and ZON into one tree whose every node knows where it was written,
// so that a fault in a configuration file can be shown at its line and column.
//
// It is strict: a byte order mark, invalid UTF-8, a NUL, a key given twice, a second document, a file over
// [MaxSize] or nested deeper than [MaxDepth] is a fault, never a guess. Numbers stay as they were written.
package doc

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// The bounds of a document.
const (
	MaxSize  = 1 << 20 // bytes
	MaxDepth = 100     // lists and tables inside one another
)

// What a document that is nested too deep is told.
var (
	tooDeep = fmt.Sprintf("nested deeper than %d", MaxDepth)
	flatter = "write it flatter"
)

// A Format is a way of writing a document.
type Format string

// The formats.
const (
	JSON  Format = "JSON"
	JSONC Format = "JSONC" // JSON with comments and trailing commas
	TOML  Format = "TOML"
	ZON   Format = "ZON" // Zig object notation
)

// FormatOf tells a document's format by its file name's extension; the empty Format where it cannot.
func FormatOf(file string) Format {
	switch strings.ToLower(path.Ext(file)) {
	case ".json":
		return JSON
	case ".jsonc":
		return JSONC
	case ".toml":
		return TOML
	case ".zon":
		return ZON
	}
	return ""
}

// A Document is a parsed file. It is not changed once parsed, and may be read concurrently.
type Document struct {
	File   string // as shown in faults
	Format Format
	Root   *Node

	source []byte
	plain  []byte // the same, with what JSON does not have blanked
	text   string // source again: the lines of faults are slices of it
	starts []int  // offset of each line
}

// Parse reads data as the given format. Either it returns a document or at least one fault, never both.
// File is only for showing; data is kept and must not be changed.
func Parse(file string, data []byte, format Format) (*Document, Faults) {
	return ParseUpTo(MaxSize, file, data, format)
}

// ParseUpTo is [Parse] for what is no configuration file, and so may be larger: limit bytes.
func ParseUpTo(limit int, file string, data []byte, format Format) (*Document, Faults) {
	d := &Document{File: file, Format: format, source: data, plain: data, text: string(data)}
	d.index()
	if f := d.screen(limit); f != nil {
		return nil, Faults{f}
	}
	var root *Node
	var faults Faults
	switch format {
	case JSON, JSONC:
		root, faults = d.parseJSON()
	case TOML:
		root, faults = d.parseTOML()
	case ZON:
		root, faults = d.parseZON()
	default:
		faults = Faults{d.FaultAt(Pos{1, 1}, "the format of this file is not known", "name it .toml, .json or .zon")}
	}
	if len(faults) > 0 {
		return nil, faults.sorted()
	}
	d.Root = root
	return d, nil
}

// Raw returns the bytes that n was written as; of a JSON or JSONC document they are valid JSON. Of a TOML
// table they are nil where it was written in several places. The bytes must not be changed.
func (d *Document) Raw(n *Node) []byte {
	if n.end <= n.start {
		return nil
	}
	return d.plain[n.start:n.end]
}

var mark = []byte("\xEF\xBB\xBF")

// screen finds what is wrong with the bytes whatever the format.
func (d *Document) screen(limit int) *Fault {
	switch data := d.source; {
	case len(data) > limit:
		hint := ""
		if limit == MaxSize {
			hint = "a configuration file is at most 1 MiB"
		}
		return d.FaultAt(Pos{1, 1}, fmt.Sprintf("the file is larger than %d bytes (%d)", limit, len(data)), hint)
	case bytes.HasPrefix(data, mark):
		return d.FaultAt(Pos{1, 1}, "the file begins with a byte order mark", "save it as UTF-8 without BOM")
	case bytes.HasPrefix(data, []byte("\xFF\xFE")), bytes.HasPrefix(data, []byte("\xFE\xFF")):
		return d.FaultAt(Pos{1, 1}, "the file is UTF-16", "save it as UTF-8 without BOM")
	}
	if i := bytes.IndexByte(d.source, 0); i >= 0 { // first: of a file that is no text it says more
		return d.FaultAt(d.pos(i), "a NUL byte", "remove it; this is perhaps not a text file")
	}
	if i := invalidUTF8(d.source); i >= 0 {
		return d.FaultAt(d.pos(i), fmt.Sprintf("byte 0x%02X is not valid UTF-8", d.source[i]), "save the file as UTF-8")
	}
	return nil
}

func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
