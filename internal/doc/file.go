package doc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
)

// ReadFile reads a file of at most [MaxSize] bytes. A missing file, a directory, a device and a file that
// may not be read are each a fault without a line; errors.Is(fault, fs.ErrNotExist) does not hold, so look
// first where a missing file is fine. Shown is the name for people.
func ReadFile(fsys fs.FS, name, shown string) ([]byte, *Fault) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return nil, Unreadable(shown, err)
	case info.IsDir():
		return nil, Unreadable(shown, ErrDirectory)
	case !info.Mode().IsRegular():
		return nil, Unreadable(shown, ErrIrregular)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, Unreadable(shown, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, Unreadable(shown, err)
	}
	if len(data) > MaxSize {
		return nil, &Fault{File: shown, Message: fmt.Sprintf("the file is larger than %d bytes", MaxSize), Hint: "a configuration file is at most 1 MiB"}
	}
	return data, nil
}

// What stands where a file with text should.
var (
	ErrDirectory = errors.New("it is a directory")
	ErrIrregular = errors.New("it is not a regular file")
)

// Unreadable is the fault of a file that cannot be read, and what to do about it.
func Unreadable(shown string, err error) *Fault {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	hint := ""
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		hint = "check the name and the folder"
	case errors.Is(err, fs.ErrPermission):
		hint = "make it readable for the user pawl runs as"
	case errors.Is(err, ErrDirectory), errors.Is(err, syscall.EISDIR):
		err, hint = ErrDirectory, "name a file in it"
	case errors.Is(err, ErrIrregular):
		hint = "name a file with the text in it"
	}
	return &Fault{File: shown, Message: "cannot read the file: " + err.Error(), Hint: hint}
}
