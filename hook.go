// Package pawl dispatches the hooks of an agent runtime: the programs and functions that run before a tool
// call, after it, at the start and the end of a session, and so on.
//
// A [Registry] loads typed [Hook] values, matches them against an [Event], runs them through the [Gate] that
// the caller supplies and that applies the policy, and appends a hook.run record of each run to a [Log]:
//
//	reg, err := pawl.New(pawl.Options{Gate: gate, Log: pawl.JSONLog(os.Stdout)}, hooks...)
//	...
//	out, err := reg.Dispatch(ctx, &pawl.Event{Trigger: pawl.ToolBefore, Tool: "write_file", Input: input})
//	if out.Verdict >= pawl.Refuse {
//		return toolError(out.Decision().Reason)
//	}
//	// the policy decides about out.Event(), and then it runs
//
// A pawl is the catch on a ratchet that lets the wheel turn one way only. That is the one rule here: a hook
// may narrow what the policy decided and never widen it.
//
// A runtime dispatches tool.before before its own policy decides, so that a rewrite is judged like any other
// input, and obeys in this order: Halt, Refuse, Ask, a stand-in Output. Refuse means that the subject of the
// event does not happen: the call, the prompt, the compaction; at turn.stop the stopping, so the next prompt
// is just the Reason; at tool.after the delivery of the result, so the model gets the Reason in its place.
//
// # Narrow only
//
// No verdict permits what the policy would refuse. Allow exists for tool.approval alone, where it answers a
// question that the policy left open: never one that a hook asked, and never beside a check that did not
// happen. Strictness is Allow < Pass < Ask < Refuse < Halt; on the same final event one more hook that may not
// allow never makes the outcome laxer.
//
// # A check that did not happen is not a check that passed
//
// Every failure of a hook that could have refused refuses. FailOpen is the one switch, per hook, and each use
// of it leaves a record. What a failing hook said and was entitled to say (Ask, Refuse, Halt) still counts.
//
// # No program starts outside the Gate
//
// This package starts none: it imports no os, and nothing below it imports os/exec or net. The gate that a
// handler is lent closes with its run.
//
// # A check judges what will happen
//
// Rewrites come before checks. A check whose event was changed after it judged is asked again; a matcher that
// reads the input is asked about each event that is judged.
//
// # Order is configuration order
//
// Never finishing order: verdict, notes, rewrites and records are the same under every schedule. Records stand
// by stage, then by configuration. What a gate records itself, and [Trace], come as things happen.
//
// # One hook cannot silence another
//
// Every matching hook starts, and every start leaves exactly one record: after a panic, a Goexit, a
// cancellation too. Only an observer that succeeds at a quiet trigger leaves none.
//
// # No answer counts without its record
//
// If the Log fails, hangs or panics, the event is refused where its trigger can refuse, by default.
//
// # Dispatch returns
//
// Each timed hook ends within its Timeout and the Grace after it, whatever it does; one that ignores both is
// left behind, and its record says so. Programs always have a timeout. Waiting for a slot, and for a person
// ([Pause]), is not the hook's time. A Go handler without a Timeout is not bounded, and one
// that calls runtime.Goexit ends the goroutine of its caller, once the other hooks were asked and the records kept.
//
// # Loud at load
//
// New returns every fault at once and no registry: an unknown trigger, an effect that the trigger cannot
// carry, a matcher that can never match, a name that is taken.
//
// # Sub-agents are covered by construction
//
// An event carries its [Agent]; the same registry answers it. With only adds, and a child [Live] follows its
// parent's later changes.
//
// # A hook's program fires no hooks
//
// The context that the Gate is called with is marked: a Dispatch under it runs nothing and says Nested. A new
// agent, or a job in the background, must not inherit it. Programs carry HOOK_DEPTH in their environment.
//
// # What is shown is what runs
//
// Hooks, Explain and Dispatch share one planner and one parsed value.
//
// # Limits
//
// A hook is a guardrail as strong as the host's own chokepoint and its Gate: a tool that skips the hook path is
// not covered. An event that no hook matches leaves no record. A failed check at a trigger that cannot refuse
// goes through with a Warning. A Go handler runs in your process, and Payload is shared memory. A text guard
// over a shell command can be evaded by quoting. What a program does is covered by trust only where the digest
// of its bytes is part of it. An original input that repeats a key is read as each reader reads it; a
// rewritten one is refused.
package pawl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// A Hook binds a Handler to a Trigger. The zero value of every field but Name, On and Handler is fine.
type Hook struct {
	Name       string  // unique; lowercase words joined by single hyphens
	On         Trigger // a row of the trigger table, or a name below a row that ends in ".*"
	Match      Matcher // nil accepts every event of the trigger
	Handler    Handler
	Effects    Effect        // what decisions may do; zero makes an observer
	Timeout    time.Duration // zero: programs get 30 s, Go handlers are not bounded
	FailOpen   bool          // let the event through when the hook could not answer
	Shadow     bool          // run and record what it would decide; enforce nothing
	Concurrent bool          // may rewrite, yet runs beside the checks; checks are asked again
	Status     string        // what to show while it runs
	Origin     Origin        // where it was written; copied to the record
}

