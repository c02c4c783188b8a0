package gate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-hooks/pawl"
)

const (
	defaultIdle     = 5 * time.Minute
	defaultMax      = 16
	defaultEach     = 4
	defaultBackoff  = 100 * time.Millisecond
	defaultGreeting = 10 * time.Second

	patience  = 20 * time.Millisecond // after which a question that waits gets a program of its own
	maxRest   = time.Second           // a longer pause is not waited for
	maxWait   = time.Minute           // for a turn, outside the hook's time
	maxPauses = 10                    // doublings of Backoff: from 100 ms, a minute and a half
)

// A crewKey tells commands apart that one program could not serve.
type crewKey struct {
	text    string
	sandbox *Sandbox
}

// appendKey puts everything that a program is started by into one text, each part behind its length.
func appendKey(b []byte, session string, cmd *pawl.Command) []byte {
	add := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	add(session)
	add(cmd.Dir)
	for _, list := range [...][]string{cmd.Args, cmd.Direct, cmd.Env} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, s := range list {
			add(s)
		}
	}
	flags := byte(0)
	if cmd.Inherit {
		flags |= 1
	}
	if cmd.Linger {
		flags |= 2
	}
	return append(binary.AppendUvarint(b, uint64(max(cmd.Limit, 0))), flags)
}

// A crew is the programs kept for one command in one session. The Workers' lock guards it.
type crew struct {
	session  string
	arg0     string    // the first word of its command
	idle     []*worker // the one used last, last
	size     int       // programs, those about to start included
	failures int       // in a row
	rested   time.Time // when the next may start
	last     error     // the last failure
	restarts int
	gone     bool // its session has ended, or the Workers are closed
}

// take returns a program for cmd that has nothing else to do, started if need be.
func (w *Workers) take(ctx context.Context, cmd pawl.Command, s *Sandbox) (*worker, error) {
	session, since := "", time.Now()
	if ev := pawl.EventFrom(ctx); ev != nil {
		session = ev.Session
	}
	var room [512]byte
	text := appendKey(room[:0], session, &cmd)
	w.mu.Lock()
	for {
		if w.closed {
			w.mu.Unlock()
			return nil, &WorkerError{Kind: Stopped, Arg0: arg0(cmd), Detail: "the Workers are closed"}
		}
		c := w.crews[crewKey{string(text), s}]
		if c == nil {
			c = w.found(crewKey{string(text), s}, session, arg0(cmd))
		}
		if n := len(c.idle); n > 0 {
			k := c.idle[n-1]
			c.idle = c.idle[:n-1]
			w.asked[k] = true
			w.mu.Unlock()
			return k, nil
		}
		start, wait, err := w.mayStart(c, time.Since(since))
		if start {
			return w.hire(ctx, c, cmd, s)
		}
		if err == nil {
			err = w.await(ctx, c, wait)
		}
		if err != nil {
			w.mu.Unlock()
			return nil, err
		}
	}
}

// found adds a crew, and lets go of those that have nothing to remember.
func (w *Workers) found(key crewKey, session, arg0 string) *crew {
	if w.crews == nil {
		w.crews, w.asked = map[crewKey]*crew{}, map[*worker]bool{}
	}
	for key, c := range w.crews {
		if c.size == 0 && time.Since(c.rested) > time.Minute {
			delete(w.crews, key)
		}
	}
	c := &crew{session: session, arg0: arg0, rested: time.Now()}
	w.crews[key] = c
	return c
}

// mayStart says whether the crew may have another program now; where not, after what time at the latest that
// is to be asked again: zero, when somebody is done.
func (w *Workers) mayStart(c *crew, waited time.Duration) (start bool, wait time.Duration, err error) {
	rest := time.Until(c.rested)
	switch {
	case c.size > 0 && c.size >= positive(w.Each, defaultEach):
		return false, 0, nil
	case c.size > 0 && waited < patience:
		return false, patience - waited, nil
	case rest > maxRest && c.size == 0:
		return false, 0, c.resting(rest)
	case rest > 0:
		return false, rest, nil
	case w.count >= positive(w.Max, defaultMax) && !w.makeRoom():
		return false, 0, nil
	}
	return true, 0, nil
}

func (c *crew) resting(rest time.Duration) error {
	e := &WorkerError{Kind: Resting, Arg0: c.arg0, Detail: fmt.Sprintf("it failed %d times in a row and rests for another %v; the last time: %v",
		c.failures, rest.Round(time.Millisecond), c.last)}
	var last *WorkerError
	if errors.As(c.last, &last) {
		e.Detail = fmt.Sprintf("it failed %d times in a row and rests for another %v; the last time it %s: %s",
			c.failures, rest.Round(time.Millisecond), last.Kind, last.Detail)
	}
	return e
}

// makeRoom ends the program that has been idle for longest, beside the caller, who need not wait for that.
func (w *Workers) makeRoom() bool {
	var oldest *worker
	for _, c := range w.crews {
		if len(c.idle) > 0 && (oldest == nil || c.idle[0].since.Before(oldest.since)) {
			oldest = c.idle[0]
		}
	}
	if oldest == nil {
		return false
	}
	w.remove(oldest)
	go w.retire(oldest)
	return true
}

