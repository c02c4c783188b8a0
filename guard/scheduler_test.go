package guard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// moments records what is dispatched, as "trigger call".
type moments struct {
	mu   sync.Mutex
	seen []string
}

func (m *moments) add(s string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = append(m.seen, s)
}

func (m *moments) of(call string) (triggers []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.seen {
		if trigger, ok := strings.CutSuffix(s, " "+call); ok {
			triggers = append(triggers, trigger)
		}
	}
	return triggers
}

// hooks are observers of everything that can happen to a call.
func (m *moments) hooks() (hooks []pawl.Hook) {
	for _, on := range []pawl.Trigger{
		pawl.ToolBefore, pawl.ToolApproval, pawl.ToolDispatched, pawl.ToolStarted, pawl.ToolFailed, pawl.ToolAfter,
		pawl.ToolCancelled, pawl.ToolUnknown, pawl.ValidationReject,
	} {
		name := "see-" + strings.ReplaceAll(string(on), ".", "-")
		hooks = append(hooks, pawl.Hook{Name: name, On: on, Handler: pawl.Observer(func(_ context.Context, ev *pawl.Event) {
			m.add(string(ev.Trigger) + " " + ev.Call)
		})})
	}
	return hooks
}

func calls(tools ...string) (list []guard.Call) {
	for i, tool := range tools {
		list = append(list, guard.Call{ID: fmt.Sprint("c", i), Tool: tool, Input: json.RawMessage(`{}`)})
	}
	return list
}

func okay(_ context.Context, ev *pawl.Event) (json.RawMessage, error) {
	return json.RawMessage(`"did ` + ev.Tool + `"`), nil
}

func scheduler(t *testing.T, s *guard.Scheduler, hooks ...pawl.Hook) *moments {
	t.Helper()
	m := &moments{}
	reg, err := pawl.New(pawl.Options{}, append(hooks, m.hooks()...)...)
	require.NoError(t, err)
	s.Hooks = reg
	if s.Run == nil {
		s.Run = okay
	}
	return m
}

func verdict(name string, on pawl.Trigger, may pawl.Effect, d pawl.Decision) pawl.Hook {
	return pawl.Hook{Name: name, On: on, Effects: may, Handler: pawl.HandlerFunc(
		func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) { return d, nil })}
}

func words(s string) []string { return strings.Fields(s) }

