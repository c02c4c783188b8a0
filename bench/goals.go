package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/gate"
	"github.com/pawl-hooks/pawl/journal"
	"github.com/pawl-hooks/pawl/wire"
)

type goal struct {
	name    string
	measure func(*bench) []figure
}

func goals() []goal {
	return []goal{
		{"P1", oneHook}, {"P2", butTheSpawn}, {"P3", overTheFloor}, {"P4", withoutTheShell}, {"P5", allocated}, {"P6", noMatch},
		{"P7", firstSight}, {"P8", goHandlers}, {"P9", manyAtOnce}, {"P10", timeouts}, {"P11", floods}, {"P12", sandboxed},
		{"P13", logged}, {"P14", workers},
	}
}

func (b *bench) whole(portable bool, log string) func() {
	return dispatching(registry(pawl.Options{Gate: b.runner(portable), Log: b.log(log, journal.Options{Alone: true})}, programs(1, b.hook)...))
}

func oneHook(b *bench) []figure {
	ctx, cmd := context.Background(), pawl.Command{Args: []string{b.hook}, Stdin: told()}
	alone := func() { _, err := b.runner(false).Run(ctx, cmd); must(err) }
	t := rotate(b.rounds(400), bareExec(told(), b.hook), b.whole(false, "p1"), b.whole(true, "p1-portable"), alone)
	return []figure{
		atMost("one command hook, whole dispatch, of bare exec", ratio(t[1], t[0]), 0.95, "x"),
		atMost("the same through the portable spawner", ratio(t[2], t[0]), 1.05, "x"),
		besides("the gate alone, in the caller's goroutine", ratio(t[3], t[0]), "x"),
	}
}

// canned is a gate whose programs have all ended already.
var canned = pawl.GateFunc(func(context.Context, pawl.Command) (pawl.Result, error) {
	return pawl.Result{Action: "exec.path.hook", Stdout: []byte("{}")}, nil
})

func butTheSpawn(b *bench) []figure {
	r := registry(pawl.Options{Gate: canned, Log: b.log("p2", journal.Options{Alone: true})}, programs(1, b.hook)...)
	t := perCall(b.rounds(200), 50, dispatching(r))
	return []figure{atMost("everything but the spawn, chained record included", t[0]/1000, 10, "us")}
}

func overTheFloor(b *bench) []figure {
	const what = "whole dispatch, of C vfork, three pipes and poll"
	if b.floor == "" {
		return []figure{missing(what, "no C compiler")}
	}
	const batch = 20
	var floor, ours []time.Duration
	way := b.whole(false, "p3")
	for range b.rounds(400) / batch {
		floor = append(floor, b.floorTimes(batch)...)
		for range batch {
			began := time.Now()
			way()
			ours = append(ours, time.Since(began))
		}
	}
	return []figure{atMost(what, ratio(median(ours), median(floor)), 1.20, "x")}
}

func (b *bench) floorTimes(n int) (times []time.Duration) {
	cmd := exec.Command(b.floor, strconv.Itoa(n), b.hook)
	cmd.Stdin = bytes.NewReader(told())
	out, err := cmd.Output()
	must(err)
	for _, line := range strings.Fields(string(out)) {
		ns, err := strconv.ParseInt(line, 10, 64)
		must(err)
		times = append(times, time.Duration(ns))
	}
	return times
}

func withoutTheShell(b *bench) []figure {
	line := b.hook + " --strict 'a b'"
	hook := programs(1)[0]
	hook.Handler = command.Program{Name: hook.Name, Args: command.Shell(line), Direct: command.Direct(line), Codec: &wire.Codec{}}
	r := registry(pawl.Options{Gate: b.runner(false), Log: b.log("p4", journal.Options{Alone: true})}, hook)
	t := rotate(b.rounds(300), bareExec(told(), "/bin/sh", "-c", line), dispatching(r))
	return []figure{atMost("a plain command line, of sh -c of the same line", ratio(t[1], t[0]), 0.50, "x")}
}

func allocated(b *bench) []figure {
	return []figure{atMost("allocations of a one-command dispatch", allocations(200, b.whole(false, "p5")), 30, "allocs")}
}

