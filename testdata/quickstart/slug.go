// Package slug turns titles into the last part of a web address.
package slug

import (
	"strings"
	"unicode"
)

// Make returns title in lower case, its words joined by single hyphens.
func Make(title string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return '-'
	}, title)
}
