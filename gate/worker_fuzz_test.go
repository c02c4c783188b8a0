package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/gate"
)

// greeting is what a kept program prints first.
const greeting = `{"pawl":"worker","version":1}`

// What does not stand in a script for itself.
const (
	reads  = 0xff // the program reads a question
	marked = 0xfe // it prints what the question began with, before the event
	late   = 0x80 // of a cut: the piece comes just when there was a look whether something had come
)

// A scripted program prints what its script says, whatever it is asked.
type scripted struct {
	script [][]byte // what it prints at first, and behind each question
	cuts   []byte   // sizes of the pieces in which that comes
	hangs  bool     // at the end of its script
	cancel func()   // ends the time it has
	told   chan struct{}

	mark         string
	printed      []byte
	came, read   int // of printed
	asked        []int
	pieces, lags int
}

func newScripted(text, cuts []byte, hangs bool, cancel func()) *scripted {
	script := bytes.Split(text, []byte{reads})
	return &scripted{script: script[1:], printed: bytes.ReplaceAll(script[0], []byte{marked}, nil),
		cuts: append(cuts, 0), hangs: hangs, cancel: cancel, told: make(chan struct{})}
}

func (p *scripted) cut() byte { return p.cuts[p.pieces%len(p.cuts)] }

func (p *scripted) come() {
	size := 1 + int(p.cut()&^late)*int(p.cut()&^late)
	p.came = min(p.came+size, len(p.printed))
	p.pieces++
}

func (p *scripted) ended() bool { return !p.hangs && len(p.script) == 0 && p.read == len(p.printed) }

func (p *scripted) take(buf []byte) (n int) {
	n = copy(buf, p.printed[p.read:p.came])
	p.read += n
	return n
}

func (p *scripted) Read(buf []byte) (int, error) {
	if p.ended() {
		return 0, gate.ErrEnded
	}
	if p.read == len(p.printed) {
		p.cancel()
		<-p.told
		return 0, gate.ErrInterrupted
	}
	if p.read == p.came {
		p.come()
	}
	return p.take(buf), nil
}

func (p *scripted) Pending(buf []byte) (int, error) {
	if p.ended() {
		return 0, gate.ErrEnded
	}
	for p.came < len(p.printed) && p.cut()&late == 0 {
		p.come()
	}
	if p.came < len(p.printed) {
		p.lags++
	}
	return p.take(buf), nil
}

func (p *scripted) Write(question []byte) error {
	if p.ended() {
		return gate.ErrEnded
	}
	p.mark = strings.TrimSuffix(string(question), "q\n")
	p.asked = append(p.asked, len(p.printed))
	if len(p.script) > 0 {
		p.printed = append(p.printed, bytes.ReplaceAll(p.script[0], []byte{marked}, []byte(p.mark))...)
		p.script = p.script[1:]
	}
	return nil
}

func (p *scripted) Interrupt() { close(p.told) }

// next is the line that begins at an offset, and what was printed behind it.
func (p *scripted) next(at int) (line, behind []byte, whole bool) {
	return bytes.Cut(p.printed[at:], []byte("\n"))
}

const greetingMost = 4096 // bytes

// greets judges what came of a greeting.
func (p *scripted) greets(t *testing.T, err error) {
	line, behind, whole := p.next(0)
	var said struct {
		Pawl    string
		Version int
		Echo    bool
	}
	proper := len(line) <= greetingMost && json.Unmarshal(line, &said) == nil && said.Pawl == "worker"
	var e *gate.WorkerError
	switch {
	case err == nil:
		require.True(t, whole && proper && said.Version == gate.WorkerVersion, "%q", line)
	case !errors.As(err, &e):
		require.False(t, whole)
		require.Equal(t, p.ended(), errors.Is(err, gate.ErrEnded), err)
	case e.Kind == gate.NoGreeting:
		require.False(t, proper, "%q", line)
	case e.Kind == gate.WrongVersion:
		require.True(t, proper && said.Version != gate.WorkerVersion, "%q", line)
	case e.Kind == gate.SpokeUnasked:
		require.True(t, proper && len(behind) > 0, "%q", p.printed)
	default:
		t.Fatal(err)
	}
}

