package gate

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Terminal is an [Approver] that asks on a terminal, one question at a time: y is yes, a is yes for the
// session, anything else is no. The zero Terminal has nobody in front of it, and neither has one whose In
// has ended.
//
// In is read a line a question. What was typed before a question is shown is dropped where In is a terminal
// (on Linux), and so is a line that comes after its question has expired.
type Terminal struct {
	In  io.Reader
	Out io.Writer
	By  string // who sits there, for the record; may be empty

	asking  sync.Mutex
	in      *bufio.Reader
	got     chan typed // holds the line that was waited for, once it is there
	reading bool       // a line is being waited for: a read cannot be taken back
}

// typed is a line, or the end of In.
type typed struct {
	line string
	err  error
}

// Approve asks one question.
func (t *Terminal) Approve(ctx context.Context, q Question) (Reply, error) {
	if t.In == nil || t.Out == nil {
		return Reply{}, ErrNobody
	}
	t.asking.Lock()
	defer t.asking.Unlock()
	if ctx.Err() != nil {
		return Reply{}, ctx.Err()
	}
	t.dropTyped()
	if _, err := io.WriteString(t.Out, prompt(q)); err != nil {
		return Reply{}, err
	}
	t.read()
	select {
	case got := <-t.got:
		t.reading = false
		if got.err != nil {
			return Reply{}, ErrNobody
		}
		return Reply{ID: q.ID, Choice: choiceOf(got.line), By: t.By}, nil
	case <-ctx.Done():
		_, _ = io.WriteString(t.Out, "\ntoo late: refused\n") // the answer is no, shown or not
		return Reply{}, ctx.Err()
	}
}

// dropTyped drops what was typed since the last question.
func (t *Terminal) dropTyped() {
	select {
	case got := <-t.got:
		t.reading = got.err != nil // at the end there is nothing more to read
		if t.reading {
			t.got <- got
		}
	default:
	}
	if f, ok := t.In.(*os.File); ok {
		flushInput(f)
	}
}

// read begins to wait for a line, unless it does already.
func (t *Terminal) read() {
	if t.got == nil {
		t.got, t.in = make(chan typed, 1), bufio.NewReader(t.In)
	}
	if t.reading {
		return
	}
	t.reading = true
	go func() {
		line, err := t.in.ReadString('\n') // what stands before the end without a line feed was not entered
		t.got <- typed{line, err}
	}()
}

func choiceOf(line string) Choice {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return Once
	case "a", "always":
		return Session
	}
	return No
}

func prompt(q Question) string {
	var b strings.Builder
	who := "A program"
	if q.Hook != "" {
		who = "Hook " + shownWord(q.Hook)
	}
	fmt.Fprintf(&b, "%s needs your approval to run\n  $", who)
	for _, word := range q.Args {
		b.WriteString(" " + shownWord(word))
	}
	fmt.Fprintf(&b, "\n  action %s", shownWord(q.Action))
	if q.Dir != "" {
		fmt.Fprintf(&b, ", in %s", shownWord(q.Dir))
	}
	if q.Tool != "" {
		fmt.Fprintf(&b, ", on %s %s", q.Trigger, shownWord(q.Tool))
	}
	if q.Agent.ID != "" {
		fmt.Fprintf(&b, ", agent %s", shownWord(q.Agent.ID))
	}
	if q.Review != nil {
		fmt.Fprintf(&b, "\n  the reviewer agrees: %s", strconv.Quote(q.Review.Reason))
	}
	fmt.Fprintf(&b, "\nRun it? y: once, a: always in this session, anything else: no (within %s) ", time.Until(q.Deadline).Round(time.Second))
	return b.String()
}

// shownWord quotes a word that could be read as several, or could drive the terminal.
func shownWord(s string) string {
	quoted := strconv.Quote(s)
	if s == "" || strings.ContainsAny(s, " '\"`$\\") || quoted != `"`+s+`"` {
		return quoted
	}
	return s
}
