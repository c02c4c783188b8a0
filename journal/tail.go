package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// What a file is that is no log, or a log without a chain.
var (
	errUnchained = errors.New("its last line is not one of a chained log; begin a new file")
	errForeign   = errors.New("it holds something else than a log; begin a new file")
)

// recordBegins is how every record begins.
const recordBegins = `{"kind":"`

// A tail is the end of a file.
type tail struct {
	whole int64  // where the last whole line ends; zero: there is none
	hash  hash   // of that line
	line  []byte // that line, without its line feed; nil where it is long
}

// tailRead is how much is read to find the last line: more than the log's own records take.
const tailRead = 1 << 10

// readTail reads the end of a file of the given size. One without a whole line must have begun as a log.
func readTail(r io.ReaderAt, size int64) (tail, error) {
	t, err := lastLine(r, size)
	if err != nil || t.whole > 0 {
		return t, err
	}
	begun := make([]byte, min(size, int64(len(recordBegins))))
	if _, err := r.ReadAt(begun, 0); err != nil {
		return t, err
	}
	if !strings.HasPrefix(recordBegins, string(begun)) {
		return t, errForeign
	}
	return t, nil
}

// lastLine reads the last whole line.
func lastLine(r io.ReaderAt, size int64) (tail, error) {
	var t tail
	for n := int64(tailRead); ; n *= 4 {
		n = min(n, size)
		b := make([]byte, n)
		if _, err := io.ReadFull(io.NewSectionReader(r, size-n, n), b); err != nil {
			return t, err
		}
		end := bytes.LastIndexByte(b, '\n')
		if end < 0 && n < size {
			continue
		}
		if end < 0 {
			return t, nil
		}
		start := bytes.LastIndexByte(b[:end], '\n') + 1
		if start == 0 && n < size && end < sealLen {
			continue
		}
		t.whole = size - n + int64(end) + 1
		line := b[start:end]
		if start > 0 || n == size {
			t.line = line
		} else {
			line = append([]byte{'{'}, line...) // the rest of it is not needed for its hash
		}
		_, _, h, ok := unseal(line)
		if !ok {
			return t, errUnchained
		}
		t.hash = h
		return t, nil
	}
}

// rotated reports whether the tail's line says that the file is not the log any more.
func (t tail) rotated() bool { return bytes.HasPrefix(t.line, []byte(`{"kind":"log.rotated",`)) }

// A note is a record that the log writes about itself.
type note struct {
	kind  string
	at    time.Time
	bytes int64  // of log.repaired: how many were taken off
	file  string // of log.rotated: the name that the file gets
}

// Kind returns the note's kind.
func (n *note) Kind() string { return n.kind }

// AppendJSON appends the note.
func (n *note) AppendJSON(b []byte) []byte {
	b = fmt.Appendf(b, `{"kind":%q,"time":%q`, n.kind, n.at.UTC().Format(time.RFC3339Nano))
	if n.file != "" {
		name, _ := json.Marshal(n.file) // a string always marshals
		b = fmt.Appendf(b, `,"file":%s`, name)
	}
	if n.bytes != 0 {
		b = fmt.Appendf(b, `,"bytes":%d`, n.bytes)
	}
	return append(b, '}')
}
