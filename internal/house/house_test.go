// Package house_test holds the tree to its own rules: what the pages say exists, and functions stay short.
package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// goFiles calls f with every Go file of the tree, nested modules left out.
func goFiles(t *testing.T, f func(path string)) { goFilesBelow(t, root, f) }

func goFilesBelow(t *testing.T, module string, f func(path string)) {
	require.NoError(t, filepath.WalkDir(module, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if name := d.Name(); path != module && (strings.HasPrefix(name, ".") || name == "testdata" || nested == nil) {
				return fs.SkipDir
			}
		} else if strings.HasSuffix(path, ".go") {
			f(path)
		}
		return nil
	}))
}

// tests are the names of the tests in each folder, scripts included.
func tests(t *testing.T) map[string]bool {
	found := map[string]bool{}
	goFiles(t, func(path string) {
		if !strings.HasSuffix(path, "_test.go") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		dir, err := filepath.Rel(root, filepath.Dir(path))
		require.NoError(t, err)
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				found[filepath.ToSlash(dir)+" "+fn.Name.Name] = true
			}
		}
	})
	scripts, err := filepath.Glob(root + "/cmd/pawl/testdata/script/*.txtar")
	require.NoError(t, err)
	for _, s := range scripts {
		found["cmd/pawl TestScripts/"+strings.TrimSuffix(filepath.Base(s), ".txtar")] = true
	}
	return found
}

// named is a test as a page names it: `folder` TestName.
var named = regexp.MustCompile("`([a-z/.]+)` ((?:Test|Fuzz|Example)[\\w/-]+)")

// Every row of a page about tests names at least one, and each exists.
func TestPagesNameTestsThatExist(t *testing.T) {
	known := tests(t)
	for page, rows := range map[string]int{"docs/cases.md": 56, "docs/guarantees.md": 15} {
		text, err := os.ReadFile(filepath.Join(root, page))
		require.NoError(t, err)
		held := 0
		for _, line := range strings.Split(string(text), "\n") {
			names := named.FindAllStringSubmatch(line, -1)
			if !strings.HasPrefix(line, "|") || names == nil {
				continue
			}
			held++
			for _, n := range names {
				require.True(t, known[n[1]+" "+n[2]], "%s: no test %s in %s", page, n[2], n[1])
			}
		}
		require.Equal(t, rows, held, "%s: rows that name a test", page)
	}
}

// The guarantees of the page are the headings of the package documentation, in its order.
func TestTheGuaranteesAreTheHeadingsOfThePackage(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), root+"/hook.go", nil, parser.PackageClauseOnly|parser.ParseComments)
	require.NoError(t, err)
	page, err := os.ReadFile(root + "/docs/guarantees.md")
	require.NoError(t, err)
	var headings, rows []string
	for _, m := range regexp.MustCompile("(?m)^# (.+)$").FindAllStringSubmatch(file.Doc.Text(), -1) {
		headings = append(headings, m[1])
	}
	for _, m := range regexp.MustCompile("(?m)^\\| (.+?) \\| `").FindAllStringSubmatch(string(page), -1) {
		rows = append(rows, m[1])
	}
	require.Len(t, headings, 13)
	require.Equal(t, "Limits", headings[12])
	require.Equal(t, headings[:12], rows[:12])
}

var (
	link    = regexp.MustCompile(`\]\(([^)#]*)(?:#([^)]+))?\)`)
	heading = regexp.MustCompile("(?m)^#+ (.+)$")
)

// anchors are what a page's headings can be linked to by.
func anchors(t *testing.T, page string) (all []string) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, m := range heading.FindAllStringSubmatch(string(text), -1) {
		plain := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(plain, " ", "-"))
	}
	return all
}

// Links of the pages lead somewhere.
func TestLinksLeadSomewhere(t *testing.T) {
	pages, err := filepath.Glob(root + "/docs/*.md")
	require.NoError(t, err)
	tops, err := filepath.Glob(root + "/*.md")
	require.NoError(t, err)
	checked := 0
	for _, page := range append(pages, tops...) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			checked++
			to := page
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(page), m[1])
				require.FileExists(t, to+dirMark(page, m[1]), "%s links to %s", page, m[1])
			}
			if m[2] != "" {
				require.Contains(t, anchors(t, to), m[2], "%s links to %s", page, m[0])
			}
		}
	}
	require.NotZero(t, checked)
}

// dirMark lets a link to a folder count where the folder holds something.
func dirMark(page, to string) string {
	entries, err := os.ReadDir(filepath.Join(filepath.Dir(page), to))
	if err != nil || len(entries) == 0 {
		return ""
	}
	for _, e := range entries {
		if !e.IsDir() {
			return "/" + e.Name()
		}
	}
	return ""
}

// A function says one thing: forty lines are the end of it, in every module.
func TestFunctionsAreShort(t *testing.T) {
	short := func(path string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				lines := files.Position(fn.End()).Line - files.Position(fn.Pos()).Line + 1
				require.LessOrEqual(t, lines, 40, "%s: %s", path, fn.Name.Name)
			}
		}
	}
	for _, module := range []string{root, root + "/bench", root + "/otel"} {
		goFilesBelow(t, module, short)
	}
}

// Every package says in a comment what it is for, so that go doc does.
func TestPackagesAreDocumented(t *testing.T) {
	said := map[string]bool{}
	goFiles(t, func(path string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		require.NoError(t, err)
		begin := "Package " + file.Name.Name + " "
		if file.Name.Name == "main" {
			begin = "" // a command's begins with the command
		}
		dir := filepath.Dir(path)
		said[dir] = said[dir] || file.Doc != nil && strings.HasPrefix(file.Doc.Text(), begin)
	})
	require.NotEmpty(t, said)
	for dir, ok := range said {
		require.True(t, ok, "%s has no package comment", dir)
	}
}