// An Origin says where a hook was written. The zero Origin is Go code.
type Origin struct {
	Layer  string // managed, system, user, project, session, plugin, config
	File   string
	Line   int // from 1
	Column int // from 1, in bytes
}

// String returns layer:file:line:column, leaving out what is not known.
func (o Origin) String() string {
	if o.File == "" {
		return o.Layer
	}
	s := fmt.Sprintf("%s:%d:%d", o.File, o.Line, o.Column)
	if o.Layer != "" {
		s = o.Layer + ":" + s
	}
	return s
}

// A Handler answers one event. It may be called concurrently and keeps nothing of ev after it returns; what it
// does to ev while it runs at a trigger that is recorded, nobody else sees. It starts programs by gate alone, which
// closes when Handle returns. An error is a check that did not happen; what the Decision beside it refuses,
// halts or asks still counts, and where it holds another Input or Output the failure refuses even under
// FailOpen: the original must not stand. A panic is recovered and counts as an error.
type Handler interface {
	Handle(ctx context.Context, ev *Event, gate Gate) (Decision, error)
}

// HandlerFunc is a func that is a Handler.
type HandlerFunc func(ctx context.Context, ev *Event, gate Gate) (Decision, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, ev *Event, gate Gate) (Decision, error) {
	return f(ctx, ev, gate)
}

// An Observer is a Handler that cannot decide: the quiet path. It must not change ev.
type Observer func(ctx context.Context, ev *Event)

// Handle calls o.
func (o Observer) Handle(ctx context.Context, ev *Event, _ Gate) (Decision, error) {
	o(ctx, ev)
	return Decision{}, nil
}

// A Program is a Handler that starts one: bounded by default, always recorded, shown in listings.
type Program interface {
	Handler
	Argv() []string // the command as configured
	Digest() string // of the whole definition
}

// LogFailure says what becomes of an event whose records the Log did not take.
type LogFailure uint8

// The choices.
const (
	LogRefuse LogFailure = iota // refuse where the trigger can refuse, else warn
	LogWarn                     // warn; an Allow falls to Pass
)

// Options are what all hooks of a Registry share. The zero Options refuse every command and keep no log.
type Options struct {
	Gate       Gate                 // nil refuses every command
	Log        Log                  // nil discards
	LogFailure LogFailure           // zero: refuse
	Triggers   map[Trigger]Contract // nil: DefaultTriggers()
	Parallel   int                  // programs at once over the whole registry, those in a Pause not counted; zero: 2 × GOMAXPROCS, at least 8
	Grace      time.Duration        // after a timeout, for the end of what ran; zero: 2 s
	StopCap    int                  // refusals in a row at turn.stop and agent.stop; zero: 8, below zero: none
	Redact     func([]byte) []byte  // over reasons, notes, warnings, outputs and records; nil: as they are
	Rebind     func(*Event) error   // after a rewrite of Input: bring Payload, Action, Paths into line; nil clears them
	Trace      *Trace               // started and finished, in the order they happen
	Now        func() time.Time     // for records only, never for deadlines; nil: time.Now
}

