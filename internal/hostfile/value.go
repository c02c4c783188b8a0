package hostfile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-hooks/pawl/internal/doc"
)

// Text reads an optional string; null counts as absent.
func (h Handler) Text(key string) (s string, ok bool) {
	n := present(h.Node.Get(key))
	if n == nil {
		return "", false
	}
	if n.Kind != doc.String {
		h.wrong(n, key, "a string", oneText)
		return "", false
	}
	return n.Text, h.noNUL(n, key)
}

// Whole reads an optional whole number that is not negative; null counts as absent.
func (h Handler) Whole(key string) (v int64, ok bool) {
	n := present(h.Node.Get(key))
	if n == nil {
		return 0, false
	}
	if v, ok = n.Int(); !ok || v < 0 {
		h.wrong(n, key, "a whole number from 0 to 9223372036854775807", "write a whole number, without quotes")
		return 0, false
	}
	return v, true
}

// Number reads an optional number above zero; null counts as absent.
func (h Handler) Number(key string) (v float64, ok bool) {
	n := present(h.Node.Get(key))
	if n == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(n.Text, 64)
	if (n.Kind != doc.Int && n.Kind != doc.Float) || err != nil || v <= 0 || v > math.MaxInt64/1e9 {
		h.wrong(n, key, "a number of seconds above 0", "write a number, without quotes")
		return 0, false
	}
	return v, true
}

// Truth reads an optional boolean, which null is not.
func (h Handler) Truth(key string) bool {
	n := h.Node.Get(key)
	if n == nil {
		return false
	}
	if n.Kind != doc.Bool {
		h.wrong(n, key, "true or false", "write true or false, without quotes")
	}
	return n.Bool()
}

// Strings reads an optional list of strings; null counts as absent.
func (h Handler) Strings(key string) (list []string, ok bool) {
	n := present(h.Node.Get(key))
	if n == nil {
		return nil, false
	}
	if !n.Is(doc.List) {
		h.wrong(n, key, "a list of strings", "write a list, each item in quotes")
		return nil, false
	}
	list = []string{}
	for i, item := range n.Items {
		if item.Kind != doc.String {
			h.wrong(item, fmt.Sprintf("%s[%d]", key, i), "a string", oneText)
			return nil, false
		}
		if !h.noNUL(item, fmt.Sprintf("%s[%d]", key, i)) {
			return nil, false
		}
		list = append(list, item.Text)
	}
	return list, true
}

// noNUL reports a text that holds a NUL byte: no program can be given it, and a shell would read it without.
func (h Handler) noNUL(n *doc.Node, key string) bool {
	if strings.IndexByte(n.Text, 0) < 0 {
		return true
	}
	h.Error(n.Pos, "", "`%s`: holds a NUL byte, which no program can be given", key)
	return false
}

const oneText = "write one text, in quotes"

func (h Handler) wrong(n *doc.Node, key, expected, hint string) {
	h.Error(n.Pos, hint, "`%s`: expected %s, found %s", key, expected, n.Describe())
}

// At is the place of a key's value, or of the handler.
func (h Handler) At(key string) doc.Pos {
	if n := h.Node.Get(key); n != nil {
		return n.Pos
	}
	return h.Node.Pos
}

// Has reports whether a key is written.
func (h Handler) Has(key string) bool { return h.Node.Get(key) != nil }

// Required reports whether a key is written, and an error where it is not.
func (h Handler) Required(key string) bool {
	if present(h.Node.Get(key)) == nil {
		h.Error(h.At(key), "add "+strconv.Quote(key)+`: "…"`, "`%s` is missing", key)
		return false
	}
	return true
}

// Blank reports a command line with nothing in it. Where what is written is no text, that has been told.
func (h Handler) Blank(line string) bool {
	blank := strings.TrimSpace(line) == ""
	if n := h.Node.Get("command"); blank && n.Kind == doc.String {
		h.Skip(n.Pos, "write a command, or leave the handler out", "the command is blank: skipped")
	}
	return blank
}

// Unknown warns of keys that are not known.
func (h Handler) Unknown(known ...string) {
	for _, k := range h.Node.Fields {
		if !slices.Contains(known, k.Name) {
			h.Warn(k.Pos, doc.DidYouMean(k.Name, known...), "unknown key %s: ignored", doc.Quote(k.Name))
		}
	}
}

// Kind reads type, which is one of run, or of skipped: then, and where it is neither, ok is false and an
// issue says why.
func (h Handler) Kind(run string, skipped ...string) (ok bool) {
	n := h.Node.Get("type")
	hint := fmt.Sprintf("write \"type\": %q", run)
	switch {
	case n == nil:
		h.Error(h.Node.Pos, hint, "`type` is missing")
	case n.Kind != doc.String:
		h.wrong(n, "type", strconv.Quote(run), hint)
	case n.Text == run:
		return true
	case slices.Contains(skipped, n.Text):
		h.Skip(n.Pos, "", "%s hooks are not run here", n.Text)
	default:
		h.Error(n.Pos, hint, "unknown handler type %s", doc.Quote(n.Text))
	}
	return false
}

// Suspect warns of a timeout that was probably meant in milliseconds.
func (h Handler) Suspect(seconds float64) {
	if seconds >= 1000 {
		h.Warn(h.At("timeout"), "timeouts are in seconds", "a timeout of %v seconds is probably meant in milliseconds", seconds)
	}
}
