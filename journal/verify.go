package journal

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Against is what a log is held against, kept apart from it. The zero Against is nothing.
type Against struct {
	Heads       []string // hashes that a Log's Head once had
	Checkpoints string   // a file that Options.Checkpoints wrote; empty: none
}

// A Fault is what Verify found wrong at one place.
type Fault struct {
	Kind FaultKind `json:"kind"`
	File string    `json:"file"`
	Line int       `json:"line"` // from 1; of a Truncated log the last it has
	Text string    `json:"text"`
}

func (f Fault) String() string { return fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Kind, f.Text) }

// A FaultKind says what has happened to a log.
type FaultKind string

// The kinds.
const (
	Edited    FaultKind = "edited"    // a line was changed
	Missing   FaultKind = "missing"   // lines before this one were removed, or changed with hashes made anew
	Moved     FaultKind = "moved"     // a line stands elsewhere than it was written, or twice
	Foreign   FaultKind = "foreign"   // a line that is not of the chain
	Torn      FaultKind = "torn"      // the last line is not whole: a crash, or a cut
	Truncated FaultKind = "truncated" // what a head was taken of is not there
)

// A Report is what Verify found.
type Report struct {
	Files  []string `json:"files"` // in order
	Lines  int      `json:"lines"`
	Head   Head     `json:"head"` // where the log ends; its Time is zero
	Faults []Fault  `json:"faults"`
	// Limits says in words what this verification could not have found.
	Limits []string `json:"limits"`
}

// OK reports whether nothing was found.
func (r *Report) OK() bool { return len(r.Faults) == 0 }

// Verify checks every line of a log, its rotated files first. An error means that it could not be read. It
// takes no lock: a log that is being written may seem torn.
func Verify(path string, against Against) (*Report, error) {
	heads, err := against.heads()
	if err != nil {
		return nil, err
	}
	v := verifier{report: &Report{Head: Head{Hash: Genesis}}, at: map[lineKey]int{}, last: genesis}
	if v.report.Files, err = filesOf(path); err != nil {
		return nil, err
	}
	v.begin(path)
	for e, err := range ReadFile(path) {
		if err != nil {
			return nil, err
		}
		v.line(e)
	}
	v.explain()
	v.sort()
	v.hold(heads, path)
	v.limits(len(heads) > 0)
	return v.report, nil
}

func (a Against) heads() ([]Head, error) {
	var heads []Head
	for _, h := range a.Heads {
		if len(h) != hexLen || !isHex(parseHash([]byte(h))) {
			return nil, fmt.Errorf("head %q: want the %d hexadecimal digits of a line's hash", h, hexLen)
		}
		heads = append(heads, Head{Hash: h})
	}
	if a.Checkpoints == "" {
		return heads, nil
	}
	data, err := os.ReadFile(a.Checkpoints)
	if err != nil {
		return nil, fmt.Errorf("checkpoints: %w", err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(data))); ; {
		var h Head
		err := dec.Decode(&h)
		switch {
		case errors.Is(err, io.EOF):
			return heads, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return heads, nil // a crash while the last was written
		case err != nil || len(h.Hash) != hexLen:
			return nil, fmt.Errorf("%s:%d: not a checkpoint", a.Checkpoints, len(heads)+1)
		}
		heads = append(heads, h)
	}
}

// A lineKey is half of a hash: enough to tell lines apart, and a log may have many.
type lineKey [sha256.Size / 2]byte

func keyOf(h hash) (k lineKey) {
	_, _ = hex.Decode(k[:], h[:2*len(k)]) // it unsealed, so it is hexadecimal
	return k
}

type verifier struct {
	report *Report
	last   hash            // of the line before, as it says
	at     map[lineKey]int // where a line of this hash stands, counted over all files
	breaks []breakage
	pruned bool // the oldest rotated file is not the first
}

// A breakage is a line whose prev is not the hash before it.
type breakage struct {
	file       string
	line       int
	n          int // counted over all files
	prev, hash hash
	again      bool // its hash was seen before
}

// begin notes where the chain must start.
func (v *verifier) begin(path string) {
	if files := v.report.Files; len(files) > 0 && files[0] != path {
		n, _ := rotatedNumber(filepath.Base(path), filepath.Base(files[0]))
		v.pruned = n > 1
	}
}

func (v *verifier) fault(kind FaultKind, file string, line int, format string, args ...any) {
	v.report.Faults = append(v.report.Faults, Fault{kind, file, line, fmt.Sprintf(format, args...)})
}

func (v *verifier) line(e *Entry) {
	v.report.Lines++
	if e.Torn {
		v.fault(Torn, e.File, e.Line, "the file ends in the middle of it, after %d bytes", len(e.Raw))
		return
	}
	_, prev, h, ok := unseal(e.Raw)
	if !ok || e.Err != nil {
		v.fault(Foreign, e.File, e.Line, "it is not a record with a chain")
		return
	}
	if !intact(e.Raw, h) {
		v.fault(Edited, e.File, e.Line, "its hash is not that of its bytes")
	}
	_, again := v.at[keyOf(h)]
	if prev != v.last && !(v.pruned && v.report.Lines == 1) || again {
		v.breaks = append(v.breaks, breakage{e.File, e.Line, v.report.Lines, prev, h, again})
	}
	if !again {
		v.at[keyOf(h)] = v.report.Lines
	}
	v.last = h
	v.report.Head = Head{Size: e.Offset + int64(len(e.Raw)) + 1, Hash: h.String()}
}

// explain says of each breakage what caused it, now that all lines are known.
func (v *verifier) explain() {
	for _, b := range v.breaks {
		before, known := v.at[keyOf(b.prev)]
		switch {
		case b.again:
			v.fault(Moved, b.file, b.line, "it stands in the log twice")
		case b.prev == genesis:
			v.fault(Moved, b.file, b.line, "it was written as the first of a log")
		case known:
			v.fault(Moved, b.file, b.line, "it was written right after the %s line of the log", ordinal(before))
		default:
			v.fault(Missing, b.file, b.line, "the line it was written after is not in the log: it was removed, or changed and its hash made anew")
		}
	}
}

func ordinal(n int) string { return fmt.Sprintf("%d.", n) }

func (v *verifier) sort() {
	slices.SortStableFunc(v.report.Faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(slices.Index(v.report.Files, a.File), slices.Index(v.report.Files, b.File)), cmp.Compare(a.Line, b.Line))
	})
}

// hold looks for the heads among the lines.
func (v *verifier) hold(heads []Head, path string) {
	for _, h := range heads {
		if h.Hash == Genesis {
			continue
		}
		if _, ok := v.at[keyOf(parseHash([]byte(h.Hash)))]; ok {
			continue
		}
		if v.pruned && h != heads[len(heads)-1] {
			continue // it may have gone with the files that were removed
		}
		at := ""
		if !h.Time.IsZero() {
			at = " at " + h.Time.Format("2006-01-02T15:04:05Z07:00")
		}
		v.fault(Truncated, path, v.report.Lines, "it once ended%s with %.16s…, which is not in it", at, h.Hash)
	}
}

func (v *verifier) limits(held bool) {
	limit := func(s string) { v.report.Limits = append(v.report.Limits, s) }
	if held {
		limit("lines cut off the end that are younger than the last head it was held against")
	} else {
		limit("lines cut off the end: hold it against a head or checkpoints kept elsewhere")
		limit("a log written anew from its first line, with hashes of its own")
	}
	if v.pruned {
		limit("what the rotated files that were removed held")
	}
}