// A Trace is told of hooks as they start and finish, from the goroutines that run them, in the order it
// happens. Either func may be nil; a panic in one is ignored. The event is good until Started returns.
type Trace struct {
	Started  func(hook *Hook, ev *Event)
	Finished func(hook *Hook, run *Run)
}

const (
	programTimeout = 30 * time.Second
	defaultGrace   = 2 * time.Second
	defaultStopCap = 8
)

// withDefaults fills in what the zero values stand for.
func (o Options) withDefaults() Options {
	if o.Triggers == nil {
		o.Triggers = DefaultTriggers()
	}
	if o.Parallel <= 0 {
		o.Parallel = max(8, 2*runtime.GOMAXPROCS(0))
	}
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	if o.StopCap == 0 {
		o.StopCap = defaultStopCap
	}
	return o
}

// A HookError is one fault found at load.
type HookError struct {
	Hook    string // its name, as written; a trigger's where the table is at fault
	Origin  Origin
	Problem string
	Hint    string // what to write instead; may be empty
}

func (e *HookError) Error() string {
	s := fmt.Sprintf("hook %q: %s", e.Hook, e.Problem)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	if at := e.Origin.String(); at != "" {
		s = at + ": " + s
	}
	return s
}

// ErrWiden is wrapped by the error of With for a hook that may allow.
var ErrWiden = errors.New("a derived registry only narrows")

// A Registry is an immutable set of hooks. It may be used by any number of goroutines. Make one with [New].
type Registry struct {
	opts   *Options
	hooks  []*bound
	rows   map[Trigger]*row
	quick  quickRows
	family *family
	digest string
	marked atomic.Pointer[markedContext]
	broken error // why a child cannot follow its parent; every event is refused then

	derived bool // from another, which it must not widen
}

// family is what a registry shares with those derived from it: the slots for programs, the count of
// refused stops, and the identity that marks contexts.
type family struct {
	slots *semaphore.Weighted
	stops stopCounts
}

// New returns a registry of the hooks, in that order. Where anything is wrong it returns every fault at
// once, each a [*HookError], joined, and no registry.
func New(opts Options, hooks ...Hook) (*Registry, error) {
	if opts.Parallel < 0 || opts.Grace < 0 {
		return nil, fmt.Errorf("Parallel %d, Grace %v: zero is the default, less is nothing", opts.Parallel, opts.Grace)
	}
	opts = opts.withDefaults()
	f := &family{slots: semaphore.NewWeighted(int64(opts.Parallel))}
	return build(&opts, f, hooks)
}

func build(opts *Options, f *family, hooks []Hook) (*Registry, error) {
	var faults []error
	if opts.LogFailure > LogWarn {
		faults = append(faults, fmt.Errorf("LogFailure %d does not exist", opts.LogFailure))
	}
	for _, t := range sortedTriggers(opts.Triggers) {
		if problem := opts.Triggers[t].contradiction(t); problem != "" {
			faults = append(faults, &HookError{Hook: string(t), Problem: "trigger table: " + problem})
		}
	}
	r := &Registry{opts: opts, family: f, hooks: make([]*bound, len(hooks))}
	seen := make(map[string]Origin, len(hooks))
	for i, h := range hooks {
		for _, e := range h.faults(opts, seen) {
			faults = append(faults, e)
		}
		seen[h.Name] = h.Origin
		if faults == nil {
			r.hooks[i] = bind(h, i)
		}
	}
	if faults != nil {
		return nil, errors.Join(faults...)
	}
	r.rows = buildRows(opts.Triggers, r.hooks)
	r.quick.fill(r.rows)
	r.digest = digestOf(r.hooks)
	return r, nil
}

func sortedTriggers(table map[Trigger]Contract) []Trigger {
	names := make([]Trigger, 0, len(table))
	for t := range table {
		names = append(names, t)
	}
	slices.Sort(names)
	return names
}

