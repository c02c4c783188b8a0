package gate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-hooks/pawl"
)

// WorkerVersion is the version of what pawl and the programs it keeps say to each other.
const WorkerVersion = 1

// WorkerVar is the environment variable that tells a program that it is kept, and in which version. A program
// that is started without it is asked once, by all of its input.
const WorkerVar = "PAWL_WORKER"

// Workers is the [pawl.Gate] that keeps programs alive between events. Commands that do not ask for it, by
// Keep, are run by its Exec, which it takes the place of: put policy and sandbox in front of it (see [Chain]).
// They decide on every question; the sandbox binds the program from its start. The zero Workers is ready to
// use; it may be used concurrently, and must be closed when the runtime ends.
//
// A kept program is started for one session, one argument list, one working directory and one environment. It
// prints a greeting on a line of its own,
//
//	{"pawl":"worker","version":1}
//
// and from then on reads a line for each event from its standard input and prints one line for each, a JSON object,
// on its standard output, flushed. It is to end at the end of its input; half of Exec's Grace later it gets
// TERM. Its standard error is for people.
//
// One that adds "echo":true to its greeting gets a random mark and a space before each event, and prints both
// before its answer. So nothing that is printed on the way, by whichever program, can be taken for the answer: a
// line without the mark of its question fails it.
//
// The answer has the time of any hook, the start included. A program that fails is killed with its whole group
// and started again for the next question: one that does not answer in time, ends, prints a line that is no JSON
// object or more than one, or speaks before it is asked. One that fails again and again is started again after a pause
// that doubles, from Backoff; where that is longer than a second the question fails at once. One that ends
// by itself between two questions did no harm: another takes its place.
//
// One program has one question at a time. Others wait for their turn, which is not their hook's time, or, where
// that takes long, get a program of their own. What a program remembers is therefore a cache and no more.
//
// Run gives the [pawl.Result] of the one answer, with what was printed on standard error since the last. A
// program that ended in an answer's stead gives what [Exec] would give. An error is also a [*WorkerError].
//
// # Limits
//
// A program is kept as it was when it started: with the bytes of its file and the environment of the host of
// then. Without "echo" the first line that is printed once a program is asked is taken as its answer. On Windows no
// program is kept.
type Workers struct {
	Exec     Exec          // how programs are started and ended; Grace and Limit hold for kept ones too
	Idle     time.Duration // how long a program is kept that is not asked; zero: 5 min
	Max      int           // programs kept at once; zero: 16. The one idle for longest makes room
	Each     int           // of one command in one session; zero: 4
	Backoff  time.Duration // the first pause before a program that failed twice; zero: 100 ms
	Greeting time.Duration // how long a program has to greet, within three quarters of its hook's time; zero: 10 s

	mu     sync.Mutex
	crews  map[crewKey]*crew
	count  int           // programs kept, those about to start and to end included
	turn   chan struct{} // closed when somebody who waits should look again; nil: nobody waits
	closed bool
	asked  map[*worker]bool // those with a question
	gone   sync.WaitGroup   // count, to wait for
}

// Run asks the program that is kept for cmd, or runs cmd by the Exec where it is not to be kept.
func (w *Workers) Run(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
	return w.runConfined(ctx, cmd, nil)
}

func (w *Workers) runConfined(ctx context.Context, cmd pawl.Command, s *Sandbox) (pawl.Result, error) {
	if !cmd.Keep {
		return w.Exec.runIn(ctx, cmd, s)
	}
	if ctx.Err() != nil {
		return pawl.Result{}, notStarted(ctx)
	}
	line, err := question(cmd)
	if err != nil {
		return pawl.Result{}, err
	}
	began := time.Now()
	k, err := w.take(ctx, cmd, s)
	for err == nil && k.lost() && k.uses > 0 {
		w.strike(k)
		w.retire(k)
		k, err = w.take(ctx, cmd, s)
	}
	if err != nil {
		return notGreeted(err, began), err
	}
	k.uses++
	if h, ok := ctx.Value(healthKey{}).(*WorkerHealth); ok {
		*h = WorkerHealth{PID: k.cmd.Process.Pid, Uses: k.uses, Restarts: k.restarts}
	}
	answer, err := k.ask(ctx, line)
	var res pawl.Result
	if err == nil {
		res, err = k.result(answer)
		w.give(ctx, k)
	} else {
		res, err = w.fail(ctx, k, answer, err)
	}
	res.Elapsed = time.Since(began)
	return res, err
}

