package pawltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pawl-hooks/pawl"
)

// A LogKit says what [TestLog] needs to know of a log.
type LogKit struct {
	// New returns an empty log, and a func that returns what it has kept so far: one record a line,
	// without the newline. It is called for every rule.
	New   func() (log pawl.Log, lines func() ([][]byte, error))
	Bound time.Duration // how soon Append returns once its context is done; zero: 5 s
}

// TestLog holds a log that keeps records as lines of JSON to the contract of [pawl.Log] and [pawl.Record].
// It returns every [Violation], joined, or nil.
func TestLog(kit LogKit) error {
	kit.Bound = orDefault(kit.Bound)
	return judge(logRules, func() (*logCheck, func(), error) {
		log, lines := kit.New()
		return &logCheck{kit.Bound, log, lines}, nil, nil
	})
}

var logRules = []rule[*logCheck]{
	{"records are kept in the order of their Append", (*logCheck).order},
	{"an Append of nothing adds nothing", (*logCheck).nothing},
	{"a record of any kind is kept with all it has", (*logCheck).anyKind},
	{"a record is one line without control characters, whatever is in it", (*logCheck).oneLine},
	{"a large record is kept whole", (*logCheck).large},
	{"a record that is none is an error and leaves no trace", (*logCheck).noRecord},
	{"the record is not kept to be read later", (*logCheck).notKept},
	{"Appends at once lose and mix nothing", (*logCheck).concurrent},
	{"under a done context it returns soon, and says so if it kept nothing", (*logCheck).doneContext},
}

// A logCheck is one rule being looked at.
type logCheck struct {
	bound time.Duration
	log   pawl.Log
	lines func() ([][]byte, error)
}

// A word is a record of a kind of its own.
type word struct {
	Word string `json:"kind"`
	Text string `json:"text"`
	N    int    `json:"n"`
}

func (w *word) Kind() string { return w.Word }

func (c *logCheck) append(ctx context.Context, recs ...pawl.Record) (said, misbehaved error) {
	ctx, cancel := context.WithTimeout(ctx, 2*c.bound)
	defer cancel()
	result := make(chan error, 1)
	if err := bounded(ctx, c.bound, func(ctx context.Context) { result <- c.log.Append(ctx, recs...) }); err != nil {
		return nil, err
	}
	return <-result, nil
}

// takes appends recs, which the log has no reason to refuse.
func (c *logCheck) takes(recs ...pawl.Record) error {
	said, err := c.append(context.Background(), recs...)
	if err == nil && said != nil {
		err = fmt.Errorf("Append failed: %w", said)
	}
	return err
}

// kept returns the lines, each of which is a whole record.
func (c *logCheck) kept(count int) ([][]byte, error) {
	lines, err := c.lines()
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		if err := wellFormed(line); err != nil {
			return nil, fmt.Errorf("%w: %.200q", err, line)
		}
	}
	return lines, want("the count of lines", count, len(lines))
}

func wellFormed(line []byte) error {
	switch {
	case !jsontext.Value(line).IsValid():
		return errors.New("a line is not one JSON value in UTF-8 without repeated names")
	case !bytes.HasPrefix(line, []byte(`{"kind":"`)):
		return errors.New("a line does not begin with its kind")
	case bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("a line has a control character")
	}
	return nil
}

func (c *logCheck) order() error {
	if err := first(c.takes(&word{"a", "", 1}), c.takes(&word{"b", "", 2}, &word{"c", "", 3}, &word{"d", "", 4}), c.takes(&word{"e", "", 5})); err != nil {
		return err
	}
	lines, err := c.kept(5)
	for i, line := range lines {
		if err == nil && !bytes.Contains(line, fmt.Appendf(nil, `"n":%d`, i+1)) {
			err = fmt.Errorf("line %d is %s", i+1, line)
		}
	}
	return err
}

func (c *logCheck) nothing() error {
	if err := c.takes(); err != nil {
		return err
	}
	_, err := c.kept(0)
	return err
}

