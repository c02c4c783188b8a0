package gate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl"
)

// A Namer says under which action the policy decides on a command. An error, or an empty name, refuses the
// command. It may be called concurrently.
type Namer interface {
	Action(cmd pawl.Command) (string, error)
}

// NamerFunc is a func that is a Namer.
type NamerFunc func(cmd pawl.Command) (string, error)

// Action calls f.
func (f NamerFunc) Action(cmd pawl.Command) (string, error) { return f(cmd) }

// Unparsed is the action of a command whose program has no safe name: an empty one, one that is too long
// or one with ".." in its path.
const Unparsed = "exec.unparsed"

// pathMax is the longest path that the systems we know take.
const pathMax = 4096

// An ExecNamer names a command by the text of its first word alone: it looks nothing up, so that a name is
// the same on every machine and before a file exists. The name is exec, a class, and the parts of the path:
//
//	exec.path.jq                a bare name, found on PATH
//	exec.workspace.scripts.x    a path
//	exec.devshell.dev.bin.zig   a path of the store that the development shell holds
//	exec.nix.store.dev.bin.zig  any other path of the store
//
// A dot within a part is written %2E and a percent sign %25, so that a dot always separates and two
// programs never share a name. A name is never cut. The zero ExecNamer knows no root and no development
// shell.
type ExecNamer struct {
	Root     string   // the project; a path inside is named from there, as its relative spelling is
	Devshell []string // paths of the store that the development shell holds
}

// Action names the command.
func (n ExecNamer) Action(cmd pawl.Command) (string, error) {
	if len(cmd.Args) == 0 {
		return Unparsed, nil
	}
	path := filepath.ToSlash(cmd.Args[0])
	if path == "" || len(path) > pathMax || strings.ContainsRune(path, 0) {
		return Unparsed, nil
	}
	bare := !strings.Contains(path, "/")
	if !bare {
		path = n.fromRoot(path, filepath.ToSlash(cmd.Dir))
	}
	parts, ok := parts(path)
	if !ok {
		return Unparsed, nil
	}
	class := "workspace"
	rest, stored := inStore(path, parts)
	switch {
	case stored && n.inDevshell(rest):
		class, parts = "devshell", rest
	case stored:
		class, parts = "nix.store", rest
	case bare:
		class = "path"
	}
	return join("exec."+class, parts), nil
}

// parts splits a path; doubled slashes and "." make no difference, ".." makes it unsafe.
func parts(path string) ([]string, bool) {
	var list []string
	for part := range strings.SplitSeq(path, "/") {
		switch part {
		case "", ".":
		case "..":
			return nil, false
		default:
			list = append(list, part)
		}
	}
	return list, true
}

// inStore returns what follows the store in the parts of an absolute path.
func inStore(path string, parts []string) ([]string, bool) {
	if strings.HasPrefix(path, "/") && len(parts) >= 2 && parts[0] == "nix" && parts[1] == "store" {
		return parts[2:], true
	}
	return nil, false
}

// inDevshell reports whether rest, a path below the store, is or lies in an entry of the development shell.
// An entry that is the whole store, or lies outside it, holds nothing.
func (n ExecNamer) inDevshell(rest []string) bool {
	for _, entry := range n.Devshell {
		list, ok := parts(entry)
		held, stored := inStore(entry, list)
		if ok && stored && len(held) > 0 && len(rest) >= len(held) && slices.Equal(held, rest[:len(held)]) {
			return true
		}
	}
	return false
}

// join writes the parts behind the class.
func join(class string, parts []string) string {
	if len(parts) == 0 {
		return Unparsed
	}
	var b strings.Builder
	b.WriteString(class)
	for _, part := range parts {
		b.WriteByte('.')
		b.WriteString(partEscaper.Replace(part))
	}
	return b.String()
}

// fromRoot spells a path that lies in the project as seen from its root, whatever directory it is run in.
func (n ExecNamer) fromRoot(path, dir string) string {
	root, ok := parts(filepath.ToSlash(n.Root))
	if !ok || len(root) == 0 {
		return path
	}
	if !isAbs(path) {
		if !isAbs(dir) {
			return path
		}
		path = dir + "/" + path
	}
	list, ok := parts(path)
	if !ok || len(list) < len(root) || !slices.Equal(root, list[:len(root)]) {
		return path
	}
	return strings.Join(list[len(root):], "/")
}

func isAbs(path string) bool {
	return strings.HasPrefix(path, "/") || os.PathSeparator == '\\' && filepath.IsAbs(filepath.FromSlash(path))
}

var partEscaper = strings.NewReplacer(".", "%2E", "%", "%25")