// What is dispatched for a call, and what the model gets.
func TestSchedulerMoments(t *testing.T) {
	ask := verdict("ask", pawl.ToolBefore, pawl.MayAsk, pawl.Decision{Verdict: pawl.Ask, Reason: "sure?"})
	for _, c := range []struct {
		name    string
		s       guard.Scheduler
		hooks   []pawl.Hook
		moments string
		state   guard.State
		output  string
		failed  bool
	}{
		{name: "a call that runs", moments: "tool.before tool.dispatched tool.started tool.after", state: guard.Ran, output: `"did t"`},
		{
			name:  "a call that a hook refused",
			hooks: []pawl.Hook{refuse("no", "t")}, moments: "tool.before", state: guard.Refused, output: `"Blocked: no"`, failed: true,
		},
		{
			name:    "a refusal that says Blocked itself",
			hooks:   []pawl.Hook{verdict("no", pawl.ToolBefore, pawl.MayRefuse, pawl.Decision{Verdict: pawl.Refuse, Reason: "Blocked: no"})},
			moments: "tool.before", state: guard.Refused, output: `"Blocked: no"`, failed: true,
		},
		{
			name:    "a call that the policy refused",
			s:       guard.Scheduler{Permit: func(context.Context, *pawl.Event) (pawl.Verdict, string) { return pawl.Refuse, "policy" }},
			moments: "tool.before", state: guard.Refused, output: `"Blocked: policy"`, failed: true,
		},
		{
			name:    "a policy that panics",
			s:       guard.Scheduler{Permit: func(context.Context, *pawl.Event) (pawl.Verdict, string) { panic("x") }},
			moments: "tool.before", state: guard.Refused, output: `"Blocked: the policy panicked: x"`, failed: true,
		},
		{
			name: "a call that is answered by a stand-in",
			hooks: []pawl.Hook{
				verdict("known", pawl.ToolBefore, pawl.MayReplace, pawl.Decision{Output: json.RawMessage(`"TOKEN=x"`)}),
				verdict("no-check", pawl.ToolAfter, pawl.MayRefuse, pawl.Decision{Verdict: pawl.Refuse}), must(&guard.Redact{})[0],
			},
			moments: "tool.before", state: guard.Answered, output: `"TOKEN=<redacted>"`,
		},
		{
			name:  "a call that is refused and answered",
			hooks: []pawl.Hook{answer("known", "t"), refuse("no", "t")}, moments: "tool.before", state: guard.Refused, output: `"Blocked: no"`, failed: true,
		},
		{
			name:    "a tool that does not exist",
			s:       guard.Scheduler{Known: func(string) bool { return false }},
			moments: "tool.before tool.unknown", state: guard.Unknown, output: `"Tool error: Unknown tool: t"`, failed: true,
		},
		{
			name:    "a tool that does not exist, answered",
			s:       guard.Scheduler{Known: func(string) bool { return false }},
			hooks:   []pawl.Hook{verdict("plan", pawl.ToolUnknown, pawl.MayReplace, pawl.Decision{Output: json.RawMessage(`"use shell"`), Fail: new(bool)})},
			moments: "tool.before tool.unknown", state: guard.Unknown, output: `"use shell"`,
		},
		{
			name:    "an input that is not valid",
			s:       guard.Scheduler{Validate: func(*pawl.Event) error { return errors.New("Missing required field: q") }},
			moments: "tool.before validation.reject", state: guard.Invalid, output: `"Validation error: Missing required field: q"`, failed: true,
		},
		{
			name:    "a call that fails",
			s:       guard.Scheduler{Run: func(context.Context, *pawl.Event) (json.RawMessage, error) { return nil, errors.New("no disk") }},
			moments: "tool.before tool.dispatched tool.started tool.failed tool.after", state: guard.Ran, output: `"Tool error: no disk"`, failed: true,
		},
		{
			name:    "a call that fails, with its text replaced",
			s:       guard.Scheduler{Run: func(context.Context, *pawl.Event) (json.RawMessage, error) { return nil, errors.New("no disk") }},
			hooks:   []pawl.Hook{verdict("plain", pawl.ToolFailed, pawl.MayReplace, pawl.Decision{Output: json.RawMessage(`"try later"`)})},
			moments: "tool.before tool.dispatched tool.started tool.failed tool.after", state: guard.Ran, output: `"try later"`, failed: true,
		},
		{
			name:    "a tool that panics",
			s:       guard.Scheduler{Run: func(context.Context, *pawl.Event) (json.RawMessage, error) { panic("boom") }},
			moments: "tool.before tool.dispatched tool.started tool.failed tool.after", state: guard.Ran, output: `"Tool error: tool t panicked: boom"`, failed: true,
		},
		{
			name:    "a tool that ends its goroutine",
			s:       guard.Scheduler{Run: func(context.Context, *pawl.Event) (json.RawMessage, error) { runtime.Goexit(); return nil, nil }},
			moments: "tool.before tool.dispatched tool.started tool.failed tool.after", state: guard.Ran, output: `"Tool error: tool t ended its goroutine"`, failed: true,
		},
		{
			name:    "a result that is withheld",
			hooks:   []pawl.Hook{verdict("no", pawl.ToolAfter, pawl.MayRefuse, pawl.Decision{Verdict: pawl.Refuse, Reason: "secret"})},
			moments: "tool.before tool.dispatched tool.started tool.after", state: guard.Ran, output: `"secret"`, failed: true,
		},
		{
			name: "a question nobody answers", hooks: []pawl.Hook{ask},
			moments: "tool.before tool.approval", state: guard.Refused, output: `"Blocked: sure? (there is nobody to ask)"`, failed: true,
		},
		{
			name: "a hook's question that a person answers with yes", hooks: []pawl.Hook{ask},
			s:       guard.Scheduler{Approve: func(context.Context, *pawl.Event, string) (bool, error) { return true, nil }},
			moments: "tool.before tool.approval tool.dispatched tool.started tool.after", state: guard.Ran, output: `"did t"`,
		},
		{
			name:    "a hook's question that another hook may not answer",
			hooks:   []pawl.Hook{ask, verdict("yes", pawl.ToolApproval, pawl.MayAllow, pawl.Decision{Verdict: pawl.Allow})},
			s:       guard.Scheduler{Approve: func(context.Context, *pawl.Event, string) (bool, error) { return false, nil }},
			moments: "tool.before tool.approval", state: guard.Refused, output: `"Blocked: sure?"`, failed: true,
		},
		{
			name:    "the policy's question that a hook answers with yes",
			s:       guard.Scheduler{Permit: func(context.Context, *pawl.Event) (pawl.Verdict, string) { return pawl.Ask, "policy asks" }},
			hooks:   []pawl.Hook{verdict("yes", pawl.ToolApproval, pawl.MayAllow, pawl.Decision{Verdict: pawl.Allow})},
			moments: "tool.before tool.approval tool.dispatched tool.started tool.after", state: guard.Ran, output: `"did t"`,
		},
		{
			name: "a hook that ends its goroutine",
			hooks: []pawl.Hook{{Name: "exit", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Handler: pawl.HandlerFunc(func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
				runtime.Goexit()
				return pawl.Decision{}, nil
			})}},
			moments: "tool.before", state: guard.Refused, output: `"Blocked: the hooks could not be asked: the dispatcher ended its goroutine"`, failed: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := scheduler(t, &c.s, c.hooks...)
			r := c.s.Turn(t.Context(), pawl.Event{Session: "s"}, calls("t"))[0]
			require.Equal(t, words(c.moments), words(strings.Join(m.of("c0"), " ")))
			require.Equal(t, c.state, r.State)
			require.Equal(t, c.output, string(r.Output))
			require.Equal(t, c.failed, r.Failed)
		})
	}
}