// matching makes n hooks with names, one in twenty a regular expression.
func matching(n int) []pawl.Hook {
	hooks := make([]pawl.Hook, n)
	for i := range hooks {
		hooks[i] = quiet(fmt.Sprintf("h%d", i))
		if i%20 != 0 {
			hooks[i].Match = pawl.Names(fmt.Sprintf("Tool%d", i))
			continue
		}
		m, err := pawl.Regexp(fmt.Sprintf("mcp__server%d__.*", i))
		must(err)
		hooks[i].Match = m
	}
	return hooks
}

func quiet(name string) pawl.Hook {
	return pawl.Hook{Name: name, On: pawl.ToolBefore, Effects: pawl.MayRefuse, Handler: pawl.HandlerFunc(
		func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) { return pawl.Decision{}, nil })}
}

func noMatch(b *bench) []figure {
	few, many := registry(pawl.Options{}, matching(10)...), registry(pawl.Options{}, matching(10000)...)
	aliased := toolCall()
	aliased.Aliases = []string{"Shell"}
	ctx := context.Background()
	with := func(r *pawl.Registry, ev *pawl.Event) func() {
		return func() { _, _ = r.Dispatch(ctx, ev) }
	}
	t := perCall(b.rounds(400), 1000, with(few, toolCall()), with(many, toolCall()), with(few, aliased))
	return []figure{
		atMost("no hook matches, 10 hooks", t[0], 30, "ns"),
		atMost("no hook matches, an alias", t[2], 30, "ns"),
		atMost("10,000 hooks, of 10", t[1]/t[0], 1.2, "x"),
		atMost("allocations", allocations(1000, with(many, aliased)), 0, "allocs"),
	}
}

func firstSight(b *bench) []figure {
	r := registry(pawl.Options{}, matching(10000)...)
	ctx, ev, n := context.Background(), toolCall(), 0
	names := make([]string, 1<<16)
	for i := range names {
		names[i] = fmt.Sprintf("mcp__fresh%d__do_something", i)
	}
	t := perCall(b.rounds(400), 50, func() {
		ev.Tool = names[n%len(names)]
		n++
		_, _ = r.Dispatch(ctx, ev)
	})
	return []figure{atMost("first sight of a tool among 10,000 hooks, 500 regexps", t[0]/1000, 3, "us")}
}

func goHandlers(b *bench) []figure {
	var figures []figure
	ctx, delta := context.Background(), &pawl.Event{Trigger: pawl.StreamText}
	for _, n := range []int{1, 10, 100} {
		count := 0
		watch := func(context.Context, *pawl.Event) { count++ }
		raw, hooks := make([]func(context.Context, *pawl.Event), n), make([]pawl.Hook, n)
		for i := range n {
			raw[i] = watch
			hooks[i] = pawl.Hook{Name: fmt.Sprintf("o%d", i), On: pawl.StreamText, Handler: pawl.Observer(watch)}
		}
		r := registry(pawl.Options{}, hooks...)
		dispatch := func() { _, _ = r.Dispatch(ctx, delta) }
		t := perCall(b.rounds(400), 500, func() {
			for _, f := range raw {
				f(ctx, delta)
			}
		}, dispatch)
		if n < 100 {
			figures = append(figures, atMost(fmt.Sprintf("%d observers at a quiet trigger, above the raw loop", n), t[1]-t[0], 25, "ns"))
		} else {
			figures = append(figures, atMost("100 observers at a quiet trigger, of the raw loop", t[1]/t[0], 1.3, "x"),
				atMost("allocations", allocations(1000, dispatch), 0, "allocs"))
		}
	}
	for _, n := range []int{10, 100} {
		hooks := make([]pawl.Hook, n)
		for i := range n {
			hooks[i] = quiet(fmt.Sprintf("h%d", i))
		}
		t := perCall(b.rounds(400), 20, dispatching(registry(pawl.Options{}, hooks...)))
		figures = append(figures, atMost(fmt.Sprintf("%d Go handlers at a recorded trigger, each", n), t[0]/float64(n)/1000, 1, "us"))
	}
	return figures
}

