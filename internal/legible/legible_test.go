package legible_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-hooks/pawl/internal/legible"
)

func TestWhatDoesNotShowIsWrittenOut(t *testing.T) {
	for text, want := range map[string]string{
		"plain text, é, 語, 🙂": "plain text, é, 語, 🙂",
		"gu\u200bard":         `gu\u200bard`, "gu\u00adard": `gu\u00adard`, "\u202e": `\u202e`, "\u2066": `\u2066`, "\ufeff": `\ufeff`,
		"a\u00a0b": `a\u00a0b`, "a\u2003b": `a\u2003b`, "a\u3000b": `a\u3000b`, "\u2028": `\u2028`, "\u3164": `\u3164`, "\u115f": `\u115f`,
		"\u2800": `\u2800`, "\ufe0f": `\ufe0f`, "\u034f": `\u034f`, "\U000e0041": `\U000e0041`, "\ue000": `\ue000`,
		"a\nb\tc\rd\x1be\x7f\u0085": `a\nb\tc\rd\x1be\x7f\u0085`,
	} {
		require.Equal(t, want, legible.Text(text))
	}
}

func TestTextHoldsNothingHidden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, r := range legible.Text(rapid.String().Draw(t, "text")) {
			require.False(t, legible.Hidden(r))
		}
	})
}
