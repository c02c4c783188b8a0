package doc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonReader builds the tree from jsontext's tokens. It looks for duplicate names itself: all of them, with
// the place of the first.
type jsonReader struct {
	doc    *Document
	dec    *jsontext.Decoder
	faults Faults
}

func (d *Document) parseJSON() (*Node, Faults) {
	if d.Format == JSONC {
		d.plain = plainJSON(d.source)
	}
	r := &jsonReader{doc: d, dec: jsontext.NewDecoder(bytes.NewBuffer(d.plain), jsontext.AllowDuplicateNames(true))}
	root, err := r.value(0)
	if err == nil {
		err = r.end()
	}
	if err != nil {
		r.faults = append(r.faults, r.fault(err))
	}
	return root, r.faults
}

// end expects the end of the file.
func (r *jsonReader) end() error {
	at := r.next()
	if _, err := r.dec.ReadToken(); errors.Is(err, io.EOF) {
		return nil
	}
	if bytes.HasPrefix(r.doc.plain[at:], []byte("/")) {
		return r.doc.comment(at)
	}
	return r.doc.FaultAt(r.doc.pos(at), "something follows the end of the document", "a file holds one value")
}

// next returns the offset of the next token, or of the end.
func (r *jsonReader) next() int {
	at := int(r.dec.InputOffset())
	for at < len(r.doc.plain) && strings.IndexByte(" \t\r\n,:", r.doc.plain[at]) >= 0 {
		at++
	}
	return at
}

func (r *jsonReader) value(depth int) (*Node, error) {
	kind := r.dec.PeekKind()
	if kind == '{' || kind == '[' {
		return r.nest(kind, depth+1)
	}
	raw, err := r.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(r.dec.InputOffset())
	n := &Node{Text: string(raw), start: end - len(raw), end: end}
	n.Pos = r.doc.pos(n.start)
	switch raw.Kind() {
	case 't', 'f':
		n.Kind = Bool
	case '0':
		n.Kind = Int
		if bytes.ContainsAny(raw, ".eE") {
			n.Kind = Float
		}
	case '"':
		text, _ := jsontext.AppendUnquote(nil, raw) // ReadValue has checked it
		n.Kind, n.Text = String, string(text)
	}
	return n, nil
}

func (r *jsonReader) nest(kind jsontext.Kind, depth int) (*Node, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, err
	}
	n := &Node{Kind: List, start: int(r.dec.InputOffset()) - 1}
	n.Pos = r.doc.pos(n.start)
	if depth > MaxDepth {
		return nil, r.doc.FaultAt(n.Pos, fmt.Sprintf("nested deeper than %d", MaxDepth), "")
	}
	fill := r.items
	if kind == '{' {
		n.Kind, fill = Table, r.fields
	}
	if err := fill(n, depth); err != nil {
		return nil, err
	}
	_, err := r.dec.ReadToken()
	n.end = int(r.dec.InputOffset())
	return n, err
}

func (r *jsonReader) items(n *Node, depth int) error {
	for r.dec.PeekKind() != ']' {
		item, err := r.value(depth)
		if err != nil {
			return err
		}
		n.Items = append(n.Items, item)
	}
	return nil
}

func (r *jsonReader) fields(n *Node, depth int) error {
	for r.dec.PeekKind() != '}' {
		key, err := r.value(depth)
		if err != nil {
			return err
		}
		value, err := r.value(depth)
		if err != nil {
			return err
		}
		if first := n.Field(key.Text); first != nil {
			r.faults = append(r.faults, r.doc.duplicate(key.Text, key.Pos, first.Pos))
			continue
		}
		n.add(Field{Name: key.Text, Pos: key.Pos, Value: value})
	}
	return nil
}

func (d *Document) duplicate(name string, at, first Pos) *Fault {
	return d.FaultAt(at, "duplicate key "+Quote(name), fmt.Sprintf("the first is at line %d, column %d; keep one", first.Line, first.Column))
}

