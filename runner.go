package pawl

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pawl-hooks/pawl/internal/clock"
	"github.com/pawl-hooks/pawl/internal/cut"
)

// A Stage is a part of an event's way through its hooks. Records stand by stage, then by configuration.
type Stage string

// The stages, in order.
const (
	StageRewrite Stage = "rewrite" // hooks that may change the event, one after the other
	StageCheck   Stage = "check"   // everything else with a say
	StageRecheck Stage = "recheck" // hooks that judged another event than the final one
	StageObserve Stage = "observe" // hooks that only note, and observers
)

func (s Stage) order() int {
	return slices.Index([]Stage{StageRewrite, StageCheck, StageRecheck, StageObserve}, s)
}

// A Cause says why a hook gave no valid answer. The zero Cause: it did answer.
type Cause string

// The causes, as the record spells them.
const (
	CausePolicy    Cause = "policy"    // the gate refused its program
	CauseStart     Cause = "start"     // not found, not executable, bad format, no gate
	CauseTimeout   Cause = "timeout"   // it ran into its Timeout
	CauseCancelled Cause = "cancelled" // the context of the dispatch ended
	CauseSignal    Cause = "signal"    // its program was killed by a signal
	CauseExit      Cause = "exit"      // an exit code that is no answer in this dialect
	CauseOutput    Cause = "output"    // unreadable or cut
	CauseUntrusted Cause = "untrusted" // nobody agreed to it as it stands now
	CauseConflict  Cause = "conflict"  // a second, different rewrite
	CauseEffect    Cause = "effect"    // a decision beyond its effects
	CauseError     Cause = "error"     // the handler returned an error
	CausePanic     Cause = "panic"     // it panicked, or called runtime.Goexit
	CauseAbandoned Cause = "abandoned" // it ignored its deadline and was left behind
	CauseLog       Cause = "log"       // the records were not kept
)

// A Failure is an error by which a Handler names the Cause; any other error counts as CauseError, or as
// what its gate said.
type Failure struct {
	Cause Cause
	Err   error // what went wrong, for people; may be nil
}

func (f *Failure) Error() string {
	if f.Err == nil {
		return string(f.Cause)
	}
	return f.Err.Error()
}

// Unwrap returns Err.
func (f *Failure) Unwrap() error { return f.Err }

// A PanicError is a handler's panic.
type PanicError struct {
	Hook  string
	Value any    // nil for runtime.Goexit
	Stack []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string {
	if e.Value == nil {
		return fmt.Sprintf("hook %s ended its goroutine", e.Hook)
	}
	return fmt.Sprintf("hook %s panicked: %v", e.Hook, e.Value)
}

// EventFrom returns the event that a Gate is asked about, or nil where ctx is not that of a hook under way.
func EventFrom(ctx context.Context) *Event {
	ev, _ := ctx.Value(eventKey{}).(*Event)
	return ev
}

// HookFrom returns the hook whose context ctx is, or nil. The Hook must not be changed.
func HookFrom(ctx context.Context) *Hook {
	h, _ := ctx.Value(hookKey{}).(*Hook)
	return h
}

// Pause stops the clock of the hook whose context ctx is while it waits for a person, or for its turn, for at most
// limit; another hook's program may run in the meantime. It returns a func that waits until programs leave room for
// this one and lets the clock run on; calling it twice does no harm. Where ctx is not a hook's, or the hook has no
// timeout, Pause does nothing.
func Pause(ctx context.Context, limit time.Duration) (resume func()) {
	x, _ := ctx.Value(pauseKey{}).(*run)
	if x == nil {
		return func() {}
	}
	goOn := x.aside.clock.Pause(limit)
	x.stepAside()
	return sync.OnceFunc(func() {
		x.stepBack()
		goOn()
	})
}

// Errors of Dispatch. The Outcome beside them is safe to obey.
var (
	ErrTrigger = errors.New("hooks cannot be asked about it") // an unknown trigger, or its subject is missing: Refuse
	ErrDepth   = errors.New("a handler dispatches its own registry too deep")
	ErrLog     = errors.New("the log did not take the records")
	ErrClosed  = errors.New("the hook's run is over") // by the gate a handler was lent
)

// maxDepth is how deep a Go handler may dispatch its own registry.
const maxDepth = 4

type (
	markKey struct{ *family } // how many handlers of the family stand above, or underGate
)

// underGate marks the context of a hook's own program.
const underGate = maxDepth + 1

// An Outcome is what the hooks of one event came to; safe to obey even beside an error. It is small, so
// that an event nobody hooks costs nothing: the rest is behind methods that are good on the zero value.
type Outcome struct {
	Verdict Verdict
	Nested  bool // under a hook's own program: nothing ran

	ev   *Event
	more *outcome
}

type outcome struct {
	decision Decision
	runs     []Run
	only     [1]Run // room for one record, as a rule all there is
}

// Decision returns all decisions joined, in configuration order.
func (o Outcome) Decision() Decision {
	if o.more == nil {
		return Decision{Verdict: o.Verdict}
	}
	return o.more.decision
}

// Event returns the event after rewrites: what the runtime goes on with. Where nothing was rewritten it is
// the caller's own. Once the delivery of a result is refused it carries no byte of it.
func (o Outcome) Event() *Event {
	if o.ev == nil {
		return &Event{}
	}
	return o.ev
}

// Runs returns copies of the records of the runs, by stage, then by configuration.
func (o Outcome) Runs() []Run {
	if o.more == nil {
		return nil
	}
	return slices.Clone(o.more.runs)
}

// Dispatch reports ev to the hooks and returns what they came to. It never changes ev, and ev must not be
// changed until it returns. What hooks do wrong is in the Outcome, not in the error: that is for events
// that have no row ([ErrTrigger]), for recursion ([ErrDepth]), and for a Log that failed ([ErrLog]).
func (r *Registry) Dispatch(ctx context.Context, ev *Event) (Outcome, error) {
	if ev == nil {
		ev = &Event{}
	}
	row := r.row(ev.Trigger)
	if row == nil {
		return r.noRow(ev)
	}
	if problem := row.contract.missing(ev); problem != "" {
		return refused(ev, fmt.Errorf("%s: %s: %w", ev.Trigger, problem, ErrTrigger))
	}
	p := row.plan(ev)
	var child *plan
	if row.child != nil && (ev.Agent != Agent{}) && !ev.StandIn {
		child = row.child.plan(ev)
	}
	if p == nil && child == nil {
		return Outcome{ev: ev}, nil
	}
	depth, _ := ctx.Value(markKey{r.family}).(int)
	switch {
	case depth == underGate:
		return Outcome{Nested: true, ev: ev}, nil
	case depth >= maxDepth:
		return refused(ev, fmt.Errorf("%s: %w", ev.Trigger, ErrDepth))
	}
	if row.contract.Quiet && p.quiet() && child.quiet() {
		return r.watch(ctx, ev, p, child, depth)
	}
	return r.start(ctx, ev, row, p, child, depth).finish()
}

func (r *Registry) noRow(ev *Event) (Outcome, error) {
	if r.broken != nil {
		return refused(ev, r.broken)
	}
	return refused(ev, fmt.Errorf("unknown trigger %q: %w", ev.Trigger, ErrTrigger))
}

// refused is the outcome of an event that no hook can be asked about.
func refused(ev *Event, err error) (Outcome, error) {
	d := Decision{Verdict: Refuse, Reason: err.Error()}
	return Outcome{Verdict: Refuse, ev: ev, more: &outcome{decision: d}}, err
}

// missing says what ev lacks to be about its trigger's subject, or returns "".
func (c Contract) missing(ev *Event) string {
	switch {
	case c.Subject == AboutTool && ev.Tool == "":
		return "the event names no tool"
	case c.Subject == AboutAgent && ev.Agent == Agent{}:
		return "the event names no agent"
	}
	return ""
}

func (p *plan) quiet() bool { return p == nil || p.watch != nil }

// watch calls untimed observers at a quiet trigger: no copies, no clock, no record, one recover for the
// loop. What panics goes the recorded way.
func (r *Registry) watch(ctx context.Context, ev *Event, p, child *plan, depth int) (Outcome, error) {
	w := watching{r: r, ctx: r.mark(ctx, depth), ev: ev, told: ev, child: child}
	if ev.shared != nil { // it was lent to a handler, which reports it on
		own := *ev
		own.shared, w.told = nil, &own
	}
	if p != nil {
		w.all(w.told, p)
	}
	if w.child == nil && w.sick == nil {
		return Outcome{ev: ev}, nil
	}
	return w.finish()
}

// watching is an event on its way to the observers of a quiet trigger.
type watching struct {
	r     *Registry
	ctx   context.Context
	ev    *Event    // the caller's
	told  *Event    // as they are told it
	child *plan     // of those who are still to hear of a sub-agent's event
	sick  *dispatch // with the runs of those that panicked; nil: none did
}

// finish tells the observers of a sub-agent's event, and has the records kept of all that panicked.
func (w *watching) finish() (Outcome, error) {
	if child := w.child; child != nil {
		w.child = nil
		re := *w.told
		re.Trigger = childPrefix + re.Trigger
		w.all(&re, child)
	}
	if w.sick == nil {
		return Outcome{ev: w.ev}, nil
	}
	return w.sick.through((*dispatch).settleAll, (*dispatch).join)
}

func (w *watching) all(ev *Event, p *plan) {
	for i := 0; i < len(p.watch); {
		i = w.from(ev, p, i)
	}
}

// from calls observers until one panics, or ends the goroutine.
func (w *watching) from(ev *Event, p *plan, from int) (next int) {
	next, done := from, false
	defer func() {
		if !done {
			w.panicked(ev, p, next, recover())
		}
	}()
	ctx := w.ctx
	for _, o := range p.watch[from:] {
		next++
		o(ctx, ev)
	}
	done = true
	return next
}

// panicked keeps the run of the observer before next, which did not return, for its record. Where that ends the
// goroutine, the others hear of the event all the same, and the records are kept on the way out.
func (w *watching) panicked(ev *Event, p *plan, next int, v any) {
	if w.sick == nil {
		w.sick = w.r.start(w.ctx, w.ev, w.r.row(w.ev.Trigger), nil, nil, 0)
	}
	b := p.hooks[next-1]
	x := w.sick.newRun(b, StageObserve, newState(ev), false)
	x.began, x.started = w.r.stamp(time.Now()), true
	x.take(answer{err: &PanicError{Hook: b.Name, Value: v, Stack: debug.Stack()}})
	w.sick.add(x)
	for v == nil && next < len(p.watch) {
		next = w.from(ev, p, next)
	}
	if v == nil {
		_, _ = w.finish()
	}
}

// settleAll settles the runs of observers that panicked at a quiet trigger.
func (d *dispatch) settleAll() {
	defer d.mend(d.runs)
	each(d.runs, d.settle)
}

// markedContext carries the mark of a family.
type markedContext struct {
	context.Context
	key  markKey
	mark int
}

func (c *markedContext) Value(key any) any {
	if k, ok := key.(markKey); ok && k == c.key {
		return c.mark
	}
	return c.Context.Value(key)
}

// AfterFunc spares package context a goroutine that waits for the end.
func (c *markedContext) AfterFunc(f func()) (stop func() bool) { return clock.AfterFunc(c.Context, f) }

// mark returns ctx one deeper. A stream reports its deltas under one context: the last one is kept, so
// that the quiet path allocates nothing. What is kept compares, so that comparing with it cannot panic.
func (r *Registry) mark(ctx context.Context, depth int) context.Context {
	if c := r.marked.Load(); c != nil && c.mark == depth+1 && c.Context == ctx {
		return c
	}
	c := &markedContext{ctx, markKey{r.family}, depth + 1}
	if reflect.ValueOf(ctx).Comparable() {
		r.marked.Store(c)
	}
	return c
}

// state is an event at one point of its way. A rewrite makes a new one.
type state struct {
	ev      *Event
	payload *run      // who replaced Payload last; nil: it is the caller's
	cache   [2]shared // of those that are asked for the first time, and again

	matchers *desk // what they are shown, so that none of them changes the event
	hash     sync.Once
	sum      string // of Input
}

func newState(ev *Event) *state { return &state{ev: ev} }

// accepts asks the matchers of b that read the event.
func (s *state) accepts(b *bound) (bool, error) {
	if len(b.reads) == 0 {
		return true, nil
	}
	return b.readsMatch(s.shown())
}

// shown is the event for matchers that read it; they are asked one after the other.
func (s *state) shown() *Event {
	if s.matchers == nil {
		s.matchers = new(desk)
	}
	return s.matchers.lay(s)
}

// digest returns "sha256:" and the digest of the input; empty without one.
func (s *state) digest() string {
	s.hash.Do(func() {
		if len(s.ev.Input) > 0 {
			sum := sha256.Sum256(s.ev.Input)
			text := hex.AppendEncode(make([]byte, 0, 7+2*len(sum)), sum[:])
			s.sum = "sha256:" + string(text)
		}
	})
	return s.sum
}

// same reports whether s and o ask a check to judge the same thing.
func (s *state) same(o *state) bool {
	return s == o || s.payload == o.payload && s.ev.Failed == o.ev.Failed &&
		sameJSON(s.ev.Input, o.ev.Input) && sameJSON(s.ev.Output, o.ev.Output)
}

// sameJSON compares two values but for white space.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var ca, cb bytes.Buffer
	return json.Compact(&ca, a) == nil && json.Compact(&cb, b) == nil && bytes.Equal(ca.Bytes(), cb.Bytes())
}

