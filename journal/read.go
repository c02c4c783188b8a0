package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/pawl-hooks/pawl"
)

// MaxLine bounds a line that is read, in bytes. A longer one is an error.
const MaxLine = 64 << 20

// An Entry is one line of a log.
type Entry struct {
	File   string // as it was given; empty for a Reader
	Line   int    // from 1, within the file
	Offset int64  // of its first byte within the file
	Raw    []byte // without its line feed; good until the next entry
	Torn   bool   // the file ends before its line feed

	Kind string // empty where the line is no JSON object with a kind
	Err  error  // why the line could not be read as a record; unknown kinds and fields are no error
}

// Run reads the entry as a hook.run record.
func (e *Entry) Run() (*pawl.Run, error) {
	if e.Kind != "hook.run" {
		return nil, fmt.Errorf("%s is not a hook.run record", e.at())
	}
	var run pawl.Run
	if err := json.Unmarshal(e.Raw, &run); err != nil {
		return nil, fmt.Errorf("%s: %w", e.at(), err)
	}
	return &run, nil
}

func (e *Entry) at() string {
	if e.File == "" {
		return fmt.Sprintf("line %d", e.Line)
	}
	return fmt.Sprintf("%s:%d", e.File, e.Line)
}

// Read yields the lines of a log in order. A line that is no record is yielded with its Err, so that what
// comes after is read still; the error beside an entry ends the reading.
func Read(r io.Reader) iter.Seq2[*Entry, error] { return read(r, "") }

// ReadFile yields the lines of a log file: its rotated files first, the oldest before.
func ReadFile(path string) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		files, err := filesOf(path)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, file := range files {
			if !readOne(file, yield) {
				return
			}
		}
	}
}

// readOne yields the lines of one file and reports whether to go on.
func readOne(file string, yield func(*Entry, error) bool) bool {
	f, err := os.Open(file)
	if err != nil {
		return yield(nil, fmt.Errorf("log: %w", err))
	}
	defer f.Close()
	for e, err := range read(f, file) {
		if !yield(e, err) || err != nil {
			return false
		}
	}
	return true
}

// filesOf lists the files of a log that exist, the oldest first.
func filesOf(path string) ([]string, error) {
	files, err := rotatedFiles(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err == nil || len(files) == 0 {
		files = append(files, path) // where there is none, opening it says so
	}
	return files, nil
}

func read(r io.Reader, file string) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		br := bufio.NewReaderSize(r, 64<<10)
		e := Entry{File: file}
		var buf []byte
		for {
			line, err := readLine(br, buf[:0])
			buf = line
			if errors.Is(err, io.EOF) && len(line) == 0 {
				return
			}
			size := int64(len(line))
			e.Line, e.Torn = e.Line+1, errors.Is(err, io.EOF)
			if err != nil && !e.Torn {
				yield(nil, fmt.Errorf("%s: %w", e.at(), err))
				return
			}
			e.Raw = bytes.TrimSuffix(line, []byte("\n"))
			e.Kind, e.Err = kindOf(e.Raw)
			if !yield(&e, nil) {
				return
			}
			e.Offset += size
		}
	}
}

// readLine reads up to and with a line feed.
func readLine(r *bufio.Reader, buf []byte) ([]byte, error) {
	for {
		part, err := r.ReadSlice('\n')
		buf = append(buf, part...)
		if len(buf) > MaxLine {
			return buf, fmt.Errorf("longer than %d bytes", MaxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return buf, err
		}
	}
}

// kindOf reads the kind of a record.
func kindOf(line []byte) (string, error) {
	var rec struct{ Kind *string }
	if err := json.Unmarshal(line, &rec); err != nil {
		return "", fmt.Errorf("not a JSON object: %w", err)
	}
	if rec.Kind == nil {
		return "", errors.New(`a record without "kind"`)
	}
	return *rec.Kind, nil
}
