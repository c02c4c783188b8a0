//go:build linux

package soak_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/gate"
	"github.com/pawl-hooks/pawl/journal"
	"github.com/pawl-hooks/pawl/pawltest"
	"github.com/pawl-hooks/pawl/wire"
)

const (
	short  = 30 * time.Millisecond // of what may hang
	grace  = 400 * time.Millisecond
	secret = "what a refused result must not show"
)

// A crowd is a registry whose handlers, programs, gate and log go wrong, by turns, in every way there is.
type crowd struct {
	live    *pawl.Live
	journal *journal.Log
	path    string // of the journal
	real    pawl.Gate
	bad     atomic.Pointer[faults]
	mark    string // in the environment of every program

	events, exited, refused, runs, failed, programs atomic.Int64
	kept, unsure                                    atomic.Int64 // runs that the journal took; that it may have
	started, finished                               atomic.Int64 // by Trace
	causes                                          [32]atomic.Int64
}

// faults are those of one wave.
type faults struct {
	release  chan struct{}
	fifo     *os.File // read, so that helpers go on
	path     string   // of fifo
	handlers map[string]pawl.Handler
	gates    map[string]pawl.Gate
	logs     map[string]pawl.Log
}

func newCrowd(t *testing.T) *crowd {
	dir := t.TempDir()
	c := &crowd{path: filepath.Join(dir, "log"), mark: "PAWL_SOAK=" + dir}
	var err error
	c.journal, err = journal.Open(c.path, journal.Options{MaxBytes: 32 << 20, Checkpoints: c.path + ".heads", CheckpointEvery: 10_000})
	require.NoError(t, err)
	red := &gate.Redactor{Held: []string{"a secret that is held"}, Shapes: true}
	policy := &gate.Policy{Rules: []gate.Rule{{Action: "exec.*", Decision: gate.Allow}}}
	c.real = gate.Chain(gate.Record{Log: c, Redact: red.Bytes}.Wrap, policy.Wrap)(gate.Exec{Grace: grace / 2, Redact: red.Filter})
	reg, err := pawl.New(pawl.Options{
		Gate: c, Log: c, Grace: grace, Parallel: 16, Redact: red.Bytes,
		Trace: &pawl.Trace{Started: func(*pawl.Hook, *pawl.Event) { c.started.Add(1) }, Finished: func(*pawl.Hook, *pawl.Run) { c.finished.Add(1) }},
	}, c.hooks()...)
	require.NoError(t, err)
	c.live = pawl.NewLive(reg)
	return c
}

// renew makes the faults of the next wave.
func (c *crowd) renew(t *testing.T) {
	f := &faults{release: make(chan struct{}), path: filepath.Join(t.TempDir(), "fifo")}
	f.handlers, f.gates, f.logs = pawltest.BadHandlers(f.release), pawltest.BadGates(f.release), pawltest.BadLogs(f.release)
	require.NoError(t, unix.Mkfifo(f.path, 0o600))
	var err error
	f.fifo, err = os.OpenFile(f.path, os.O_RDWR|unix.O_NONBLOCK, 0)
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, f.fifo) }()
	c.bad.Store(f)
}

// letGo ends what was left behind.
func (c *crowd) letGo() {
	f := c.bad.Load()
	close(f.release)
	f.fifo.Close()
}

// dice are of one event and one name: a recheck throws the same.
func dice(id, name string) *rand.Rand {
	h := fnv.New64a()
	io.WriteString(h, id)
	seed := h.Sum64()
	io.WriteString(h, name)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// pick takes one of a map's names.
func pick[V any](r *rand.Rand, m map[string]V, but ...string) string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(m)), func(n string) bool { return slices.Contains(but, n) })
	return names[r.IntN(len(names))]
}

// untimed is the hook that runs in its caller's goroutine, without a bound: it must not hang.
const untimed = "check-untimed"

var untimedBut = []string{"hang", "deaf"}

// moody is a handler that goes wrong three times in a hundred; but are the faults it has not.
func (c *crowd) moody(name string, good func(r *rand.Rand, ev *pawl.Event) pawl.Decision, but ...string) pawl.Handler {
	return pawl.HandlerFunc(func(ctx context.Context, ev *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
		r := dice(ev.Call, name)
		if r.IntN(100) < 3 {
			handlers := c.bad.Load().handlers
			return handlers[pick(r, handlers, but...)].Handle(ctx, ev, gate)
		}
		return good(r, ev), nil
	})
}

func passes(*rand.Rand, *pawl.Event) pawl.Decision { return pawl.Decision{} }

func says(r *rand.Rand, _ *pawl.Event) pawl.Decision {
	switch r.IntN(20) {
	case 0:
		return pawl.Decision{Verdict: pawl.Refuse, Reason: "no"}
	case 1, 2:
		return pawl.Decision{Notes: []string{"a note"}, Warnings: []string{"a warning"}}
	}
	return pawl.Decision{}
}

func rewrites(r *rand.Rand, ev *pawl.Event) pawl.Decision {
	if r.IntN(10) > 0 {
		return pawl.Decision{}
	}
	return pawl.Decision{Input: json.RawMessage(fmt.Sprintf(`{"command":"true","of":%q}`, ev.Call))}
}