// lend makes ev a copy of the event whose bytes are its own.
func (s *state) lend(ev *Event) {
	*ev = *s.ev
	ev.shared = &s.cache[0]
	ev.Input, ev.Output = bytes.Clone(ev.Input), bytes.Clone(ev.Output)
	ev.Aliases, ev.Paths, ev.Extra = slices.Clone(ev.Aliases), slices.Clone(ev.Paths), maps.Clone(ev.Extra)
	for k, v := range ev.Extra {
		ev.Extra[k] = bytes.Clone(v)
	}
}

// but returns the state of an event that is told otherwise.
func (s *state) but(change func(*Event)) *state {
	ev := *s.ev
	change(&ev)
	next := newState(&ev)
	next.payload = s.payload
	return next
}

// A desk holds the copy of an event for handlers that are called one after the other in one goroutine. It is
// made anew where one of them has changed a byte of it.
type desk struct {
	of   *state
	copy Event // with the bytes that are lent
	lent Event
}

func (k *desk) lay(s *state) *Event {
	if k.of != s || !k.untouched() {
		s.lend(&k.copy)
		k.of = s
	}
	k.lent = k.copy
	return &k.lent
}

func (k *desk) untouched() bool {
	own, lent := k.of.ev, &k.copy
	return bytes.Equal(own.Input, lent.Input) && bytes.Equal(own.Output, lent.Output) && len(own.Extra)+len(lent.Extra) == 0 &&
		slices.Equal(own.Aliases, lent.Aliases) && slices.Equal(own.Paths, lent.Paths)
}

// with returns the state after a change by x. What Rebind does not bring into line with a new Input is
// cleared.
func (s *state) with(change Decision, x *run, rebind func(*Event) error) (next *state, err error) {
	ev := *s.ev
	next = newState(&ev)
	next.payload = s.payload
	if change.Input != nil {
		ev.Input = bytes.Clone(change.Input)
		next.payload = x
		if err := rebound(&ev, rebind); err != nil {
			return s, err
		}
	}
	if change.Payload != nil {
		ev.Payload, next.payload = change.Payload, x
	}
	if change.Output != nil {
		ev.Output = bytes.Clone(change.Output)
	}
	if change.Fail != nil {
		ev.Failed = *change.Fail
	}
	return next, nil
}

// rebound fills what hangs on Input, and that alone.
func rebound(ev *Event, rebind func(*Event) error) (err error) {
	own := *ev
	own.Payload, own.Action, own.Paths = nil, "", nil
	if rebind != nil {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("Rebind panicked: %v", v)
			}
		}()
		own.Input = bytes.Clone(ev.Input)
		own.Payload, own.Action, own.Paths = ev.Payload, ev.Action, slices.Clone(ev.Paths)
		if err := rebind(&own); err != nil {
			return fmt.Errorf("rebind: %w", err)
		}
	}
	ev.Payload, ev.Action, ev.Paths = own.Payload, own.Action, own.Paths
	return nil
}

