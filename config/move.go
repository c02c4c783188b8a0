package config

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl/internal/shline"
)

// cds are the commands that change the working directory of the shell that runs them.
var cds = words(`cd chdir pushd popd Set-Location Push-Location Pop-Location sl`)

// movers are others that may.
var movers = words(`eval source . command builtin`)

// chdirs are the options by which a program starts what it is given, or looks for its files, in another folder.
var chdirs = map[string]map[string]bool{
	"env": words(`-C --chdir`), "sudo": words(`-D --chdir`), "git": words(`-C`), "make": words(`-C --directory`), "gmake": words(`-C --directory`),
	"tar": words(`-C --directory --cd`), "bsdtar": words(`-C --directory --cd`), "ninja": words(`-C`), "cargo": words(`-C`), "pnpm": words(`-C --dir`),
	"uv": words(`--directory`), "uvx": words(`--directory`), "poetry": words(`-C --directory`), "bun": words(`--cwd`), "yarn": words(`--cwd`),
	"bwrap": words(`--chdir`), "nsenter": words(`--wd`), "unshare": words(`--wd`), "systemd-run": words(`--working-directory`),
	"just": words(`-d --working-directory`),
}

// elsewhere are programs that start what they are given in a folder, or on a machine, that is not known.
var elsewhere = words(`chroot su runuser ssh docker podman kubectl flatpak nsenter`)

// simple looks at one command of a shell: it may be one that moves it.
func (w walk) simple(written, args []string) (well, ill spot) {
	builtin := args[0] == "builtin"
	for len(args) > 1 && (args[0] == "builtin" || args[0] == "command") {
		written, args = written[1:], args[1:]
		if args[0] == "-p" && len(args) > 1 {
			written, args = written[1:], args[1:]
		}
	}
	switch at := w.at; args[0] {
	case "cd", "pushd", "chdir":
		if well, ill = w.cd(written, args); builtin {
			ill = at // not every shell knows it
		}
		return well, ill
	case "exit":
		return at.gone(), at.gone()
	case "true", ":":
		return at, at.gone()
	}
	at := w.other(written, args)
	return at, at
}

// other returns where a command leaves the shell that is none of those whose end says something.
func (w walk) other(written, args []string) spot {
	switch name := args[0]; {
	case name == "eval":
		return w.eval(args)
	case name == "trap":
		w.trap(args)
		return w.at
	case cds[name]:
		return spot{lost: "where " + name + " leads cannot be told"}
	}
	w.call(written, args, w.depth)
	switch name := args[0]; {
	case name == "" && !strings.Contains(written[0][strings.LastIndexAny(written[0], ")}`")+1:], "/"): // else it is a program's path
		return spot{lost: "what " + written[0] + " stands for cannot be told: it may be cd"}
	case (name == "." || name == "source") && !w.stays(args):
		return spot{lost: "a file that is read by " + name + " may change the working directory"}
	}
	return w.at
}

// eval reads its words as one line of this very shell.
func (w walk) eval(args []string) spot {
	if slices.Contains(args, "") {
		return spot{lost: "what eval is given cannot be told"}
	}
	return w.shell(strings.Join(args[1:], " "), w.depth-1)
}

// trap is a line that runs later, wherever the shell is by then.
func (w walk) trap(args []string) {
	at := w.at
	if len(args) > 1 {
		w.at = spot{lost: "where a trap runs cannot be told"}
		w.shell(args[1], w.depth-1)
	}
	w.at = at
}

// mayMove is what a file that is read into a shell must not hold if it is to leave the shell where it is.
var mayMove = regexp.MustCompile(`(^|[^\w.-])(cd|chdir|pushd|popd|eval|source|command|builtin)($|[^\w.-])|(^|[\s;&|({])\.\s|(^|[\s;&|({])["']?\$`)

// stays reports whether a file that is read into the shell leaves it where it is: one that can be read, and whose
// content is covered.
func (w walk) stays(args []string) bool {
	if len(args) < 2 || args[1] == "" || w.at.lost != "" && !filepath.IsAbs(args[1]) {
		return false
	}
	for _, base := range append(slices.Clone(w.at.bases), string(filepath.Separator)) {
		if file := w.path(base, args[1]); w.disk.isFile(file) && !isSystem(file) {
			data, err := w.disk.read(file)
			return err == nil && len(data) <= shline.Longest && !mayMove.Match(data)
		}
	}
	return false
}

