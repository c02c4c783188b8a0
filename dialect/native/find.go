package native

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
)

// Folder is where a native file is looked for, below a project's root or the user's configuration directory.
const Folder = ".pawl"

// Names are what a native file is called in its [Folder].
func Names() []string { return []string{"hooks.toml", "hooks.json", "hooks.zon"} }

// Find looks for the native file of a directory and returns its path in fsys, or "" where there is none.
// Two of them are an error: which one was meant is not for pawl to guess. A folder that cannot be read is an
// error; a file in it that is called almost like one is a warning.
func Find(fsys fs.FS, dir string) (file string, issues []dialect.Issue) {
	folder := path.Join(dir, Folder)
	entries, err := fs.ReadDir(fsys, folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return "", []dialect.Issue{whole(folder, "cannot read the folder: "+err.Error(), "")}
	}
	var found []string
	for _, e := range entries {
		switch near := doc.Nearest(e.Name(), Names()...); {
		case isName(e.Name()):
			found = append(found, path.Join(folder, e.Name()))
		case near != "" && !e.IsDir():
			w := whole(path.Join(folder, e.Name()), "this file is not read", "a native file is called "+strings.Join(Names(), ", "))
			w.Severity = dialect.Warning
			issues = append(issues, w)
		}
	}
	if len(found) > 1 {
		i := whole(found[1], "there is "+path.Base(found[0])+" beside it: one folder has one hooks file", "move the hooks into one of them")
		return "", append(issues, i)
	}
	if len(found) == 1 {
		file = found[0]
	}
	return file, issues
}

func isName(name string) bool {
	for _, n := range Names() {
		if n == name {
			return true
		}
	}
	return false
}