// dispatch is one event on its way.
type dispatch struct {
	r     *Registry
	ctx   context.Context
	ev    *Event // the caller's
	row   *row
	plan  *plan
	child []*bound // observers of a sub-agent's event
	depth int
	first state
	now   *state
	runs  []*run
	out   Outcome
	err   error // of the log

	desk   *desk
	stops  int            // how many were refused in a row, this one included
	single *aside         // for the one hook, where that is all there is
	over   sync.WaitGroup // until what runs beside the caller has ended
	more   *outcome
	log    *writing // of the records; nil: there is nothing to write

	free   []run // room for the runs to come
	only   [1]run
	onList [1]*run
}

func (r *Registry) start(ctx context.Context, ev *Event, row *row, p, child *plan, depth int) *dispatch {
	d := r.newDispatch(p, child)
	d.r, d.ctx, d.ev, d.row, d.plan, d.depth = r, ctx, ev, row, p, depth
	d.free, d.runs = d.only[:], d.onList[:0]
	d.first.ev = ev
	d.now = &d.first
	if p == nil {
		d.plan = &plan{}
	}
	if n := len(d.plan.hooks); n > 1 {
		d.free, d.runs = make([]run, n), make([]*run, 0, n)
	}
	if child != nil {
		d.child = child.hooks
	}
	return d
}

// newDispatch makes room for what an event needs.
func (r *Registry) newDispatch(p, child *plan) *dispatch {
	if p.single() && child == nil {
		room := new(struct {
			dispatch
			aside aside
		})
		room.dispatch.single = &room.aside
		return &room.dispatch
	}
	return new(dispatch)
}

// single reports whether one hook is asked about the event, and beside the caller.
func (p *plan) single() bool {
	return p != nil && len(p.hooks) == 1 && p.hooks[0].timed() && p.hooks[0].stage != StageObserve
}

// finish takes the event through the stages. Where an inline handler ends the goroutine, the others are asked
// and the records kept all the same, on the way out.
func (d *dispatch) finish() (Outcome, error) {
	stages := []func(*dispatch){
		(*dispatch).rewrite, (*dispatch).check, (*dispatch).change, (*dispatch).recheck, (*dispatch).observe, (*dispatch).join,
	}
	if d.single != nil {
		stages = []func(*dispatch){(*dispatch).askOnly, (*dispatch).applyOnly, (*dispatch).joinOnly}
	}
	return d.through(stages...)
}

func (d *dispatch) through(stages ...func(*dispatch)) (Outcome, error) {
	each(stages, func(stage func(*dispatch)) { stage(d) })
	return d.out, d.err
}

// askOnly asks the one hook of an event, which runs beside the caller. The goroutine that asks it goes on to the
// log, which spares the caller waking up in between; as a rule nothing is left to do then but to deliver.
func (d *dispatch) askOnly() {
	b := d.plan.hooks[0]
	if x := d.match(b, b.stage); x != nil {
		d.perform(d.add(x))
	}
}

// applyOnly is rewrite or change for the one hook of an event.
func (d *dispatch) applyOnly() {
	switch {
	case d.more != nil || len(d.runs) == 0:
	case d.runs[0].stage == StageRewrite:
		d.apply(d.runs[0], *d.runs[0].settled)
	default:
		d.change()
	}
}

func (d *dispatch) joinOnly() {
	if d.more == nil {
		d.join()
		return
	}
	d.deliver()
}

// carryOn takes the event from the answer of its one hook to the log, and reports whether there is one to write.
func (d *dispatch) carryOn() bool {
	d.applyOnly()
	more := d.conclude()
	d.log = d.writingOf(more.runs)
	d.more = more
	return d.log != nil
}

// each calls f for every item, also for those behind one where f ends the goroutine.
func each[T any](items []T, f func(T)) {
	i := 0
	defer func() {
		if i < len(items) {
			each(items[i+1:], f)
		}
	}()
	for ; i < len(items); i++ {
		f(items[i])
	}
}

// of adds the hooks of a stage whose matchers accept the event as it stands, as runs ready to start, and
// returns them.
func (d *dispatch) of(stage Stage) []*run {
	from := len(d.runs)
	for _, b := range d.plan.hooks {
		if b.stage == stage {
			if x := d.match(b, stage); x != nil {
				d.add(x)
			}
		}
	}
	return d.runs[from:]
}

// add adds runs to those of the event and returns them.
func (d *dispatch) add(runs ...*run) []*run {
	d.runs = append(d.runs, runs...)
	return d.runs[len(d.runs)-len(runs):]
}

// match returns a run for b if its matchers accept the event as it stands, else nil.
func (d *dispatch) match(b *bound, stage Stage) *run {
	ok, err := d.now.accepts(b)
	if !ok {
		return nil
	}
	if broken := d.plan.broken[b]; broken != nil {
		err = broken
	}
	x := d.newRun(b, stage, d.now, false)
	x.broken, x.erred = err != nil, err
	return x
}

// rewrite lets the hooks that may change the event do so, one after the other.
func (d *dispatch) rewrite() {
	each(d.plan.hooks, func(b *bound) {
		if b.stage != StageRewrite {
			return
		}
		if x := d.match(b, StageRewrite); x != nil {
			d.perform(d.add(x))
			d.apply(x, *x.settled)
		}
	})
}

// apply makes change, which x asked for, part of the event that follows. What cannot be applied refuses.
func (d *dispatch) apply(x *run, change Decision) {
	if x.b.Shadow || change.Input == nil && change.Output == nil && change.Payload == nil && change.Fail == nil {
		return
	}
	own, err := x.judged().with(change, x, d.r.opts.Rebind)
	next := own
	if err == nil && x.judged() != d.now {
		next, err = d.now.with(change, x, d.r.opts.Rebind)
	}
	if err != nil {
		x.must = true
		d.fail(x, CauseOutput, err)
		return
	}
	x.left, d.now = own, next
}

// check asks everything else with a say about the event that the rewriters left.
func (d *dispatch) check() { d.perform(d.of(StageCheck)) }

// change applies what hooks that ran beside the checks want changed: of several inputs the last
// stands; of several outputs the first applies, and each later replacer is asked about what the last left.
func (d *dispatch) change() {
	if d.verdict() >= Refuse {
		return
	}
	var wins *run
	for x := range d.enforced(StageCheck) {
		if x.settled.Input == nil && (x.settled.Payload == nil || x.settled.Output != nil) {
			continue
		}
		if wins != nil {
			wins.dropped = x.b
		}
		wins = x
	}
	if wins != nil {
		d.apply(wins, Decision{Input: wins.settled.Input, Payload: wins.settled.Payload})
	}
	d.replaceInTurn()
}

// replaceInTurn applies the first output of the hooks that ran beside the checks, and asks each later
// replacer about what the last left, so that a redactor never sees less than what is delivered.
func (d *dispatch) replaceInTurn() {
	replaced := false
	for x := range d.enforced(StageCheck) {
		switch {
		case x.b.Effects&MayReplace == 0 || x.cause != "":
		case replaced:
			second := d.newRun(x.b, StageRecheck, d.now, true)
			d.perform(d.add(second))
			d.apply(second, Decision{Output: second.settled.Output, Fail: second.settled.Fail})
			x.takeOver(second)
		case x.settled.Output != nil || x.settled.Fail != nil:
			d.apply(x, Decision{Output: x.settled.Output, Fail: x.settled.Fail})
			replaced = true
		}
	}
}

// enforced yields the first runs of the stages' hooks that are not shadows, stage by stage, in order.
func (d *dispatch) enforced(stages ...Stage) iter.Seq[*run] {
	return func(yield func(*run) bool) {
		for _, s := range stages {
			for _, x := range d.runs {
				if x.stage == s && !x.b.Shadow && !yield(x) {
					return
				}
			}
		}
	}
}