func must(g guard.Guard) []pawl.Hook {
	hooks, err := g.Hooks()
	if err != nil {
		panic(err)
	}
	return hooks
}

func TestSchedulerRunsARewrittenCall(t *testing.T) {
	var ran string
	s := &guard.Scheduler{Run: func(_ context.Context, ev *pawl.Event) (json.RawMessage, error) {
		ran = string(ev.Input)
		return nil, nil
	}}
	scheduler(t, s, rewrites("rewrite", `{"x":1}`))
	s.Turn(t.Context(), pawl.Event{}, calls("t"))
	require.Equal(t, `{"x":1}`, ran)
}

// Safe calls overlap up to the limit; an unsafe one never overlaps anything and nothing overtakes it.
func TestSchedulerPropertyOrderAndOverlap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tools := rapid.SliceOfN(rapid.SampledFrom([]string{"safe", "unsafe", "panics", "refused", "known"}), 0, 12).Draw(rt, "tools")
		limit := rapid.IntRange(1, 4).Draw(rt, "limit")
		times := rapid.SliceOfN(rapid.IntRange(0, 5), len(tools), len(tools)).Draw(rt, "times")
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			running, most := 0, 0
			alone, behind := false, -1
			s := &guard.Scheduler{Limit: limit,
				Safe: func(ev *pawl.Event) bool {
					if ev.Tool == "panics" {
						panic("x")
					}
					return ev.Tool != "unsafe"
				},
				Run: func(_ context.Context, ev *pawl.Event) (json.RawMessage, error) {
					unsafe := ev.Tool != "safe"
					mu.Lock()
					i := slices.IndexFunc(calls(tools...), func(c guard.Call) bool { return c.ID == ev.Call })
					require.False(rt, alone, "beside an unsafe call")
					require.False(rt, unsafe && running > 0, "an unsafe call beside others")
					require.Greater(rt, i, behind, "overtaken")
					if alone = unsafe; unsafe {
						behind = i
					}
					running++
					most = max(most, running)
					mu.Unlock()
					time.Sleep(time.Duration(times[i]) * time.Second)
					mu.Lock()
					running--
					alone = false
					mu.Unlock()
					return json.RawMessage(fmt.Sprintf("%q", ev.Call)), nil
				}}
			m := scheduler(t, s, refuse("no", "refused"), answer("known", "known"))
			results := s.Turn(t.Context(), pawl.Event{}, calls(tools...))
			require.LessOrEqual(rt, most, limit)
			require.Len(rt, results, len(tools))
			var before []string
			for i, r := range results {
				require.Equal(rt, fmt.Sprint("c", i), r.Call.ID, "submission order")
				if r.State == guard.Ran {
					require.Equal(rt, fmt.Sprintf("%q", r.Call.ID), string(r.Output))
				}
				before = append(before, "tool.before "+r.Call.ID)
			}
			seen := slices.DeleteFunc(slices.Clone(m.seen), func(s string) bool { return !strings.HasPrefix(s, "tool.before ") })
			require.Equal(rt, before, append([]string(nil), seen...), "hooks are asked in submission order")
		})
	})
}

func TestSchedulerRunsSafeCallsBesideEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &guard.Scheduler{Safe: func(*pawl.Event) bool { return true }, Run: func(context.Context, *pawl.Event) (json.RawMessage, error) {
			time.Sleep(time.Minute)
			return nil, nil
		}}
		scheduler(t, s)
		began := time.Now()
		s.Turn(t.Context(), pawl.Event{}, calls(strings.Fields(strings.Repeat("t ", 10))...))
		require.Equal(t, time.Minute, time.Since(began), "ten at once by default")
		s.Limit = 1
		s.Turn(t.Context(), pawl.Event{}, calls("t", "t"))
		require.Equal(t, 3*time.Minute, time.Since(began), "one is serial")
	})
}

// A rewrite can make a call unsafe: it then waits and runs alone like one that was so from the start.
func TestSchedulerAsksAboutSafetyAgainAfterARewrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, most := 0, 0
		var mu sync.Mutex
		s := &guard.Scheduler{
			Safe: func(ev *pawl.Event) bool { return string(ev.Input) == `{}` },
			Run: func(context.Context, *pawl.Event) (json.RawMessage, error) {
				mu.Lock()
				running++
				most = max(most, running)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				return nil, nil
			},
		}
		scheduler(t, s, rewrites("rewrite", `{"x":1}`))
		s.Turn(t.Context(), pawl.Event{}, calls("a", "b", "c"))
		require.Equal(t, 1, most)
	})
}

func TestSchedulerCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := &guard.Scheduler{
			Limit: 2, Safe: func(ev *pawl.Event) bool { return ev.Tool == "safe" },
			Run: func(ctx context.Context, ev *pawl.Event) (json.RawMessage, error) {
				time.Sleep(time.Second)
				cancel(errors.New("the user pressed escape"))
				<-ctx.Done()
				return json.RawMessage(`"TOKEN=x"`), ctx.Err()
			},
		}
		m := scheduler(t, s, must(&guard.Redact{})...)
		r := s.Turn(ctx, pawl.Event{Session: "s"}, calls("safe", "safe", "safe", "unsafe"))
		for i := range 2 { // they were running: they ran, and what they printed is redacted all the same
			require.Equal(t, guard.Ran, r[i].State)
			require.ErrorIs(t, r[i].Err, context.Canceled)
			require.Equal(t, `"TOKEN=<redacted>"`, string(r[i].Output))
			require.Equal(t, words("tool.before tool.dispatched tool.started tool.failed tool.after"), m.of(r[i].Call.ID))
		}
		for i := 2; i < 4; i++ {
			require.Equal(t, guard.Cancelled, r[i].State)
			require.Equal(t, `"Skipped: the user pressed escape"`, string(r[i].Output))
			require.Equal(t, words("tool.cancelled"), m.of(r[i].Call.ID))
		}
	})
}

