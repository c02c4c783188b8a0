package doc

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// zonReader reads Zig object notation: the literals of the Zig language that stand for data. It follows the
// language reference: anonymous struct and tuple literals, strings and multi-line strings, characters,
// numbers, enum literals, true, false and null, line comments, and a comma after the last element.
type zonReader struct {
	doc    *Document
	src    []byte
	at     int
	faults Faults
}

func (d *Document) parseZON() (*Node, Faults) {
	r := &zonReader{doc: d, src: d.source}
	r.blank()
	if r.at == len(r.src) {
		return nil, Faults{d.FaultAt(Pos{1, 1}, "the file is empty", "an empty ZON file is written .{}")}
	}
	root, f := r.value(0)
	if f == nil {
		if r.blank(); r.at < len(r.src) {
			f = r.fault(r.at, "something follows the end of the document", "a file holds one value")
		}
	}
	if f != nil {
		r.faults = append(r.faults, f)
	}
	return root, r.faults
}

func (r *zonReader) fault(at int, message, hint string) *Fault {
	return r.doc.FaultAt(r.doc.pos(min(at, len(r.src))), message, hint)
}

// blank passes white space and comments.
func (r *zonReader) blank() {
	for r.at < len(r.src) {
		switch {
		case strings.IndexByte(" \t\r\n", r.src[r.at]) >= 0:
			r.at++
		case r.sees("//"):
			n := bytes.IndexByte(r.src[r.at:], '\n')
			if n < 0 {
				n = len(r.src) - r.at
			}
			r.at += n
		default:
			return
		}
	}
}

func (r *zonReader) sees(s string) bool { return bytes.HasPrefix(r.src[r.at:], []byte(s)) }

func (r *zonReader) take(s string) bool {
	if r.sees(s) {
		r.at += len(s)
		return true
	}
	return false
}

func (r *zonReader) value(depth int) (*Node, *Fault) {
	n := &Node{Pos: r.doc.pos(r.at), start: r.at}
	f := r.literal(n, depth)
	n.end = r.at
	return n, f
}

func (r *zonReader) literal(n *Node, depth int) (f *Fault) {
	switch {
	case r.at == len(r.src):
		return r.fault(r.at, "the file ends where a value is expected", "write a value: a text in double quotes, a number, .{ }")
	case r.sees(".{"):
		return r.nest(n, depth+1)
	case r.take("."):
		n.Kind = Word
		n.Text, f = r.name()
	case r.sees(`"`):
		n.Kind = String
		n.Text, f = r.quoted('"')
	case r.sees(`\\`):
		n.Kind, n.Text = String, r.lines()
	case r.sees("'"):
		return r.character(n)
	default:
		return r.bare(n)
	}
	return f
}

// nest reads .{ … }: fields if the first element is one, else items.
func (r *zonReader) nest(n *Node, depth int) *Fault {
	if depth > MaxDepth {
		return r.fault(r.at, tooDeep, flatter)
	}
	open := r.at
	r.at += len(".{")
	r.blank()
	if r.take("}") {
		n.Kind, n.either = Table, true
		return nil
	}
	n.Kind = List
	if r.field() {
		n.Kind = Table
	}
	for {
		if f := r.element(n, depth); f != nil {
			return f
		}
		r.blank()
		comma := r.take(",")
		r.blank()
		switch {
		case r.take("}"):
			return nil
		case r.at == len(r.src):
			return r.fault(open, "the file ends inside this literal", "close it with }")
		case !comma:
			return r.fault(r.at, "expected a comma or }, found "+r.glimpse(), "elements are separated by commas, and the literal ends with }")
		}
	}
}

// field reports whether a .name = stands next.
func (r *zonReader) field() bool {
	save := r.at
	defer func() { r.at = save }()
	if !r.take(".") {
		return false
	}
	if _, f := r.name(); f != nil {
		return false
	}
	r.blank()
	return r.take("=")
}

func (r *zonReader) element(n *Node, depth int) *Fault {
	if named := r.field(); named != (n.Kind == Table) {
		hint := "give every element a name, or none"
		return r.fault(r.at, "named and unnamed elements in one literal", hint)
	}
	if n.Kind == List {
		item, f := r.value(depth)
		n.Items = append(n.Items, item)
		return f
	}
	key := Field{Pos: r.doc.pos(r.at)}
	r.at++ // the dot, which field has seen
	var f *Fault
	if key.Name, f = r.name(); f != nil {
		return f
	}
	r.blank()
	r.take("=")
	r.blank()
	if key.Value, f = r.value(depth); f != nil {
		return f
	}
	if old := n.Field(key.Name); old != nil {
		r.faults = append(r.faults, r.doc.duplicate(key.Name, key.Pos, old.Pos))
		return nil
	}
	n.add(key)
	return nil
}

var zonName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)

// name reads an identifier, or any text as @"…".
func (r *zonReader) name() (string, *Fault) {
	if r.sees(`@"`) {
		r.at++
		return r.quoted('"')
	}
	name := zonName.Find(r.src[r.at:])
	if name == nil {
		return "", r.fault(r.at, "expected a name behind the dot, found "+r.glimpse(), `a name with other characters is written @"…"`)
	}
	r.at += len(name)
	return string(name), nil
}

