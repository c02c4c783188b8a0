// Package jsonline writes JSON that stays on one line and carries no raw control character.
package jsonline

import "unicode/utf8"

const hex = "0123456789abcdef"

// AppendString appends s as a JSON string. Control characters (C0, DEL, C1), U+2028 and U+2029 are
// escaped, bytes that are not UTF-8 become U+FFFD; everything else, & < > included, stays as it is.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		for len(s)-i >= 8 && plain(s[i:i+8]) {
			i += 8
		}
		if i == len(s) {
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

// plain reports whether eight bytes are all ASCII that may stand as they are. It looks at them at once: in
// each line, a byte's highest bit tells of that byte.
func plain(s string) bool {
	const each, highest = 0x0101010101010101, 0x8080808080808080
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	quote, slash := x^'"'*each, x^'\\'*each
	found := (x-' '*each)&^x | // below a space
		(quote-each)&^quote | // zero: a quote
		(slash-each)&^slash |
		(x + each) | x // DEL and above
	return found&highest == 0
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
