package config

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// FindRoot returns the project that dir, an absolute path, belongs to: the nearest of dir and its ancestors
// that holds .git, else dir itself. A nil fsys is the operating system's; otherwise its root stands for "/".
func FindRoot(fsys fs.FS, dir string) string {
	d := disk{fsys}
	if top := d.top(dir); top != "" {
		return top
	}
	return filepath.Clean(dir)
}

// top returns the nearest of dir and its ancestors that holds .git, or "".
func (d disk) top(dir string) string {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		if d.exists(filepath.Join(dir, ".git")) {
			return dir
		}
		if filepath.Dir(dir) == dir {
			return ""
		}
	}
}

// A checkout is a working tree of a git repository. Both paths are real.
type checkout struct {
	top  string // holds .git; empty: dir is in no repository
	main string // the root checkout: of a linked worktree another one, else top
}

// checkout finds the working tree that dir, a real path, is in.
func (d disk) checkout(dir string) checkout {
	top := d.top(dir)
	c := checkout{top: top, main: top}
	if top == "" || d.isDir(filepath.Join(top, ".git")) {
		return c
	}
	if main, ok := d.linked(top); ok {
		c.main = main
	}
	return c
}

// linked returns the root checkout of the linked worktree at top. The repository must know the worktree, in a
// folder of its own worktrees that names this very .git file: a .git file is written by whoever made the folder,
// as is all that it leads to outside of the repository, and may point at one that somebody else trusts.
func (d disk) linked(top string) (main string, ok bool) {
	const mark = "gitdir:"
	file := d.line(filepath.Join(top, ".git"))
	if !strings.HasPrefix(file, mark) {
		return "", false
	}
	gitdir := d.real(against(top, strings.TrimSpace(file[len(mark):])))
	back, common := d.line(filepath.Join(gitdir, "gitdir")), d.line(filepath.Join(gitdir, "commondir"))
	if back == "" || common == "" {
		return "", false // a submodule, or a file that leads nowhere
	}
	if d.real(against(gitdir, back)) != filepath.Join(d.real(top), ".git") {
		return "", false // another worktree's, or a .git that is a link to one
	}
	repo := d.real(against(gitdir, common))
	if filepath.Base(repo) != ".git" || !d.isDir(repo) {
		return "", false // a bare repository has no root checkout
	}
	if filepath.Dir(gitdir) != filepath.Join(repo, "worktrees") {
		return "", false // it names a repository that does not name it
	}
	if strings.HasPrefix(repo, d.real(top)+string(filepath.Separator)) {
		return "", false // a repository inside of what claims to be its worktree: made by whoever made the folder
	}
	return filepath.Dir(repo), true
}

// line returns the first line of a small file, or "" where there is none.
func (d disk) line(name string) string {
	data, err := d.read(name)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(first)
}

// against makes name absolute, seen from dir.
func against(dir, name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// between lists the directories from root down to dir, both included and both real paths. A dir outside
// root adds nothing.
func between(root, dir string) []string {
	dirs := []string{root}
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == "." || !within(root, dir) {
		return dirs
	}
	for _, name := range strings.Split(rel, string(filepath.Separator)) {
		dirs = append(dirs, filepath.Join(dirs[len(dirs)-1], name))
	}
	return dirs
}