func (c *logCheck) anyKind() error {
	run := &pawl.Run{Name: "tests-pass", Trigger: pawl.ToolBefore, Outcome: pawl.Ran, Refused: true}
	if err := c.takes(&word{"tool.result", "<b> & é", 7}, run); err != nil {
		return err
	}
	lines, err := c.kept(2)
	if err != nil {
		return err
	}
	var other word
	if err := json.Unmarshal(lines[0], &other); err != nil || other != (word{"tool.result", "<b> & é", 7}) {
		return fmt.Errorf("a record of a kind of its own became %s", lines[0])
	}
	if own := []byte(`{"kind":"hook.run","name":"tests-pass"`); !bytes.HasPrefix(lines[1], own) {
		return fmt.Errorf("a hook.run became %s", lines[1])
	}
	return nil
}

const hostile = "\n{\"kind\":\"hook.run\",\"outcome\":\"ran\"}\r\n\x00\x1b[2J\x7f\u2028\u0085\xff\xfe"

func (c *logCheck) oneLine() error {
	run := &pawl.Run{Name: hostile, Tool: hostile, Reason: hostile, Stderr: hostile, Source: hostile, Signal: hostile}
	if err := c.takes(run); err != nil {
		return err
	}
	_, err := c.kept(1)
	return err
}

func (c *logCheck) large() error {
	text := strings.Repeat("é", 1<<20)
	if err := c.takes(&word{"a", text, 1}, &word{"b", "", 2}); err != nil {
		return err
	}
	lines, err := c.kept(2)
	if err == nil && utf8.RuneCount(lines[0]) < len(text)/2 {
		err = fmt.Errorf("of %d bytes %d were kept", len(text), len(lines[0]))
	}
	return err
}

// unmarshallable is a record that cannot be written.
type unmarshallable struct{ C chan int }

func (unmarshallable) Kind() string { return "x" }

func (c *logCheck) noRecord() error {
	if err := c.takes(&word{"a", "", 1}); err != nil {
		return err
	}
	said, err := c.append(context.Background(), &word{"b", "", 2}, unmarshallable{})
	switch {
	case err != nil:
		return err
	case said == nil:
		return errors.New("Append has no error")
	}
	if err := c.takes(&word{"c", "", 3}); err != nil {
		return err
	}
	lines, err := c.lines()
	if err != nil {
		return err
	}
	for _, line := range lines {
		if err := wellFormed(line); err != nil {
			return fmt.Errorf("%w: %.200q", err, line)
		}
	}
	if n := len(lines); n < 2 || n > 3 || !bytes.Contains(lines[n-1], []byte(`"n":3`)) {
		return fmt.Errorf("what was appended before and after became %q", lines)
	}
	return nil
}

func (c *logCheck) notKept() error {
	w := &word{"a", "before", 1}
	if err := c.takes(w); err != nil {
		return err
	}
	w.Text = "after"
	lines, err := c.kept(1)
	if err == nil && !bytes.Contains(lines[0], []byte("before")) {
		err = fmt.Errorf("a change after Append shows in %s", lines[0])
	}
	return err
}

func (c *logCheck) concurrent() error {
	const writers, appends = 8, 10
	errs := make([]error, writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range appends {
				name := fmt.Sprint("writer-", w)
				errs[w] = first(errs[w], c.takes(&word{name, "", 2 * i}, &word{name, "", 2*i + 1}))
			}
		})
	}
	all.Wait()
	if err := first(errs...); err != nil {
		return err
	}
	lines, err := c.kept(2 * writers * appends)
	if err != nil {
		return err
	}
	next := map[string]int{}
	for _, line := range lines {
		var w word
		if err := json.Unmarshal(line, &w); err != nil {
			return err
		}
		if w.N != next[w.Word] {
			return fmt.Errorf("%s: record %d stands where %d belongs", w.Word, w.N, next[w.Word])
		}
		next[w.Word]++
	}
	return nil
}

func (c *logCheck) doneContext() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	said, err := c.append(ctx, &word{"a", "", 1})
	if err != nil {
		return err
	}
	lines, err := c.lines()
	if err == nil && said == nil && len(lines) != 1 {
		err = errors.New("Append has no error, and the record is not kept")
	}
	return err
}
