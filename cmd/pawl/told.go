package main

import (
	"errors"
	"io"
	"io/fs"
)

// told is where answers go. It remembers that one could not be told, so that no command ends as if it had been.
type told struct {
	w   io.Writer
	err error // the first
}

// Write writes b.
func (t *told) Write(b []byte) (int, error) {
	n, err := t.w.Write(b)
	if t.err == nil {
		t.err = err
	}
	return n, err
}

// untold reports an answer that could not be written: a full disk, say.
func untold(err error) bool {
	var write *fs.PathError
	return errors.As(err, &write) && write.Op == "write"
}
