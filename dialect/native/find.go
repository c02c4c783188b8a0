package native

import (
	"errors"
	"io/fs"
	"path"

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
	names, dirs := make([]string, len(entries)), map[string]bool{}
	for i, e := range entries {
		names[i], dirs[e.Name()] = e.Name(), e.IsDir()
	}
	file, issues = Choose(names, func(name string) bool { return !dirs[name] })
	if file != "" {
		file = path.Join(folder, file)
	}
	for i := range issues {
		issues[i].File = path.Join(folder, issues[i].File)
	}
	return file, issues
}

// Choose returns the native file among the names of a folder, or "" where there is none or more than one. It
// reports what [Find] does, with the bare name as the issue's File. IsFile tells files from folders.
func Choose(names []string, isFile func(name string) bool) (file string, issues []dialect.Issue) {
	var found []string
	for _, name := range names {
		switch near := doc.Nearest(name, Names()...); {
		case near == name:
			found = append(found, name)
		case near != "" && isFile(name):
			w := whole(name, "this file is not read", "a native file is called "+near)
			w.Severity = dialect.Warning
			issues = append(issues, w)
		}
	}
	if len(found) == 1 {
		return found[0], issues
	}
	for i := 1; i < len(found); i++ {
		issues = append(issues, whole(found[i], "there is "+found[0]+" beside it: one folder has one hooks file",
			"move the hooks into one of them; neither loads"))
	}
	return "", issues
}
