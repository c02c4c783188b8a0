package gate

import (
	"unicode/utf16"
	"unicode/utf8"
)

// maxNesting is how deep JSON within the strings of JSON is read.
const maxNesting = 3

// spelled returns where the value that begins at i ends, spelled as it is or with the escapes of a JSON
// string, at any nesting; zero where it does not. more reports that src ended before that could be told.
func spelled(src []byte, i int, value string) (end int, more bool) {
	for level := 0; level <= maxNesting; level++ {
		s := speller{src: src, at: i}
		to, cut := s.match(value, level)
		end, more = max(end, to), more || cut
		if !s.escaped {
			break // without a backslash every level reads the same
		}
	}
	return end, more
}

// A speller reads text through levels of JSON string escapes: at level 0 byte by byte.
type speller struct {
	src     []byte
	at      int
	escaped bool // a backslash was read
	queued  [maxNesting + 1]queue
}

// queue holds the bytes of a character that an escape spelled.
type queue struct {
	buf      [utf8.UTFMax]byte
	from, to uint8
}

type readStatus uint8

const (
	readOK  readStatus = iota
	readEnd            // src ended
	readBad            // no escape of JSON
)

// match reads the value at the given level.
func (s *speller) match(value string, level int) (end int, more bool) {
	for k := range len(value) {
		b, status := s.next(level)
		if status == readEnd {
			return 0, true
		}
		if status == readBad || b != value[k] {
			return 0, false
		}
	}
	return s.at, false
}

// next reads one byte at the given level.
func (s *speller) next(level int) (byte, readStatus) {
	if level == 0 {
		if s.at == len(s.src) {
			return 0, readEnd
		}
		b := s.src[s.at]
		s.at++
		s.escaped = s.escaped || b == '\\'
		return b, readOK
	}
	if q := &s.queued[level]; q.from < q.to {
		q.from++
		return q.buf[q.from-1], readOK
	}
	b, status := s.next(level - 1)
	if status != readOK || b != '\\' {
		return b, status
	}
	return s.escape(level)
}

// escape reads what follows the backslash of an escape.
func (s *speller) escape(level int) (byte, readStatus) {
	b, status := s.next(level - 1)
	if status != readOK {
		return 0, status
	}
	switch b {
	case '"', '\\', '/':
		return b, readOK
	case 'b':
		return '\b', readOK
	case 'f':
		return '\f', readOK
	case 'n':
		return '\n', readOK
	case 'r':
		return '\r', readOK
	case 't':
		return '\t', readOK
	case 'u':
		return s.unicode(level)
	}
	return 0, readBad
}

// unicode reads the digits of a \u escape, and of a second where the first is half a pair.
func (s *speller) unicode(level int) (byte, readStatus) {
	r, status := s.hex(level)
	if status != readOK {
		return 0, status
	}
	if utf16.IsSurrogate(r) {
		for _, want := range []byte(`\u`) {
			b, status := s.next(level - 1)
			if status != readOK {
				return 0, status
			}
			if b != want {
				return 0, readBad
			}
		}
		low, status := s.hex(level)
		if status != readOK {
			return 0, status
		}
		r = utf16.DecodeRune(r, low)
	}
	q := &s.queued[level]
	q.from, q.to = 1, uint8(utf8.EncodeRune(q.buf[:], r))
	return q.buf[0], readOK
}

// hex reads four digits.
func (s *speller) hex(level int) (rune, readStatus) {
	var r rune
	for range 4 {
		b, status := s.next(level - 1)
		if status != readOK {
			return 0, status
		}
		switch {
		case '0' <= b && b <= '9':
			r = r<<4 | rune(b-'0')
		case 'a' <= b|0x20 && b|0x20 <= 'f':
			r = r<<4 | rune(b|0x20-'a'+10)
		default:
			return 0, readBad
		}
	}
	return r, readOK
}
