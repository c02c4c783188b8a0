package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// exported are the names that a package of the tree exports, its examples and tests left out.
func exported(t *testing.T, dir string) map[string]bool {
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	require.NoError(t, err)
	names := map[string]bool{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names[d.Name.Name] = names[d.Name.Name] || d.Recv == nil
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						names[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, n := range s.Names {
							names[n.Name] = true
						}
					}
				}
			}
		}
	}
	require.NotEmpty(t, names, dir)
	return names
}

// What the pages say of the packages exists.
func TestPagesNameWhatPackagesExport(t *testing.T) {
	folders := map[string]string{"pawl": ".", "native": "dialect/native", "zerocode": "dialect/zerocode", "claude": "dialect/claude"}
	for _, name := range []string{"gate", "guard", "on", "pawltest", "command", "config", "wire", "journal"} {
		folders[name] = name
	}
	known := map[string]map[string]bool{}
	var names []string
	for name, dir := range folders {
		known[name] = exported(t, dir)
		names = append(names, name)
	}
	used := regexp.MustCompile(`(^|[^\w./-])(` + strings.Join(names, "|") + `)\.([A-Z]\w*)`)
	pages, err := filepath.Glob(root + "/docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	found := 0
	for _, page := range append(pages, root+"/README.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range used.FindAllStringSubmatch(string(text), -1) {
			found++
			if !known[m[2]][m[3]] {
				t.Errorf("%s: there is no %s.%s", page, m[2], m[3])
			}
		}
	}
	require.NotZero(t, found)
}