// notGreeted is how a program ended that could not be asked.
func notGreeted(err error, began time.Time) pawl.Result {
	var e *WorkerError
	if !errors.As(err, &e) {
		return pawl.Result{}
	}
	res := e.ended
	res.Elapsed = time.Since(began)
	return res
}

// question is the line that a command's input is.
func question(cmd pawl.Command) ([]byte, error) {
	text := bytes.TrimSuffix(cmd.Stdin, []byte("\n"))
	if len(text) == 0 || bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') >= 0 {
		return nil, &WorkerError{Kind: NoLine, Arg0: arg0(cmd), Detail: fmt.Sprintf(
			"its input must be one line, and has %d lines in %d bytes", bytes.Count(text, []byte("\n"))+min(1, len(text)), len(cmd.Stdin))}
	}
	if len(text) < len(cmd.Stdin) {
		return cmd.Stdin, nil
	}
	return append(bytes.Clone(text), '\n'), nil
}

// EndSession ends the programs kept for a session, and returns when they have ended; one that is being asked
// is left to answer and then ended.
func (w *Workers) EndSession(session string) {
	w.mu.Lock()
	var idle []*worker
	for key, c := range w.crews {
		if c.session == session {
			idle = append(idle, c.idle...)
			w.dismiss(key, c)
		}
	}
	w.mu.Unlock()
	w.endAll(idle)
}

// SessionEnd is the hook that calls EndSession at the end of each session. A program that is asked about that
// end itself is ended once it has answered.
func (w *Workers) SessionEnd() pawl.Hook {
	return pawl.Hook{Name: "end-workers", On: pawl.SessionEnd, Handler: pawl.Observer(
		func(_ context.Context, ev *pawl.Event) { w.EndSession(ev.Session) })}
}

// Close ends all kept programs and keeps none any more. It returns nil when they have ended; a question that
// waits for its answer fails. Commands that are not to be kept still run.
func (w *Workers) Close() error {
	w.mu.Lock()
	w.closed = true
	var idle []*worker
	for key, c := range w.crews {
		idle = append(idle, c.idle...)
		w.dismiss(key, c)
	}
	for k := range w.asked {
		k.interrupt()
	}
	w.wake()
	w.mu.Unlock()
	w.endAll(idle)
	w.gone.Wait()
	return nil
}

// endAll ends idle programs that belong to nobody any more, side by side.
func (w *Workers) endAll(idle []*worker) {
	var all sync.WaitGroup
	for _, k := range idle {
		all.Go(func() { w.retire(k) })
	}
	all.Wait()
}

// retire ends a program that did nothing wrong: it has half of Grace to see the end of its input.
func (w *Workers) retire(k *worker) {
	_, _ = k.end(k.grace / 2)
	w.left(k)
}

// fail ends a program that did not answer as it should, and says what came of it.
func (w *Workers) fail(ctx context.Context, k *worker, said []byte, why error) (pawl.Result, error) {
	patience := time.Duration(0)
	if errors.Is(why, errEnded) {
		patience = k.grace / 10 // what is left of it is ending
	}
	k.stdout.write(said)
	res, err := k.end(patience)
	switch ended := res.Code != 0 || res.Signal != ""; {
	case err != nil:
	case errors.Is(why, errEnded) && k.ends.cancelled:
		err = k.fault(NoAnswer, "it closed its standard output and went on, so it was ended"+saying(res.Stderr))
	case errors.Is(why, errEnded) && !ended:
		err = k.fault(NoAnswer, "it ended with exit code 0 and left the question unanswered"+saying(res.Stderr))
	case errors.Is(why, errInterrupted) && (ctx.Err() == nil || !ended):
		err = k.fault(Stopped, "while it was asked")
	case !errors.Is(why, errEnded) && !errors.Is(why, errInterrupted):
		err = why
	}
	if errors.Is(why, errInterrupted) {
		why = errors.New("it did not answer in time")
	}
	w.failed(k, cmp.Or(err, why), errors.Is(ctx.Err(), context.Canceled))
	return res, err
}

// A WorkerHealth is what is known of a kept program, for the record.
type WorkerHealth struct {
	PID      int `json:"pid"`
	Uses     int `json:"uses"`     // questions put to it, the one at hand included
	Restarts int `json:"restarts"` // programs that failed before it, of the same command and session
}

// healthKey is where [Record] takes in the health of the program that was asked.
type healthKey struct{}
