// Package legible shows a text so that two texts which differ look different: what a person reads is what runs.
package legible

import (
	"strconv"
	"strings"
	"unicode"
)

// Hidden reports a character that shows as nothing, or as a space and is none: controls, formats such as the
// zero-width space or those that turn the direction of a text, fillers, variation selectors, spaces of other widths.
func Hidden(r rune) bool {
	return !unicode.IsPrint(r) || r == blankBraille ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// blankBraille is a symbol of no dots.
const blankBraille = '\u2800'

// Escape returns a hidden character as it is written in Go: \u200b.
func Escape(r rune) string {
	quoted := strconv.QuoteRuneToASCII(r)
	return quoted[1 : len(quoted)-1]
}

// Text returns s on one line, with every hidden character escaped.
func Text(s string) string {
	if strings.IndexFunc(s, Hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if Hidden(r) {
			b.WriteString(Escape(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
