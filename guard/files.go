package guard

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/pawl-hooks/pawl"
)

// Files is the file system that an agent's tools work on. It may be called concurrently.
type Files interface {
	// Resolve returns the one absolute name of a file, symbolic links followed as the system would. The file,
	// and folders on the way to it, need not exist. A relative name is meant below dir.
	Resolve(dir, name string) (string, error)
	// Digest tells contents apart. For a file that is not there its error wraps fs.ErrNotExist.
	Digest(resolved string) (string, error)
}

// LocalFiles is the file system of this machine. Only regular files have a digest, SHA-256.
type LocalFiles struct{}

// Resolve follows every symbolic link on the way. An empty dir is the process's working directory.
func (LocalFiles) Resolve(dir, name string) (string, error) {
	if name == "" {
		return "", errors.New("an empty path")
	}
	if !filepath.IsAbs(name) {
		if dir == "" {
			dir = "."
		}
		name = dir + string(filepath.Separator) + name // not Join: link/.. is not the folder of link
	}
	found, err := filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		found, err = resolveMissing(filepath.Clean(name))
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(found)
}

// resolveMissing resolves the part of a clean name that exists.
func resolveMissing(name string) (string, error) {
	rest := ""
	for dir := name; ; dir = filepath.Dir(dir) {
		found, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(found, rest), nil
		}
		if target, e := os.Readlink(dir); e == nil { // a link to nothing: what it names would be made
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(dir), target)
			}
			if target != dir && rest == "" {
				return filepath.Clean(target), nil
			}
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", err
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// Digest reads the file.
func (LocalFiles) Digest(resolved string) (string, error) {
	info, err := os.Stat(resolved)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", resolved)
	}
	f, err := os.Open(resolved)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return string(sum.Sum(nil)), nil
}

// pathFields are the members of an input that name a file, where a runtime does not say.
func pathFields() []string { return []string{"file_path", "path", "notebook_path"} }

// pathsOf returns the files a call is about, resolved, and the input without the member that named them.
func pathsOf(files Files, fields []string, ev *pawl.Event) (paths []string, rest string, err error) {
	given := ev.Paths
	members, bad := object(ev.Input)
	for _, field := range fields {
		v, ok := members[field]
		if !ok {
			continue
		}
		delete(members, field)
		var one string
		if err := jsonv2.Unmarshal(v, &one); err != nil {
			return nil, "", fmt.Errorf("%s of the input is %s, want a path", field, v)
		}
		if ev.Paths == nil {
			given = append(given, one)
		}
	}
	if len(given) == 0 {
		if bad != nil {
			return nil, "", bad
		}
		return nil, "", fmt.Errorf("the call of %s names no file: neither its Paths nor any of %q in its input", ev.Tool, fields)
	}
	for _, name := range given {
		p, err := files.Resolve(ev.Dir, name)
		if err != nil {
			return nil, "", fmt.Errorf("path %q: %w", name, err)
		}
		paths = append(paths, p)
	}
	other, err := jsonv2.Marshal(members, jsonv2.Deterministic(true))
	return paths, canonical(other), err
}