func TestSchedulerCancelledWhileItsHooksAreAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g := budget(1, guard.Block)
	stop := pawl.Hook{Name: "stop", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Handler: pawl.HandlerFunc(
		func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
			cancel()
			return pawl.Decision{}, nil
		})}
	s := &guard.Scheduler{}
	m := scheduler(t, s, append(must(g), stop)...)
	r := s.Turn(ctx, pawl.Event{Session: "s"}, calls("query"))
	require.Equal(t, guard.Cancelled, r[0].State)
	require.Equal(t, "tool.cancelled", m.of("c0")[len(m.of("c0"))-1])
	s.Hooks, _ = pawl.New(pawl.Options{}, must(g)...)
	require.Equal(t, guard.Ran, s.Turn(t.Context(), pawl.Event{Session: "s"}, calls("query"))[0].State, "the budget took it back")
}

func TestSchedulerSteering(t *testing.T) {
	n := 0
	s := &guard.Scheduler{Skip: func() string {
		if n++; n > 2 { // asked before the first call is admitted, and before it starts
			return "steering message received"
		}
		return ""
	}}
	m := scheduler(t, s)
	r := s.Turn(t.Context(), pawl.Event{}, calls("a", "b", "c"))
	require.Equal(t, guard.Ran, r[0].State)
	for _, late := range r[1:] {
		require.Equal(t, guard.Cancelled, late.State)
		require.Equal(t, `"Skipped: steering message received"`, string(late.Output))
		require.Equal(t, []string{"tool.cancelled"}, m.of(late.Call.ID))
	}
}

func TestSchedulerHaltEndsTheTurn(t *testing.T) {
	for name, h := range map[string]pawl.Hook{
		"before a call": verdict("halt", pawl.ToolBefore, pawl.MayHalt, pawl.Decision{Verdict: pawl.Halt, Reason: "enough"}),
		"after a call":  verdict("halt", pawl.ToolAfter, pawl.MayHalt, pawl.Decision{Verdict: pawl.Halt, Reason: "enough"}),
	} {
		t.Run(name, func(t *testing.T) {
			h.Match = pawl.Names("b")
			s := &guard.Scheduler{}
			m := scheduler(t, s, h)
			r := s.Turn(t.Context(), pawl.Event{}, calls("a", "b", "c"))
			require.Equal(t, []bool{false, true, false}, []bool{r[0].Halt, r[1].Halt, r[2].Halt})
			require.Contains(t, string(r[1].Output), "enough")
			require.Equal(t, guard.Cancelled, r[2].State)
			require.Equal(t, []string{"tool.cancelled"}, m.of("c2"))
		})
	}
}

func TestSchedulerTellsGuardsOfCallsThePolicyStopped(t *testing.T) {
	counter, limit, once := &guard.Counter{}, budget(1, guard.Block), dedup("query")
	refused := true
	s := &guard.Scheduler{Guards: []guard.Guard{counter, limit, once}, Permit: func(context.Context, *pawl.Event) (pawl.Verdict, string) {
		if refused {
			return pawl.Refuse, "not now"
		}
		return pawl.Pass, ""
	}}
	scheduler(t, s, slices.Concat(must(counter), must(limit), must(once))...)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s.Turn(t.Context(), pawl.Event{Session: "s"}, calls("query"))
		refused = false
		require.Equal(t, guard.Ran, s.Turn(t.Context(), pawl.Event{Session: "s"}, calls("query"))[0].State)
		require.Zero(t, time.Since(began), "dedup waits for nobody")
		require.Equal(t, map[string]int{"query": 1}, counter.Counts(&pawl.Event{Session: "s"}))
	})
}

// Two equal calls in one turn run once, whether or not they may run beside each other.
func TestSchedulerWithDedupRunsEqualCallsOnce(t *testing.T) {
	for _, safe := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			s := &guard.Scheduler{Safe: func(*pawl.Event) bool { return safe }, Run: func(context.Context, *pawl.Event) (json.RawMessage, error) {
				n++
				time.Sleep(time.Hour)
				return json.RawMessage(`"rows"`), nil
			}}
			m := scheduler(t, s, must(dedup("query"))...)
			r := s.Turn(t.Context(), pawl.Event{Session: "s"}, calls("query", "query", "query"))
			require.Equal(t, 1, n)
			for i, want := range []guard.State{guard.Ran, guard.Answered, guard.Answered} {
				require.Equal(t, want, r[i].State)
				require.Equal(t, `"rows"`, string(r[i].Output))
			}
			require.Equal(t, []string{"tool.before"}, m.of("c1"))
		})
	}
}