func manyAtOnce(b *bench) []figure {
	var figures []figure
	for n, limit := range map[int]float64{8: 0.80, 32: 0.60} {
		r := registry(pawl.Options{Gate: b.runner(false), Log: b.log(fmt.Sprint("p9-", n), journal.Options{Alone: true})}, programs(n, b.hook)...)
		one := bareExec(told(), b.hook)
		t := rotate(b.rounds(120), func() {
			var wg sync.WaitGroup
			for range n {
				wg.Go(one)
			}
			wg.Wait()
		}, dispatching(r))
		figures = append(figures, atMost(fmt.Sprintf("%d command hooks, of exec with a goroutine each", n), ratio(t[1], t[0]), limit, "x"))
	}
	return figures
}

func timeouts(b *bench) []figure {
	const timeout, grace = 100 * time.Millisecond, 200 * time.Millisecond
	words := []string{"/bin/sh", "-c", "trap '' TERM; sleep 60 & sleep 60 & while :; do sleep 1; done"}
	h := programs(1, words...)[0]
	h.Timeout, h.FailOpen = timeout, true
	r := registry(pawl.Options{Gate: gate.Exec{Grace: grace / 2}, Grace: grace}, h)
	var over []time.Duration
	for range b.rounds(24) {
		began := time.Now()
		_, err := r.Dispatch(context.Background(), toolCall())
		must(err)
		over = append(over, time.Since(began)-timeout-grace)
	}
	return []figure{atMost("a timeout with grandchildren alive returns, after deadline and grace", max(median(over).Seconds()*1000, 0), 5, "ms")}
}

func floods(b *bench) []figure {
	cmd := pawl.Command{Args: []string{"/bin/sh", "-c", "head -c 16777216 /dev/zero"}, Limit: 64 << 10}
	ctx := context.Background()
	t := rotate(b.rounds(80), bareExec(nil, cmd.Args...), func() {
		res, err := b.runner(false).Run(ctx, cmd)
		must(err)
		if res.Cut != 16<<20-64<<10 {
			panic(fmt.Sprint("cut ", res.Cut))
		}
	})
	before := peak()
	_, err := b.runner(false).Run(ctx, pawl.Command{Args: []string{"/bin/sh", "-c", "head -c 209715200 /dev/zero"}})
	must(err)
	return []figure{
		atMost("16 MiB of stdout, 64 KiB kept, of exec and bytes.Buffer", ratio(t[1], t[0]), 0.35, "x"),
		atMost("resident memory that 200 MB of stdout add", float64(peak()-before)/(1<<20), 4, "MiB"),
	}
}

// peak is the largest resident set of this process so far, in bytes. See getrusage(2): Linux counts in KiB.
func peak() int64 {
	var u syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return u.Maxrss << 10
}

func logged(b *bench) []figure {
	run := &pawl.Run{Name: "tests-pass", Trigger: pawl.ToolBefore, Tool: "Bash", Action: "exec.path.go", Outcome: pawl.Ran, Time: time.Now(),
		Session: "s1", Call: "c1", ID: "hook:tests-pass:c1", Stage: "check", Elapsed: time.Millisecond, InputDigest: "sha256:" + strings.Repeat("a", 64),
		ConfigDigest: "sha256:" + strings.Repeat("b", 64)}
	raw, err := os.OpenFile(b.dir+"/raw", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(err)
	line := append(run.AppendJSON(nil), bytes.Repeat([]byte("c"), 150)...) // as long as a chained one
	ctx := context.Background()
	chained := b.log("p13", journal.Options{Alone: true})
	t := perCall(b.rounds(400), 50, func() { _, err = raw.Write(line); must(err) }, func() { must(chained.Append(ctx, run)) })
	return []figure{
		atMost("a record with encode and chain, of a raw write", t[1]/t[0], 1.8, "x"),
		b.synced(run),
	}
}

// synced compares 32 writers that share syncs with 32 that sync each record themselves.
func (b *bench) synced(run *pawl.Run) figure {
	const writers, each = 32, 8
	ctx := context.Background()
	all := func(log *journal.Log) func() {
		return func() {
			var wg sync.WaitGroup
			for range writers {
				wg.Go(func() {
					for range each {
						must(log.Append(ctx, run))
					}
				})
			}
			wg.Wait()
		}
	}
	t := rotate(b.rounds(40), all(b.log("each", journal.Options{Alone: true, Sync: journal.SyncEach})),
		all(b.log("group", journal.Options{Alone: true, Sync: journal.SyncGroup})))
	return atMost("32 writers that share syncs, of a sync each", ratio(t[1], t[0]), 0.15, "x")
}
