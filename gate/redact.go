package gate

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// MinSecret is the length in bytes below which a value is not looked for: it would be found everywhere.
const MinSecret = 8

// A Redactor replaces secrets by markers. It looks for exact values, as they are and as JSON spells them
// within strings (any escapes, also of JSON within JSON), and on request for what has the shape of a secret.
// A marker tells the kind of secret, never its value, length or hash. The zero Redactor changes nothing.
//
// It guards against accidents, not against a program that encodes what it prints. Its fields must not
// change once it is used. Its methods may be called concurrently.
type Redactor struct {
	Held     []string // credentials that the session holds
	Declared []string // values that the project declared secret
	Shapes   bool     // also cloud keys, tokens of well-known services, JWTs and PEM private keys

	once  sync.Once
	rules redactRules
}

// secretKind says why something is hidden.
type secretKind uint8

const (
	heldSecret secretKind = iota
	declaredSecret
	shapedSecret
)

// plainMarkers say it in words; shortMarkers cannot themselves hold a secret.
var (
	plainMarkers = [...]string{"[redacted credential]", "[redacted value]", "[redacted shape]"}
	shortMarkers = [...]string{"[#1]", "[#2]", "[#3]"}
)

type secret struct {
	value string
	kind  secretKind
}

// redactRules are what a Redactor looks for, made once.
type redactRules struct {
	byFirst [256][]secret // by their first byte
	all     []secret
	starts  [256]bool      // bytes at which a secret may begin
	second  [256][4]uint64 // and for each of them a bit for every byte that may follow
	shapes  bool
	markers [3]string
	skipped int
}

func (r *Redactor) get() *redactRules {
	r.once.Do(func() {
		rules := redactRules{shapes: r.Shapes, markers: plainMarkers}
		rules.add(r.Held, heldSecret)
		rules.add(r.Declared, declaredSecret)
		rules.index()
		r.rules = rules
	})
	return &r.rules
}

func (rr *redactRules) add(values []string, kind secretKind) {
	for _, v := range values {
		v = strings.TrimRight(v, "\r\n") // a secret read from a file is printed without its line's end
		known := slices.ContainsFunc(rr.all, func(s secret) bool { return s.value == v })
		switch {
		case len(v) < MinSecret:
			rr.skipped++
		case !known:
			rr.all = append(rr.all, secret{v, kind})
		}
	}
}

func (rr *redactRules) index() {
	for _, s := range rr.all {
		first := s.value[0]
		rr.byFirst[first] = append(rr.byFirst[first], s)
		rr.begins(first, s.value[1])
		rr.begins(first, '\\') // the second spelled as an escape
		for b := range 256 {
			rr.begins('\\', byte(b))
		}
		for _, m := range plainMarkers {
			if strings.Contains(m, s.value) || strings.Contains(s.value, m) {
				rr.markers = shortMarkers
			}
		}
	}
	if rr.shapes {
		for _, s := range shapes {
			rr.begins(s.prefix[0], s.prefix[1])
		}
	}
}

// begins notes two bytes with which a secret may begin.
func (rr *redactRules) begins(a, b byte) {
	rr.starts[a] = true
	rr.second[a][b/64] |= 1 << (b % 64)
}

// mayBegin reports whether a secret may begin at i: most text is passed over by this alone.
func (rr *redactRules) mayBegin(src []byte, i int) bool {
	if !rr.starts[src[i]] || i+1 == len(src) {
		return rr.starts[src[i]]
	}
	next := src[i+1]
	return rr.second[src[i]][next/64]&(1<<(next%64)) != 0
}

func (rr *redactRules) empty() bool { return len(rr.all) == 0 && !rr.shapes }

// Skipped returns how many values are too short to be looked for.
func (r *Redactor) Skipped() int { return r.get().skipped }

// Bytes returns p with its secrets replaced; p itself, unchanged, where there are none. Where p is one JSON
// value, so is what it returns: a secret that is a number becomes a string, and a value whose very structure
// is a secret becomes one marker.
func (r *Redactor) Bytes(p []byte) []byte {
	rules := r.get()
	if rules.empty() {
		return p
	}
	spans, _ := rules.scan(p, 0, true)
	if len(spans) == 0 {
		return p
	}
	out := rules.replace(nil, p, spans)
	if json.Valid(p) && !json.Valid(out) {
		return rules.replaceJSON(p, spans)
	}
	return out
}

// String is Bytes for text.
func (r *Redactor) String(s string) string {
	if r.get().empty() {
		return s
	}
	return string(r.Bytes([]byte(s)))
}

// Filter returns a filter for one output stream, which finds secrets wherever the borders of the writes fall.
// It cannot know that the stream is JSON: a secret that is a bare number there leaves no valid JSON behind.
func (r *Redactor) Filter() Filter { return &redactStream{rules: r.get()} }

// A span is a part of the text to hide.
type span struct {
	from, to int
	kind     secretKind
}

// scan finds the parts of src to hide from the given place on, and up to where src is decided: a secret may
// begin at rest and go on in what is not there yet. When final there is nothing more to come.
func (rr *redactRules) scan(src []byte, from int, final bool) (spans []span, rest int) {
	for i := from; i < len(src); i++ {
		if !rr.mayBegin(src, i) {
			continue
		}
		end, kind, pending := rr.at(src, i)
		if pending && !final {
			return spans, i
		}
		if end == 0 {
			continue
		}
		for j := i + 1; j < end; j++ { // what begins within goes too, so that no part of it is left
			if !rr.mayBegin(src, j) {
				continue
			}
			further, _, pending := rr.at(src, j)
			if pending && !final {
				return spans, i
			}
			end = max(end, further)
		}
		spans = append(spans, span{i, end, kind})
		i = end - 1
	}
	return spans, len(src)
}

// at returns the end and kind of the longest secret that begins at i, zero where none does, and whether a
// longer one may be cut off by the end of src.
func (rr *redactRules) at(src []byte, i int) (end int, kind secretKind, pending bool) {
	list := rr.byFirst[src[i]]
	if src[i] == '\\' {
		list = rr.all
	}
	for _, s := range list {
		to, more := spelled(src, i, s.value)
		pending = pending || more
		if to > end {
			end, kind = to, s.kind
		}
	}
	if rr.shapes {
		to, more := shapeAt(src, i)
		pending = pending || more
		if to > end {
			end, kind = to, shapedSecret
		}
	}
	return end, kind, pending
}

// replace appends src to dst with a marker in the place of each span.
func (rr *redactRules) replace(dst, src []byte, spans []span) []byte {
	at := 0
	for _, s := range spans {
		dst = append(dst, src[at:s.from]...)
		dst = append(dst, rr.markers[s.kind]...)
		at = s.to
	}
	return append(dst, src[at:]...)
}
