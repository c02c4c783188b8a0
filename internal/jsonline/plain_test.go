package jsonline_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/internal/jsonline"
)

// Eight bytes are looked at together: each byte is told wherever among them it stands.
func TestEachByteIsSeenWhereverItStands(t *testing.T) {
	for c := range 256 {
		for at := range 17 {
			s := strings.Repeat("x", at) + string([]byte{byte(c)}) + strings.Repeat("y", 16-at)
			got := jsonline.AppendString(nil, s)
			var back string
			require.NoError(t, json.Unmarshal(got, &back), "%q", s)
			require.Equal(t, strings.ToValidUTF8(s, "\uFFFD"), back)
			if c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
				require.Contains(t, string(got), `\`, "%q stands escaped", s)
			} else {
				require.Equal(t, `"`+s+`"`, string(got))
			}
		}
	}
}