func replaces(r *rand.Rand, _ *pawl.Event) pawl.Decision {
	if r.IntN(10) > 0 {
		return pawl.Decision{}
	}
	return pawl.Decision{Output: json.RawMessage(`"replaced"`)}
}

func allows(r *rand.Rand, _ *pawl.Event) pawl.Decision {
	return pawl.Decision{Verdict: []pawl.Verdict{pawl.Pass, pawl.Allow, pawl.Refuse}[r.IntN(3)]}
}

func (c *crowd) passer(name string) pawl.Hook {
	return pawl.Hook{Name: name, On: pawl.ToolBefore, Handler: c.moody(name, passes), Timeout: short, Effects: pawl.MayRefuse, FailOpen: true}
}

// hooks are one of each kind. The names that begin with "open", "shadow" or "watch" enforce no failure.
func (c *crowd) hooks() []pawl.Hook {
	const refuse, note = pawl.MayRefuse, pawl.MayNote
	timed := func(name string, on pawl.Trigger, can pawl.Effect, good func(*rand.Rand, *pawl.Event) pawl.Decision) pawl.Hook {
		return pawl.Hook{Name: name, On: on, Handler: c.moody(name, good), Timeout: short, Effects: can}
	}
	hooks := []pawl.Hook{
		timed("rewrite", pawl.ToolBefore, refuse|pawl.MayRewrite, rewrites),
		timed("rewrite-beside", pawl.ToolBefore, refuse|pawl.MayRewrite, rewrites),
		timed("check", pawl.ToolBefore, refuse|note, says),
		{Name: untimed, On: pawl.ToolBefore, Handler: c.moody(untimed, says, untimedBut...), Effects: refuse | note},
		timed("open-check", pawl.ToolBefore, refuse, passes),
		timed("shadow-check", pawl.ToolBefore, refuse|note, says),
		{Name: "program", On: pawl.ToolBefore, Handler: c.program("program", command.Flags{Inputs: []string{"tool"}, Output: command.OutputRefuse}, ending), Timeout: 20 * time.Second, Effects: refuse | note},
		{Name: "program-json", On: pawl.ToolBefore, Match: pawl.Names("Edit"), Handler: c.program("program-json", wire.JSON{}, ending), Timeout: 20 * time.Second, Effects: refuse | note},
		{Name: "program-stuck", On: pawl.ToolAfter, Handler: c.program("program-stuck", command.Flags{Output: command.OutputRefuse}, staying), Timeout: 5 * short, Effects: refuse},
		timed("watch", pawl.ToolBefore, 0, passes),
		timed("replace", pawl.ToolAfter, refuse|pawl.MayReplace, replaces),
		timed("check-result", pawl.ToolAfter, refuse|note, says),
		timed("watch-start", pawl.ToolStarted, 0, passes),
		timed("stop", pawl.TurnStop, refuse, says),
		timed("approve", pawl.ToolApproval, refuse|pawl.MayAllow, allows),
	}
	hooks[1].Concurrent = true
	hooks[4].FailOpen = true
	hooks[5].Shadow = true
	return append(hooks, pawl.Hook{Name: "watch-quietly", On: pawl.ToolStarted, Handler: pawl.Observer(func(context.Context, *pawl.Event) {})})
}

// Run is the gate: it runs helper programs, and answers for the rest of them, or fails to.
func (c *crowd) Run(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
	if cmd.Args[0] != "pretend" {
		c.programs.Add(1)
		return c.real.Run(ctx, cmd)
	}
	if r := dice(cmd.ID, "gate"); r.IntN(100) < 3 {
		gates, but := c.bad.Load().gates, []string{"hang", "late", "deaf"}
		if strings.HasPrefix(cmd.ID, "hook:program-stuck:") { // whose time is short
			but = nil
		}
		return gates[pick(r, gates, but...)].Run(ctx, cmd)
	}
	return pawl.Result{Action: "exec.path.pretend"}, nil
}

// Append is the log: it fails three times in a thousand.
func (c *crowd) Append(ctx context.Context, recs ...pawl.Record) error {
	runs := int64(0)
	for _, rec := range recs {
		if _, ok := rec.(*pawl.Run); ok {
			runs++
		}
	}
	if id, bad := logFails(recs[0]); bad {
		logs, but := c.bad.Load().logs, []string{"hang", "deaf"}
		if runs > 0 { // for a program's own records there is as much time as for the program: too much
			but = nil
		}
		return logs[pick(dice(id, "log"), logs, but...)].Append(ctx, recs...)
	}
	err := c.journal.Append(ctx, recs...)
	if err == nil {
		c.kept.Add(runs)
	} else {
		c.unsure.Add(runs)
	}
	return err
}

// logFails says whether the log fails for a record's event.
func logFails(rec pawl.Record) (id string, bad bool) {
	switch rec := rec.(type) {
	case *pawl.Run:
		id = rec.Call
	case *gate.ToolCall:
		id = rec.ID
	case *gate.ToolResult:
		id = rec.ID
	}
	return id, dice(id, "log-fails").IntN(1000) < 3
}