// answers judges the answer to the question number n; at is where the last one ended.
func (p *scripted) answers(t *testing.T, n, at, limit int, answer []byte) {
	line, _, whole := p.next(at)
	require.True(t, whole)
	require.Equal(t, string(line), p.mark+string(answer))
	require.True(t, object(answer), "%q", answer)
	require.LessOrEqual(t, len(answer), limit)
	if p.mark != "" || p.lags == 0 {
		require.Equal(t, p.asked[n], at, "it was printed before its question, or something else was: %q", p.printed)
	}
}

// fails judges what was said in the stead of the answer to the question number n.
func (p *scripted) fails(t *testing.T, n, at, limit int, err error) {
	line, behind, whole := p.next(at)
	answer, owned := bytes.CutPrefix(line, []byte(p.mark))
	asked := len(p.asked) > n
	var e *gate.WorkerError
	switch {
	case !errors.As(err, &e):
		require.False(t, whole, "%v: %q", err, line)
		require.Equal(t, p.ended(), errors.Is(err, gate.ErrEnded), err)
	case e.Kind == gate.TooMuch:
		require.Greater(t, len(line), limit+len(p.mark))
	case e.Kind == gate.NoAnswer:
		require.True(t, whole && owned && !object(answer), "%q", line)
	case e.Kind == gate.SpokeUnasked && !asked:
		require.NotEmpty(t, p.printed[at:])
	case e.Kind == gate.SpokeUnasked:
		require.True(t, whole && (!owned || len(behind) > 0), "%q", p.printed[at:])
	default:
		t.Fatal(err)
	}
}

// object reports whether a line is a JSON object, duplicate names or not.
func object(line []byte) bool {
	var into map[string]json.RawMessage
	return json.Unmarshal(line, &into) == nil && into != nil
}

// long is an object of n bytes.
func long(n int) string { return `{"x":"` + strings.Repeat("x", n-8) + `"}` }

// FuzzWhatAWorkerPrints lets a kept program print anything, in any pieces, and wants each answer to be one line of
// it, the one that its question got, or an error that says what it was instead.
func FuzzWhatAWorkerPrints(f *testing.F) {
	const hello, echo = greeting + "\n", `{"pawl":"worker","version":1,"echo":true}` + "\n"
	for _, text := range []string{
		"", "\n", hello, hello + "\xff{}\n\xff{}\n", hello + "\xff{}\n{}\n", hello + "\xff{}\xff\n\xff", hello + "\xff\n", hello + "{}\n\xff{}\n",
		hello + "\xff{}\nstray\n\xff{}\n\xff{}\n", hello + "\xff" + long(300) + "\n", hello + "\xffx\n\xff{}\n", hello + "\xff[{}]\n", hello + "\xff" + strings.Repeat("x", 300),
		echo + "\xff\xfe{}\n\xff\xfe{}\n", echo + "\xff{}\n\xfe{}\n", echo + "\xff\xfe{}\n{}\n\xff\xfe{}\n", echo + "\xffstray \xfe{}\n",
		echo + "\xff\xfe\n", echo + "\xff\xfe" + long(100) + "\n\xff\xfe" + long(101) + "\n", echo + "\xff\xfex\n", echo + "\xff\xfe{}\xff\n",
		"Loading\n" + hello, greeting, `{"pawl":"worker","version":2}` + "\n{}\n", strings.Repeat("x", 5000) + "\n", `{"pawl":"worker","version":1,"echo":1}` + "\n",
	} {
		for _, cuts := range []string{"\x7f", "\x00", "\x7f\xff", "\x06\x80"} {
			f.Add([]byte(text), []byte(cuts), byte(99), len(text)%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, text, cuts []byte, most byte, hangs bool) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		limit := 1 + int(most)
		p := newScripted(text, cuts, hangs, cancel)
		c := gate.Converse(p, limit)
		err := c.Greet(ctx)
		p.greets(t, err)
		line, _, _ := p.next(0)
		at := len(line) + 1
		for n := 0; err == nil; n++ {
			var answer []byte
			answer, err = c.Ask(ctx, "q\n")
			require.LessOrEqual(t, c.Holds(), 8*greetingMost)
			if err == nil {
				p.answers(t, n, at, limit, answer)
				at += len(p.mark) + len(answer) + 1
				continue
			}
			p.fails(t, n, at, limit, err)
			res, err := c.Kept(answer)
			require.NoError(t, err)
			require.LessOrEqual(t, len(res.Stdout), limit)
			require.True(t, bytes.HasPrefix(p.printed[at:], append([]byte(p.mark), res.Stdout...)) || bytes.HasPrefix(p.printed[at:], res.Stdout))
		}
	})
}