var hookName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// A faultFunc notes something that keeps a hook from being loaded.
type faultFunc func(hint, format string, args ...any)

// faults lists everything that keeps h from being loaded.
func (h *Hook) faults(opts *Options, seen map[string]Origin) (faults []*HookError) {
	fault := func(hint, format string, args ...any) {
		faults = append(faults, &HookError{h.Name, h.Origin, fmt.Sprintf(format, args...), hint})
	}
	if !hookName.MatchString(h.Name) {
		fault("lowercase letters, digits and single hyphens: check-writes", "%q is not a name", h.Name)
	}
	if first, dup := seen[h.Name]; dup {
		fault("two hooks cannot share a name", "the name is taken%s", at(first))
	}
	if !h.handled() {
		fault("", "it has no handler")
	}
	if h.Timeout < 0 {
		fault("zero is the default", "timeout %v is negative", h.Timeout)
	}
	h.triggerFaults(opts.Triggers, fault)
	return faults
}

// triggerFaults checks the hook against the rows that it hears.
func (h *Hook) triggerFaults(table map[Trigger]Contract, fault faultFunc) {
	c, known := contractOf(table, h.On)
	if !known {
		hint := "see the trigger table"
		if near := nearest(table, h.On); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		fault(hint, "unknown trigger %q", h.On)
		return
	}
	if !triggerName.MatchString(string(h.On)) {
		fault("lowercase words joined by dots", "%q is not a trigger's name", h.On)
		return
	}
	h.carryFaults(h.On, c, fault)
	for _, t := range below(table, h.On) {
		h.carryFaults(t, table[t], fault)
	}
	if _, err := shown(h.Match); err != nil {
		fault("", "%v", err)
	}
	if m, ok := h.Match.(checker); ok {
		if err := m.check(c.Subject); err != nil {
			fault("", "%v", err)
		}
	}
}

// below lists the rows of the table that a trigger ending in ".*" takes in, but for itself.
func below(table map[Trigger]Contract, t Trigger) (rows []Trigger) {
	prefix, wild := strings.CutSuffix(string(t), "*")
	for _, row := range sortedTriggers(table) {
		if wild && row != t && strings.HasPrefix(string(row), prefix) {
			rows = append(rows, row)
		}
	}
	return rows
}

// shown is a matcher as text; one that panics there is no good.
func shown(m Matcher) (text string, err error) {
	if m == nil {
		return "", nil
	}
	_, err = tryMatch(func() bool { text = m.String(); return true })
	return text, err
}

// handled reports whether there is a handler, and not a func that is nil.
func (h *Hook) handled() bool {
	switch f := h.Handler.(type) {
	case HandlerFunc:
		return f != nil
	case Observer:
		return f != nil
	}
	return h.Handler != nil
}

// carryFaults checks the hook against what a trigger that it hears can carry.
func (h *Hook) carryFaults(on Trigger, c Contract, fault faultFunc) {
	if over := h.Effects &^ c.Can; over != 0 {
		fault(fmt.Sprintf("it can: %v", c.Can), "%s cannot %v", on, over)
	}
	switch h.Handler.(type) {
	case Observer:
		if h.Effects != 0 {
			fault("make it a HandlerFunc", "an observer cannot decide, yet its effects are: %v", h.Effects)
		}
	case Program:
		if c.Quiet {
			fault("a Go observer can", "a program cannot hear %s: it fires too often to be recorded", on)
		}
	}
}

func at(o Origin) string {
	if s := o.String(); s != "" {
		return " by the hook at " + s
	}
	return ""
}

// bound is a hook made ready for dispatch.
type bound struct {
	Hook
	index   int
	names   []NameMatcher
	reads   []Matcher // matchers that read more than names
	stage   Stage
	say     bool // it may do more than note
	judges  bool // it may give a verdict
	program bool
	watch   Observer // the handler, where it is an Observer
}

const verdicts = MayRefuse | MayHalt | MayAsk | MayAllow

