package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// A StartKind says why a program could not start.
type StartKind string

// The kinds of a [StartError].
const (
	NoProgram       StartKind = "no program"            // an empty argument list, or an empty first word
	NotFound        StartKind = "not found"             // on the PATH, or at the path given
	NotExecutable   StartKind = "not executable"        // a file without the right to be executed
	IsDirectory     StartKind = "is a directory"        //
	BadFormat       StartKind = "exec format error"     // neither a program of this system nor a script
	NoShebang       StartKind = "no #! line"            // a text file that does not name its interpreter
	ByteOrderMark   StartKind = "byte order mark"       // before the #!
	CarriageReturn  StartKind = "carriage return"       // at the end of the #! line
	NoInterpreter   StartKind = "interpreter not found" // the program named by the #! line, or a loader
	TooLong         StartKind = "too long"              // an argument, the environment, or all of it
	BadText         StartKind = "bad text"              // a NUL byte, or an environment entry that is not KEY=value
	BadDir          StartKind = "bad working directory" // gone, no directory, or not to be entered
	Busy            StartKind = "text file busy"        // still open for writing, after several tries
	CannotConfine   StartKind = "cannot confine"        // the sandbox asked for cannot be had
	CannotKeep      StartKind = "cannot be kept"        // the gate keeps no programs alive
	NotWhatWasAsked StartKind = "changed"               // its bytes are not those that were trusted
	CannotStart     StartKind = "cannot start"          // what the system said is in Err
)

// A StartError is a program that could not start. Nothing ran.
type StartError struct {
	Kind   StartKind
	Arg0   string // the first word of the command, as given
	Path   string // the file meant, where one was found; the directory for BadDir
	Detail string // the facts and a hint, for people
	Err    error  // what the system said; may be nil
}

func (e *StartError) Error() string {
	s := fmt.Sprintf("cannot start %.200q: %s", e.Arg0, e.Kind)
	switch {
	case e.Detail != "":
		s += ": " + e.Detail
	case e.Err != nil:
		s += ": " + bare(e.Err).Error()
	}
	return s
}

// Unwrap returns Err.
func (e *StartError) Unwrap() error { return e.Err }

// bare returns the system's own word, without the call and the path that were wrapped around it.
func bare(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

// check refuses what no system can start, before anything is looked up. env is the command's own part.
func (l *launch) check(env []string) error {
	if len(l.args) == 0 {
		return &StartError{Kind: NoProgram, Detail: "the command has no words"}
	}
	arg0 := l.args[0]
	if arg0 == "" {
		return &StartError{Kind: NoProgram, Detail: "the first word of the command is empty"}
	}
	for i, a := range l.args {
		if at := strings.IndexByte(a, 0); at >= 0 {
			return &StartError{Kind: BadText, Arg0: arg0, Detail: fmt.Sprintf("word %d has a NUL byte at offset %d", i, at)}
		}
	}
	if at := strings.IndexByte(l.dir, 0); at >= 0 {
		return &StartError{Kind: BadDir, Arg0: arg0, Path: l.dir, Detail: fmt.Sprintf("NUL byte at offset %d", at)}
	}
	for _, kv := range env {
		if at := strings.IndexByte(kv, 0); at >= 0 {
			return &StartError{Kind: BadText, Arg0: arg0, Detail: fmt.Sprintf("environment variable %q has a NUL byte", envName(kv))}
		}
		if envName(kv) == "" {
			return &StartError{Kind: BadText, Arg0: arg0, Detail: fmt.Sprintf("environment entry %.40q is not KEY=value", kv)}
		}
	}
	return nil
}

// lookup returns the file that arg0 means: itself where it has a slash, else the first executable file of
// that name in the absolute entries of env's PATH. The working directory is never looked in.
func lookup(arg0 string, env []string) (string, error) {
	if hasSeparator(arg0) {
		return arg0, nil
	}
	list := getenv(env, "PATH")
	var denied string
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, name := range executableNames(arg0, env) {
			path := filepath.Join(dir, name)
			info, err := os.Stat(path)
			switch {
			case err != nil || info.IsDir():
			case mayExecute(path, info):
				return path, nil
			case denied == "":
				denied = path
			}
		}
	}
	if denied != "" {
		return "", &StartError{Kind: NotExecutable, Arg0: arg0, Path: denied,
			Detail: fmt.Sprintf("%s has mode %s; chmod +x it", denied, modeOf(denied))}
	}
	detail := "looked in PATH " + list
	if list == "" {
		detail = "PATH is empty"
	}
	return "", &StartError{Kind: NotFound, Arg0: arg0, Detail: detail}
}

func modeOf(path string) fs.FileMode {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Mode()
}

// file returns the path of the program as this process sees it.
func (l *launch) file() string {
	if l.dir == "" || filepath.IsAbs(l.path) {
		return l.path
	}
	return l.dir + string(filepath.Separator) + l.path // not Join: that would resolve ".." by text
}

