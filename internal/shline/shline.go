// Package shline parses shell lines of bounded size, so that no text, a model's or a file's, can exhaust the
// stack or the time of its reader.
package shline

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Longest is the longest line that is parsed, in bytes. The parser recurses once a nested construct, and
// takes time by the square of their number; at this length both are small.
const Longest = 16 << 10

// ErrTooLong is returned for a line longer than Longest.
var ErrTooLong = errors.New("the line is too long to be read as shell")

// Parse parses a line by the grammar of a POSIX shell or, where bash is set, of bash.
func Parse(line string, bash bool) (*syntax.File, error) {
	if len(line) > Longest {
		return nil, ErrTooLong
	}
	variant := syntax.LangPOSIX
	if bash {
		variant = syntax.LangBash
	}
	return syntax.NewParser(syntax.Variant(variant)).Parse(strings.NewReader(line), "")
}

// InQuotes are the characters before which a backslash is special between double quotes. See POSIX.1-2024, Shell
// Command Language, 2.2.3.
const InQuotes = "$`\"\\\n"

// Unescape takes the backslashes off a literal: before any character or, where special is not empty, before those.
// A line that goes on behind one is one line.
func Unescape(s, special string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (special == "" || strings.IndexByte(special, s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