func TestSchedulerCarriesNotesAndTheEventsFacts(t *testing.T) {
	var seen pawl.Event
	s := &guard.Scheduler{}
	scheduler(t, s, verdict("note", pawl.ToolBefore, pawl.MayNote, pawl.Decision{Notes: []string{"before"}}),
		verdict("note-after", pawl.ToolAfter, pawl.MayNote, pawl.Decision{Notes: []string{"after"}, Warnings: []string{"w"}}),
		pawl.Hook{Name: "facts", On: pawl.ToolAfter, Handler: pawl.Observer(func(_ context.Context, ev *pawl.Event) { seen = *ev })})
	r := s.Turn(t.Context(), pawl.Event{Session: "s", Turn: "t", Step: 3, Agent: pawl.Agent{ID: "kid"}, Dir: "/w"},
		[]guard.Call{{ID: "c", Tool: "t", Aliases: []string{"T"}, Action: "call.t", Paths: []string{"p"}, Payload: 17}})[0]
	require.Equal(t, []string{"before", "after"}, r.Notes)
	require.Equal(t, []string{"w"}, r.Warnings)
	require.Equal(t, 17, r.Payload)
	require.Equal(t, []any{"s", "t", 3, "kid", "/w", "c", []string{"T"}, "call.t", []string{"p"}, len(`"did t"`)},
		[]any{seen.Session, seen.Turn, seen.Step, seen.Agent.ID, seen.Dir, seen.Call, seen.Aliases, seen.Action, seen.Paths, seen.OutputBytes})
}

func TestSchedulerWithoutHooks(t *testing.T) {
	s := &guard.Scheduler{Run: okay}
	r := s.Turn(t.Context(), pawl.Event{}, calls("a", "b"))
	require.Equal(t, `"did b"`, string(r[1].Output))
	require.Empty(t, s.Turn(t.Context(), pawl.Event{}, nil))
	require.Equal(t, "the scheduler has no Run", (&guard.Scheduler{}).Turn(t.Context(), pawl.Event{}, calls("a"))[0].Err.Error())
}

// A runtime's own table may let a hook end the run where a person would be asked.
func TestAnEndAtApprovalIsInTheResult(t *testing.T) {
	table := pawl.DefaultTriggers()
	row := table[pawl.ToolApproval]
	row.Can |= pawl.MayHalt | pawl.MayNote
	table[pawl.ToolApproval] = row
	reg, err := pawl.New(pawl.Options{Triggers: table},
		verdict("end", pawl.ToolApproval, pawl.MayHalt|pawl.MayNote, pawl.Decision{Verdict: pawl.Halt, Reason: "enough", Notes: []string{"why"}}))
	require.NoError(t, err)
	s := guard.Scheduler{
		Hooks:  reg,
		Permit: func(context.Context, *pawl.Event) (pawl.Verdict, string) { return pawl.Ask, "" },
		Run:    func(context.Context, *pawl.Event) (json.RawMessage, error) { return json.RawMessage(`1`), nil },
	}
	results := s.Turn(t.Context(), pawl.Event{Session: "s"}, calls("t", "u"))
	require.Equal(t, guard.Refused, results[0].State)
	require.True(t, results[0].Halt)
	require.Equal(t, []string{"why"}, results[0].Notes)
	require.Equal(t, guard.Cancelled, results[1].State)
}

type dispatcher func(ctx context.Context, ev *pawl.Event) (pawl.Outcome, error)

func (d dispatcher) Dispatch(ctx context.Context, ev *pawl.Event) (pawl.Outcome, error) {
	return d(ctx, ev)
}

// rude is an error whose text cannot be had.
type rude struct{ speak func() }

func (r rude) Error() string { r.speak(); return "" }

