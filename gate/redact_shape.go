package gate

import "bytes"

// boundary is how many bytes before a shape tell whether it begins a word.
const boundary = 2

// maxShape bounds how far a shape is followed, and so what a stream holds back for one.
const maxShape = 16 << 10

// A shape is a prefix that gives a secret away, and what must follow it.
type shape struct {
	prefix string
	word   bool // short enough to be part of a common word: it must begin one
	body   *byteSet
	min    int                                                 // bytes of body after the prefix
	tail   func(src []byte, end int) (to int, status shapeEnd) // what must follow the body; nil: nothing
}

type shapeEnd uint8

const (
	shapeNo shapeEnd = iota
	shapeYes
	shapeCut // src ended before it could be told
)

type byteSet [256]bool

func set(ranges string) *byteSet {
	var s byteSet
	for i := 0; i+1 < len(ranges); i += 2 {
		for b := int(ranges[i]); b <= int(ranges[i+1]); b++ {
			s[b] = true
		}
	}
	return &s
}

var (
	upper   = set("09AZ")
	alnum   = set("09AZaz")
	urlSafe = set("09AZaz__--")
	pemName = set("AZ  ")
	pemBody = set("09AZaz++//==\n\n\r\r\t\t  \\\\::,,--")
)

// The shapes are the documented forms of each service's keys.
var shapes = []shape{
	{prefix: "AKIA", body: upper, min: 16}, // AWS access key ids
	{prefix: "ASIA", body: upper, min: 16},
	{prefix: "AIza", body: urlSafe, min: 35}, // Google API keys
	{prefix: "ghp_", body: alnum, min: 36},   // GitHub tokens
	{prefix: "gho_", body: alnum, min: 36},
	{prefix: "ghu_", body: alnum, min: 36},
	{prefix: "ghs_", body: alnum, min: 36},
	{prefix: "ghr_", body: alnum, min: 36},
	{prefix: "github_pat_", body: urlSafe, min: 22},
	{prefix: "glpat-", body: urlSafe, min: 20}, // GitLab
	{prefix: "xoxb-", body: urlSafe, min: 10},  // Slack
	{prefix: "xoxp-", body: urlSafe, min: 10},
	{prefix: "xoxa-", body: urlSafe, min: 10},
	{prefix: "xoxr-", body: urlSafe, min: 10},
	{prefix: "xoxs-", body: urlSafe, min: 10},
	{prefix: "npm_", body: alnum, min: 36},
	{prefix: "sk-", word: true, body: urlSafe, min: 20},   // model providers
	{prefix: "eyJ", body: urlSafe, min: 5, tail: jwtTail}, // JSON Web Tokens, RFC 7519: base64url of {"
	{prefix: "-----BEGIN ", body: pemName, tail: pemTail}, // private keys, RFC 7468
}

// shapeAt returns the end of the shape that begins at i, zero where none does, and whether src ended before
// that could be told.
func shapeAt(src []byte, i int) (end int, more bool) {
	for n := range shapes {
		s := &shapes[n]
		if s.prefix[0] != src[i] {
			continue
		}
		to, status := s.at(src, i)
		switch {
		case status == shapeYes:
			return to, false
		case status == shapeCut && len(src)-i < maxShape:
			return to, true
		case status == shapeCut:
			return to, false
		}
	}
	return 0, false
}

func (s *shape) at(src []byte, i int) (int, shapeEnd) {
	rest := src[i:]
	if !bytes.HasPrefix(rest, []byte(s.prefix)) {
		if bytes.HasPrefix([]byte(s.prefix), rest) {
			return 0, shapeCut
		}
		return 0, shapeNo
	}
	if s.word && inWord(src, i) {
		return 0, shapeNo
	}
	end := s.body.run(src, i+len(s.prefix))
	long := end-i-len(s.prefix) >= s.min
	switch {
	case end == len(src) && long && s.tail == nil:
		return end, shapeCut // it is one already; how long is not known
	case end == len(src):
		return 0, shapeCut
	case !long:
		return 0, shapeNo
	case s.tail != nil:
		return s.tail(src, end)
	}
	return end, shapeYes
}

// inWord reports whether a word goes on at i. The letter of an escape such as \n is no part of it.
func inWord(src []byte, i int) bool {
	return i > 0 && urlSafe[src[i-1]] && (i == 1 || src[i-2] != '\\')
}

func (s *byteSet) run(src []byte, i int) int {
	for i < len(src) && s[src[i]] {
		i++
	}
	return i
}

// jwtTail follows the second and third part of a token.
func jwtTail(src []byte, end int) (int, shapeEnd) {
	for range 2 {
		if end == len(src) {
			return 0, shapeCut
		}
		if src[end] != '.' {
			return 0, shapeNo
		}
		from := end + 1
		end = urlSafe.run(src, from)
		if end < len(src) && end-from < 5 {
			return 0, shapeNo
		}
	}
	if end == len(src) {
		return end, shapeCut
	}
	return end, shapeYes
}

const (
	pemKey = "PRIVATE KEY-----"
	pemEnd = "-----END "
)

// pemTail follows a private key from the end of the words before its dashes to its last line, or to where
// it stops looking like one.
func pemTail(src []byte, end int) (int, shapeEnd) {
	dashes := pemKey[len(pemKey)-5:]
	words := bytes.LastIndex(src[:end], []byte("-----BEGIN "))
	name := src[words+len("-----BEGIN ") : end]
	if rest := src[end:]; len(rest) < len(dashes) && bytes.HasPrefix([]byte(dashes), rest) {
		return 0, shapeCut
	}
	if !bytes.HasPrefix(src[end:], []byte(dashes)) || !bytes.HasSuffix(append(name[:len(name):len(name)], dashes...), []byte(pemKey)) {
		return 0, shapeNo
	}
	body := end + len(dashes)
	stop := pemBody.run(src, body)
	if at := bytes.Index(src[body:stop], []byte(pemEnd)); at >= 0 {
		last := body + at + len(pemEnd)
		if n := bytes.Index(src[last:stop], []byte(dashes)); n >= 0 {
			return last + n + len(dashes), shapeYes
		}
	}
	if stop == len(src) {
		return stop, shapeCut
	}
	return stop, shapeYes
}