// quoted reads a string or a character between quotes, with its escapes.
func (r *zonReader) quoted(quote byte) (string, *Fault) {
	open := r.at
	var b strings.Builder
	for r.at++; r.at < len(r.src); {
		switch c := r.src[r.at]; {
		case c == quote:
			r.at++
			return b.String(), nil
		case c == '\\':
			if f := r.escape(&b); f != nil {
				return "", f
			}
		case c == '\n' || c == '\r':
			return "", r.fault(open, "the string is not closed on its line", `write \n, or lines that each begin with \\`)
		case c < ' ' && c != '\t' || c == 0x7F:
			return "", r.fault(r.at, fmt.Sprintf("control character 0x%02X in a string", c), fmt.Sprintf(`write \x%02x`, c))
		default:
			b.WriteByte(c)
			r.at++
		}
	}
	return "", r.fault(open, "the string is not closed", "close it with a double quote")
}

var zonEscapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', '\\': '\\', '\'': '\'', '"': '"'}

var zonUnicode = regexp.MustCompile(`^\\u\{([0-9A-Fa-f]{1,6})\}`)

// escape reads one escape sequence. A \x above 7F would make bytes that are no text, and is a fault.
func (r *zonReader) escape(b *strings.Builder) *Fault {
	rest := r.src[r.at:]
	if len(rest) > 1 && zonEscapes[rest[1]] != 0 {
		b.WriteByte(zonEscapes[rest[1]])
		r.at += 2
		return nil
	}
	digits, width := "", 0
	if m := zonUnicode.FindSubmatch(rest); m != nil {
		digits, width = string(m[1]), len(m[0])
	} else if len(rest) > 3 && rest[1] == 'x' {
		digits, width = string(rest[2:4]), 4
	}
	v, err := strconv.ParseUint(digits, 16, 32)
	switch {
	case width == 0 || err != nil:
		return r.fault(r.at, "unknown escape "+Quote(string(rest[:min(2, len(rest))])), `the escapes are \n \r \t \\ \' \" \xNN \u{N}`)
	case width == 4 && rest[1] == 'x' && v > 0x7F, v > 0x10FFFF, v >= 0xD800 && v < 0xE000:
		return r.fault(r.at, "the escape "+string(rest[:width])+" is not a character", `write it as \u{…}`)
	}
	b.WriteString(string(rune(v)))
	r.at += width
	return nil
}

// lines reads a multi-line string: the rest of each line behind \\, joined by newlines.
func (r *zonReader) lines() string {
	var lines []string
	for {
		r.at += len(`\\`)
		n := bytes.IndexByte(r.src[r.at:], '\n')
		if n < 0 {
			n = len(r.src) - r.at
		}
		lines = append(lines, strings.TrimSuffix(string(r.src[r.at:r.at+n]), "\r"))
		r.at += n
		end := r.at
		if r.blank(); !r.sees(`\\`) {
			r.at = end
			return strings.Join(lines, "\n")
		}
	}
}

// character reads 'x', which is its code point.
func (r *zonReader) character(n *Node) *Fault {
	text, f := r.quoted('\'')
	if f != nil {
		return f
	}
	c, width := utf8.DecodeRuneInString(text)
	if text == "" || width != len(text) {
		return r.fault(n.start, "a character literal holds one character", "write strings in double quotes")
	}
	n.Kind, n.Text = Int, strconv.Itoa(int(c))
	return nil
}

var (
	zonField = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*[ \t]*=`)
	zonBare  = regexp.MustCompile(`^-?[A-Za-z0-9_](?:[eEpP][+-]|[A-Za-z0-9_]|\.[A-Za-z0-9_])*`)
	zonInt   = regexp.MustCompile(`^-?(0|[1-9](_?[0-9])*|0x[0-9A-Fa-f](_?[0-9A-Fa-f])*|0o[0-7](_?[0-7])*|0b[01](_?[01])*)$`)
	zonFloat = regexp.MustCompile(`^-?([0-9](_?[0-9])*(\.[0-9](_?[0-9])*)?([eE][+-]?[0-9](_?[0-9])*)?|0x[0-9A-Fa-f](_?[0-9A-Fa-f])*(\.[0-9A-Fa-f](_?[0-9A-Fa-f])*)?([pP][+-]?[0-9]+)?|inf|nan)$`)
)

// bare reads a number, true, false or null.
func (r *zonReader) bare(n *Node) *Fault {
	text := string(zonBare.Find(r.src[r.at:]))
	switch {
	case text == "null":
		n.Kind = Null
	case text == "true", text == "false":
		n.Kind = Bool
	case zonInt.MatchString(text):
		n.Kind = Int
	case zonFloat.MatchString(text) && !leadingZero(text):
		n.Kind = Float
	default:
		hint := "strings stand in double quotes, tables and lists in .{ }"
		if r.sees("{") || r.sees("[") {
			hint = "write .{ with its dot"
		}
		if zonField.Match(r.src[r.at:]) {
			hint = "a field begins with a dot: ." + text + " = …"
		}
		return r.fault(r.at, "expected a value, found "+r.glimpse(), hint)
	}
	n.Text = text
	r.at += len(text)
	return nil
}

func leadingZero(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9'
}

// glimpse shows what stands next, for messages.
func (r *zonReader) glimpse() string {
	if r.at >= len(r.src) {
		return "the end of the file"
	}
	if text := zonBare.Find(r.src[r.at:]); text != nil {
		return Quote(string(text))
	}
	_, width := utf8.DecodeRune(r.src[r.at:])
	return Quote(string(r.src[r.at : r.at+width]))
}