func bind(h Hook, index int) *bound {
	b := &bound{Hook: h, index: index, stage: StageCheck}
	b.split(h.Match)
	_, b.program = h.Handler.(Program)
	b.watch, _ = h.Handler.(Observer)
	b.say = h.Effects&^MayNote != 0
	b.judges = h.Effects&verdicts != 0
	if b.program && h.Timeout == 0 {
		b.Timeout = programTimeout
	}
	switch {
	case !b.say:
		b.stage = StageObserve
	case h.Effects&(MayRewrite|MayReplace) != 0 && !h.Concurrent:
		b.stage = StageRewrite
	}
	return b
}

// split sorts matchers by what they see.
func (b *bound) split(m Matcher) {
	switch m := m.(type) {
	case nil:
	case allOf:
		for _, one := range m {
			b.split(one)
		}
	case NameMatcher:
		b.names = append(b.names, m)
	default:
		b.reads = append(b.reads, m)
	}
}

// definition is what the digest of a configuration covers.
func (b *bound) definition() string {
	handler := fmt.Sprintf("%T", b.Handler)
	matcher, _ := shown(b.Match)
	if p, ok := b.Handler.(Program); ok {
		handler = p.Digest()
	}
	return fmt.Sprintf("%q %q %q %q %v %v %v %v %q", b.Name, b.On, matcher, b.Effects, b.Timeout, b.FailOpen, b.Shadow,
		b.Concurrent, handler)
}