// explain turns the system's error into one that says what is wrong with which file.
func (l *launch) explain(err error) error {
	var known *StartError
	if errors.As(err, &known) {
		known.Arg0 = l.args[0]
		return known
	}
	e := &StartError{Kind: CannotStart, Arg0: l.args[0], Path: l.file(), Err: err}
	if l.dir != "" {
		if info, dirErr := os.Stat(l.dir); dirErr != nil || !info.IsDir() {
			e.Kind, e.Path, e.Detail = BadDir, l.dir, dirDetail(l.dir, dirErr)
			return e
		}
	}
	switch {
	case errors.Is(err, syscall.E2BIG):
		e.Kind, e.Detail = TooLong, l.longest()
	case runtime.GOOS == "windows" && errors.Is(err, windowsTooLong):
		e.Kind, e.Detail = TooLong, l.longest()
	case errors.Is(err, syscall.ENAMETOOLONG):
		e.Kind, e.Detail = TooLong, fmt.Sprintf("the name has %d bytes", len(l.path))
	case errors.Is(err, syscall.ETXTBSY):
		e.Kind, e.Detail = Busy, e.Path+" is open for writing"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		l.explainMissing(e)
	case errors.Is(err, syscall.ENOEXEC):
		explainFormat(e)
	case errors.Is(err, fs.ErrPermission):
		l.explainDenied(e)
	}
	return e
}

const windowsTooLong = syscall.Errno(206) // ERROR_FILENAME_EXCED_RANGE, of names and of command lines

func dirDetail(dir string, err error) string {
	if err != nil {
		return fmt.Sprintf("%s: %v", dir, bare(err))
	}
	return dir + " is not a directory"
}

func (l *launch) explainMissing(e *StartError) {
	if _, err := os.Stat(e.Path); err != nil {
		e.Kind, e.Detail = NotFound, "no file "+e.Path
		return
	}
	head := headOf(e.Path)
	line, script := shebang(head)
	switch {
	case script && strings.HasSuffix(line, "\r"):
		e.Kind, e.Detail = CarriageReturn, carriageReturnDetail(e.Path)
	case script:
		e.Kind, e.Detail = NoInterpreter, fmt.Sprintf("%s is to be run by %q", e.Path, strings.TrimSpace(line))
	default:
		e.Kind, e.Detail = NoInterpreter, e.Path+" needs a loader that is not installed"
	}
}

func carriageReturnDetail(path string) string {
	return fmt.Sprintf("the #! line of %s ends in a carriage return; save it with Unix line endings", path)
}

func explainFormat(e *StartError) {
	head := headOf(e.Path)
	switch {
	case len(head) == 0:
		e.Kind, e.Detail = BadFormat, e.Path+" is empty, no #! line"
	case strings.HasPrefix(head, "\xef\xbb\xbf#!"):
		e.Kind, e.Detail = ByteOrderMark, e.Path+" has a byte order mark before its #! line; save it without one"
	case strings.HasPrefix(head, "#!"):
		e.Kind, e.Detail = BadFormat, fmt.Sprintf("%s: the #! line %.60q cannot be used", e.Path, firstLine(head))
	case strings.IndexByte(head, 0) < 0:
		e.Kind, e.Detail = NoShebang, "exec format error: "+e.Path+" does not name its interpreter; begin it with one, such as #!/bin/sh"
	default:
		e.Kind, e.Detail = BadFormat, e.Path+" is no program for this system"
	}
}

func (l *launch) explainDenied(e *StartError) {
	info, err := os.Stat(e.Path)
	switch {
	case err != nil:
		e.Kind, e.Detail = NotExecutable, e.Path+" cannot be reached"
	case info.IsDir():
		e.Kind, e.Detail = IsDirectory, e.Path
	case !mayExecute(e.Path, info):
		e.Kind, e.Detail = NotExecutable, fmt.Sprintf("%s has mode %s; chmod +x it", e.Path, info.Mode())
	default:
		e.Kind, e.Detail = NotExecutable, fmt.Sprintf(
			"%s, its interpreter or the working directory is not permitted, or its file system is mounted noexec", e.Path)
	}
}

// longest says which part of the command is to blame for its length.
func (l *launch) longest() string {
	const linuxMax = 128<<10 - 1 // MAX_ARG_STRLEN with its NUL, see execve(2)
	total := 0
	for i, a := range l.args {
		total += len(a) + 1
		if len(a) > linuxMax && runtime.GOOS == "linux" {
			return fmt.Sprintf("word %d has %d bytes, at most %d are taken; hand it over on stdin", i, len(a), linuxMax)
		}
	}
	words := total
	for _, kv := range l.env {
		total += len(kv) + 1
		if len(kv) > linuxMax && runtime.GOOS == "linux" {
			return fmt.Sprintf("environment variable %s has %d bytes, at most %d are taken", envName(kv), len(kv), linuxMax)
		}
	}
	return fmt.Sprintf("arguments of %d and an environment of %d bytes", words, total-words)
}

const ( // what env and shells answer when they cannot start a program
	notFoundCode = 127
	deniedCode   = 126 // also where a folder of PATH may not be looked into
)

// carriageReturn reports a script whose #! line ends in a carriage return and goes through env: the kernel
// starts env, which then finds no "sh\r". The script itself never ran.
func (l *launch) carriageReturn() error {
	if line, script := shebang(headOf(l.file())); script && strings.HasSuffix(line, "\r") {
		return &StartError{Kind: CarriageReturn, Arg0: l.args[0], Path: l.file(), Detail: carriageReturnDetail(l.file())}
	}
	return nil
}

// headOf returns the first bytes of a regular file; what cannot be read is empty.
func headOf(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256) // what Linux reads of a script, see execve(2)
	n, _ := f.Read(head)
	return string(head[:n])
}

func shebang(head string) (line string, ok bool) {
	rest, ok := strings.CutPrefix(head, "#!")
	return firstLine(rest), ok
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
