package house_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var declaration = regexp.MustCompile(`(?m)^(?:const|func|type|var) (\w+)\.(\w+)`)

// What the pages say of the packages exists.
func TestPagesNameWhatPackagesExport(t *testing.T) {
	known, packages := map[string]bool{}, map[string]bool{}
	for _, d := range declaration.FindAllStringSubmatch(strings.Join(exports(t), "\n"), -1) {
		known[d[1]+"."+d[2]], packages[d[1]] = true, true
	}
	used := regexp.MustCompile(`(?:^|[^\w./-])((?:` + strings.Join(slices.Collect(maps.Keys(packages)), "|") + `)\.[A-Z]\w*)`)
	pages, err := filepath.Glob(root + "/docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	found := 0
	for _, page := range append(pages, root+"/README.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range used.FindAllStringSubmatch(string(text), -1) {
			found++
			if !known[m[1]] {
				t.Errorf("%s: there is no %s", page, m[1])
			}
		}
	}
	require.NotZero(t, found)
}