func digestOf(hooks []*bound) string {
	sum := sha256.New()
	for _, b := range hooks {
		fmt.Fprintln(sum, b.definition())
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// With returns a registry that has r's hooks and then these. It shares r's options, slots and marks. A hook
// that may allow is an error that wraps [ErrWiden]; other faults are those of New.
func (r *Registry) With(hooks ...Hook) (*Registry, error) {
	for _, h := range hooks {
		if err := h.narrows(); err != nil {
			return nil, err
		}
	}
	return r.derive(append(slices.Collect(r.Hooks()), hooks...))
}

// narrows is an error that wraps ErrWiden where h could widen what a parent decides.
func (h *Hook) narrows() error {
	if h.Effects&MayAllow != 0 {
		return fmt.Errorf("hook %q may allow: %w", h.Name, ErrWiden)
	}
	return nil
}

// derive builds a registry of r's family, which may only narrow what r decides: where r refuses everything there is
// none.
func (r *Registry) derive(hooks []Hook) (*Registry, error) {
	if r.broken != nil {
		return nil, r.broken
	}
	next, err := build(r.opts, r.family, hooks)
	if err == nil {
		next.derived = true
	}
	return next, err
}

// Hooks yields the hooks in order.
func (r *Registry) Hooks() iter.Seq[Hook] {
	return func(yield func(Hook) bool) {
		for _, b := range r.hooks {
			if !yield(b.Hook) {
				return
			}
		}
	}
}

// Enabled reports whether any hook is bound to t, so that a runtime need not build an event nobody hears.
func (r *Registry) Enabled(t Trigger) bool {
	row := r.row(t)
	return row != nil && (len(row.hooks) > 0 || row.child != nil)
}

// Digest returns "sha256:" and the digest of all definitions and programs, in order.
func (r *Registry) Digest() string { return r.digest }

// Live is a registry that changes while events are in flight: each dispatch keeps the one it began with.
// Its methods may be called concurrently. Make one with [NewLive].
type Live struct {
	parent *Live // nil for a root
	mu     sync.Mutex
	base   *Registry // of a root
	added  []*addition
	now    atomic.Pointer[snapshot]
}

type addition struct{ hooks []Hook }

// snapshot is a registry and what it was made from.
type snapshot struct {
	from, reg *Registry
}

// NewLive returns a Live that begins as base.
func NewLive(base *Registry) *Live {
	l := &Live{base: base}
	l.now.Store(&snapshot{base, base})
	return l
}

// With returns a Live that has l's hooks, as they change, and then these. It rejects a hook that may allow.
// Where l later takes on a name that these use, the hook here is listed with a number behind its name.
func (l *Live) With(hooks ...Hook) (*Live, error) {
	reg, err := l.Registry().With(hooks...)
	if err != nil {
		return nil, err
	}
	child := &Live{parent: l, added: []*addition{{hooks}}}
	child.now.Store(&snapshot{l.Registry(), reg})
	_, err = child.rebuild()
	return child, err
}

// Registry returns the registry as it stands. It does not change.
func (l *Live) Registry() *Registry {
	if l.parent == nil {
		return l.now.Load().reg
	}
	parent := l.parent.Registry()
	if s := l.now.Load(); s.from == parent {
		return s.reg
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	reg, err := l.rebuild()
	if err != nil { // the parent's new trigger table has no place for these hooks
		reg = &Registry{opts: parent.opts, family: parent.family, broken: err}
		l.now.Store(&snapshot{parent, reg})
	}
	return reg
}

// Dispatch is [Registry.Dispatch] of the registry as it stands.
func (l *Live) Dispatch(ctx context.Context, ev *Event) (Outcome, error) {
	return l.Registry().Dispatch(ctx, ev)
}

// Add adds hooks behind the others, from the next dispatch on. The undo takes just these away; calling it
// twice does no harm. Where anything is wrong nothing is added.
func (l *Live) Add(hooks ...Hook) (undo func(), err error) {
	a := &addition{slices.Clone(hooks)}
	if l.parent != nil { // a name that is taken now is a fault; one taken later is mended
		if _, err := l.Registry().With(hooks...); err != nil {
			return func() {}, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.added = append(l.added, a)
	if _, err := l.rebuild(); err != nil {
		l.added = l.added[:len(l.added)-1]
		return func() {}, err
	}
	return func() { l.remove(a) }, nil
}

func (l *Live) remove(a *addition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.added, a); i >= 0 {
		l.added = slices.Delete(l.added, i, i+1)
		if _, err := l.rebuild(); err != nil {
			panic(fmt.Sprintf("pawl: fewer hooks do not build: %v", err))
		}
	}
}

// Replace puts base in the place of what the Live began as and keeps what Add added. A child has no base of
// its own: replacing it is an error that wraps [ErrWiden]. So is replacing a registry that was derived by one that
// was not, or from another.
func (l *Live) Replace(base *Registry) error {
	if l.parent != nil {
		return fmt.Errorf("a child follows its parent: %w", ErrWiden)
	}
	if base == nil {
		return errors.New("no registry to replace it by")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.base
	if old.derived && !(base.derived && base.family == old.family) {
		return fmt.Errorf("it began as a derived registry, and takes only one that is derived from the same: %w", ErrWiden)
	}
	l.base = base
	if _, err := l.rebuild(); err != nil {
		l.base = old
		return err
	}
	return nil
}

// rebuild makes the registry anew and publishes it. The caller holds l.mu, or has l alone.
func (l *Live) rebuild() (*Registry, error) {
	base := l.base
	if l.parent != nil {
		base = l.parent.Registry()
	}
	hooks := slices.Collect(base.Hooks())
	taken := map[string]bool{}
	for _, h := range hooks {
		taken[h.Name] = true
	}
	for _, a := range l.added {
		for _, h := range a.hooks {
			if err := h.narrows(); err != nil && (l.parent != nil || base.derived) {
				return nil, err
			}
			h.Name = l.free(h.Name, taken)
			hooks = append(hooks, h)
		}
	}
	reg, err := base.derive(hooks)
	if err != nil {
		return nil, err
	}
	reg.derived = l.parent != nil || base.derived
	l.now.Store(&snapshot{base, reg})
	return reg, nil
}

// free returns the name, or, where the parent took it later, the name with a number.
func (l *Live) free(name string, taken map[string]bool) string {
	if l.parent == nil || !taken[name] {
		return name
	}
	for n := 2; ; n++ {
		if next := fmt.Sprintf("%s-%d", strings.TrimSuffix(name, "-"), n); !taken[next] {
			taken[next] = true
			return next
		}
	}
}