// recheck asks every hook with a verdict that judged another event than the final one, and those whose
// matchers accept only the final event.
func (d *dispatch) recheck() {
	if d.now.ev == d.ev {
		return // nothing changed
	}
	var asked []*run
	var first []*run
	ran := map[*bound]bool{}
	for x := range d.enforced(StageRewrite, StageCheck) {
		ran[x.b] = true
		if ok, _ := d.now.accepts(x.b); !ok || !x.b.judges || x.cause != "" || x.judged().same(d.now) {
			continue
		}
		asked, first = append(asked, d.newRun(x.b, StageRecheck, d.now, true)), append(first, x)
	}
	for _, b := range d.plan.hooks {
		if b.judges && !b.Shadow && !ran[b] && b.reads != nil {
			if x := d.match(b, StageRecheck); x != nil {
				asked, first = append(asked, x), append(first, nil)
			}
		}
	}
	d.perform(d.add(asked...))
	for i, x := range asked {
		d.holdTo(x)
		if first[i] != nil {
			first[i].takeOver(x)
		}
	}
}

// holdTo fails a run that, asked about the final event, would change it once more.
func (d *dispatch) holdTo(x *run) {
	s := x.settled
	conflict := s.Input != nil && !sameJSON(s.Input, d.now.ev.Input) ||
		s.Output != nil && !sameJSON(s.Output, d.now.ev.Output) ||
		s.Fail != nil && *s.Fail != d.now.ev.Failed ||
		s.Payload != nil && !reflect.DeepEqual(s.Payload, d.now.ev.Payload)
	if conflict && s.Verdict < Refuse {
		x.must = true
		d.fail(x, CauseConflict, errors.New("it asked for a second, different change"))
	}
}

// observe tells the hooks that only note, and the observers, about the final event and the verdict.
func (d *dispatch) observe() {
	verdict := max(d.ev.Verdict, d.verdict())
	from := len(d.runs)
	d.of(StageObserve)
	for _, b := range d.child {
		if ok, err := d.now.accepts(b); ok {
			x := d.newRun(b, StageObserve, d.now, false)
			x.child, x.broken, x.erred = true, err != nil, err
			d.add(x)
		}
	}
	runs := d.runs[from:]
	if len(runs) == 0 {
		return
	}
	slices.SortStableFunc(runs, func(a, b *run) int { return a.b.index - b.b.index })
	told := d.now
	if told.ev.Verdict != verdict {
		told = told.but(func(ev *Event) { ev.Verdict = verdict })
	}
	child := sync.OnceValue(func() *state {
		return told.but(func(ev *Event) { ev.Trigger = childPrefix + ev.Trigger })
	})
	stripped := sync.OnceValue(func() *state { return told.but(d.row.contract.strip) })
	for _, x := range runs {
		switch x.saw = told; {
		case x.child:
			x.saw = child()
		case x.b.Effects != 0 && verdict >= Refuse: // a note goes to the model, and must not carry what was refused
			x.saw = stripped()
		}
		x.told = x.saw
	}
	d.perform(runs)
}

// strip takes the result out of an event whose delivery is refused.
func (c Contract) strip(ev *Event) {
	if c.Can&MayReplace == 0 {
		return
	}
	ev.Output = nil
	if ev.Trigger != ToolBefore {
		ev.Payload = nil
	}
}

// verdict is how far the enforced decisions go so far.
func (d *dispatch) verdict() Verdict {
	v := Pass
	for _, x := range d.runs {
		if !x.b.Shadow {
			v = max(v, x.settled.Verdict)
		}
	}
	return v
}

type (
	eventKey struct{}
	hookKey  struct{}
	pauseKey struct{} // the run, where it has a clock
)

// Once returns the value that f makes of the event, as a rule computed once per state of it however many hooks are
// asked: a codec's encoding, say. The value is shared between goroutines and must not be changed. A handler that has
// changed its copy of the event must not call it.
func (ev *Event) Once(key any, f func() any) any {
	if ev.shared == nil {
		return f()
	}
	return ev.shared.once(key, f)
}

// shared is what the copies of one state of an event have in common. Most have one thing, for which there
// is room.
type shared struct {
	mu         sync.Mutex
	full       bool
	key, value any
	more       map[any]any
}

func (s *shared) once(key any, f func() any) any {
	if v, ok := s.get(key); ok {
		return v
	}
	v := f() // nobody waits for it: it may hang, or ask for another key
	s.mu.Lock()
	defer s.mu.Unlock()
	if first, ok := s.find(key); ok {
		return first
	}
	switch {
	case !s.full:
		s.full, s.key, s.value = true, key, v
	case s.more == nil:
		s.more = map[any]any{key: v}
	default:
		s.more[key] = v
	}
	return v
}

func (s *shared) get(key any) (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(key)
}

func (s *shared) find(key any) (any, bool) {
	if s.full && s.key == key {
		return s.value, true
	}
	v, ok := s.more[key]
	return v, ok
}

// run is one start of one hook.
type run struct {
	d       *dispatch
	b       *bound
	stage   Stage
	second  bool   // it was asked before; its answer takes the first one's place
	child   bool   // it hears of a sub-agent's event
	id      string // "hook:" name ":" what it is about
	told    *state // what it is asked about
	saw     *state // what it was asked about last, if it was asked again
	left    *state // that with its own change, where it stands
	dropped *bound // the hook whose rewrite stands instead of its own
	broken  bool   // its matcher panicked
	ev      *Event // its own copy, once it begins
	facts   *facts // of its gate; nil: none yet
	closed  bool   // its gate; guarded by mu, with facts, slot and pauses
	mu      sync.Mutex
	aside   *aside        // nil where it is called in the caller's goroutine
	slot    bool          // it holds one
	pauses  int           // under way
	back    chan struct{} // closed once one of its goroutines has waited for a slot; nil: none does
	began   time.Time     // by Options.Now
	started bool

	answered  bool  // what follows is the answer; else the handler ended the goroutine
	erred     error // of the handler, or of its matcher
	elapsed   time.Duration
	abandoned bool

	over    bool      // it is settled
	settled *Decision // what counts; before that, the answer as it came. It is never changed, but for another
	errored bool      // it says so itself
	cause   Cause
	err     error
	must    bool // its failure refuses even under FailOpen
	open    bool // the event went through in spite of it
}

// aside returns room for a run that is called beside the caller.
func (d *dispatch) aside() *aside {
	if d.single != nil {
		d.single.alarm.First = d.r.opts.Grace // by when a log that takes over may be due
		return d.single
	}
	return new(aside)
}

// aside is what a run has that is called in a goroutine of its own and may have to be left behind.
type aside struct {
	clock clock.Clock
	alarm clock.Alarm // of the clock, then of the log's where the event goes on from here
	ev    Event
	facts facts
	own   markedContext // for programs
}

// answer is what came of calling a handler.
type answer struct {
	decision  Decision
	err       error
	elapsed   time.Duration
	abandoned bool
}

// take takes in the answer.
func (x *run) take(a answer) {
	x.answered = true
	x.erred, x.elapsed, x.abandoned = a.err, a.elapsed, a.abandoned
	dec := a.decision // its bytes may be those that were lent, or the handler's for its next answer
	dec.Input, dec.Output = bytes.Clone(dec.Input), bytes.Clone(dec.Output)
	dec.Notes, dec.Warnings = slices.Clone(dec.Notes), slices.Clone(dec.Warnings)
	x.decide(dec)
}

// decide makes d what counts of the answer. Most say nothing, and have one decision between them.
func (x *run) decide(d Decision) {
	x.settled = &nothing
	if !d.empty() {
		own := d
		x.settled = &own
	}
}

var nothing Decision

// newRun reserves a run as one that was cancelled before it started, so that nothing that goes missing
// reads as a pass.
func (d *dispatch) newRun(b *bound, stage Stage, saw *state, second bool) *run {
	if len(d.free) == 0 {
		d.free = make([]run, 1)
	}
	x := &d.free[0]
	d.free = d.free[1:]
	x.d, x.b, x.stage, x.second, x.saw, x.id, x.cause = d, b, stage, second, saw, d.idOf(b, stage), CauseCancelled
	x.told = saw
	x.settled = &nothing
	return x
}

func (d *dispatch) idOf(b *bound, stage Stage) string {
	about := d.ev.Call
	if about == "" {
		about = string(d.ev.Trigger)
	}
	id := "hook:" + b.Name + ":" + about
	if stage != StageRecheck {
		return id
	}
	nth := 2
	for _, x := range d.runs {
		if x.b == b && x.stage == StageRecheck {
			nth++
		}
	}
	return fmt.Sprintf("%s:%d", id, nth)
}

