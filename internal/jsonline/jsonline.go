// Package jsonline writes JSON that stays on one line and carries no raw control character.
package jsonline

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

const hex = "0123456789abcdef"

// Marshal returns v as encoding/json writes it, but with < and > and & as they are.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// AppendString appends s as a JSON string. Control characters (C0, DEL, C1), U+2028 and U+2029 are
// escaped, bytes that are not UTF-8 become U+FFFD; everything else, & < > included, stays as it is.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		if i += plain(s[i:]); i == len(s) {
			break
		}
		c := s[i]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if esc := escape(r, size); esc != "" {
			b = append(append(b, s[start:i]...), esc...)
			start = i + size
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}

// plain returns how many bytes s begins with that are ASCII and may stand as they are, counted in eights: it
// looks at eight at once, and in each line a byte's highest bit tells of that byte.
func plain(s string) (n int) {
	const each, highest = 0x0101010101010101, 0x8080808080808080
	for ; len(s)-n >= 8; n += 8 {
		b := s[n : n+8]
		x := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		quote, slash := x^'"'*each, x^'\\'*each
		found := (x-' '*each)&^x | // below a space
			(quote-each)&^quote | // zero: a quote
			(slash-each)&^slash |
			(x + each) | x // DEL and above
		if found&highest != 0 {
			return n
		}
	}
	return n
}

// escape returns what stands for r, or "" where it may stand as it is.
func escape(r rune, size int) string {
	switch {
	case r == '"':
		return `\"`
	case r == '\\':
		return `\\`
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r == utf8.RuneError && size == 1:
		return `\ufffd`
	case Control(r):
		return `\u` + string([]byte{hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15]})
	}
	return ""
}

// Control reports runes that must not stand raw in a line: C0, DEL, C1, and the two line separators.
func Control(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029'
}

// AppendClean appends valid JSON with the control characters that JSON allows raw in strings escaped, and
// line ends between values dropped.
func AppendClean(b, json []byte) []byte {
	for len(json) > 0 {
		r, size := utf8.DecodeRune(json)
		switch {
		case r == '\n' || r == '\r' || r == '\t': // raw only between values
		case Control(r) || r == utf8.RuneError && size == 1:
			b = append(b, escape(r, size)...)
		default:
			b = append(b, json[:size]...)
		}
		json = json[size:]
	}
	return b
}
