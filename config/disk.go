package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pawl-hooks/pawl/internal/doc"
)

// maxFile is the size in bytes above which a configuration file is not read: far above any real one, and
// low enough that a path pointing at a disk image does no harm.
const maxFile = 8 << 20

// maxLinks ends the walk along symbolic links that go round in a circle.
const maxLinks = 64

// A disk reads files by absolute path. With a nil fsys it is the operating system's; otherwise the root of
// fsys stands for the root of the file system, and a volume name is ignored.
type disk struct{ fsys fs.FS }

// inside turns an absolute path into a name of d.fsys.
func inside(name string) string {
	name = filepath.ToSlash(filepath.Clean(name[len(filepath.VolumeName(name)):]))
	if name = strings.TrimPrefix(name, "/"); name == "" {
		return "."
	}
	return name
}

func (d disk) open(name string) (fs.File, error) {
	if d.fsys == nil {
		return os.Open(name)
	}
	return d.fsys.Open(inside(name))
}

// stat follows links.
func (d disk) stat(name string) (fs.FileInfo, error) {
	if d.fsys == nil {
		return os.Stat(name)
	}
	return fs.Stat(d.fsys, inside(name))
}

func (d disk) isDir(name string) bool {
	info, err := d.stat(name)
	return err == nil && info.IsDir()
}

func (d disk) isFile(name string) bool {
	info, err := d.stat(name)
	return err == nil && info.Mode().IsRegular()
}

// exists reports whether something stands at name, a link to nowhere included: an unreadable file is there,
// and its reader says why it cannot be read.
func (d disk) exists(name string) bool {
	var err error
	if d.fsys == nil {
		_, err = os.Lstat(name)
	} else {
		_, err = fs.Lstat(d.fsys, inside(name))
	}
	return err == nil || !errors.Is(err, fs.ErrNotExist) && !isNotDir(err)
}

// read returns the content of a regular file. Its errors name what stands there instead.
func (d disk) read(name string) ([]byte, error) {
	info, err := d.stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "read", Path: name, Err: doc.ErrDirectory}
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: name, Err: doc.ErrIrregular}
	case info.Size() > maxFile:
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("holds %d bytes, over the limit of %d", info.Size(), maxFile)}
	}
	f, err := d.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("grew over the limit of %d bytes", maxFile)}
	}
	return data, err
}

// real returns the one true spelling of a path: absolute, clean, without symbolic links. What does not exist
// keeps the spelling it has below its nearest existing ancestor.
func (d disk) real(name string) string {
	name = filepath.Clean(name)
	resolved, err := d.resolve(name)
	if err == nil {
		return resolved
	}
	parent := filepath.Dir(name)
	if parent == name {
		return name
	}
	return filepath.Join(d.real(parent), filepath.Base(name))
}

func (d disk) resolve(name string) (string, error) {
	if d.fsys == nil {
		name, err := filepath.EvalSymlinks(name)
		if err == nil && runtime.GOOS == "darwin" { // Windows' has the case put right already
			name = trueCase(name, readNames)
		}
		return name, err
	}
	links, ok := d.fsys.(fs.ReadLinkFS)
	if !ok {
		_, err := d.stat(name)
		return name, err
	}
	return resolveLinks(links, filepath.VolumeName(name), inside(name))
}

// trueCase returns a real path as its folders spell it, where the file system finds it in any case. Of a
// folder that cannot be listed the spelling stays.
func trueCase(name string, list func(dir string) []string) string {
	dir := filepath.Dir(name)
	if dir == name {
		return name
	}
	dir, base := trueCase(dir, list), filepath.Base(name)
	near := ""
	for _, n := range list(dir) {
		if n == base {
			near = n
			break
		}
		if strings.EqualFold(n, base) {
			near = n
		}
	}
	return filepath.Join(dir, cmp.Or(near, base))
}

func readNames(dir string) []string {
	names, _ := disk{}.list(dir)
	return names
}

// resolveLinks walks name one element at a time, as a kernel would.
func resolveLinks(fsys fs.ReadLinkFS, volume, name string) (string, error) {
	done, rest := ".", strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		next := path.Join(done, rest[0])
		rest = rest[1:]
		info, err := fsys.Lstat(next)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "resolve", Path: name, Err: errors.New("too many links")}
		}
		target, err := fsys.ReadLink(next)
		if err != nil {
			return "", err
		}
		if path.IsAbs(target) {
			done = "."
		}
		// A leading ".." walks up from done before the rest is looked at.
		full := path.Join(done, target)
		if path.IsAbs(target) {
			full = strings.TrimPrefix(path.Clean(target), "/")
		}
		done, rest = ".", append(strings.Split(full, "/"), rest...)
	}
	return filepath.FromSlash(volume + "/" + strings.TrimPrefix(done, ".")), nil
}

// within reports whether name is dir or lies below it; both are real paths.
func within(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// list returns the names in a folder.
func (d disk) list(dir string) ([]string, error) {
	var entries []fs.DirEntry
	var err error
	if d.fsys == nil {
		entries, err = os.ReadDir(dir)
	} else {
		entries, err = fs.ReadDir(d.fsys, inside(dir))
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}