// judged is the event that the run stands for.
func (x *run) judged() *state {
	if x.left != nil {
		return x.left
	}
	return x.saw
}

// takeOver lets a second answer stand for the first, except that the stricter verdict stays.
func (x *run) takeOver(second *run) {
	first, now := x.settled, *second.settled
	if first.Verdict.stricter(now.Verdict) {
		now.Verdict, now.Reason = first.Verdict, first.Reason
	}
	x.saw, x.left = second.saw, second.left
	x.decide(now)
}

func (b *bound) timed() bool { return b.program || b.Timeout > 0 }

// perform runs hooks of one stage: those without a timeout one after the other here, in order; the others
// beside them. It returns when all have ended, even if one here ends the goroutine.
func (d *dispatch) perform(runs []*run) {
	defer d.mend(runs)
	defer d.over.Wait()
	for _, x := range runs {
		if x.b.timed() {
			d.over.Add(1)
			go x.ask()
		}
	}
	each(runs, func(x *run) {
		if !x.b.timed() {
			d.call(x)
		}
	})
}

// mend fails the runs that are not settled: a func of the host's own, that traces or redacts, ended the goroutine.
func (d *dispatch) mend(runs []*run) {
	for _, x := range runs {
		if !x.over {
			x.withhold()
			d.fail(x, CausePanic, errExit)
		}
	}
}

// takeSlot waits for one of the slots that programs share.
func (d *dispatch) takeSlot(x *run) {
	x.slot = x.b.program && d.r.family.slots.Acquire(d.ctx, 1) == nil
}

// freeSlot gives it back.
func (x *run) freeSlot() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.release()
}

// release is freeSlot for who holds x.mu.
func (x *run) release() {
	if x.slot {
		x.slot = false
		x.d.r.family.slots.Release(1)
	}
}

// stepAside lets another program run while this one's hook waits.
func (x *run) stepAside() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pauses++
	x.release()
}

// stepBack waits for a slot once more, unless the hook waits for something else, or is over.
func (x *run) stepBack() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pauses--
	for x.b.program && !x.slot && x.pauses == 0 && !x.closed {
		if !x.acquire() {
			return // its time is over
		}
		if x.pauses > 0 || x.closed {
			x.release()
		}
	}
}

// acquire takes a slot, or waits until another goroutine of the hook has taken it: a second one would wait for the
// slot that the hook holds by then. The caller holds x.mu, which is free meanwhile.
func (x *run) acquire() bool {
	if back := x.back; back != nil {
		x.mu.Unlock()
		defer x.mu.Lock()
		<-back
		return true
	}
	back := make(chan struct{})
	x.back = back
	x.mu.Unlock()
	err := x.d.r.family.slots.Acquire(x.ctx(), 1)
	x.mu.Lock()
	x.slot, x.back = err == nil, nil
	close(back)
	return err == nil
}

// begin makes a run ready to be called, unless there is no calling it.
func (d *dispatch) begin(x *run) bool {
	if x.broken || d.ctx.Err() != nil {
		return false
	}
	x.started = true
	d.lend(x)
	d.trace(func(t *Trace) {
		if t.Started != nil {
			t.Started(&x.b.Hook, x.ev)
		}
	})
	x.began = d.r.stamp(time.Now())
	return true
}

// lend gives a run its copy of the event.
func (d *dispatch) lend(x *run) {
	if x.b.timed() {
		x.aside = d.aside()
		x.aside.own = markedContext{x.ctx(), markKey{d.r.family}, underGate}
		x.ev, x.facts = &x.aside.ev, &x.aside.facts
		x.told.lend(x.ev)
	} else {
		if d.desk == nil {
			d.desk = new(desk)
		}
		x.ev = d.desk.lay(x.told)
	}
	x.again(x.ev)
}

// again tells a run in its copy of the event whether it is asked again, and keeps apart what codecs make of that.
func (x *run) again(ev *Event) {
	if x.second {
		ev.Recheck, ev.shared = true, &x.told.cache[1]
	}
}

// ended settles a run and gives its slot back.
func (d *dispatch) ended(x *run) {
	defer x.freeSlot()
	d.settle(x)
	if x.started {
		d.trace(func(t *Trace) {
			if t.Finished != nil {
				rec := d.recordOf(x)
				t.Finished(&x.b.Hook, &rec)
			}
		})
	}
}

// stamp is the time for a record of what happens at a time.
func (r *Registry) stamp(now time.Time) (at time.Time) {
	at = now
	if r.opts.Now != nil {
		defer func() { _ = recover() }()
		at = r.opts.Now()
	}
	return at
}

func (d *dispatch) trace(f func(*Trace)) {
	if d.r.opts.Trace != nil {
		defer func() { _ = recover() }()
		f(d.r.opts.Trace)
	}
}

// call asks a handler here. One that does not return may still hold the copy of the event, which nobody else is
// lent then.
func (d *dispatch) call(x *run) {
	defer d.ended(x) // also where the handler ends this goroutine
	if !d.begin(x) {
		return
	}
	desk := d.desk
	d.desk = nil
	began := time.Now()
	a := x.handle()
	a.elapsed = time.Since(began)
	x.take(a)
	if a.err == nil {
		d.desk = desk
	}
}

// handle asks the handler, whatever it does.
func (x *run) handle() (a answer) {
	defer func() {
		if v := recover(); v != nil {
			a.err = &PanicError{Hook: x.b.Name, Value: v, Stack: debug.Stack()}
		}
	}()
	a.decision, a.err = x.b.Handler.Handle(x.ctx(), x.ev, x.gate())
	return a
}

// ask asks a handler in a goroutine of its own, which is left behind if it ignores its deadline. What counts is
// the time it took, never which channel was ready first.
func (x *run) ask() {
	deepen(0)
	var a answer
	asked, ended := false, false
	defer func() { // also where something ends the goroutine, or a context panics
		v := recover()
		if !asked {
			x.finish()
			return
		}
		if !ended {
			a.err = &PanicError{Hook: x.b.Name, Value: v}
		}
		a.elapsed = x.aside.clock.Elapsed()
		if x.aside.clock.Over() {
			a = answer{elapsed: a.elapsed, abandoned: true} // as if it had been left behind a moment before
		}
		if x.aside.clock.Claim() {
			x.come(a)
		}
	}()
	x.d.takeSlot(x)
	if !x.d.begin(x) {
		return
	}
	asked = true
	x.aside.clock.Start(x.d.ctx, x.b.Timeout, x.d.r.opts.Grace, x, &x.aside.alarm)
	a = x.handle()
	ended = true
}

// Left is called where the handler has ignored its deadline.
func (x *run) Left() { x.come(answer{abandoned: true, elapsed: x.aside.clock.Elapsed()}) }

// come takes in the answer of a hook beside the caller, and goes on with what follows.
func (x *run) come(a answer) {
	x.take(a)
	x.aside.clock.Stop()
	x.finish()
}

// finish settles a hook beside the caller. Where it is the only one, the event goes on from here.
func (x *run) finish() {
	d, logs := x.d, false
	defer func() {
		if !logs {
			if x.aside != nil {
				x.aside.alarm.Off()
			}
			d.over.Done()
		}
	}()
	d.ended(x)
	if logs = d.single != nil && d.carryOn(); logs {
		d.log.run(&d.single.alarm)
	}
}

// deepen makes the stack of a new goroutine as deep as its work will need, while there is next to nothing on it
// to move: it would grow in steps, and move what it holds at each. The room is there from the start, and cleared only
// for a use that nobody makes of it.
//
//go:noinline
func deepen(use int) (b byte) {
	if use > 0 {
		var room [8 << 10]byte
		b = room[use]
	}
	return b
}

// hookContext is a run as the context of its handler: that of the dispatch, or its clock, and what it knows.
type hookContext run

func (x *run) ctx() *hookContext { return (*hookContext)(x) }

// outer is the context that a run's own is made of.
func (c *hookContext) outer() context.Context {
	if c.aside != nil {
		return &c.aside.clock
	}
	return c.d.ctx
}

func (c *hookContext) Deadline() (time.Time, bool) { return c.outer().Deadline() }
func (c *hookContext) Done() <-chan struct{}       { return c.outer().Done() }
func (c *hookContext) Err() error                  { return c.outer().Err() }

