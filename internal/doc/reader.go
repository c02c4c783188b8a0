package doc

import (
	"fmt"
	"slices"
	"strings"
)

// A Reader takes a document apart and collects what does not fit, so that a strict reader is short and a
// person sees every fault at once. Its methods take a nil Node for a key that is not there, and give the
// zero value for it without a fault; ok is false whenever the value must not be used. What is the name of
// the value in messages: "timeout_ms".
type Reader struct {
	doc    *Document
	faults Faults
}

// NewReader returns a reader of d without faults.
func NewReader(d *Document) *Reader { return &Reader{doc: d} }

// Faults returns what was found so far, by place.
func (r *Reader) Faults() Faults { return r.faults.sorted() }

// Len returns how many faults were found so far.
func (r *Reader) Len() int { return len(r.faults) }

// Fault notes a fault at a place.
func (r *Reader) Fault(at Pos, hint, format string, args ...any) {
	r.faults = append(r.faults, r.doc.FaultAt(at, fmt.Sprintf(format, args...), hint))
}

// Wrong notes that n is not what was expected.
func (r *Reader) Wrong(n *Node, what, expected, hint string) {
	if what != "" {
		what = "`" + what + "`: "
	}
	r.Fault(n.Pos, hint, "%sexpected %s, found %s", what, expected, n.Describe())
}

// Table expects a table that has no other keys than known; without known any key goes. An unknown key is a
// fault that does not make the table unusable.
func (r *Reader) Table(n *Node, what string, known ...string) (ok bool) {
	if n == nil {
		return false
	}
	if !n.Is(Table) {
		r.Wrong(n, what, Table.String(), "write keys, each with a value")
		return false
	}
	for _, f := range n.Fields {
		if len(known) > 0 && !slices.Contains(known, f.Name) {
			r.UnknownKey(f, known...)
		}
	}
	return true
}

// UnknownKey notes that a key is none of known, with the nearest of them as a hint.
func (r *Reader) UnknownKey(f Field, known ...string) {
	hint := DidYouMean(f.Name, known...)
	if hint == "" {
		hint = "the keys are " + strings.Join(known, ", ")
	}
	r.Fault(f.Pos, hint, "unknown key %s", Quote(f.Name))
}

// Require notes that a table lacks a key, at the table.
func (r *Reader) Require(table *Node, key string) {
	if table.Get(key) == nil {
		r.Fault(table.Pos, "", "`%s` is missing", key)
	}
}

// List expects a list.
func (r *Reader) List(n *Node, what string) (items []*Node, ok bool) {
	if n == nil {
		return nil, false
	}
	if !n.Is(List) {
		r.Wrong(n, what, List.String(), "write a list, each item in quotes if it is a text")
		return nil, false
	}
	return n.Items, true
}

// String expects a string.
func (r *Reader) String(n *Node, what string) (s string, ok bool) {
	if n == nil {
		return "", false
	}
	if n.Kind != String {
		r.Wrong(n, what, String.String(), "write one text, in quotes")
		return "", false
	}
	return n.Text, true
}

// Strings expects a list of strings and returns them only if all are.
func (r *Reader) Strings(n *Node, what string) (list []string, ok bool) {
	items, ok := r.List(n, what)
	for i, item := range items {
		s, isString := r.String(item, fmt.Sprintf("%s[%d]", what, i))
		list, ok = append(list, s), ok && isString
	}
	if !ok {
		return nil, false
	}
	return list, true
}

// OneOf expects one of the given words, as a string or as an enum literal.
func (r *Reader) OneOf(n *Node, what string, words ...string) (word string, ok bool) {
	if n == nil {
		return "", false
	}
	if n.Kind != String && n.Kind != Word {
		r.Wrong(n, what, oneOf(words), "write it in quotes")
		return "", false
	}
	if slices.Contains(words, n.Text) {
		return n.Text, true
	}
	hint := DidYouMean(n.Text, words...)
	if hint == "" {
		hint = "write " + oneOf(words)
	}
	r.Fault(n.Pos, hint, "unknown `%s` %s", what, Quote(n.Text))
	return "", false
}

func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + strings.Join(words, ", ")
}

// Int expects an integer between low and high, both included.
func (r *Reader) Int(n *Node, what string, low, high int64) (v int64, ok bool) {
	if n == nil {
		return 0, false
	}
	if n.Kind != Int {
		r.Wrong(n, what, Int.String(), fmt.Sprintf("write a number from %d to %d, without quotes", low, high))
		return 0, false
	}
	v, ok = n.Int()
	if !ok || v < low || v > high {
		r.Fault(n.Pos, fmt.Sprintf("write a number from %d to %d", low, high), "`%s` is out of range: %s", what, short(n.Text))
		return 0, false
	}
	return v, true
}

// Bool expects true or false.
func (r *Reader) Bool(n *Node, what string) (v, ok bool) {
	if n == nil {
		return false, false
	}
	if n.Kind != Bool {
		r.Wrong(n, what, "true or false", "write true or false, without quotes")
		return false, false
	}
	return n.Bool(), true
}
