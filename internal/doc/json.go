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
	open   []*Node // lists and tables that are not closed yet
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
	at := len(r.doc.plain) - len(bytes.TrimLeft(r.doc.plain[r.dec.InputOffset():], " \t\r\n"))
	if at == len(r.doc.plain) {
		return nil
	}
	switch {
	case r.doc.comments(at):
		return r.doc.comment(at)
	case r.doc.plain[at] == ']', r.doc.plain[at] == '}':
		return r.doc.FaultAt(r.doc.pos(at), "a closing bracket too many", "remove it")
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
		return nil, r.doc.FaultAt(n.Pos, tooDeep, flatter)
	}
	fill := r.items
	if kind == '{' {
		n.Kind, fill = Table, r.fields
	}
	r.open = append(r.open, n)
	if err := fill(n, depth); err != nil {
		return nil, err
	}
	_, err := r.dec.ReadToken()
	if n.end = int(r.dec.InputOffset()); err == nil {
		r.open = r.open[:len(r.open)-1]
	}
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
	switch {
	case len(bytes.TrimSpace(r.doc.plain)) == 0:
		return r.doc.FaultAt(Pos{1, 1}, "the file is empty", "an empty JSON file is written {}")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return r.unfinished()
	case r.doc.comments(at):
		return r.doc.comment(at)
	}
	return r.doc.slipped(jsonSlips(), strings.TrimPrefix(err.Error(), "jsontext: "), at)
}

// unfinished is the fault of a file that ends inside of something: at its beginning.
func (r *jsonReader) unfinished() *Fault {
	if at := r.next(); bytes.HasPrefix(r.doc.plain[at:], []byte(`"`)) {
		return r.doc.FaultAt(r.doc.pos(at), "the string is not closed", `close it with "`)
	}
	if len(r.open) == 0 {
		at := len(bytes.TrimRight(r.doc.plain, " \t\r\n"))
		return r.doc.FaultAt(r.doc.pos(at), "the file ends in the middle of a value", "")
	}
	n := r.open[len(r.open)-1]
	closing := map[Kind]string{List: "]", Table: "}"}[n.Kind]
	return r.doc.FaultAt(n.Pos, "the file ends inside of this "+kindWords[n.Kind], "close it with "+closing)
}

// comments reports whether a comment stands at an offset.
func (d *Document) comments(at int) bool {
	rest := string(d.plain[at:min(at+2, len(d.plain))])
	return strings.HasPrefix(rest, "#") || rest == "//" || rest == "/*"
}

func (d *Document) comment(at int) *Fault {
	message, hint := "a comment", "JSON has no comments; remove it, or write the file in TOML"
	if d.Format == JSONC {
		message, hint = "a comment that begins with #", "begin it with //"
		if d.plain[at] == '/' {
			message, hint = "the comment is not closed", "close it with */"
		}
	}
	return d.FaultAt(d.pos(at), message, hint)
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
