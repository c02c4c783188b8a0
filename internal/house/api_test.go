package house_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write api.txt from the code")

// What the packages export, on Linux, is what api.txt lists: a name is given to others, or taken back, on purpose.
func TestExportedNamesAreThoseOfTheList(t *testing.T) {
	list := filepath.Join(root, "internal/house/api.txt")
	now := exports(t)
	if *update {
		require.NoError(t, os.WriteFile(list, []byte(strings.Join(now, "\n")+"\n"), 0o644))
	}
	text, err := os.ReadFile(list)
	require.NoError(t, err)
	listed := strings.Split(strings.TrimSpace(string(text)), "\n")
	differ := func(sign string, these, those []string) {
		for _, line := range these {
			if !slices.Contains(those, line) {
				t.Error(sign, line)
			}
		}
	}
	differ("gone:", listed, now)
	differ("new:", now, listed)
	if t.Failed() {
		t.Error("if that is meant: go test ./internal/house -run ExportedNames -update, and say so in CHANGELOG.md")
	}
}

// A listed package is one as go list tells of it.
type listed struct {
	ImportPath, Name, Dir string
	GoFiles               []string
	Export                string // the file in which the compiler wrote what it exports
}

// exports are the lines of every package that others may import. Only these are read from source: what they
// import in turn comes from what the compiler wrote, in a tenth of the time.
func exports(t *testing.T) (lines []string) {
	compiled := map[string]*listed{}
	for _, p := range packages(t) {
		compiled[p.ImportPath] = p
	}
	files := token.NewFileSet()
	check := types.Config{IgnoreFuncBodies: true}
	check.Importer = importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(compiled[path].Export) })
	for _, path := range slices.Sorted(maps.Keys(compiled)) {
		p := compiled[path]
		if !strings.HasPrefix(path, "github.com/pawl-hooks/pawl") || strings.Contains(path, "/internal/") || p.Name == "main" {
			continue
		}
		pkg, err := check.Check(path, files, p.parse(t, files), nil)
		require.NoError(t, err)
		for _, name := range pkg.Scope().Names() {
			if o := pkg.Scope().Lookup(name); o.Exported() {
				lines = append(lines, exportLines(o)...)
			}
		}
	}
	return lines
}

// packages are those of the tree and all that they import, as they are built for Linux.
func packages(t *testing.T) (all []*listed) {
	list := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Name,Dir,GoFiles,Export", "./...")
	list.Dir, list.Stderr = root, os.Stderr
	list.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	out, err := list.Output()
	require.NoError(t, err)
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p listed
		require.NoError(t, dec.Decode(&p))
		all = append(all, &p)
	}
	return all
}

func (p *listed) parse(t *testing.T, files *token.FileSet) (parsed []*ast.File) {
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		parsed = append(parsed, file)
	}
	return parsed
}

// exportLines are the line of a name, and for a type those of its fields and methods, promoted ones too.
func exportLines(o types.Object) []string {
	short := (*types.Package).Name
	name, ok := o.(*types.TypeName)
	if !ok || name.IsAlias() {
		return []string{types.ObjectString(o, short)}
	}
	self, kind := types.TypeString(o.Type(), short), types.TypeString(o.Type().Underlying(), short)
	ofValue, all := types.NewMethodSet(o.Type()), types.NewMethodSet(types.NewPointer(o.Type()))
	var lines []string
	switch under := o.Type().Underlying().(type) {
	case *types.Struct:
		kind = "struct"
		for f := range under.Fields() {
			if f.Exported() {
				lines = append(lines, "field ("+self+") "+f.Name()+" "+types.TypeString(f.Type(), short))
			}
		}
	case *types.Interface:
		kind, all = "interface", ofValue
	}
	for m := range all.Methods() {
		if v := ofValue.Lookup(m.Obj().Pkg(), m.Obj().Name()); v != nil {
			m = v
		}
		if m.Obj().Exported() {
			lines = append(lines, types.SelectionString(m, short))
		}
	}
	return append([]string{"type " + self + " " + kind}, lines...)
}
