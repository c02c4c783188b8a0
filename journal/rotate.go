package journal

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A rotated file is named as the log with a number behind it: pawl.log.000001 is the oldest. Its last
// record is of kind log.rotated, and the first line of the next file goes on with its chain.
const rotatedDigits = 6

// rotatedFiles lists the rotated files of a log, the oldest first.
func rotatedFiles(path string) ([]string, error) {
	dir, base := filepath.Dir(path), filepath.Base(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	var files []string
	for _, e := range entries {
		if _, ok := rotatedNumber(base, e.Name()); ok {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	slices.SortFunc(files, func(a, b string) int {
		x, _ := rotatedNumber(base, filepath.Base(a))
		y, _ := rotatedNumber(base, filepath.Base(b))
		return x - y
	})
	return files, nil
}

// rotatedNumber reads the number behind a rotated file's name.
func rotatedNumber(base, name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, base+".")
	if !ok || len(digits) < rotatedDigits || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0
}

// rotate ends the file and moves it to its name. The next record goes to a new one. Whoever waits for the
// lock of the old file finds that it has ended, and opens the path again.
func (l *Log) rotate() error {
	files, err := rotatedFiles(l.path)
	if err != nil {
		return err
	}
	n := 1
	if len(files) > 0 {
		last, _ := rotatedNumber(filepath.Base(l.path), filepath.Base(files[len(files)-1]))
		n = last + 1
	}
	name := fmt.Sprintf("%s.%0*d", filepath.Base(l.path), rotatedDigits, n)
	if err := l.append(&note{kind: "log.rotated", at: l.opts.Now(), file: name}); err != nil {
		return err
	}
	if err := os.Rename(l.path, filepath.Join(filepath.Dir(l.path), name)); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	return l.drop()
}

// finishRotation completes a rotation that a crash cut off between its record and the renaming.
func (l *Log) finishRotation(t tail) error {
	moved, err := l.moved()
	if moved || err != nil {
		return err
	}
	var rec struct{ File string }
	if err := json.Unmarshal(t.line, &rec); err != nil || filepath.Base(rec.File) != rec.File {
		return fmt.Errorf("log %s: its last record names no file to rotate to", l.path)
	}
	if _, ok := rotatedNumber(filepath.Base(l.path), rec.File); !ok {
		return fmt.Errorf("log %s: %q is no name of a rotated file", l.path, rec.File)
	}
	to := filepath.Join(filepath.Dir(l.path), rec.File)
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("log %s: %s is there already", l.path, to)
	}
	if err := os.Rename(l.path, to); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	return nil
}

// before returns the hash that the first line of an empty file goes on from.
func (l *Log) before() (hash, error) {
	files, err := rotatedFiles(l.path)
	if err != nil || len(files) == 0 {
		return genesis, err
	}
	f, err := os.Open(files[len(files)-1])
	if err != nil {
		return hash{}, fmt.Errorf("log: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return hash{}, fmt.Errorf("log: %w", err)
	}
	t, err := readTail(f, info.Size())
	if err != nil {
		return hash{}, fmt.Errorf("log %s: %w", f.Name(), err)
	}
	return t.hash, nil
}
