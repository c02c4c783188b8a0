package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pawl-hooks/pawl"
)

const (
	greetingLimit = 4 << 10  // bytes
	idleBuffer    = 64 << 10 // a larger one is not kept between questions
)

// What ended a wait for a worker's line, beside what it said.
var (
	errEnded       = errors.New("it ended")
	errInterrupted = errors.New("it was not waited for any longer")
)

// A line is how a worker is spoken with: its pipes, waited on so that the wait can be ended.
type line interface {
	read(buf []byte) (n int, err error)    // what is there, or is there first
	pending(buf []byte) (n int, err error) // what is there by now
	write(text []byte) error               // all of it
	interrupt()                            // ends all waiting, from now on
	close()
}

// A worker is one program that is kept. Its holder alone asks it; the Workers' lock guards what is below.
type worker struct {
	*portable
	line    line
	echo    bool          // its answers carry the mark of their question
	greets  time.Duration // how long it has for its greeting
	buf     []byte        // what lines are read into
	unasked []byte        // what it printed since its last answer

	mu     sync.Mutex
	ending bool // its pipes are no longer waited on by a holder

	crew           *crew
	timer          *time.Timer
	since          time.Time // when it answered last
	over           bool      // it ended by itself
	retired        bool      // it is ended and cleared away
	uses, restarts int
}

// startWorker starts a program that is kept; ended is called when it ends by itself.
func (e Exec) startWorker(ctx context.Context, cmd pawl.Command, s *Sandbox, ended func(*worker)) (k *worker, err error) {
	if !canKeep {
		return nil, cannotKeep(cmd, "no program is kept alive on this system")
	}
	var lineErr error
	err = directly(cmd, func(cmd pawl.Command) error {
		l, err := e.launchIn(cmd, s)
		if err != nil {
			return err
		}
		l.open, l.stdin = true, nil
		l.env = lastOfEach(append(l.env, WorkerVar+"="+strconv.Itoa(WorkerVersion)))
		p, err := l.startPortable(ctx)
		if err != nil {
			l.cage.close()
			return err
		}
		k = &worker{portable: p, buf: make([]byte, 0, 1<<10)}
		k.line, lineErr = newLine(p.in, p.out)
		return nil
	})
	if err != nil {
		return nil, err
	}
	k.work.Add(1)
	go k.read(k.errs, k.hear)
	go func() {
		k.await()
		ended(k)
	}()
	if lineErr != nil {
		_, _ = k.end(0)
		return nil, &StartError{Kind: CannotStart, Arg0: cmd.Args[0], Err: lineErr}
	}
	return k, nil
}

// hear takes what is printed on standard error, at any time.
func (k *worker) hear(p []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stderr.write(p)
}

// greet waits for the greeting. Of its hook's time a program has three quarters at most, so that one that never
// greets is told so, and not only that its time was over.
func (k *worker) greet(ctx context.Context, limit time.Duration) error {
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)*3/4)
	}
	k.greets = limit
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stop := context.AfterFunc(ctx, k.interrupt)
	line, more, err := k.readLine(greetingLimit)
	switch {
	case !stop() && ctx.Err() != nil:
		k.stdout.write(line)
		return errInterrupted
	case errors.Is(err, errTooLong):
		return k.fault(NoGreeting, "it printed "+quoted(line)+howToGreet)
	case err != nil:
		k.stdout.write(line)
		return err
	}
	if err = k.checkGreeting(line); err == nil && len(more) > 0 {
		err = k.fault(SpokeUnasked, "behind its greeting it printed "+quoted(more)+"; it must wait for a line on its standard input")
	}
	return err
}

const howToGreet = `, where {"pawl":"worker","version":1} is due on a line before any other; a program that is not made to be kept must not ask for it: drop keep`

func (k *worker) checkGreeting(line []byte) error {
	var greeting struct {
		Pawl    string `json:"pawl"`
		Version int    `json:"version"`
		Echo    bool   `json:"echo"`
	}
	if err := json.Unmarshal(line, &greeting); err != nil || greeting.Pawl != "worker" {
		return k.fault(NoGreeting, "it printed "+quoted(line)+howToGreet)
	}
	if greeting.Version != WorkerVersion {
		return k.fault(WrongVersion, fmt.Sprintf("it greeted in version %d, and here version %d is spoken; use the helper that came with this pawl",
			greeting.Version, WorkerVersion))
	}
	k.echo = greeting.Echo
	return nil
}

// unfit ends a program that did not greet, and says what it did instead.
func (k *worker) unfit(why error) error {
	grace := time.Duration(0)
	if errors.Is(why, errEnded) {
		grace = k.grace / 10
	}
	res, _ := k.end(grace)
	if errors.Is(why, errEnded) && res.Code == notFoundCode {
		if err := k.carriageReturn(); err != nil {
			return err
		}
	}
	printed := ""
	if len(res.Stdout) > 0 {
		printed = "; it printed " + quoted(res.Stdout)
	}
	switch {
	case errors.Is(why, errEnded):
		why = k.fault(NoGreeting, "it ended ("+status(res)+") before it greeted"+printed+saying(res.Stderr)+
			"; it must print its greeting and read lines until its input ends")
	case errors.Is(why, errInterrupted):
		why = k.fault(NoGreeting, fmt.Sprintf("it did not greet within %v (three quarters of its hook's timeout, and no longer than the host lets it)",
			k.greets.Round(time.Millisecond))+howToGreet+printed+saying(res.Stderr))
	}
	if e := (*WorkerError)(nil); errors.As(why, &e) {
		e.ended = pawl.Result{Code: res.Code, Signal: res.Signal, Stderr: res.Stderr, Orphans: res.Orphans}
	}
	return why
}

