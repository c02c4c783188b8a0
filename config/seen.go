package config

import (
	"io/fs"
	"os"
)

// A seen remembers directories by what they are, not by how they are spelled: links, trailing slashes and
// the letter case of a file system that ignores it all lead to one directory.
type seen struct {
	disk  disk
	names map[string]bool
	infos []fs.FileInfo
}

// first reports whether dir was not met before, and remembers it.
func (s *seen) first(dir string) bool {
	name := s.disk.real(dir)
	if s.names[name] {
		return false
	}
	info, err := s.disk.stat(name)
	if err == nil && s.disk.fsys == nil {
		for _, other := range s.infos {
			if os.SameFile(info, other) {
				return false
			}
		}
		s.infos = append(s.infos, info)
	}
	if s.names == nil {
		s.names = map[string]bool{}
	}
	s.names[name] = true
	return true
}