// remove takes an idle program out of its crew; false: it is not idle.
func (w *Workers) remove(k *worker) bool {
	i := slices.Index(k.crew.idle, k)
	if i < 0 {
		return false
	}
	k.crew.idle = slices.Delete(k.crew.idle, i, i+1)
	k.crew.size--
	return true
}

// await waits, without the lock, until somebody is done or some time is over. The wait for a turn is not the
// hook's time; the rest of a program that failed is.
func (w *Workers) await(ctx context.Context, c *crew, limit time.Duration) error {
	if w.turn == nil {
		w.turn = make(chan struct{})
	}
	turn, busy := w.turn, c.size > 0 || limit == 0
	w.mu.Unlock()
	defer w.mu.Lock()
	if busy {
		defer pawl.Pause(ctx, maxWait)()
	}
	var over <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-turn:
	case <-over:
	case <-ctx.Done():
		return notStarted(ctx)
	}
	return nil
}

// wake lets all who wait look again.
func (w *Workers) wake() {
	if w.turn != nil {
		close(w.turn)
		w.turn = nil
	}
}

// hire starts a program for the crew. It is called with the lock and gives it up.
func (w *Workers) hire(ctx context.Context, c *crew, cmd pawl.Command, s *Sandbox) (*worker, error) {
	c.size++
	w.count++
	w.gone.Add(1)
	restarts := c.restarts
	w.mu.Unlock()
	k, err := w.Exec.startWorker(ctx, cmd, s, func(k *worker) { w.ended(k) })
	if err != nil {
		w.mu.Lock()
		c.size--
		w.mu.Unlock()
		w.left(nil)
		return nil, err
	}
	w.mu.Lock()
	k.crew, k.restarts = c, restarts
	w.asked[k] = true
	if w.closed {
		k.interrupt()
	}
	w.mu.Unlock()
	if err := k.greet(ctx, positive(w.Greeting, defaultGreeting)); err != nil {
		err = k.unfit(err)
		w.failed(k, err, errors.Is(ctx.Err(), context.Canceled))
		return nil, err
	}
	return k, nil
}

// give takes a program back that has answered.
func (w *Workers) give(ctx context.Context, k *worker) {
	ev := pawl.EventFrom(ctx)
	w.mu.Lock()
	delete(w.asked, k)
	c := k.crew
	c.failures = 0
	if c.gone || k.over || ev != nil && ev.Trigger == pawl.SessionEnd {
		c.size--
		w.mu.Unlock()
		w.retire(k)
		return
	}
	k.since = time.Now()
	c.idle = append(c.idle, k)
	if k.timer == nil {
		k.timer = time.AfterFunc(positive(w.Idle, defaultIdle), func() { w.expired(k) })
	}
	w.wake()
	w.mu.Unlock()
}

// failed counts a program that was ended in its crew. What the caller cancelled is nobody's fault.
func (w *Workers) failed(k *worker, why error, cancelled bool) {
	w.strike(k)
	w.mu.Lock()
	if c := k.crew; !cancelled {
		c.last = why
		if c.failures++; c.failures > 1 {
			c.rested = time.Now().Add(positive(w.Backoff, defaultBackoff) << min(c.failures-2, maxPauses))
		}
	}
	w.mu.Unlock()
	w.left(k)
}

// strike takes a program that was to be asked off its crew.
func (w *Workers) strike(k *worker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.asked, k)
	k.crew.size--
	k.crew.restarts++
}

// left notes that a program, nil where none could start, is no more.
func (w *Workers) left(k *worker) {
	w.mu.Lock()
	if k != nil && k.timer != nil {
		k.timer.Stop()
	}
	if k != nil {
		k.retired = true
	}
	w.count--
	w.wake()
	w.mu.Unlock()
	w.gone.Done()
}

// ended is told when a program ends by itself; one that has nothing to do is cleared away.
func (w *Workers) ended(k *worker) {
	w.mu.Lock()
	k.over = true
	idle := k.crew != nil && w.remove(k)
	w.mu.Unlock()
	if idle {
		go w.retire(k)
	}
}

// expired ends a program that has been idle for long enough. Its one timer is not moved with each answer: that
// would wake a thread of the runtime each time.
func (w *Workers) expired(k *worker) {
	w.mu.Lock()
	left := positive(w.Idle, defaultIdle) - time.Since(k.since)
	idle := left <= 0 && w.remove(k)
	if !idle && !k.retired {
		k.timer.Reset(max(left, positive(w.Idle, defaultIdle)/8))
	}
	w.mu.Unlock()
	if idle {
		w.retire(k)
	}
}

// dismiss forgets a crew: its idle programs are the caller's to end, the others are ended when they have answered.
func (w *Workers) dismiss(key crewKey, c *crew) {
	c.size -= len(c.idle)
	c.idle, c.gone = nil, true
	delete(w.crews, key)
}

// positive is n, or what stands for it where it is not set.
func positive[N int | time.Duration](n, otherwise N) N {
	if n <= 0 {
		return otherwise
	}
	return n
}