func (c *hookContext) Value(key any) any {
	switch k := key.(type) {
	case eventKey:
		return (*run)(c).event()
	case hookKey:
		return &c.b.Hook
	case pauseKey:
		if c.aside == nil {
			return nil
		}
		return (*run)(c)
	case markKey:
		if k.family == c.d.r.family {
			return c.d.depth + 1
		}
	}
	return c.d.ctx.Value(key)
}

// event is what a gate is told that the run is about: a program's copy, which it only reads, or a fresh one.
func (x *run) event() *Event {
	if x.b.program {
		return x.ev
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil
	}
	ev := new(Event)
	x.told.lend(ev)
	x.again(ev)
	return ev
}

// AfterFunc spares package context a goroutine that waits for the end.
func (c *hookContext) AfterFunc(f func()) (stop func() bool) { return clock.AfterFunc(c.outer(), f) }

// witness is a run as the gate that its handler is lent. It runs commands under the hook's own context whatever
// context it is passed, remembers what came of them for the record, and closes with the run.
type witness run

func (x *run) gate() *witness { return (*witness)(x) }

// facts are what a witness remembers.
type facts struct {
	last    Result
	cut     int64
	orphans bool
	refused error
	failed  error // the last command could not run

	own *markedContext // of a run without an aside, once it starts a program
	end context.CancelFunc
}

var errNoGate = errors.New("no gate: the registry has none, so no program can run")

// Run passes cmd to the registry's gate.
func (w *witness) Run(ctx context.Context, cmd Command) (Result, error) {
	marked, err := w.opens()
	if err != nil {
		return Result{}, w.note(Result{}, err)
	}
	own := (*run)(w).ctx()
	if err := own.Err(); err != nil {
		return Result{}, err
	}
	if ctx != context.Context(own) {
		limited, cancel := context.WithCancelCause(marked.Context)
		defer cancel(nil)
		defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
		marked = &markedContext{limited, marked.key, underGate}
	}
	cmd.ID = w.id
	cmd.Env = append(slices.Clip(cmd.Env), "HOOK_DEPTH=1")
	res, err := w.d.r.opts.Gate.Run(marked, cmd)
	return res, w.note(res, err)
}

// opens returns the context for programs, which ends with the run, or says why none may start.
func (w *witness) opens() (*markedContext, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return nil, ErrClosed
	case w.d.row.contract.Quiet:
		return nil, errors.New("no program runs at a quiet trigger")
	case w.d.r.opts.Gate == nil:
		return nil, errNoGate
	case w.aside != nil:
		return &w.aside.own, nil
	}
	f := w.known()
	if f.own == nil {
		ctx, end := context.WithCancel((*run)(w).ctx())
		f.own, f.end = &markedContext{ctx, markKey{w.d.r.family}, underGate}, end
	}
	return f.own, nil
}

// known is what w remembers. The caller holds w.mu.
func (w *witness) known() *facts {
	if w.facts == nil {
		w.facts = new(facts)
	}
	return w.facts
}

func (w *witness) note(res Result, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return err
	}
	f := w.known()
	if res.Action != "" {
		f.last.Action = res.Action
	}
	switch {
	case err == nil:
		f.failed = nil
		f.cut += res.Cut
		f.ended(res)
	case errors.Is(err, ErrRefused):
		f.refused = err
		if re := (*RefusedError)(nil); errors.As(err, &re) {
			f.last.Action = re.Action
		}
	default:
		f.failed = err
		if res.Code != 0 || res.Signal != "" { // it ran, and what it did is no result
			f.ended(res)
		}
	}
	return err
}

// ended notes how a program ended. What it said is the caller's, too.
func (f *facts) ended(res Result) {
	f.last.Code, f.last.Signal, f.last.Stderr = res.Code, res.Signal, bytes.Clone(res.Stderr)
	f.orphans = f.orphans || res.Orphans
}

// close ends the witness, and the programs of a handler that has returned, and tells what it knows.
func (w *witness) close() *facts {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.facts == nil {
		return &noFacts
	}
	if w.facts.end != nil {
		w.facts.end()
	}
	return w.facts
}

var noFacts facts

// settle turns an answer into the decision that counts.
func (d *dispatch) settle(x *run) {
	defer func() {
		if v := recover(); v != nil { // the caller's redactor: nothing of the answer may be published
			x.withhold()
			d.fail(x, CausePanic, fmt.Errorf("the redactor panicked: %v", v))
		}
	}()
	f := x.gate().close()
	x.errored = x.settled.Errored
	dec := x.redacted(*x.settled, d.r.opts.Redact)
	if strings.TrimSpace(dec.Reason) == "" {
		dec.Reason = x.stockReason(dec.Verdict)
	}
	x.decide(dec)
	cause, err := x.judge(f, d.ctx.Err() != nil)
	x.cause = ""
	if cause != "" {
		d.fail(x, cause, err)
	}
	x.over = true
}

// withhold drops the words of an answer, which may not be published, and leaves what it forbids.
func (x *run) withhold() {
	x.must = x.must || x.rewrote()
	v := x.settled.Verdict
	x.decide(Decision{Verdict: v, Reason: x.stockReason(v)})
}

// stockReason stands for a reason that is not given.
func (x *run) stockReason(v Verdict) string {
	if v < Ask {
		return ""
	}
	return fmt.Sprintf("hook %s: %s", x.b.Name, stockReasons[min(v, Halt)])
}

var stockReasons = map[Verdict]string{Ask: "a person should decide", Refuse: "refused", Halt: "halted"}

// judge says why the answer is not valid, or returns no cause.
func (x *run) judge(f *facts, ended bool) (Cause, error) {
	cause, err := x.failure(f, ended)
	if over := x.settled.beyond(x.b.Effects); cause == "" && over != 0 {
		cause, err = CauseEffect, &EffectError{Hook: x.b.Name, Effects: over}
	}
	if cause != "" {
		x.must = x.must || x.rewrote()
		return cause, err
	}
	for _, v := range []json.RawMessage{x.settled.Input, x.settled.Output} {
		if v != nil && !jsontext.Value(v).IsValid() {
			x.must = true
			return CauseOutput, errors.New("its rewrite is not one JSON value without duplicate names")
		}
	}
	return "", nil
}

// rewrote reports whether the answer asks for another input or output: beside a failure it is not applied, and the
// original must not stand.
func (x *run) rewrote() bool {
	d := x.settled
	return d.Input != nil || d.Output != nil || d.Payload != nil || d.Fail != nil
}

// failure finds the cause, the surest first.
func (x *run) failure(f *facts, ended bool) (Cause, error) {
	switch {
	case x.broken:
		return CausePanic, x.erred
	case !x.started:
		return CauseCancelled, errors.New("the dispatch ended before it could start")
	case !x.answered:
		return CausePanic, &PanicError{Hook: x.b.Name}
	case x.abandoned:
		return CauseAbandoned, errors.New("it ignored its deadline and was left behind")
	case x.b.timed() && x.elapsed >= x.b.Timeout:
		return CauseTimeout, fmt.Errorf("it took longer than its timeout of %v", x.b.Timeout)
	case f.refused != nil:
		return CausePolicy, f.refused
	case x.erred == nil:
		return "", nil
	}
	return f.cause(x.erred, ended)
}

// cause names what is behind a handler's error, which may be one that panics when it is looked into.
func (f *facts) cause(err error, ended bool) (cause Cause, why error) {
	defer func() {
		if recover() != nil {
			cause, why = CauseError, err
		}
	}()
	return f.causeOf(err, ended)
}

func (f *facts) causeOf(err error, ended bool) (Cause, error) {
	var named *Failure
	var panicked *PanicError
	switch {
	case errors.As(err, &panicked):
		return CausePanic, err
	case ended && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || claims(err, CauseTimeout)):
		return CauseCancelled, errors.New("the dispatch ended while it ran")
	case errors.As(err, &named) && named.Cause != "":
		return named.Cause, err
	case f.failed != nil:
		return CauseStart, f.failed
	}
	return CauseError, err
}

func claims(err error, c Cause) bool {
	var f *Failure
	return errors.As(err, &f) && f.Cause == c
}

// An EffectError is a decision beyond what its hook declared.
type EffectError struct {
	Hook    string
	Effects Effect // those it had no right to
}

