package doc

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// A Pos is a place in a file. The zero Pos is nowhere.
type Pos struct {
	Line   int // from 1
	Column int // from 1, in bytes
}

func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

func (p Pos) before(o Pos) bool {
	if p.Line != o.Line {
		return p.Line < o.Line
	}
	return p.Column < o.Column
}

// index notes where lines start.
func (d *Document) index() {
	d.starts = []int{0}
	for i, c := range d.source {
		if c == '\n' {
			d.starts = append(d.starts, i+1)
		}
	}
}

func (d *Document) pos(offset int) Pos {
	line := sort.SearchInts(d.starts, offset+1)
	return Pos{line, offset - d.starts[line-1] + 1}
}

// line returns the text of line n without its end.
func (d *Document) line(n int) string {
	if n < 1 || n > len(d.starts) {
		return ""
	}
	end := len(d.source)
	if n < len(d.starts) {
		end = d.starts[n] - 1
	}
	return strings.TrimSuffix(d.text[d.starts[n-1]:end], "\r")
}

// A Kind is what a value is. The zero Kind is null.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	Word // a ZON enum literal: .refuse
	Date // a TOML date or time
	List
	Table
)

var kindWords = [...]string{"null", "boolean", "integer", "decimal number", "string", "word", "date", "list", "table"}

// String names the kind with its article, for messages.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Int:
		return "an integer"
	}
	return "a " + kindWords[k]
}

// A Node is one value and where it stands.
type Node struct {
	Kind   Kind
	Pos    Pos
	Text   string  // of a String or Word its value, else the literal as written
	Fields []Field // of a Table, in file order
	Items  []*Node // of a List

	start, end int
	byName     map[string]int // of a large Table
	either     bool           // an empty ZON literal: a list or a table, as wanted
	explicit   bool           // a TOML table that had its own header
}

// A Field is one key of a Table.
type Field struct {
	Name  string
	Pos   Pos // of the key
	Value *Node
}

// Get returns the value of a Table's key, or nil.
func (n *Node) Get(name string) *Node {
	if f := n.Field(name); f != nil {
		return f.Value
	}
	return nil
}

// Elements returns a List's items; a nil Node has none.
func (n *Node) Elements() []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// Field returns a Table's key, or nil; so does a nil Node.
func (n *Node) Field(name string) *Field {
	if n == nil {
		return nil
	}
	if n.byName != nil {
		if i, ok := n.byName[name]; ok {
			return &n.Fields[i]
		}
		return nil
	}
	for i := range n.Fields {
		if n.Fields[i].Name == name {
			return &n.Fields[i]
		}
	}
	return nil
}

// add appends a field. A large table gets an index, so that a file of many keys is not read in quadratic time.
func (n *Node) add(f Field) {
	const large = 16
	n.Fields = append(n.Fields, f)
	switch {
	case n.byName != nil:
		n.byName[f.Name] = len(n.Fields) - 1
	case len(n.Fields) > large:
		n.byName = make(map[string]int, 2*len(n.Fields))
		for i := range n.Fields {
			n.byName[n.Fields[i].Name] = i
		}
	}
}

// Is reports whether n is of kind k. The empty literal of ZON is both a List and a Table.
func (n *Node) Is(k Kind) bool {
	return n.Kind == k || n.either && (k == List || k == Table)
}

// Int returns the value of an Int, if an int64 holds it.
func (n *Node) Int() (v int64, ok bool) {
	if n.Kind != Int {
		return 0, false
	}
	v, err := strconv.ParseInt(n.Text, 0, 64)
	return v, err == nil
}

// Bool returns the value of a Bool; false for every other kind.
func (n *Node) Bool() bool { return n.Kind == Bool && n.Text == "true" }

// Describe says what n is, for "expected …, found …".
func (n *Node) Describe() string {
	switch n.Kind {
	case Null:
		return "null"
	case String, Word:
		return "the " + kindWords[n.Kind] + " " + Quote(n.Text)
	case List, Table:
		if len(n.Items)+len(n.Fields) == 0 {
			return "an empty " + kindWords[n.Kind]
		}
		return n.Kind.String()
	}
	return "the " + kindWords[n.Kind] + " " + short(n.Text)
}