func (k *worker) fault(kind WorkerKind, detail string) error {
	return &WorkerError{Kind: kind, Arg0: k.args[0], Detail: detail}
}

// quoted shows the beginning of what a program printed.
func quoted(text []byte) string {
	const most = 80
	if len(text) > most {
		return fmt.Sprintf("%q…", text[:most])
	}
	return fmt.Sprintf("%q", text)
}

// saying adds the last line of standard error, where people look first.
func saying(stderr []byte) string {
	text := strings.TrimSpace(string(stderr))
	if text == "" {
		return ""
	}
	return "; it said " + quoted([]byte(text[strings.LastIndexByte(text, '\n')+1:]))
}

// lost reports a program that ended, or closed its output, since it answered last, and sees what it printed.
func (k *worker) lost() bool {
	n, err := k.line.pending(k.buf[:cap(k.buf)])
	k.unasked = bytes.Clone(k.buf[:n])
	return errors.Is(err, errEnded)
}

// ask puts one question. Beside an error, answer is what the program said all the same.
func (k *worker) ask(ctx context.Context, question []byte) (answer []byte, err error) {
	if len(k.unasked) > 0 {
		return nil, k.fault(SpokeUnasked, "before it was asked it printed "+quoted(k.unasked)+"; one line for each line it reads is due")
	}
	mark := ""
	if k.echo {
		mark = fmt.Sprintf("%016x ", rand.Uint64())
		question = append([]byte(mark), question...)
	}
	stop := context.AfterFunc(ctx, k.interrupt)
	var line, more []byte
	if err = k.line.write(question); err == nil {
		line, more, err = k.readLine(k.limit + len(mark))
	}
	answer, marked := bytes.CutPrefix(line, []byte(mark))
	all := func() []byte { return append(append(bytes.Clone(answer), '\n'), more...) }
	switch {
	case !stop():
		return answer, errInterrupted
	case errors.Is(err, errTooLong):
		return answer, k.fault(TooMuch, fmt.Sprintf("its line has more than the %d bytes that are kept", k.limit))
	case err != nil:
		return answer, err
	case !marked:
		return all(), k.fault(SpokeUnasked, "it printed "+quoted(line)+", which does not begin with what its question began with; "+
			"only answers belong on its standard output")
	case len(more) > 0:
		return all(), k.fault(SpokeUnasked, "behind its answer it printed "+quoted(more)+"; one line for each line it reads is due")
	case len(bytes.TrimSpace(answer)) == 0:
		return nil, k.fault(NoAnswer, "it printed an empty line; {} is the answer of who has nothing to say")
	case !isObject(answer):
		return all(), k.fault(NoAnswer, "it printed "+quoted(answer)+", which is no JSON object; only answers belong on its standard output")
	}
	return answer, nil
}

// isObject reports whether a line can be an answer. What is none may come before one, which the next to ask would get.
func isObject(line []byte) bool {
	v := jsontext.Value(line)
	return v.Kind() == '{' && v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

var errTooLong = errors.New("the line is too long")

// readLine reads up to the end of a line, and returns that without its end and what came behind. What it
// returns is good until the next call. A line longer than limit is an error.
func (k *worker) readLine(limit int) (line, more []byte, err error) {
	if cap(k.buf) > idleBuffer {
		k.buf = make([]byte, 0, 1<<10)
	}
	buf := k.buf[:0]
	defer func() { k.buf = buf[:0] }()
	for {
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, 4*cap(buf)), buf...)
		}
		seen := len(buf)
		n, err := k.line.read(buf[seen:cap(buf)])
		buf = buf[:seen+n]
		if at := bytes.IndexByte(buf[seen:], '\n'); at >= 0 && seen+at <= limit {
			return buf[:seen+at], buf[seen+at+1:], nil
		}
		switch {
		case len(buf) > limit:
			return buf[:limit], nil, errTooLong
		case err != nil:
			return buf, nil, err
		}
	}
}

// interrupt ends the wait of who asks, and what it was about.
func (k *worker) interrupt() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ending {
		k.line.interrupt()
	}
}

// result is what a good answer comes to, with what standard error holds by now.
func (k *worker) result(answer []byte) (res pawl.Result, err error) {
	out := k.capture()
	out.write(answer)
	k.mu.Lock()
	errs := k.stderr
	k.stderr = k.capture()
	k.mu.Unlock()
	return gather(res, out, errs)
}

// end brings the program to its end: by the end of its input, after patience by TERM, and then as any program
// whose time is over. It returns what it said that nobody has read.
func (k *worker) end(patience time.Duration) (pawl.Result, error) {
	k.mu.Lock()
	k.ending = true // its pipes have no holder any more
	k.mu.Unlock()
	k.line.close()
	k.in.Close()
	k.work.Add(1)
	go k.read(k.out, k.stdout.write)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	res, err := k.finish(k.follow(ctx))
	if k.cage.close() {
		res.Orphans = true
	}
	return res, err
}