// fault puts an error of the decoder at its place and says how to mend the usual slips.
func (r *jsonReader) fault(err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	at := r.next()
	var s *jsontext.SyntacticError
	if errors.As(err, &s) {
		at, err = int(s.ByteOffset), s.Err
	}
	at = min(max(at, 0), len(r.doc.plain))
	rest := r.doc.plain[at:]
	switch {
	case len(bytes.TrimSpace(r.doc.plain)) == 0:
		return r.doc.FaultAt(Pos{1, 1}, "the file is empty", "an empty JSON file is written {}")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		at = len(bytes.TrimRight(r.doc.plain, " \t\r\n"))
		return r.doc.FaultAt(r.doc.pos(at), "the file ends in the middle of a value", "a bracket or a quote is not closed")
	}
	return r.slip(at, rest, err)
}

// slip names the usual ways of writing what is not JSON.
func (r *jsonReader) slip(at int, rest []byte, err error) *Fault {
	before := bytes.TrimRight(r.doc.plain[:at], " \t\r\n")
	rest = bytes.TrimLeft(rest, " \t\r\n")
	closing := bytes.TrimLeft(rest, " \t\r\n,")
	closes := len(closing) > 0 && (closing[0] == '}' || closing[0] == ']')
	behind, comma := bytes.HasSuffix(before, []byte(",")), bytes.HasPrefix(rest, []byte(","))
	message, hint := err.Error(), ""
	switch {
	case behind && comma:
		message, hint = "two commas", "remove one"
	case closes && (behind || comma):
		if behind {
			at = len(before) - 1
		}
		message, hint = "a comma before the closing bracket", "remove the comma; JSON has no trailing comma"
	case bytes.HasPrefix(rest, []byte("/")):
		return r.doc.comment(at)
	case bytes.HasPrefix(rest, []byte("'")):
		hint = "write strings in double quotes"
	case len(rest) > 0 && rest[0] == '"':
		hint = "a comma is missing before it, perhaps"
	case len(rest) > 0 && strings.HasSuffix(message, "at start of value") && (rest[0]|0x20 >= 'a' && rest[0]|0x20 <= 'z' || rest[0] == '_'):
		hint = "write keys and texts in double quotes"
	}
	return r.doc.FaultAt(r.doc.pos(at), strings.TrimPrefix(message, "jsontext: "), hint)
}

func (d *Document) comment(at int) *Fault {
	return d.FaultAt(d.pos(at), "a comment", "JSON has no comments; remove it, or write the file in TOML")
}

// plainJSON blanks the comments and trailing commas of JSONC, so that every offset stays as it was.
func plainJSON(src []byte) []byte {
	out := bytes.Clone(src)
	comma := -1       // of a comma behind a value, with nothing but blanks since
	last := byte('[') // the last byte that was not blank
	for i := 0; i < len(out); {
		c := out[i]
		switch {
		case c == '"':
			i = endOfString(out, i)
		case bytes.HasPrefix(out[i:], []byte("//")), bytes.HasPrefix(out[i:], []byte("/*")):
			end := endOfComment(out, i)
			if end < 0 {
				return out // left as it is, the decoder objects to it
			}
			blank(out[i:end])
			i = end
			continue
		case strings.IndexByte(" \t\r\n", c) >= 0:
			i++
			continue
		default:
			i++
		}
		if comma >= 0 && (c == '}' || c == ']') {
			out[comma] = ' '
		}
		comma = -1
		if c == ',' && strings.IndexByte("[{,:", last) < 0 {
			comma = i - 1
		}
		last = c
	}
	return out
}

func endOfString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

func endOfComment(b []byte, i int) int {
	closing, width := "\n", 0
	if b[i+1] == '*' {
		closing, width = "*/", 2
	}
	n := bytes.Index(b[i+2:], []byte(closing))
	switch {
	case n >= 0:
		return i + 2 + n + width
	case width == 0:
		return len(b)
	}
	return -1
}

func blank(b []byte) {
	for i, c := range b {
		if c != '\n' && c != '\r' {
			b[i] = ' '
		}
	}
}
