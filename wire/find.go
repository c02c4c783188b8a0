package wire

import (
	"bytes"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// find yields every object that begins somewhere in text, as far as it can be read, and where it does: at a
// line's begin or behind other text. What is within an object that can be read to its end is that object's; what
// is within one that breaks off may be an answer of its own, since nobody knows where the broken one was to end.
// However text is made, it is read a bounded number of times, not once per object in it.
func find(text []byte) iter.Seq2[object, int] {
	return func(yield func(object, int) bool) {
		for at := 0; ; {
			i := bytes.IndexByte(text[at:], '{')
			if i < 0 {
				return
			}
			at += i
			found, size := begun(text[at:])
			for _, o := range found {
				if !yield(o, at) {
					return
				}
			}
			at += size
		}
	}
}

// begun reads what begins with a brace, and says from where on b is to be searched further.
func begun(b []byte) (found []object, size int) {
	if next := bytes.TrimLeft(b[1:], " \t\r\n"); len(next) == 0 || next[0] != '"' && next[0] != '}' {
		return []object{nil}, 1 // a brace in prose or in code, most likely
	}
	o, size, err := parse(b)
	if err != nil {
		return wreck(b)
	}
	return []object{o}, size
}

// wreck reads the object that b begins with and that breaks off: what there is of it, of each object that is open
// where it does, and the whole ones that stand in those.
func wreck(b []byte) (found []object, size int) {
	w := wreckage{b: b, dec: jsontext.NewDecoder(bytes.NewBuffer(b), lenient...)}
	_, _ = w.read() // it fails as it did before
	return w.found, max(int(w.safe), 1)
}

type wreckage struct {
	b     []byte
	dec   *jsontext.Decoder
	found []object
	safe  int64 // where the last token ends, or begins if it is a string: a quote too many may hide an object in it
}

// read reads an object or an array. It leaves as found what may be an answer if all breaks off: the object, and
// what is within it where that happens in it.
func (w *wreckage) read() (o object, err error) {
	t, err := w.token()
	list, at := t.Kind() == '[', len(w.found)
	if !list {
		w.found = append(w.found, nil)
	}
	whole := len(w.found)
	for err == nil && w.dec.PeekKind() != '}' && w.dec.PeekKind() != ']' {
		m := objectMember{value: jsontext.Value{}}
		if !list {
			if t, err = w.token(); err != nil {
				break
			}
			m.name = t.String()
		}
		if err = w.value(&m); !list {
			o = append(o, m)
		}
	}
	if err == nil {
		_, err = w.token()
	}
	if err == nil {
		w.found = w.found[:whole]
	}
	if !list {
		w.found[at] = o
	}
	return o, err
}

func (w *wreckage) value(m *objectMember) (err error) {
	start := w.dec.InputOffset()
	switch w.dec.PeekKind() {
	case '{', '[':
		m.inner, err = w.read()
	default:
		_, err = w.token()
	}
	if err == nil {
		m.value = jsontext.Value(bytes.TrimLeft(w.b[start:w.dec.InputOffset()], ": \t\r\n"))
	}
	return err
}

func (w *wreckage) token() (jsontext.Token, error) {
	start := w.dec.InputOffset()
	t, err := w.dec.ReadToken()
	if err == nil {
		if w.safe = w.dec.InputOffset(); t.Kind() == '"' {
			w.safe = start
		}
	}
	return t, err
}