func (e *EffectError) Error() string {
	return fmt.Sprintf("hook %s may not %v", e.Hook, e.Effects)
}

// fail settles a run that gave no valid answer. What it said and was entitled to say still counts.
func (d *dispatch) fail(x *run, cause Cause, err error) {
	x.cause, x.err = cause, err
	d.settleFailure(x, x.said())
	x.over = true
}

// said is the restriction in an answer that is otherwise no good.
func (x *run) said() Decision {
	s := x.settled
	if s.Verdict < Ask || s.Verdict.effect()&^x.b.Effects != 0 {
		return Decision{}
	}
	return Decision{Verdict: s.Verdict, Reason: s.Reason, Warnings: s.Warnings}
}

// settleFailure applies the failure matrix.
func (d *dispatch) settleFailure(x *run, said Decision) {
	text := d.clean(fmt.Sprintf("hook %s: %s: %v", x.b.Name, x.cause, x.err))
	warning := Decision{Warnings: []string{text}}
	c := d.row.contract
	switch {
	case x.b.Effects == 0 && !x.b.program:
		x.decide(said)
	case !x.b.say, c.Can&MayRefuse == 0, c.RefusalContinues && (d.ev.StopActive || x.cause == CauseCancelled):
		x.decide(said.Join(warning))
	case x.b.FailOpen && !x.must:
		x.open = said.Verdict < Ask
		x.decide(said.Join(warning))
	default:
		x.decide(said.Join(Decision{Verdict: Refuse, Reason: text}))
	}
}

// redacted returns what may be published of an answer.
func (x *run) redacted(dec Decision, redact func([]byte) []byte) Decision {
	if redact == nil {
		return dec
	}
	text := func(s string) string { return string(redact([]byte(s))) }
	texts := func(list []string) []string {
		out := make([]string, len(list))
		for i, s := range list {
			out[i] = text(s)
		}
		return out
	}
	dec.Reason, dec.Notes, dec.Warnings = text(dec.Reason), texts(dec.Notes), texts(dec.Warnings)
	if dec.Output != nil {
		dec.Output = append(json.RawMessage{}, redact(bytes.Clone(dec.Output))...) // nothing left of it is not no output
	}
	return dec
}

// join brings the decisions together, has the records kept, and says what the event came to.
func (d *dispatch) join() {
	d.more = d.conclude()
	d.keep()
	d.deliver()
}

// keep has the records kept.
func (d *dispatch) keep() {
	if d.log = d.writingOf(d.more.runs); d.log != nil {
		d.over.Add(1)
		go d.log.run(new(clock.Alarm))
		d.over.Wait()
	}
}

// conclude brings the decisions together.
func (d *dispatch) conclude() *outcome {
	more := &outcome{decision: d.capStops(d.joined())}
	more.runs = d.records(more.only[:0], d.runs)
	return more
}

// deliver says what the event came to, once the records are kept, or not.
func (d *dispatch) deliver() {
	dec := d.more.decision
	if d.log != nil && d.log.err != nil {
		d.err = d.log.err
		dec = d.unlogged(dec, d.err)
	}
	d.more.decision = d.changed(dec)
	d.out = Outcome{Verdict: dec.Verdict, ev: d.left(dec.Verdict), more: d.more}
}

// joined is Decision.Join over the hooks in configuration order.
func (d *dispatch) joined() (dec Decision) {
	runs := make([]*run, 0, len(d.runs))
	failed := d.ctx.Err() != nil
	for _, x := range d.runs {
		if !x.second && !x.b.Shadow {
			runs = append(runs, x)
		}
		failed = failed || x.open && !x.b.Shadow
	}
	slices.SortStableFunc(runs, func(a, b *run) int { return a.b.index - b.b.index })
	for _, x := range runs {
		s := *x.settled
		s.Input, s.Output, s.Payload, s.Fail = nil, nil, nil, nil // these are in the event
		if d.ev.Trigger == ToolBefore && s.Verdict == dec.Verdict && dec.Reason != "" {
			s.Reason = ""
		}
		dec = dec.Join(s)
	}
	c := d.row.contract
	if d.ctx.Err() != nil && c.Can&MayRefuse != 0 && !c.RefusalContinues && dec.Verdict < Refuse {
		dec = dec.Join(Decision{Verdict: Refuse, Reason: "the dispatch was cancelled before every hook had answered"})
	}
	if dec.Verdict == Allow && (failed || d.ev.Verdict >= Ask) {
		dec.Verdict, dec.Reason = Pass, ""
		dec = dec.Join(Decision{Warnings: []string{"an allow was dropped: another hook asked, or could not be asked"}})
	}
	return dec
}

// changed adds to dec what the stages left of the event, where it goes on.
func (d *dispatch) changed(dec Decision) Decision {
	if dec.Verdict >= Refuse || d.now.ev == d.ev {
		return dec
	}
	was, is := d.ev, d.now.ev
	if !bytes.Equal(was.Input, is.Input) {
		dec.Input = is.Input
	}
	if !bytes.Equal(was.Output, is.Output) {
		dec.Output = is.Output
	}
	if d.now.payload != nil {
		dec.Payload = is.Payload
	}
	if was.Failed != is.Failed {
		failed := is.Failed
		dec.Fail = &failed
	}
	return dec
}

// left is the event that the runtime goes on with.
func (d *dispatch) left(v Verdict) *Event {
	if v < Refuse || d.row.contract.Can&MayReplace == 0 {
		return d.now.ev
	}
	ev := *d.now.ev
	d.row.contract.strip(&ev)
	return &ev
}

// writing is one Append under way. A Log that hangs past Grace, panics or fails has failed.
type writing struct {
	d     *dispatch
	ctx   clock.Clock
	alarm *clock.Alarm
	recs  []Record
	err   error
	only  [1]Record // room for one, as a rule all there is
}

// writingOf is the writing of recs; nil where there is nothing to write, or no Log.
func (d *dispatch) writingOf(recs []Run) *writing {
	if d.r.opts.Log == nil || len(recs) == 0 {
		return nil
	}
	w := &writing{d: d}
	w.recs = slices.Grow(w.only[:0], len(recs))
	for i := range recs {
		w.recs = append(w.recs, &recs[i])
	}
	return w
}

var (
	errExit    = errors.New("a func of Options ended its goroutine")
	errLogExit = errors.New("it ended its goroutine")
)

// run appends the records, and lets whoever waits for the event go on.
func (w *writing) run(alarm *clock.Alarm) {
	deepen(0)
	w.alarm = alarm
	w.ctx.StartDetached(w.d.ctx, w.d.r.opts.Grace, 0, w, alarm)
	err := errLogExit
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("it panicked: %v", v)
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrLog, err)
		}
		if w.ctx.Claim() {
			w.come(err)
		}
	}()
	err = w.d.r.opts.Log.Append(&w.ctx, w.recs...)
}

// Left is called where the Log hangs.
func (w *writing) Left() { w.come(fmt.Errorf("%w within %v", ErrLog, w.d.r.opts.Grace)) }

func (w *writing) come(err error) {
	w.err = err
	w.ctx.Stop()
	w.alarm.Off()
	w.d.over.Done()
}

// unlogged is what becomes of a decision without its records.
func (d *dispatch) unlogged(dec Decision, err error) Decision {
	c := d.row.contract
	if d.r.opts.LogFailure != LogWarn && c.Can&MayRefuse != 0 && !c.RefusalContinues && d.counts() {
		return dec.Join(Decision{Verdict: Refuse, Reason: err.Error()})
	}
	if dec.Verdict == Allow {
		dec.Verdict, dec.Reason = Pass, ""
	}
	return dec.Join(Decision{Warnings: []string{err.Error()}})
}

// counts reports whether some answer of this event counts: those of shadows do not.
func (d *dispatch) counts() bool {
	return slices.ContainsFunc(d.runs, func(x *run) bool { return !x.b.Shadow })
}

// records appends the records of runs, by stage, then by configuration.
func (d *dispatch) records(recs []Run, runs []*run) []Run {
	kept := make([]*run, 0, len(runs))
	for _, x := range runs {
		if !d.row.contract.Quiet || x.cause != "" {
			kept = append(kept, x)
		}
	}
	slices.SortStableFunc(kept, func(a, b *run) int {
		if a.stage != b.stage {
			return a.stage.order() - b.stage.order()
		}
		return a.b.index - b.b.index
	})
	recs = slices.Grow(recs, len(kept))
	for _, x := range kept {
		recs = append(recs, d.recordOf(x))
	}
	return recs
}

