package wire

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// An object is a JSON object as it was written: members in order, names exact in case and possibly
// repeated. The zero object is empty.
type object []objectMember

type objectMember struct {
	name  string
	value jsontext.Value
	inner object // of one of the two members that are objects with a meaning
}

// lenient reads what can be read; whether it may be believed is another question.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// parse reads the object that b begins with, by the lenient rules, and how many bytes it has. It is nil
// where b begins with none. Beside an error stands what could be read of it, and how far that was.
func parse(b []byte) (o object, size int, err error) {
	if len(b) == 0 || b[0] != '{' {
		return nil, 0, nil
	}
	r, _ := readers.Get().(*reader)
	r.buf = *bytes.NewBuffer(b)
	r.dec.Reset(&r.buf, lenient...)
	o, err = members(&r.dec, b, 2)
	size = max(int(r.dec.InputOffset()), 1)
	r.buf = bytes.Buffer{} // the next user is to see nothing of b
	r.dec.Reset(&r.buf)
	readers.Put(r)
	return o, size, err
}

// A reader is what a text is read with, kept for the next one.
type reader struct {
	buf bytes.Buffer
	dec jsontext.Decoder
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// members reads an object whose values are slices of b, and those with a meaning in depth. Where it breaks off,
// the member that it breaks off in has an empty value, or the part of its inner object that was read.
func members(d *jsontext.Decoder, b []byte, depth int) (object, error) {
	o := object{}
	if _, err := d.ReadToken(); err != nil {
		return o, err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return o, err
		}
		m := objectMember{name: name.String(), value: jsontext.Value{}}
		if nested := m.name == "hookSpecificOutput" || m.name == "decision"; nested && depth > 0 && d.PeekKind() == '{' {
			start := d.InputOffset()
			if m.inner, err = members(d, b, depth-1); err == nil {
				m.value = jsontext.Value(bytes.TrimLeft(b[start:d.InputOffset()], ": \t\r\n"))
			}
		} else {
			var v jsontext.Value
			if v, err = d.ReadValue(); err == nil {
				m.value = jsontext.Value(b[int(d.InputOffset())-len(v) : d.InputOffset()])
			}
		}
		if o = append(o, m); err != nil {
			return o, err
		}
	}
	_, err := d.ReadToken()
	return o, err
}

// inner returns the last value written under a name as an object; nil where it is none.
func (o object) inner(name string) object {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].name == name {
			return o[i].inner
		}
	}
	return nil
}

// all returns every value written under a name.
func (o object) all(name string) []jsontext.Value {
	var list []jsontext.Value
	for _, m := range o {
		if m.name == name {
			list = append(list, m.value)
		}
	}
	return list
}

// get returns the last value written under a name; nil where there is none, or it is null.
func (o object) get(name string) jsontext.Value {
	for _, m := range slices.Backward(o) {
		if m.name == name {
			if m.value.Kind() == 'n' {
				return nil
			}
			return m.value
		}
	}
	return nil
}

// text returns the last string written under a name, and whether there is one.
func (o object) text(name string) (string, bool) { return unquote(o.get(name)) }

// first returns the first of the names' strings that is not blank.
func (o object) first(names ...string) string {
	for _, n := range names {
		if s, _ := o.text(n); strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

func unquote(v jsontext.Value) (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	b, _ := jsontext.AppendUnquote(nil, v) // invalid UTF-8 is told with U+FFFD
	return string(b), true
}

// A printed is what a program left on its standard output, as far as it is an answer.
type printed struct {
	text    []byte   // trimmed; not only JSON
	objects []object // those that speak the format, as far as they can be read
	whole   bool     // it is one object, without repeated names, and nothing else
	fault   string   // why it cannot be read, of something that looks like an answer
}

// scan reads standard output. Text looks like an answer where it begins with an object, where a line of it does,
// after a greeting of a shell's profile say, and where an object anywhere in it speaks the format.
func scan(stdout []byte, speaks func(object) bool) printed {
	stdout = bytes.TrimPrefix(bytes.TrimSpace(stdout), []byte("\uFEFF"))
	p := printed{text: bytes.TrimSpace(stdout)}
	if string(p.text) == "{}" { // most of them have nothing to say
		p.objects, p.whole = []object{{}}, true
		return p
	}
	if bytes.HasPrefix(p.text, []byte("{")) {
		o, size, err := parse(p.text)
		if p.document(size, err); err == nil && size == len(p.text) {
			p.objects = []object{o}
			return p
		}
	}
	for o, at := range find(p.text) {
		switch {
		case speaks(o):
			p.objects = append(p.objects, o)
		case at == 0 || p.text[at-1] != '\n':
			continue
		}
		p.fault = cmp.Or(p.fault, "text before the answer")
	}
	return p
}

// document says what text is that begins with an object, which was read up to size.
func (p *printed) document(size int, err error) {
	v := jsontext.Value(p.text)
	switch {
	case err != nil:
		p.fault = "not valid JSON: " + plainly(err)
	case size < len(v):
		p.fault = "more than one JSON value"
	case v.IsValid():
		p.whole = true
	case v.IsValid(jsontext.AllowInvalidUTF8(true)):
		p.fault = "text that is not UTF-8"
	default:
		p.fault = "a name is repeated"
	}
}

// plainly words a syntax error without the name of the library that found it.
func plainly(err error) string { return strings.TrimPrefix(err.Error(), "jsontext: ") }
