// Package cut shortens texts without splitting a character. Bytes that are not UTF-8 are cut where they are.
package cut

import "unicode/utf8"

// Whole returns s without what a cut left of a character at its end.
func Whole[T ~string | ~[]byte](s T) T {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if utf8.FullRuneInString(string(s[i:])) {
				return s
			}
			return s[:i]
		}
	}
	return s
}

// Head returns the first n bytes of s, or a few less.
func Head[T ~string | ~[]byte](s T, n int) T {
	if n >= len(s) {
		return s
	}
	return Whole(s[:n])
}

// Tail returns the last n bytes of s, or a few less.
func Tail[T ~string | ~[]byte](s T, n int) T {
	from := max(len(s)-n, 0)
	for i := from; i < from+utf8.UTFMax; i++ {
		if i == len(s) || utf8.RuneStart(s[i]) {
			return s[i:]
		}
	}
	return s[from:]
}