// cd follows a cd whose folder is written out and is there. That is where it ends well.
func (w walk) cd(written, args []string) (well, ill spot) {
	to, options, ok := target(args)
	if len(args) == 1 && args[0] != "pushd" {
		to, ok = w.vars["HOME"], w.vars["HOME"] != "" && !w.set["HOME"]
	}
	command := strings.Join(written, " ")
	switch {
	case w.at.lost != "" && !filepath.IsAbs(to):
		return w.at, w.at
	case !ok || w.searched(to):
		return spot{lost: "where " + command + " leads cannot be told"}, w.at
	}
	well = w.into(command, to, strings.Contains(options, "P"))
	if well.lost == "" && args[0] == "cd" && strings.Trim(options, "LP") == "" {
		return well, w.at.gone()
	}
	return well, w.at // there may be no such folder, command or option
}

// target returns the folder that a cd names, and its options.
func target(args []string) (to, options string, ok bool) {
	operands := args[1:]
	for len(operands) > 0 && strings.HasPrefix(operands[0], "-") {
		option := operands[0]
		operands = operands[1:]
		if option == "--" {
			break
		}
		if option == "-" || strings.Trim(option[1:], "LPe@") != "" {
			return "", "", false
		}
		options += option[1:]
	}
	if len(operands) != 1 || operands[0] == "" || operands[0] == "-" || strings.HasPrefix(operands[0], "+") {
		return "", "", false
	}
	return operands[0], options, true
}

// searched reports whether a cd looks for the folder in CDPATH.
func (f *finder) searched(to string) bool {
	first, _, _ := strings.Cut(to, "/")
	if filepath.IsAbs(to) || first == "." || first == ".." {
		return false
	}
	return f.set["CDPATH"] || f.getenv != nil && f.getenv("CDPATH") != ""
}

// into is the place that a change to a folder leads to. A shell takes .. off the path as it is written; physical is
// what the system does, which follows links first.
func (f *finder) into(command, to string, physical bool) spot {
	if f.at.lost != "" && !filepath.IsAbs(to) {
		return f.at
	}
	bases := f.at.bases
	if filepath.IsAbs(to) {
		bases = []string{string(filepath.Separator)}
	}
	var moved []string
	for i, base := range bases {
		dir := against(base, to)
		if physical {
			dir = f.disk.real(f.path(base, to))
		}
		switch there := f.disk.isDir(dir); {
		case there:
			moved = append(moved, dir)
		case i == 0:
			return spot{lost: command + " leads to no folder that is there"}
		}
	}
	return spot{bases: moved}
}

// path is the file that name stands for in dir: a link is followed before the .. behind it.
func (f *finder) path(dir, name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		dir, name = filepath.VolumeName(name)+string(filepath.Separator), name[len(filepath.VolumeName(name)):]
	}
	for _, element := range strings.Split(name, string(filepath.Separator)) {
		if element == ".." {
			dir = f.disk.real(dir)
		}
		dir = filepath.Join(dir, element)
	}
	return dir
}

// chdir reads an option of a program that starts what follows in another folder, and returns how many words it took.
func (f *finder) chdir(name string, written, args []string) int {
	option, to, joined := strings.Cut(args[0], "=")
	names, took := chdirs[name], 1
	switch {
	case elsewhere[name]:
		f.at = spot{lost: "where " + name + " runs it cannot be told"}
		return 0
	case option == "-execdir" || option == "-okdir":
		f.at = spot{lost: option + " runs it in many folders"}
		return 1
	case args[0] == "" && names != nil && strings.HasPrefix(strings.TrimLeft(written[0], `"`), "$"):
		f.at = spot{lost: "what " + written[0] + " stands for cannot be told: it may be an option of " + name}
		return 1
	case len(args[0]) > 2 && args[0][1] != '-' && names[args[0][:2]]: // -Csub
		to, joined = args[0][2:], true
	case !names[option]:
		return 0
	}
	if !joined && len(args) > 1 {
		to, took = args[1], 2
	}
	command := name + " " + strings.Join(written[:took], " ")
	if to == "" {
		f.at = spot{lost: "where " + command + " leads cannot be told"}
	} else {
		f.at = f.into(command, to, true)
	}
	return took
}