// Whatever a runtime's own callback does, its call fails and no other, and nothing is lost.
func TestARuntimesCallbackThatBreaksFailsItsCallAlone(t *testing.T) {
	for how, breaks := range map[string]func(){"panics": func() { panic("no") }, "ends its goroutine": runtime.Goexit} {
		at := func(tool string) {
			if tool == "broken" {
				breaks()
			}
		}
		for name, c := range map[string]struct {
			give func(s *guard.Scheduler)
			want guard.State
		}{
			"Known": {func(s *guard.Scheduler) {
				s.Known = func(tool string) bool { at(tool); return true }
			}, guard.Refused},
			"Validate": {func(s *guard.Scheduler) {
				s.Validate = func(ev *pawl.Event) error { at(ev.Tool); return nil }
			}, guard.Invalid},
			"the text of Validate's error": {func(s *guard.Scheduler) {
				s.Validate = func(ev *pawl.Event) error {
					if ev.Tool == "broken" {
						return rude{breaks}
					}
					return nil
				}
			}, guard.Invalid},
			"Permit": {func(s *guard.Scheduler) {
				s.Permit = func(_ context.Context, ev *pawl.Event) (pawl.Verdict, string) { at(ev.Tool); return pawl.Pass, "" }
			}, guard.Refused},
			"Approve": {func(s *guard.Scheduler) {
				s.Permit = func(context.Context, *pawl.Event) (pawl.Verdict, string) { return pawl.Ask, "" }
				s.Approve = func(_ context.Context, ev *pawl.Event, _ string) (bool, error) { at(ev.Tool); return true, nil }
			}, guard.Refused},
			"Safe": {func(s *guard.Scheduler) {
				s.Safe = func(ev *pawl.Event) bool { at(ev.Tool); return true }
			}, guard.Ran},
			"Skip": {func(s *guard.Scheduler) {
				n := 0
				s.Skip = func() string {
					if n++; n == 3 { // twice for each call
						breaks()
					}
					return ""
				}
			}, guard.Cancelled},
			"the dispatcher, before": {func(s *guard.Scheduler) {
				s.Hooks = dispatcher(func(_ context.Context, ev *pawl.Event) (pawl.Outcome, error) { at(ev.Tool); return pawl.Outcome{}, nil })
			}, guard.Refused},
			"the dispatcher, after": {func(s *guard.Scheduler) {
				s.Hooks = dispatcher(func(_ context.Context, ev *pawl.Event) (pawl.Outcome, error) {
					if ev.Trigger != pawl.ToolBefore {
						at(ev.Tool)
					}
					return pawl.Outcome{}, nil
				})
			}, guard.Ran},
			"the text of the tool's error": {func(s *guard.Scheduler) {
				run := s.Run
				s.Run = func(ctx context.Context, ev *pawl.Event) (json.RawMessage, error) {
					if ev.Tool == "broken" {
						return nil, rude{breaks}
					}
					return run(ctx, ev)
				}
			}, guard.Ran},
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				s := guard.Scheduler{Run: func(context.Context, *pawl.Event) (json.RawMessage, error) { return json.RawMessage(`"ok"`), nil }}
				c.give(&s)
				var results []guard.Result
				done := make(chan struct{})
				go func() {
					defer close(done)
					results = s.Turn(t.Context(), pawl.Event{}, calls("fine", "broken", "fine"))
				}()
				<-done
				require.Len(t, results, 3, "the caller's goroutine lives on")
				require.Equal(t, []guard.State{guard.Ran, c.want, guard.Ran}, []guard.State{results[0].State, results[1].State, results[2].State})
				require.Equal(t, name != "Safe", results[1].Failed)
				require.JSONEq(t, `"ok"`, string(results[2].Output))
			})
		}
	}
}

func TestADispatcherThatHasOnlyAnErrorRefuses(t *testing.T) {
	s := guard.Scheduler{
		Run: func(context.Context, *pawl.Event) (json.RawMessage, error) { panic("it ran") },
		Hooks: dispatcher(func(context.Context, *pawl.Event) (pawl.Outcome, error) {
			return pawl.Outcome{}, errors.New("the hooks' server is gone")
		}),
	}
	r := s.Turn(t.Context(), pawl.Event{}, calls("x"))[0]
	require.Equal(t, guard.Refused, r.State)
	require.Contains(t, string(r.Output), "the hooks' server is gone")
}
