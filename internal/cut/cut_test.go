package cut_test

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-hooks/pawl/internal/cut"
)

// Of a text both ends are texts, no longer than asked, and short of it by less than a character.
func TestEndsOfATextAreWholeCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("aé€😀"))).Draw(t, "s")
		n := rapid.IntRange(0, len(s)+2).Draw(t, "n")
		for _, end := range []string{cut.Head(s, n), cut.Tail(s, n)} {
			require.True(t, utf8.ValidString(end))
			require.LessOrEqual(t, len(end), n)
			require.Greater(t, len(end)+utf8.UTFMax, min(n, len(s)))
		}
		require.Equal(t, s[:len(cut.Head(s, n))], cut.Head(s, n))
		require.Equal(t, s[len(s)-len(cut.Tail(s, n)):], cut.Tail(s, n))
	})
}

func TestBytesThatAreNoTextAreCutWhereTheyAre(t *testing.T) {
	b := []byte("\x80\x80\x80\x80\x80\x80\x80\x80")
	require.Len(t, cut.Head(b, 6), 6)
	require.Len(t, cut.Tail(b, 6), 6)
	require.Equal(t, "a", cut.Whole("a\xe2\x82"))
	require.Equal(t, "a\xff", cut.Whole("a\xff"))
	require.Empty(t, cut.Whole(""))
}
