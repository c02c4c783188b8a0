package shline_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-hooks/pawl/internal/shline"
)

// The deepest lines that are parsed at all neither exhaust the stack nor take long to walk.
func TestTheDeepestLineIsStillRead(t *testing.T) {
	for _, open := range []string{"(", "$(", "f() { ", "`", "if ", "{ ", "$((", "case x in x) ", "! ", "a=$(", "\"$(", "<("} {
		line := strings.Repeat(open, shline.Longest/len(open))
		for _, bash := range []bool{false, true} {
			if file, err := shline.Parse(line, bash); err == nil {
				syntax.Walk(file, func(syntax.Node) bool { return true })
			}
			_, err := shline.Parse(line+strings.Repeat(open, 2)+"x", bash)
			require.ErrorIs(t, err, shline.ErrTooLong)
		}
	}
	file, err := shline.Parse(strings.Repeat("(", shline.Longest/2-1)+"x"+strings.Repeat(")", shline.Longest/2-1), false)
	require.NoError(t, err)
	depth := 0
	syntax.Walk(file, func(n syntax.Node) bool {
		if _, ok := n.(*syntax.Subshell); ok {
			depth++
		}
		return true
	})
	require.Equal(t, shline.Longest/2-1, depth)
}
