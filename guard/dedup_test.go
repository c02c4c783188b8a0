package guard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
	"github.com/stretchr/testify/require"
)

func dedup(tools ...string) *guard.Dedup {
	d := &guard.Dedup{Tools: map[string]guard.Hasher{}}
	for _, tool := range tools {
		d.Tools[tool] = guard.WholeInput
	}
	return d
}

func TestDedupReplaysAnEqualCall(t *testing.T) {
	b := newBench(t, one(dedup("query")))
	_, ran := b.run(call("query", `{"a":1,"b":2}`), `"rows"`)
	require.True(t, ran)
	out, ran := b.run(call("query", `{"b":2, "a":1}`), `"not asked"`)
	require.False(t, ran)
	require.Equal(t, `"rows"`, string(out.Event().Output))
}

func TestDedupRunsACallThat(t *testing.T) {
	whole := func(ev *pawl.Event) {}
	for name, c := range map[string]struct {
		first, second func(*pawl.Event)
		after         func(b *bench)
		more          []pawl.Hook
	}{
		"has another key":                 {whole, func(ev *pawl.Event) { ev.Input = json.RawMessage(`{"a":2}`) }, nil, nil},
		"is of another tool":              {whole, func(ev *pawl.Event) { ev.Tool = "glob" }, nil, nil},
		"is of another agent":             {whole, func(ev *pawl.Event) { ev.Agent.ID = "kid" }, nil, nil},
		"has no key":                      {func(ev *pawl.Event) { ev.Input = json.RawMessage(`{"a":1,"a":1}`) }, func(ev *pawl.Event) { ev.Input = json.RawMessage(`{"a":1,"a":1}`) }, nil, nil},
		"comes in the next run":           {whole, whole, func(b *bench) { b.fire(pawl.Event{Trigger: pawl.AgentDone, Session: "s"}) }, nil},
		"was rewritten after it was read": {whole, whole, nil, []pawl.Hook{rewrites("rewrite", `{"now":1}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, one(dedup("query", "glob")), c.more...)
			_, ran := b.run(with(call("query", `{"a":1}`), c.first), `"rows"`)
			require.True(t, ran)
			if c.after != nil {
				c.after(b)
			}
			_, ran = b.run(with(call("query", `{"a":1}`), c.second), `"rows"`)
			require.True(t, ran)
		})
	}
}

// What another hook answered is not answered again, and is not kept as if the tool had said it.
func TestDedupLeavesAloneWhatAnotherHookAnswered(t *testing.T) {
	for name, known := range map[string]pawl.Hook{"before": answer("known", "known"), "beside": beside(answer("known", "known"))} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, one(dedup("query")), known)
			answered := with(call("query", `{}`), func(ev *pawl.Event) { ev.Aliases = []string{"known"} })
			out := b.fire(answered)
			require.Equal(t, `"stand-in"`, string(out.Event().Output))
			_, ran := b.run(call("query", `{}`), `"rows"`)
			require.True(t, ran)
			if name == "before" {
				require.Equal(t, `"stand-in"`, string(b.fire(answered).Event().Output))
			}
		})
	}
}

func TestDedupKeepsNoErrorAndNothingRefused(t *testing.T) {
	withhold := pawl.Hook{Name: "withhold", On: pawl.ToolAfter, Effects: pawl.MayRefuse, Handler: pawl.HandlerFunc(
		func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
			if strings.Contains(string(ev.Output), "secret") {
				return pawl.Decision{Verdict: pawl.Refuse, Reason: "secret"}, nil
			}
			return pawl.Decision{}, nil
		})}
	for name, spoil := range map[string]func(*pawl.Event){
		"an error":        func(ev *pawl.Event) { ev.Failed = true },
		"a refused one":   func(ev *pawl.Event) { ev.Output = json.RawMessage(`"secret"`) },
		"a large one":     func(ev *pawl.Event) { ev.Output = json.RawMessage(`"` + strings.Repeat("x", 2<<20) + `"`) },
		"no result":       func(ev *pawl.Event) { ev.Output = nil },
		"a cancelled one": func(ev *pawl.Event) { ev.Trigger = pawl.ToolCancelled },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, one(dedup("query")), withhold)
			b.fire(call("query", `{}`))
			b.fire(with(call("query", `{}`), func(ev *pawl.Event) {
				ev.Trigger, ev.Output = pawl.ToolAfter, json.RawMessage(`"rows"`)
				spoil(ev)
			}))
			_, ran := b.run(call("query", `{}`), `"rows"`)
			require.True(t, ran)
			_, ran = b.run(call("query", `{}`), `"rows"`)
			require.False(t, ran, "the good one is kept")
		})
	}
}

func TestDedupKeepsWhatTheModelSaw(t *testing.T) {
	b := newBench(t, []guard.Guard{dedup("query"), &guard.Redact{}})
	b.run(call("query", `{}`), `"TOKEN=abc"`)
	out, _ := b.run(call("query", `{}`), `"x"`)
	require.Equal(t, `"TOKEN=<redacted>"`, string(out.Event().Output))
}

func TestDedupRefusedCallLeadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, one(dedup("query")), refuse("gate", "bad"))
		began := time.Now()
		b.fire(with(call("query", `{}`), func(ev *pawl.Event) { ev.Call, ev.Aliases = "1", []string{"bad"} }))
		_, ran := b.run(with(call("query", `{}`), func(ev *pawl.Event) { ev.Call = "2" }), `"rows"`)
		require.True(t, ran)
		require.Zero(t, time.Since(began), "nothing to wait for")
	})
}

func TestDedupEqualCallsAtOnceRunOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, one(dedup("query")))
		var runs atomic.Int32
		var all sync.WaitGroup
		outs := make([]string, 8)
		for i := range outs {
			all.Go(func() {
				ev := with(call("query", `{}`), func(ev *pawl.Event) { ev.Call = fmt.Sprint(i) })
				out := b.fire(ev)
				if outs[i] = string(out.Event().Output); outs[i] != "" {
					return
				}
				ev.Trigger = pawl.ToolStarted
				b.fire(ev)
				time.Sleep(time.Hour) // the tool takes its time
				runs.Add(1)
				ev.Trigger, ev.Output = pawl.ToolAfter, json.RawMessage(`"rows"`)
				b.fire(ev)
				outs[i] = string(ev.Output)
			})
		}
		all.Wait()
		require.EqualValues(t, 1, runs.Load())
		for _, out := range outs {
			require.Equal(t, `"rows"`, out)
		}
	})
}

func TestDedupAWaitingCallTakesOverFromOneThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, one(dedup("query")))
		first := with(call("query", `{}`), func(ev *pawl.Event) { ev.Call = "1" })
		b.fire(first)
		first.Trigger = pawl.ToolStarted
		b.fire(first)
		second := make(chan pawl.Outcome)
		go func() { second <- b.fire(with(call("query", `{}`), func(ev *pawl.Event) { ev.Call = "2" })) }()
		synctest.Wait()
		first.Trigger, first.Failed, first.Output = pawl.ToolAfter, true, json.RawMessage(`"broken"`)
		b.fire(first)
		require.Nil(t, (<-second).Event().Output, "it runs by itself")
	})
}

// A runtime that asks about all calls of a turn before it runs the first must not stand still.
func TestDedupWaitsForAnUnstartedCallOnlySoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, one(&guard.Dedup{Tools: map[string]guard.Hasher{"query": guard.WholeInput}, Wait: time.Minute}))
		began := time.Now()
		for i := range 2 {
			out := b.fire(with(call("query", `{}`), func(ev *pawl.Event) { ev.Call = fmt.Sprint(i) }))
			require.Nil(t, out.Event().Output)
		}
		require.Equal(t, time.Minute, time.Since(began))
	})
}

func TestDedupWaitEndsWith(t *testing.T) {
	for name, end := range map[string]func(b *bench, d *guard.Dedup, first pawl.Event, cancel func()){
		"the context": func(_ *bench, _ *guard.Dedup, _ pawl.Event, cancel func()) { cancel() },
		"the session": func(b *bench, _ *guard.Dedup, _ pawl.Event, _ func()) {
			b.fire(pawl.Event{Trigger: pawl.SessionEnd, Session: "s"})
		},
		"a cancelled one": func(b *bench, _ *guard.Dedup, first pawl.Event, _ func()) {
			first.Trigger = pawl.ToolCancelled
			b.fire(first)
		},
		"a forgotten one": func(_ *bench, d *guard.Dedup, first pawl.Event, _ func()) { d.Forget(&first) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := dedup("query")
				b := newBench(t, one(d))
				first := with(call("query", `{}`), func(ev *pawl.Event) { ev.Call = "1" })
				b.fire(first)
				started := first
				started.Trigger = pawl.ToolStarted
				b.fire(started)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan struct{})
				go func() {
					defer close(done)
					_, _ = b.reg.Dispatch(ctx, new(with(call("query", `{}`), func(ev *pawl.Event) { ev.Call = "2" })))
				}()
				synctest.Wait()
				select {
				case <-done:
					t.Fatal("it did not wait")
				default:
				}
				end(b, d, first, cancel)
				<-done
			})
		})
	}
}

func TestDedupForgetsTheOldestResult(t *testing.T) {
	b := newBench(t, one(&guard.Dedup{Tools: map[string]guard.Hasher{"query": guard.Fields("q", "db")}, Keep: 2}))
	for q := range 3 {
		b.run(call("query", fmt.Sprintf(`{"q":%d,"limit":%d}`, q, q)), `"rows"`)
	}
	_, ran := b.run(call("query", `{"q":2,"limit":9}`), `"rows"`)
	require.False(t, ran, "limit is no part of the key")
	_, ran = b.run(call("query", `{"q":0}`), `"rows"`)
	require.True(t, ran)
	_, ran = b.run(call("query", `{"q":2,"db":"x"}`), `"rows"`)
	require.True(t, ran)
}

func TestHashers(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		hash       guard.Hasher
		same       bool
	}{
		{"members in another order", `{"a":1,"b":2}`, `{"b":2,"a":1}`, guard.WholeInput, true},
		{"a large number by its digits", `{"a":9007199254740993}`, `{"a":9007199254740992}`, guard.WholeInput, false}, // O09
		{"fields that are equal", `{"a":1,"b":2}`, `{"a":1,"b":3}`, guard.Fields("a"), true},
		{"fields that run together", `{"a":"x","b":"y"}`, `{"a":"xy","b":""}`, guard.Fields("a", "b"), false},
		{"a field that is missing and one that is null", `{"a":1}`, `{"a":1,"b":null}`, guard.Fields("a", "b"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ka, ok := c.hash(json.RawMessage(c.a))
			require.True(t, ok)
			kb, ok := c.hash(json.RawMessage(c.b))
			require.True(t, ok)
			require.Equal(t, c.same, ka == kb)
		})
	}
	for _, input := range []string{``, `{`, `{"a":1,"a":2}`} {
		_, ok := guard.WholeInput(json.RawMessage(input))
		require.False(t, ok, input)
		_, ok = guard.Fields("a")(json.RawMessage(input))
		require.False(t, ok, input)
	}
	_, ok := guard.Fields("z")(json.RawMessage(`{"a":1}`))
	require.False(t, ok, "none of the fields")
}

func TestDedupFaults(t *testing.T) {
	_, err := guard.Hooks(&guard.Dedup{Tools: map[string]guard.Hasher{"a": nil}, Keep: -1})
	require.EqualError(t, err, `guard dedup: tool "a": want a tool's name and a hasher`+"\n"+
		"guard dedup: keep, max_bytes and wait must not be below zero")
}