// recordOf is the record of one run as it stands.
func (d *dispatch) recordOf(x *run) Run {
	f := x.gate().close()
	rec := Run{
		Name: x.b.Name, Trigger: x.told.ev.Trigger, Tool: d.ev.Tool, Action: f.last.Action, Outcome: x.outcome(),
		Time: x.began, Session: d.ev.Session, Turn: d.ev.Turn, Call: d.ev.Call, Agent: d.ev.Agent.ID, ID: x.id,
		Source: x.b.Origin.String(), Stage: string(x.stage), Effects: x.settled.Effects() & allEffects,
		Verdict: min(x.settled.Verdict, Halt), Reason: x.settled.Reason, Cause: x.cause,
		Code: f.last.Code, Signal: f.last.Signal, TimedOut: x.cause == CauseTimeout, PassedOpen: x.open,
		Shadow: x.b.Shadow, Cut: f.cut, Orphans: f.orphans, Elapsed: x.elapsed,
		InputDigest: x.told.digest(), ConfigDigest: d.r.digest, Stderr: d.head(f.last.Stderr), Err: x.err,
	}
	if rec.Time.IsZero() {
		rec.Time = d.r.stamp(time.Now())
	}
	rec.Errored = rec.Outcome == Ran && (x.cause != "" || x.errored)
	rec.Refused = x.settled.Verdict >= Refuse && !x.b.Shadow && !x.open
	if rec.Reason == "" && x.err != nil {
		rec.Reason = d.clean(fmt.Sprint(x.err)) // an error may panic
	}
	if rec.Reason == "" && x.dropped != nil {
		rec.Reason = "rewrite dropped: that of hook " + x.dropped.Name + " stands"
	}
	rec.Reason = headAndTail(rec.Reason, reasonKept)
	return rec
}

// reasonKept is how many bytes of a reason a record has; the decision has all of it.
const reasonKept = 8 << 10

// headAndTail leaves out the middle of text of more than limit bytes, in whole characters.
func headAndTail(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := cut.Head(text, limit/2), cut.Tail(text, limit/2)
	return fmt.Sprintf("%s…%d bytes left out…%s", head, len(text)-len(head)-len(tail), tail)
}

const stderrKept = 1 << 10

// head returns the first bytes of a stream, redacted before the cut.
func (d *dispatch) head(b []byte) string {
	return cut.Head(d.clean(string(b)), stderrKept)
}

// clean redacts a text of pawl's own, which may repeat what a program said. A redactor that panics shows
// nothing.
func (d *dispatch) clean(text string) (clean string) {
	if d.r.opts.Redact == nil || text == "" {
		return text
	}
	defer func() {
		if recover() != nil {
			clean = "(not shown: the redactor failed)"
		}
	}()
	return string(d.r.opts.Redact([]byte(text)))
}

func (x *run) outcome() string {
	switch {
	case x.cause == CausePolicy:
		return RefusedByPolicy
	case !x.started, x.cause == CauseStart, x.cause == CauseUntrusted:
		return CouldNotRun
	}
	return Ran
}

// capStops lets a stop through that hooks have refused too often in a row.
func (d *dispatch) capStops(dec Decision) Decision {
	if !d.row.contract.RefusalContinues || d.r.opts.StopCap < 0 {
		return dec
	}
	if d.stops == 0 { // else it is joined once more, and was counted
		d.stops = d.r.family.stops.count(d.ev, dec.Verdict == Refuse)
	}
	n := d.stops
	if dec.Verdict != Refuse || n <= d.r.opts.StopCap {
		return dec
	}
	for _, x := range d.runs {
		x.open = x.open || x.settled.Verdict == Refuse && !x.b.Shadow
	}
	warning := fmt.Sprintf("%d refusals in a row: the stop goes through in spite of: %s", d.r.opts.StopCap, dec.Reason)
	dec.Verdict, dec.Reason = Pass, ""
	return dec.Join(Decision{Warnings: []string{warning}})
}

// stopCounts counts refused stops in a row, per session, agent and trigger; a new turn starts again.
type stopCounts struct {
	mu   sync.Mutex
	seen map[stopKey]stopCount
}

type stopKey struct {
	session, agent string
	trigger        Trigger
}

type stopCount struct {
	turn string
	n    int
}

const stopsKept = 4096

// count notes one stop and returns how many were refused in a row, this one included.
func (s *stopCounts) count(ev *Event, refused bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := stopKey{ev.Session, ev.Agent.ID, ev.Trigger}
	if !refused {
		delete(s.seen, key)
		return 0
	}
	c := s.seen[key]
	if c.turn != ev.Turn {
		c = stopCount{turn: ev.Turn}
	}
	c.n++
	if s.seen == nil {
		s.seen = map[stopKey]stopCount{}
	}
	for k := range s.seen {
		if len(s.seen) < stopsKept {
			break
		}
		delete(s.seen, k)
	}
	s.seen[key] = c
	return c.n
}

// An Explanation says whether one hook answers an event, and why.
type Explanation struct {
	Hook  Hook
	Fires Fires
	Stage Stage // where it would run; empty where it would not
	Why   string
}

// Fires says whether a hook runs for an event.
type Fires string

// The answers.
const (
	FiresYes       Fires = "yes"
	FiresNo        Fires = "no"
	FiresIfChanged Fires = "if_changed" // it depends on what other hooks make of the event
)

// Explain says for every hook, in order, whether Dispatch would run it for ev: by the same plan.
func (r *Registry) Explain(ctx context.Context, ev *Event) []Explanation {
	list := make([]Explanation, len(r.hooks))
	for i, b := range r.hooks {
		list[i] = Explanation{Hook: b.Hook, Fires: FiresNo, Why: fmt.Sprintf("it is bound to %s", b.On)}
	}
	row := r.row(ev.Trigger)
	why := ""
	switch {
	case row == nil:
		return list
	case row.contract.missing(ev) != "":
		why = row.contract.missing(ev)
	case ctx.Value(markKey{r.family}) == any(underGate):
		why = "a hook's own program fires no hooks"
	}
	for _, b := range row.hooks {
		list[b.index].Why = cmp.Or(why, fmt.Sprintf("%s does not match by name", matcherOf(b)))
		if ev.StandIn && b.Effects&MayReplace == 0 {
			list[b.index].Why = "the call did not run: only hooks that may replace are asked about its stand-in"
		}
	}
	if why != "" {
		return list
	}
	p := row.plan(ev)
	p.explain(ev, list)
	if row.child != nil && ev.Agent != (Agent{}) && !ev.StandIn {
		row.child.plan(ev).explainChild(ev, p.changes(nil), list)
	}
	return list
}

func matcherOf(b *bound) string {
	if b.Match == nil {
		return "it"
	}
	return b.Match.String()
}

// changes reports whether some hook of the plan other than b may change the event.
func (p *plan) changes(b *bound) bool {
	return p != nil && slices.ContainsFunc(p.hooks, func(o *bound) bool {
		return o != b && !o.Shadow && o.Effects&(MayRewrite|MayReplace) != 0
	})
}

func (p *plan) explain(ev *Event, list []Explanation) {
	if p == nil {
		return
	}
	for _, b := range p.hooks {
		list[b.index] = b.explain(ev, p.changes(b))
	}
}

func (p *plan) explainChild(ev *Event, changes bool, list []Explanation) {
	if p == nil {
		return
	}
	for _, b := range p.hooks {
		list[b.index] = b.explain(ev, changes)
	}
}

// explain is for a hook whose names match.
func (b *bound) explain(ev *Event, changes bool) Explanation {
	e := Explanation{Hook: b.Hook, Fires: FiresYes, Stage: b.stage}
	ok, _ := b.readsMatch(newState(ev).shown())
	switch {
	case b.reads == nil:
	case changes:
		e.Fires, e.Why = FiresIfChanged, "its matcher reads the event, which another hook may change"
	case !ok:
		e.Fires, e.Stage, e.Why = FiresNo, "", fmt.Sprintf("%s does not match", matcherOf(b))
	}
	return e
}
