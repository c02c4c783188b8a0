package pawl_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-hooks/pawl"
)

// check is a hook that gives one verdict.
func check(name string, on pawl.Trigger, d pawl.Decision, may pawl.Effect) pawl.Hook {
	return pawl.Hook{Name: name, On: on, Effects: may, Handler: pawl.HandlerFunc(
		func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) { return d, nil })}
}

func hook(name string, on pawl.Trigger, may pawl.Effect, f pawl.HandlerFunc) pawl.Hook {
	return pawl.Hook{Name: name, On: on, Effects: may, Handler: f}
}

func refuse(name string) pawl.Hook {
	return check(name, pawl.ToolBefore, pawl.Decision{Verdict: pawl.Refuse, Reason: name + " says no"}, pawl.MayRefuse)
}

func registry(t testing.TB, opts pawl.Options, hooks ...pawl.Hook) *pawl.Registry {
	t.Helper()
	r, err := pawl.New(opts, hooks...)
	require.NoError(t, err)
	return r
}

func toolEvent() *pawl.Event {
	return &pawl.Event{Trigger: pawl.ToolBefore, Session: "s1", Turn: "t1", Call: "c1", Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}
}

func TestRefusalStands(t *testing.T) {
	var log bytes.Buffer
	r := registry(t, pawl.Options{Log: pawl.JSONLog(&log)}, refuse("a"), refuse("b"),
		check("c", pawl.ToolBefore, pawl.Decision{Notes: []string{"hello"}}, pawl.MayNote))
	out, err := r.Dispatch(context.Background(), toolEvent())
	require.NoError(t, err)
	require.Equal(t, pawl.Refuse, out.Verdict)
	require.Equal(t, "a says no", out.Decision().Reason, "at tool.before the first reason stands alone")
	require.Equal(t, []string{"hello"}, out.Decision().Notes)
	require.Len(t, out.Runs(), 3)
	require.Equal(t, 3, strings.Count(log.String(), "\n"))
	require.True(t, strings.HasPrefix(log.String(), `{"kind":"hook.run","name":"a","trigger":"tool.before","tool":"Bash","action":"","outcome":"ran","errored":false,"refused":true,"time":"`), log.String())
}

func TestTimeoutRefusesAndReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := pawl.Hook{Name: "slow", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Timeout: time.Second,
			Handler: pawl.HandlerFunc(func(ctx context.Context, _ *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
				<-ctx.Done()
				return pawl.Decision{}, ctx.Err()
			})}
		deaf := slow
		deaf.Name = "deaf"
		stop := make(chan bool)
		deaf.Handler = pawl.HandlerFunc(func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
			<-stop
			return pawl.Decision{}, nil
		})
		r := registry(t, pawl.Options{}, slow, deaf)
		began := time.Now()
		out, err := r.Dispatch(t.Context(), toolEvent())
		require.NoError(t, err)
		require.Equal(t, 3*time.Second, time.Since(began))
		require.Equal(t, pawl.Refuse, out.Verdict)
		require.Equal(t, pawl.CauseTimeout, out.Runs()[0].Cause)
		require.Equal(t, pawl.CauseAbandoned, out.Runs()[1].Cause)
		close(stop)
	})
}

func TestRootImportsNoOS(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, ".").Output()
	require.NoError(t, err)
	for _, p := range strings.Fields(string(out)) {
		require.NotContains(t, []string{"os", "os/exec", "net", "syscall"}, p)
	}
	out, err = exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	for _, p := range strings.Fields(string(out)) {
		require.NotContains(t, []string{"os/exec", "net"}, p)
	}
}

// ---- the failure matrix (design: when a hook fails): each cause in each row

// failing makes hooks that fail for one cause.
var failing = map[pawl.Cause]pawl.HandlerFunc{
	pawl.CausePolicy: func(ctx context.Context, _ *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
		_, _ = gate.Run(ctx, pawl.Command{Args: []string{"denied"}}) // swallowed, and remembered all the same
		return pawl.Decision{}, nil
	},
	pawl.CauseStart: func(ctx context.Context, _ *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
		_, err := gate.Run(ctx, pawl.Command{Args: []string{"missing"}})
		return pawl.Decision{}, err
	},
	pawl.CauseTimeout: func(ctx context.Context, _ *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
		<-ctx.Done()
		return pawl.Decision{}, nil
	},
	pawl.CauseAbandoned: func(ctx context.Context, _ *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
		time.Sleep(time.Hour) // of the bubble's time
		return pawl.Decision{}, nil
	},
	pawl.CauseSignal:    failWith(pawl.CauseSignal),
	pawl.CauseExit:      failWith(pawl.CauseExit),
	pawl.CauseOutput:    failWith(pawl.CauseOutput),
	pawl.CauseUntrusted: failWith(pawl.CauseUntrusted),
	pawl.CauseEffect: func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
		return pawl.Decision{Verdict: pawl.Verdict(77)}, nil
	},
	pawl.CauseError: func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
		return pawl.Decision{}, errors.New("broken")
	},
	pawl.CausePanic: func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) { panic("ouch") },
	"goexit": func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
		runtime.Goexit()
		return pawl.Decision{}, nil
	},
}

func failWith(c pawl.Cause) pawl.HandlerFunc {
	return func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
		return pawl.Decision{}, &pawl.Failure{Cause: c, Err: errors.New("it went wrong")}
	}
}

var strictGate = pawl.GateFunc(func(_ context.Context, cmd pawl.Command) (pawl.Result, error) {
	switch cmd.Args[0] {
	case "denied":
		return pawl.Result{}, &pawl.RefusedError{Action: "exec.path.denied"}
	case "missing":
		return pawl.Result{}, errors.New("not found")
	}
	return pawl.Result{Action: "exec.path." + cmd.Args[0]}, nil
})

func TestFailureMatrix(t *testing.T) {
	rows := []struct {
		name     string
		on       pawl.Trigger
		may      pawl.Effect
		open     bool
		want     pawl.Verdict
		warnings int
	}{
		{"it may refuse", pawl.ToolBefore, pawl.MayRefuse, false, pawl.Refuse, 0},
		{"it may refuse, fail open", pawl.ToolBefore, pawl.MayRefuse, true, pawl.Pass, 1},
		{"it may rewrite, which the trigger's refusal guards", pawl.ToolBefore, pawl.MayRewrite, false, pawl.Refuse, 0},
		{"it may ask", pawl.ToolBefore, pawl.MayAsk | pawl.MayNote, false, pawl.Refuse, 0},
		{"it may allow, fail open", pawl.ToolApproval, pawl.MayAllow, true, pawl.Pass, 1},
		{"its trigger cannot refuse", pawl.ToolUnknown, pawl.MayReplace, false, pawl.Pass, 1},
		{"its trigger cannot refuse, only halt", pawl.CompactAfter, pawl.MayHalt, false, pawl.Pass, 1},
		{"a stop, once", pawl.TurnStop, pawl.MayRefuse, false, pawl.Refuse, 0},
		{"it only notes", pawl.ToolBefore, pawl.MayNote, false, pawl.Pass, 1},
		{"it only observes", pawl.ToolBefore, 0, false, pawl.Pass, 0},
	}
	for cause, handler := range failing {
		for _, row := range rows {
			t.Run(fmt.Sprintf("%s/%s", cause, row.name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					defer time.Sleep(2 * time.Hour) // lets what was abandoned end with the bubble
					var log bytes.Buffer
					r := registry(t, pawl.Options{Gate: strictGate, Log: pawl.JSONLog(&log)}, pawl.Hook{
						Name: "h", On: row.on, Effects: row.may, FailOpen: row.open, Handler: handler, Timeout: time.Second})
					out, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: row.on, Tool: "Bash", Source: "auto"})
					require.NoError(t, err)
					require.Equal(t, row.want, out.Verdict)
					require.Len(t, out.Decision().Warnings, row.warnings)
					require.Len(t, out.Runs(), 1)
					run := out.Runs()[0]
					require.Equal(t, cmp.Or(map[pawl.Cause]pawl.Cause{"goexit": pawl.CausePanic}[cause], cause), run.Cause)
					require.Equal(t, row.open, run.PassedOpen)
					require.Equal(t, row.want == pawl.Refuse, run.Refused)
					require.Equal(t, outcomeOf(cause), run.Outcome)
					require.Equal(t, run.Outcome == pawl.Ran, run.Errored)
					require.Equal(t, 1, strings.Count(log.String(), "\n"))
					if row.want == pawl.Refuse {
						require.Contains(t, out.Decision().Reason, "hook h: "+string(run.Cause))
					}
				})
			})
		}
	}
}

func outcomeOf(c pawl.Cause) string {
	switch c {
	case pawl.CausePolicy:
		return pawl.RefusedByPolicy
	case pawl.CauseStart, pawl.CauseUntrusted:
		return pawl.CouldNotRun
	}
	return pawl.Ran
}

func TestAFailureAtAContinuedStopGoesThrough(t *testing.T) {
	h := pawl.Hook{Name: "h", On: pawl.TurnStop, Effects: pawl.MayRefuse, Handler: failing[pawl.CauseError]}
	r := registry(t, pawl.Options{}, h)
	out, _ := r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.TurnStop, StopActive: true})
	require.Equal(t, pawl.Pass, out.Verdict, "refusing again keeps a broken agent running")
	require.Len(t, out.Decision().Warnings, 1)
}

func TestCancelledBeforeTheStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := registry(t, pawl.Options{}, refuse("a"), check("n", pawl.ToolBefore, pawl.Decision{}, 0))
	out, err := r.Dispatch(ctx, toolEvent())
	require.NoError(t, err)
	require.Equal(t, pawl.Refuse, out.Verdict)
	for _, run := range out.Runs() {
		require.Equal(t, pawl.CouldNotRun, run.Outcome)
		require.Equal(t, pawl.CauseCancelled, run.Cause)
	}
	stop := registry(t, pawl.Options{}, check("s", pawl.TurnStop, pawl.Decision{Verdict: pawl.Refuse}, pawl.MayRefuse))
	out, err = stop.Dispatch(ctx, &pawl.Event{Trigger: pawl.TurnStop})
	require.NoError(t, err)
	require.Equal(t, pawl.Pass, out.Verdict, "a cancelled agent is not kept running")
}

func TestARewriteThatCannotBeAppliedRefusesEvenUnderFailOpen(t *testing.T) {
	for name, input := range map[string]string{"not JSON": `{`, "two values": `{} {}`, "a name twice": `{"a":1,"a":2}`} {
		t.Run(name, func(t *testing.T) {
			h := check("h", pawl.ToolBefore, pawl.Decision{Input: json.RawMessage(input)}, pawl.MayRewrite)
			h.FailOpen = true
			out, err := registry(t, pawl.Options{}, h).Dispatch(t.Context(), toolEvent())
			require.NoError(t, err)
			require.Equal(t, pawl.Refuse, out.Verdict)
			require.Equal(t, pawl.CauseOutput, out.Runs()[0].Cause)
		})
	}
	t.Run("rebind fails", func(t *testing.T) {
		h := check("h", pawl.ToolBefore, pawl.Decision{Input: json.RawMessage(`{}`)}, pawl.MayRewrite)
		h.FailOpen = true
		r := registry(t, pawl.Options{Rebind: func(*pawl.Event) error { panic("no") }}, h)
		out, err := r.Dispatch(t.Context(), toolEvent())
		require.NoError(t, err)
		require.Equal(t, pawl.Refuse, out.Verdict)
	})
}

// ---- the log

func TestAnEventWithoutItsRecordIsRefused(t *testing.T) {
	logs := map[string]pawl.LogFunc{
		"fails":  func(context.Context, ...pawl.Record) error { return errors.New("disk full") },
		"panics": func(context.Context, ...pawl.Record) error { panic("log") },
		"exits":  func(context.Context, ...pawl.Record) error { runtime.Goexit(); return nil },
		"hangs":  func(ctx context.Context, _ ...pawl.Record) error { time.Sleep(time.Hour); return nil },
	}
	pass := check("p", pawl.ToolBefore, pawl.Decision{Output: json.RawMessage(`"x"`)}, pawl.MayReplace)
	for name, log := range logs {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer time.Sleep(2 * time.Hour)
				out, err := registry(t, pawl.Options{Log: log}, pass).Dispatch(t.Context(), toolEvent())
				require.ErrorIs(t, err, pawl.ErrLog)
				require.Equal(t, pawl.Refuse, out.Verdict)
				require.Nil(t, out.Decision().Output)
				out, err = registry(t, pawl.Options{Log: log, LogFailure: pawl.LogWarn}, pass).Dispatch(t.Context(), toolEvent())
				require.ErrorIs(t, err, pawl.ErrLog)
				require.Equal(t, pawl.Pass, out.Verdict)
				require.Len(t, out.Decision().Warnings, 1)
				allow := check("a", pawl.ToolApproval, pawl.Decision{Verdict: pawl.Allow}, pawl.MayAllow)
				out, _ = registry(t, pawl.Options{Log: log, LogFailure: pawl.LogWarn}, allow).
					Dispatch(t.Context(), &pawl.Event{Trigger: pawl.ToolApproval, Tool: "Bash"})
				require.Equal(t, pawl.Pass, out.Verdict, "no allow without its record")
			})
		})
	}
}

// What a host hands to New must not let a check go missing either, wherever it is called.
func TestAFuncOfOptionsThatEndsTheGoroutineFailsTheHook(t *testing.T) {
	for name, opts := range map[string]func() pawl.Options{
		"started": func() pawl.Options {
			return pawl.Options{Trace: &pawl.Trace{Started: func(*pawl.Hook, *pawl.Event) { runtime.Goexit() }}}
		},
		"redactor": func() pawl.Options { return pawl.Options{Redact: exitOnce()} },
	} {
		for _, n := range []int{1, 3} {
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				var hooks []pawl.Hook
				for i := range n {
					h := check(fmt.Sprint("h", i), pawl.ToolBefore, pawl.Decision{}, pawl.MayRefuse)
					h.Timeout = time.Minute
					hooks = append(hooks, h)
				}
				out, err := registry(t, opts(), hooks...).Dispatch(t.Context(), toolEvent())
				require.NoError(t, err)
				require.Equal(t, pawl.Refuse, out.Verdict)
				require.Len(t, out.Runs(), n)
				require.True(t, slices.ContainsFunc(out.Runs(), func(r pawl.Run) bool { return r.Cause == pawl.CausePanic }))
			})
		}
	}
	t.Run("redactor at a quiet trigger", func(t *testing.T) {
		var heard, log bytes.Buffer
		observer := func(name string) pawl.Hook {
			return pawl.Hook{Name: name, On: pawl.StreamText, Handler: pawl.Observer(func(context.Context, *pawl.Event) {
				heard.WriteString(name)
				panic("x")
			})}
		}
		r := registry(t, pawl.Options{Redact: exitOnce(), Log: pawl.JSONLog(&log)}, observer("a"), observer("b"))
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.StreamText})
		}()
		<-gone
		require.Equal(t, "ab", heard.String())
		require.Equal(t, 2, strings.Count(log.String(), `"cause":"panic"`))
	})
	t.Run("finished", func(t *testing.T) {
		h := check("h", pawl.ToolBefore, pawl.Decision{Verdict: pawl.Refuse}, pawl.MayRefuse)
		h.Timeout = time.Minute
		out, err := registry(t, pawl.Options{Trace: &pawl.Trace{Finished: func(*pawl.Hook, *pawl.Run) { runtime.Goexit() }}}, h).Dispatch(t.Context(), toolEvent())
		require.NoError(t, err)
		require.Equal(t, pawl.Refuse, out.Verdict)
	})
	t.Run("rebind", func(t *testing.T) {
		h := check("h", pawl.ToolBefore, pawl.Decision{Input: json.RawMessage(`{"b":2}`)}, pawl.MayRewrite)
		h.Timeout = time.Minute
		exit := exitOnce()
		out, err := registry(t, pawl.Options{Rebind: func(*pawl.Event) error { exit(nil); return nil }}, h).Dispatch(t.Context(), toolEvent())
		require.NoError(t, err)
		require.JSONEq(t, `{"b":2}`, string(out.Event().Input))
	})
	t.Run("now", func(t *testing.T) {
		h := check("h", pawl.ToolBefore, pawl.Decision{Verdict: pawl.Refuse}, pawl.MayRefuse)
		h.Timeout = time.Minute
		out, err := registry(t, pawl.Options{Now: func() time.Time { panic("x") }}, h).Dispatch(t.Context(), toolEvent())
		require.NoError(t, err)
		require.Equal(t, pawl.Refuse, out.Verdict)
		require.Empty(t, out.Runs()[0].Cause)
		require.False(t, out.Runs()[0].Time.IsZero())
	})
}

// exitOnce is a redactor that ends its goroutine the first time.
func exitOnce() func([]byte) []byte {
	var once sync.Once
	return func(b []byte) []byte {
		once.Do(runtime.Goexit)
		return b
	}
}

func TestGoexitHereStillLeavesTheRecord(t *testing.T) {
	var log bytes.Buffer
	h := pawl.Hook{Name: "h", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Handler: failing["goexit"]}
	traced := map[string]int{}
	trace := &pawl.Trace{Started: func(h *pawl.Hook, _ *pawl.Event) { traced[h.Name]++ }, Finished: func(h *pawl.Hook, run *pawl.Run) { traced[h.Name] += 10 }}
	r := registry(t, pawl.Options{Log: pawl.JSONLog(&log), Trace: trace}, refuse("first"), h, refuse("behind"))
	returned, done := false, make(chan bool)
	go func() {
		defer close(done)
		_, _ = r.Dispatch(t.Context(), toolEvent())
		returned = true
	}()
	<-done
	require.False(t, returned)
	require.Equal(t, 3, strings.Count(log.String(), "\n"), "it silences nobody behind it")
	require.Contains(t, log.String(), `"cause":"panic"`)
	require.Equal(t, map[string]int{"first": 11, "h": 11, "behind": 11}, traced, "a span that began has its end")
}

// G03: a value with a line end or a control character forges no line.
func TestARecordIsOneLineWhateverItHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hostile := rapid.SampledFrom([]string{"\n{\"kind\":\"hook.run\"}", "\x1b[31m", "\u2028", "\xff\xfe", "\x85", "\x7f", "a\"b\\c", "\u0085", "é"})
		text := rapid.Custom(func(t *rapid.T) string { return rapid.String().Draw(t, "s") + hostile.Draw(t, "h") })
		run := pawl.Run{Name: text.Draw(t, "name"), Tool: text.Draw(t, "tool"), Stderr: text.Draw(t, "stderr"), Reason: text.Draw(t, "reason")}
		var log bytes.Buffer
		require.NoError(t, pawl.JSONLog(&log).Append(context.Background(), &run))
		line := log.String()
		require.Equal(t, 1, strings.Count(line, "\n"))
		require.Equal(t, -1, strings.IndexFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool {
			return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029'
		}))
		var back pawl.Run
		require.NoError(t, json.Unmarshal([]byte(line), &back))
		require.Equal(t, strings.ToValidUTF8(run.Name, "\ufffd") == run.Name, back.Name == run.Name)
	})
}

func TestTheRecordsFieldsStandInOrder(t *testing.T) {
	yes := pawl.Run{Name: "n", Trigger: "t", Tool: "o", Action: "a", Outcome: pawl.Ran, Time: time.Unix(1, 5), Session: "s", Turn: "t",
		Call: "c", Agent: "g", ID: "i", Source: "s", Stage: "check", Effects: pawl.MayRefuse | pawl.MayNote, Verdict: pawl.Refuse, Reason: "r",
		Cause: "exit", Code: 3, Signal: "k", TimedOut: true, PassedOpen: true, Shadow: true, Cut: 9, Orphans: true,
		Elapsed: 1500 * time.Microsecond, InputDigest: "d", ConfigDigest: "c", Stderr: "e"}
	require.Equal(t, `{"kind":"hook.run","name":"n","trigger":"t","tool":"o","action":"a","outcome":"ran","errored":false,"refused":false,`+
		`"time":"1970-01-01T00:00:01.000000005Z","session":"s","turn":"t","call":"c","agent":"g","id":"i","source":"s","stage":"check",`+
		`"effects":["refuse","note"],"verdict":"refuse","reason":"r","cause":"exit","code":3,"signal":"k","timed_out":true,"passed_open":true,`+
		`"shadow":true,"cut":9,"orphans":true,"elapsed_ms":1.5,"input_digest":"d","config_digest":"c","stderr":"e"}`, string(yes.AppendJSON(nil)))
	require.Equal(t, `{"kind":"hook.run","name":"","trigger":"","tool":"","action":"","outcome":"","errored":false,"refused":false}`,
		string((&pawl.Run{}).AppendJSON(nil)))
	var back pawl.Run
	require.NoError(t, json.Unmarshal(yes.AppendJSON(nil), &back))
	back.Time = yes.Time
	require.Equal(t, yes, back)
}

// ---- contexts: nesting, depth, the lent gate

func TestAHooksProgramFiresNoHooks(t *testing.T) {
	var r *pawl.Registry
	var inner pawl.Outcome
	var env []string
	gate := pawl.GateFunc(func(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
		env = cmd.Env
		derived, err := r.With(refuse("deeper"))
		require.NoError(t, err)
		inner, _ = derived.Dispatch(ctx, toolEvent())
		return pawl.Result{}, nil
	})
	r = registry(t, pawl.Options{Gate: gate}, hook("h", pawl.ToolBefore, pawl.MayRefuse,
		func(_ context.Context, _ *pawl.Event, g pawl.Gate) (pawl.Decision, error) {
			_, err := g.Run(context.Background(), pawl.Command{ID: "mine", Args: []string{"x"}})
			return pawl.Decision{}, err
		}))
	out, err := r.Dispatch(t.Context(), toolEvent())
	require.NoError(t, err)
	require.Equal(t, pawl.Pass, out.Verdict)
	require.True(t, inner.Nested)
	require.Equal(t, pawl.Pass, inner.Verdict)
	require.Contains(t, env, "HOOK_DEPTH=1")
}

func TestTheLentGateClosesWithItsRun(t *testing.T) {
	var lent pawl.Gate
	var seen pawl.Command
	gate := pawl.GateFunc(func(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
		seen = cmd
		require.Equal(t, "Bash", pawl.EventFrom(ctx).Tool)
		require.Equal(t, "h", pawl.HookFrom(ctx).Name)
		return pawl.Result{Action: "exec.path.x", Code: 3, Stderr: []byte("why")}, nil
	})
	r := registry(t, pawl.Options{Gate: gate}, hook("h", pawl.ToolBefore, 0, func(ctx context.Context, _ *pawl.Event, g pawl.Gate) (pawl.Decision, error) {
		lent = g
		_, err := g.Run(ctx, pawl.Command{ID: "forged", Args: []string{"x"}})
		return pawl.Decision{}, err
	}))
	out, err := r.Dispatch(t.Context(), toolEvent())
	require.NoError(t, err)
	require.Equal(t, "hook:h:c1", seen.ID)
	run := out.Runs()[0]
	require.Equal(t, []any{"exec.path.x", 3, "why"}, []any{run.Action, run.Code, run.Stderr})
	_, err = lent.Run(t.Context(), pawl.Command{Args: []string{"x"}})
	require.ErrorIs(t, err, pawl.ErrClosed)
}

func TestDepthIsBounded(t *testing.T) {
	for _, on := range []pawl.Trigger{pawl.ToolBefore, pawl.StreamText} {
		t.Run(string(on), func(t *testing.T) {
			calls, deepest := 0, error(nil)
			var r *pawl.Registry
			h := pawl.Hook{Name: "again", On: on, Handler: pawl.Observer(func(ctx context.Context, ev *pawl.Event) {
				calls++
				out, err := r.Dispatch(ctx, ev)
				if err != nil {
					deepest = err
					require.Equal(t, pawl.Refuse, out.Verdict)
				}
			})}
			r = registry(t, pawl.Options{}, h)
			_, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: on, Tool: "Bash"})
			require.NoError(t, err)
			require.ErrorIs(t, deepest, pawl.ErrDepth)
			require.Equal(t, 4, calls)
		})
	}
}

func TestAPauseIsNotTheHooksTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := pawl.GateFunc(func(ctx context.Context, _ pawl.Command) (pawl.Result, error) {
			resume := pawl.Pause(ctx, time.Hour)
			time.Sleep(10 * time.Minute)
			resume()
			resume()
			deadline, ok := ctx.Deadline()
			require.True(t, ok)
			require.Equal(t, time.Second, time.Until(deadline))
			return pawl.Result{}, ctx.Err()
		})
		h := hook("h", pawl.ToolBefore, pawl.MayRefuse, func(ctx context.Context, _ *pawl.Event, g pawl.Gate) (pawl.Decision, error) {
			_, err := g.Run(ctx, pawl.Command{Args: []string{"x"}})
			return pawl.Decision{}, err
		})
		h.Timeout = time.Second
		out, err := registry(t, pawl.Options{Gate: gate}, h).Dispatch(t.Context(), toolEvent())
		require.NoError(t, err)
		require.Equal(t, pawl.Pass, out.Verdict)
		require.Zero(t, out.Runs()[0].Elapsed)
	})
}

func TestAPauseWithoutEndIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hook("h", pawl.ToolBefore, pawl.MayRefuse, func(ctx context.Context, _ *pawl.Event, g pawl.Gate) (pawl.Decision, error) {
			pawl.Pause(ctx, time.Minute)
			<-ctx.Done()
			return pawl.Decision{}, ctx.Err()
		})
		h.Timeout = time.Second
		began := time.Now()
		out, _ := registry(t, pawl.Options{}, h).Dispatch(t.Context(), toolEvent())
		require.Equal(t, pawl.CauseTimeout, out.Runs()[0].Cause)
		require.Equal(t, time.Minute+time.Second, time.Since(began))
	})
}

// ---- rewriting

func input(s string) json.RawMessage { return json.RawMessage(fmt.Sprintf(`{"command":%q}`, s)) }

func rewrite(name, to string) pawl.Hook {
	return check(name, pawl.ToolBefore, pawl.Decision{Input: input(to)}, pawl.MayRewrite)
}

// seeing records what a check judged, and refuses what it is told to.
func seeing(name string, seen *[]string, refuse string) pawl.Hook {
	return hook(name, pawl.ToolBefore, pawl.MayRefuse, func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
		*seen = append(*seen, string(ev.Input))
		if refuse != "" && strings.Contains(string(ev.Input), refuse) {
			return pawl.Decision{Verdict: pawl.Refuse, Reason: "bad"}, nil
		}
		return pawl.Decision{}, nil
	})
}

func TestAConcurrentRewriteIsJudged(t *testing.T) {
	var seen []string
	rw := rewrite("rw", "evil")
	rw.Concurrent = true
	out, err := registry(t, pawl.Options{}, seeing("guard", &seen, "evil"), rw).Dispatch(t.Context(), toolEvent())
	require.NoError(t, err)
	require.Equal(t, pawl.Refuse, out.Verdict)
	require.Equal(t, []string{`{"command":"ls"}`, `{"command":"evil"}`}, seen)
	require.Equal(t, "hook:guard:c1:2", out.Runs()[2].ID)
	require.Equal(t, "recheck", out.Runs()[2].Stage)
	require.Nil(t, out.Decision().Input)
}

// D09: of two rewrites the later one in configuration order stands, whichever is slower.
func TestTheLaterRewriteStandsWhicheverIsSlower(t *testing.T) {
	for _, slow := range []string{"a", "b"} {
		synctest.Test(t, func(t *testing.T) {
			var hooks []pawl.Hook
			for _, name := range []string{"a", "b"} {
				h := hook(name, pawl.ToolBefore, pawl.MayRewrite, func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
					if name == slow {
						time.Sleep(300 * time.Millisecond)
					}
					return pawl.Decision{Input: input(name)}, nil
				})
				h.Concurrent, h.Timeout = true, time.Second
				hooks = append(hooks, h)
			}
			out, err := registry(t, pawl.Options{}, hooks...).Dispatch(t.Context(), toolEvent())
			require.NoError(t, err)
			require.Equal(t, `{"command":"b"}`, string(out.Decision().Input))
			require.Contains(t, out.Runs()[0].Reason, "that of hook b stands")
		})
	}
}

func TestInsistingOnAnotherRewriteIsAConflict(t *testing.T) {
	var hooks []pawl.Hook
	for _, name := range []string{"a", "b"} {
		h := check(name, pawl.ToolBefore, pawl.Decision{Input: input(name)}, pawl.MayRewrite|pawl.MayRefuse)
		h.Concurrent, h.FailOpen = true, true
		hooks = append(hooks, h)
	}
	out, err := registry(t, pawl.Options{}, hooks...).Dispatch(t.Context(), toolEvent())
	require.NoError(t, err)
	require.Equal(t, pawl.Refuse, out.Verdict)
	require.Equal(t, pawl.CauseConflict, out.Runs()[2].Cause)
}

func TestRewritersSeeWhatTheLastLeft(t *testing.T) {
	add := func(name string) pawl.Hook {
		return hook(name, pawl.ToolBefore, pawl.MayRewrite, func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
			return pawl.Decision{Input: json.RawMessage(strings.Replace(string(ev.Input), `"}`, name+`"}`, 1))}, nil
		})
	}
	var seen []string
	r := registry(t, pawl.Options{Rebind: func(ev *pawl.Event) error { ev.Action = "call." + string(ev.Input); return nil }},
		seeing("guard", &seen, ""), add("a"), add("b"))
	ev := toolEvent()
	out, err := r.Dispatch(t.Context(), ev)
	require.NoError(t, err)
	require.Equal(t, `{"command":"lsab"}`, string(out.Event().Input))
	require.Equal(t, `call.{"command":"lsab"}`, out.Event().Action)
	require.Equal(t, []string{`{"command":"lsab"}`}, seen)
	require.Equal(t, `{"command":"ls"}`, string(ev.Input), "the caller's event is never changed")
}

func TestAHandlersBytesAreItsOwn(t *testing.T) {
	whole := func() *pawl.Event {
		return &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash", Aliases: []string{"Shell"}, Paths: []string{"a"}, Input: json.RawMessage(`{"a":1}`),
			Output: json.RawMessage(`"o"`), Extra: map[string]json.RawMessage{"k": json.RawMessage(`1`)}}
	}
	for name, spoil := range map[string]func(ev *pawl.Event){
		"input":   func(ev *pawl.Event) { copy(ev.Input, "XXXXXXX") },
		"output":  func(ev *pawl.Event) { copy(ev.Output, "XXX") },
		"aliases": func(ev *pawl.Event) { ev.Aliases[0] = "X" },
		"paths":   func(ev *pawl.Event) { ev.Paths[0] = "X" },
		"extra":   func(ev *pawl.Event) { ev.Extra["k"][0] = 'X'; ev.Extra["k"] = nil },
		"fields":  func(ev *pawl.Event) { ev.Tool, ev.Input, ev.Extra = "X", nil, nil },
		"panic":   func(ev *pawl.Event) { ev.Input[0] = 'X'; panic("x") },
	} {
		t.Run(name, func(t *testing.T) {
			vandal := func(name string, may pawl.Effect) pawl.Hook {
				return hook(name, pawl.ToolBefore, may, func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
					spoil(ev)
					return pawl.Decision{}, nil
				})
			}
			var seen []*pawl.Event
			witness := hook("w", pawl.ToolBefore, pawl.MayRefuse, func(ctx context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
				require.Equal(t, ev.Input, pawl.EventFrom(ctx).Input)
				seen = append(seen, ev)
				return pawl.Decision{}, nil
			})
			ev := whole()
			_, err := registry(t, pawl.Options{}, vandal("rewrites", pawl.MayRewrite), vandal("checks", pawl.MayRefuse), witness).Dispatch(t.Context(), ev)
			require.NoError(t, err)
			require.Len(t, seen, 1)
			for _, ev := range append(seen, ev) {
				text, err := json.Marshal(ev)
				require.NoError(t, err)
				want, err := json.Marshal(whole())
				require.NoError(t, err)
				require.JSONEq(t, string(want), string(text))
			}
		})
	}
}

func TestTheEventOfAHookThatIsOverIsNotTold(t *testing.T) {
	var kept context.Context
	keep := hook("keep", pawl.ToolBefore, pawl.MayRefuse, func(ctx context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
		kept = ctx
		return pawl.Decision{}, nil
	})
	_, err := registry(t, pawl.Options{}, keep).Dispatch(t.Context(), toolEvent())
	require.NoError(t, err)
	require.Nil(t, pawl.EventFrom(kept))
}

// What a codec made of the event once is not told to who may not see the event any more.
func TestANoteOnARefusalIsToldNothingOfTheResult(t *testing.T) {
	type key struct{}
	encoded := func(ev *pawl.Event) string {
		return ev.Once(key{}, func() any { return string(ev.Output) + ev.Verdict.String() }).(string)
	}
	told := map[string]string{}
	telling := func(name string, may pawl.Effect, v pawl.Verdict) pawl.Hook {
		return hook(name, pawl.ToolAfter, may, func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
			told[name] = encoded(ev)
			return pawl.Decision{Verdict: v}, nil
		})
	}
	r := registry(t, pawl.Options{}, telling("refuse", pawl.MayRefuse, pawl.Refuse), telling("note", pawl.MayNote, pawl.Pass), telling("observe", 0, pawl.Pass))
	_, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.ToolAfter, Tool: "t", Output: json.RawMessage(`"secret"`)})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"refuse": `"secret"pass`, "note": "refuse", "observe": `"secret"refuse`}, told)
}

func TestAPanicAtAQuietTriggerIsTold(t *testing.T) {
	broken := errors.New("disk full")
	for name, logged := range map[string]error{"kept": nil, "not kept": broken} {
		t.Run(name, func(t *testing.T) {
			heard := 0
			observe := func(name string, f func()) pawl.Hook {
				return pawl.Hook{Name: name, On: pawl.StreamText, Handler: pawl.Observer(func(context.Context, *pawl.Event) { f() })}
			}
			log := pawl.LogFunc(func(context.Context, ...pawl.Record) error { return logged })
			r := registry(t, pawl.Options{Log: log}, observe("a", func() { panic("a") }), observe("b", func() { heard++ }), observe("c", func() { panic("c") }))
			out, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.StreamText})
			require.ErrorIs(t, err, logged)
			require.Equal(t, pawl.Pass, out.Verdict)
			require.Equal(t, 1, heard)
			require.Len(t, out.Runs(), 2)
			require.Equal(t, []string{"a", "c"}, []string{out.Runs()[0].Name, out.Runs()[1].Name})
			require.Equal(t, pawl.CausePanic, out.Runs()[0].Cause)
			if logged != nil {
				require.ErrorIs(t, err, pawl.ErrLog)
				require.Len(t, out.Decision().Warnings, 1)
				require.Contains(t, out.Decision().Warnings[0], "disk full")
			}
		})
	}
}

// A caller's context need not compare with another.
func TestAQuietTriggerTakesAnyContext(t *testing.T) {
	heard := 0
	o := pawl.Hook{Name: "o", On: pawl.StreamText, Handler: pawl.Observer(func(context.Context, *pawl.Event) { heard++ })}
	r := registry(t, pawl.Options{}, o)
	for _, ctx := range []context.Context{sliceContext{t.Context(), nil}, sliceContext{t.Context(), nil}, boxContext{t.Context(), []int{}}, boxContext{t.Context(), 1}, boxContext{t.Context(), []int{}}} {
		_, err := r.Dispatch(ctx, &pawl.Event{Trigger: pawl.StreamText})
		require.NoError(t, err)
	}
	require.Equal(t, 5, heard)
}

type sliceContext struct {
	context.Context
	_ []int
}

type boxContext struct {
	context.Context
	box any
}

// What a hook wanted instead must not be what it did not want, whatever else was wrong with its answer.
func TestARewriteBesideAnythingForbiddenRefusesEvenUnderFailOpen(t *testing.T) {
	yes := true
	in, out := json.RawMessage(`{"command":"ls"}`), json.RawMessage(`"clean"`)
	for name, c := range map[string]struct {
		on   pawl.Trigger
		may  pawl.Effect
		says pawl.Decision
	}{
		"input and a note":      {pawl.ToolBefore, pawl.MayRewrite, pawl.Decision{Input: in, Notes: []string{"n"}}},
		"input and a stand-in":  {pawl.ToolBefore, pawl.MayRewrite, pawl.Decision{Input: in, Output: out}},
		"input and an allow":    {pawl.ToolBefore, pawl.MayRewrite, pawl.Decision{Input: in, Verdict: pawl.Allow}},
		"input and no verdict":  {pawl.ToolBefore, pawl.MayRewrite, pawl.Decision{Input: in, Verdict: 77}},
		"input without a right": {pawl.ToolBefore, pawl.MayRefuse, pawl.Decision{Input: in}},
		"payload":               {pawl.ToolBefore, pawl.MayRewrite, pawl.Decision{Payload: 1, Notes: []string{"n"}}},
		"output and a note":     {pawl.ToolAfter, pawl.MayReplace, pawl.Decision{Output: out, Notes: []string{"n"}}},
		"failed and a note":     {pawl.ToolAfter, pawl.MayReplace, pawl.Decision{Fail: &yes, Notes: []string{"n"}}},
	} {
		for _, concurrent := range []bool{false, true} {
			t.Run(fmt.Sprint(name, concurrent), func(t *testing.T) {
				h := check("h", c.on, c.says, c.may)
				h.FailOpen, h.Concurrent = true, concurrent
				ev := toolEvent()
				ev.Trigger, ev.Output = c.on, json.RawMessage(`"secret"`)
				got, err := registry(t, pawl.Options{}, h).Dispatch(t.Context(), ev)
				require.NoError(t, err)
				require.Equal(t, pawl.Refuse, got.Verdict)
				require.Equal(t, pawl.CauseEffect, got.Runs()[0].Cause)
				require.False(t, got.Runs()[0].PassedOpen)
			})
		}
	}
}

// A hook that failed and had asked did not let the event pass.
func TestAnAskThatStandsIsNotPassedOpen(t *testing.T) {
	h := hook("h", pawl.ToolBefore, pawl.MayAsk, func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
		return pawl.Decision{Verdict: pawl.Ask}, errors.New("x")
	})
	h.FailOpen = true
	out, err := registry(t, pawl.Options{}, h).Dispatch(t.Context(), toolEvent())
	require.NoError(t, err)
	require.Equal(t, pawl.Ask, out.Verdict)
	require.False(t, out.Runs()[0].PassedOpen)
}

// A registry that was derived stays one, whatever it is wrapped in.
func TestALiveOfADerivedRegistryOnlyNarrows(t *testing.T) {
	allow := check("allow", pawl.ToolApproval, pawl.Decision{Verdict: pawl.Allow}, pawl.MayAllow)
	narrow := func(name string) pawl.Hook {
		return check(name, pawl.ToolApproval, pawl.Decision{}, pawl.MayRefuse)
	}
	base := registry(t, pawl.Options{}, narrow("base"))
	derived, err := base.With(narrow("more"))
	require.NoError(t, err)
	child, err := pawl.NewLive(base).With(narrow("child"))
	require.NoError(t, err)
	for _, l := range []*pawl.Live{pawl.NewLive(derived), pawl.NewLive(child.Registry())} {
		_, err := l.Add(allow)
		require.ErrorIs(t, err, pawl.ErrWiden)
		require.ErrorIs(t, l.Replace(registry(t, pawl.Options{}, allow)), pawl.ErrWiden)
		require.ErrorIs(t, l.Replace(base), pawl.ErrWiden)
		undo, err := l.Add(narrow("last"))
		require.NoError(t, err)
		undo()
		other, err := base.With(narrow("other"))
		require.NoError(t, err)
		require.NoError(t, l.Replace(other))
		_, err = l.Add(allow)
		require.ErrorIs(t, err, pawl.ErrWiden)
		_, err = pawl.NewLive(l.Registry()).Add(allow)
		require.ErrorIs(t, err, pawl.ErrWiden)
	}
	_, err = pawl.NewLive(base).Add(allow)
	require.NoError(t, err, "a root may")
}

// ---- what a hostile handler, error, context or func of Options must not do

type typedNil struct{ text string }

func (e *typedNil) Error() string { return e.text }

func failingWith(err error, says pawl.Decision) pawl.Hook {
	h := hook("h", pawl.ToolBefore, pawl.MayRefuse, func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) { return says, err })
	h.FailOpen = true
	return h
}

func TestAnErrorThatPanicsIsAnErrorLikeAnyOther(t *testing.T) {
	for name, err := range map[string]error{"text": (*typedNil)(nil), "unwrap": (*fs.PathError)(nil), "failure": (*pawl.Failure)(nil), "inside": &pawl.Failure{Err: (*typedNil)(nil)}} {
		for _, timeout := range []time.Duration{0, time.Minute} {
			t.Run(fmt.Sprint(name, timeout), func(t *testing.T) {
				h := failingWith(err, pawl.Decision{})
				h.Timeout = timeout
				out, err := registry(t, pawl.Options{}, h).Dispatch(t.Context(), toolEvent())
				require.NoError(t, err)
				require.True(t, out.Runs()[0].PassedOpen)

				h = failingWith(err, pawl.Decision{Verdict: pawl.Refuse, Reason: "no"})
				h.Timeout = timeout
				h.Handler = failingWith((*fs.PathError)(nil), pawl.Decision{Verdict: pawl.Refuse, Reason: "no"}).Handler
				out, err = registry(t, pawl.Options{}, h).Dispatch(t.Context(), toolEvent())
				require.NoError(t, err)
				require.Equal(t, pawl.Refuse, out.Verdict, "what it said stands")
			})
		}
	}
}

func TestWhatCannotBeRedactedStillForbids(t *testing.T) {
	broken := pawl.Options{Redact: func(b []byte) []byte {
		if string(b) == "secret" {
			panic("x")
		}
		return b
	}}
	for name, c := range map[string]struct {
		may  pawl.Effect
		says pawl.Decision
		want pawl.Verdict
	}{
		"ask":    {pawl.MayAsk, pawl.Decision{Verdict: pawl.Ask, Reason: "secret"}, pawl.Ask},
		"refuse": {pawl.MayRefuse, pawl.Decision{Verdict: pawl.Refuse, Reason: "secret"}, pawl.Refuse},
		"halt":   {pawl.MayHalt, pawl.Decision{Verdict: pawl.Halt, Reason: "secret"}, pawl.Halt},
		"input":  {pawl.MayRewrite, pawl.Decision{Reason: "secret", Input: json.RawMessage(`{"command":"safe"}`)}, pawl.Refuse},
	} {
		t.Run(name, func(t *testing.T) {
			h := check("h", pawl.ToolBefore, c.says, c.may)
			h.FailOpen = true
			out, err := registry(t, broken, h).Dispatch(t.Context(), toolEvent())
			require.NoError(t, err)
			require.Equal(t, c.want, out.Verdict)
			require.NotContains(t, fmt.Sprint(out.Decision(), out.Runs()), "secret")
		})
	}
}

func TestAnOutputThatIsRedactedAwayIsNotTheOriginal(t *testing.T) {
	nothing := pawl.Options{Redact: func(b []byte) []byte {
		if bytes.Contains(b, []byte("secret")) {
			return nil
		}
		return b
	}}
	h := check("h", pawl.ToolAfter, pawl.Decision{Output: json.RawMessage(`"secret"`)}, pawl.MayReplace)
	h.FailOpen = true
	out, err := registry(t, nothing, h).Dispatch(t.Context(), &pawl.Event{Trigger: pawl.ToolAfter, Tool: "t", Output: json.RawMessage(`"original"`)})
	require.NoError(t, err)
	require.Equal(t, pawl.Refuse, out.Verdict)
	require.Nil(t, out.Event().Output)
}

func TestAnAnswerMadeOfTheEventIsNotChangedByTheNextHandler(t *testing.T) {
	quote := hook("quote", pawl.ToolBefore, pawl.MayRewrite|pawl.MayNote, func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
		return pawl.Decision{Input: ev.Input, Notes: ev.Paths, Warnings: ev.Aliases}, nil
	})
	quote.Concurrent = true
	spoil := hook("spoil", pawl.ToolBefore, pawl.MayRefuse, func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
		ev.Input[0], ev.Paths[0], ev.Aliases[0] = 'X', "X", "X"
		return pawl.Decision{}, nil
	})
	ev := toolEvent()
	ev.Paths, ev.Aliases = []string{"path"}, []string{"alias"}
	out, err := registry(t, pawl.Options{}, quote, spoil).Dispatch(t.Context(), ev)
	require.NoError(t, err)
	require.Equal(t, toolEvent().Input, out.Event().Input)
	require.Equal(t, []string{"path"}, out.Decision().Notes)
	require.Equal(t, []string{"alias"}, out.Decision().Warnings)
}

func TestAnEmptyMapIsNobodysInCommon(t *testing.T) {
	mark := hook("mark", pawl.ToolBefore, pawl.MayRefuse, func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
		ev.Extra["trusted"] = json.RawMessage(`true`)
		return pawl.Decision{}, nil
	})
	look := hook("look", pawl.ToolBefore, pawl.MayRefuse, func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
		require.Empty(t, ev.Extra)
		return pawl.Decision{}, nil
	})
	ev := toolEvent()
	ev.Extra = map[string]json.RawMessage{}
	_, err := registry(t, pawl.Options{}, mark, look).Dispatch(t.Context(), ev)
	require.NoError(t, err)
	require.Empty(t, ev.Extra)
}

// fakeProgram is a Program of a caller's own, written in Go.
// A program whose hook waits for a person, or for its turn, runs nothing: others need not wait for it.
func TestWhatWaitsHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		person, running, most := make(chan struct{}), 0, 0
		runs := func(long time.Duration) {
			running++
			most = max(most, running)
			time.Sleep(long)
			running--
		}
		waits := pawl.GateFunc(func(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
			if cmd.Args[0] == "asked" {
				first, second := pawl.Pause(ctx, time.Hour), pawl.Pause(ctx, time.Hour)
				<-person
				first()
				second()
				second()
			}
			runs(time.Second)
			return pawl.Result{}, ctx.Err()
		})
		program := func(name, tool string) pawl.Hook {
			return pawl.Hook{Name: name, On: pawl.ToolBefore, Match: pawl.Names(tool), Effects: pawl.MayRefuse, Timeout: 10 * time.Second,
				Handler: fakeProgram{func(ctx context.Context, _ *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
					_, err := gate.Run(ctx, pawl.Command{Args: []string{tool}})
					return pawl.Decision{}, err
				}}}
		}
		r := registry(t, pawl.Options{Gate: waits, Parallel: 1}, program("a", "asked"), program("b", "other"))
		dispatch := func(tool string) pawl.Verdict {
			out, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.ToolBefore, Tool: tool})
			require.NoError(t, err)
			return out.Verdict
		}
		var all sync.WaitGroup
		all.Go(func() { require.Equal(t, pawl.Pass, dispatch("asked")) })
		synctest.Wait()
		for range 20 { // which takes longer than the hook that waits may
			require.Equal(t, pawl.Pass, dispatch("other"))
		}
		all.Go(func() { require.Equal(t, pawl.Pass, dispatch("other")) })
		synctest.Wait()
		close(person)
		all.Wait()
		require.Equal(t, 1, most, "it waits for its slot again")
		require.Equal(t, pawl.Pass, dispatch("other"), "each slot was given back")
	})
}

// Two that go on at once in one hook wait for one slot: the second has it when the first has.
func TestOneHookNeverWaitsForItsOwnSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		program := func(name, tool string, f func(ctx context.Context)) pawl.Hook {
			return pawl.Hook{Name: name, On: pawl.ToolBefore, Match: pawl.Names(tool), Effects: pawl.MayRefuse, Timeout: time.Second,
				Handler: fakeProgram{func(ctx context.Context, _ *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
					f(ctx)
					return pawl.Decision{}, nil
				}}}
		}
		r := registry(t, pawl.Options{Parallel: 1}, program("two", "two", func(ctx context.Context) {
			var both sync.WaitGroup
			first := pawl.Pause(ctx, time.Hour)
			both.Go(func() {
				<-busy
				first()
			})
			both.Go(func() {
				<-busy
				time.Sleep(time.Second / 4) // the first waits for a slot by now
				pawl.Pause(ctx, time.Hour)()
			})
			both.Wait()
		}), program("one", "one", func(context.Context) {
			close(busy)
			time.Sleep(time.Second / 2)
		}))
		began := time.Now()
		var all sync.WaitGroup
		for _, tool := range []string{"two", "one"} {
			all.Go(func() {
				out, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.ToolBefore, Tool: tool})
				require.NoError(t, err)
				require.Equal(t, pawl.Pass, out.Verdict, out.Decision().Reason)
			})
			synctest.Wait()
		}
		all.Wait()
		require.Equal(t, time.Second/2, time.Since(began))
	})
}

type fakeProgram struct{ pawl.HandlerFunc }

func (fakeProgram) Argv() []string { return []string{"x"} }
func (fakeProgram) Digest() string { return "sha256:x" }

func TestAProgramsCopyIsItsOwn(t *testing.T) {
	spoil := pawl.Hook{Name: "spoil", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Handler: fakeProgram{
		func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
			ev.Input[0], ev.Paths[0], ev.Extra["k"][0] = 'X', "X", 'X'
			return pawl.Decision{}, nil
		}}}
	rewriter := check("rewrites", pawl.ToolBefore, pawl.Decision{}, pawl.MayRewrite)
	ev := toolEvent()
	ev.Paths, ev.Extra = []string{"p"}, map[string]json.RawMessage{"k": json.RawMessage(`1`)}
	_, err := registry(t, pawl.Options{}, rewriter, spoil).Dispatch(t.Context(), ev)
	require.NoError(t, err)
	require.Equal(t, toolEvent().Input, ev.Input)
	require.Equal(t, []string{"p"}, ev.Paths)
	require.Equal(t, `1`, string(ev.Extra["k"]))
}

func TestWhatIsAskedAgainIsEncodedApart(t *testing.T) {
	type key struct{}
	var mu sync.Mutex
	told := map[string][]string{}
	telling := func(name string, may pawl.Effect, says pawl.Decision) pawl.Hook {
		h := hook(name, pawl.ToolBefore, may, func(ctx context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
			line := ev.Once(key{}, func() any { return fmt.Sprint(ev.Recheck) }).(string)
			mu.Lock()
			defer mu.Unlock()
			told[name] = append(told[name], line)
			require.Equal(t, ev.Recheck, pawl.EventFrom(ctx).Recheck)
			return says, nil
		})
		h.Concurrent = true
		return h
	}
	_, err := registry(t, pawl.Options{}, telling("check", pawl.MayRefuse, pawl.Decision{}),
		telling("rewrite", pawl.MayRewrite, pawl.Decision{Input: json.RawMessage(`{"b":2}`)}), telling("audit", 0, pawl.Decision{})).Dispatch(t.Context(), toolEvent())
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"check": {"false", "true"}, "rewrite": {"false"}, "audit": {"false"}}, told)
}

func TestTheGateIsToldOfTheEventAndNotOfAHandlersCopy(t *testing.T) {
	h := hook("h", pawl.ToolBefore, pawl.MayRefuse, func(ctx context.Context, ev *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
		ev.Agent = pawl.Agent{}
		_, err := gate.Run(ctx, pawl.Command{Args: []string{"x"}})
		return pawl.Decision{}, err
	})
	h.Timeout = time.Minute
	told := ""
	g := pawl.GateFunc(func(ctx context.Context, _ pawl.Command) (pawl.Result, error) {
		told = pawl.EventFrom(ctx).Agent.ID
		return pawl.Result{}, nil
	})
	ev := toolEvent()
	ev.Agent = pawl.Agent{ID: "sub"}
	_, err := registry(t, pawl.Options{Gate: g}, h).Dispatch(t.Context(), ev)
	require.NoError(t, err)
	require.Equal(t, "sub", told)
}

// oddContext ends the goroutine of whoever wants to hear of its end.
type oddContext struct{ context.Context }

func (oddContext) Done() <-chan struct{}        { return make(chan struct{}) }
func (oddContext) AfterFunc(func()) func() bool { runtime.Goexit(); return nil }

func TestAContextThatEndsTheGoroutineFailsTheHookOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := check("h", pawl.ToolBefore, pawl.Decision{}, pawl.MayRefuse)
		h.Timeout = time.Second
		out, err := registry(t, pawl.Options{}, h).Dispatch(oddContext{context.Background()}, toolEvent())
		require.NoError(t, err)
		require.Equal(t, pawl.Refuse, out.Verdict)
		time.Sleep(time.Minute) // its clock has nothing more to say
	})
}

func TestACancelledDispatchStartsNoProgram(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	h := hook("h", pawl.ToolBefore, pawl.MayRefuse, func(ctx context.Context, _ *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
		require.Error(t, ctx.Err())
		_, err := gate.Run(ctx, pawl.Command{Args: []string{"x"}})
		return pawl.Decision{}, err
	})
	h.Timeout = time.Minute
	opts := pawl.Options{
		Gate: pawl.GateFunc(func(context.Context, pawl.Command) (pawl.Result, error) {
			t.Error("it started")
			return pawl.Result{}, nil
		}),
		Trace: &pawl.Trace{Started: func(*pawl.Hook, *pawl.Event) { cancel() }},
	}
	out, err := registry(t, opts, h).Dispatch(ctx, toolEvent())
	require.NoError(t, err)
	require.Equal(t, pawl.CauseCancelled, out.Runs()[0].Cause)
}

func TestAProgramEndsWithTheHandlerThatStartedIt(t *testing.T) {
	ended := make(chan struct{})
	started := make(chan struct{})
	h := hook("h", pawl.ToolBefore, pawl.MayRefuse, func(ctx context.Context, _ *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
		go func() { _, _ = gate.Run(ctx, pawl.Command{Args: []string{"x"}}) }()
		<-started
		return pawl.Decision{}, nil
	})
	g := pawl.GateFunc(func(ctx context.Context, _ pawl.Command) (pawl.Result, error) {
		close(started)
		<-ctx.Done()
		close(ended)
		return pawl.Result{}, ctx.Err()
	})
	_, err := registry(t, pawl.Options{Gate: g}, h).Dispatch(t.Context(), toolEvent())
	require.NoError(t, err)
	<-ended
}

func TestNobodyWaitsForWhatIsComputedOnce(t *testing.T) {
	type outer struct{}
	type inner struct{}
	h := hook("h", pawl.ToolBefore, pawl.MayRefuse, func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
		got := ev.Once(outer{}, func() any { return ev.Once(inner{}, func() any { return "x" }) })
		require.Equal(t, "x", got)
		return pawl.Decision{}, nil
	})
	_, err := registry(t, pawl.Options{}, h).Dispatch(t.Context(), toolEvent())
	require.NoError(t, err)
}

func TestTheRecordOfAFirstAnswerNamesWhatItJudged(t *testing.T) {
	judge := check("judge", pawl.ToolBefore, pawl.Decision{}, pawl.MayRefuse)
	rewrite := check("rewrite", pawl.ToolBefore, pawl.Decision{Input: json.RawMessage(`{"b":2}`)}, pawl.MayRewrite)
	rewrite.Concurrent = true
	out, err := registry(t, pawl.Options{}, judge, rewrite).Dispatch(t.Context(), toolEvent())
	require.NoError(t, err)
	digest := func(b []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }
	runs := out.Runs()
	require.Len(t, runs, 3)
	require.Equal(t, digest(toolEvent().Input), runs[0].InputDigest)
	require.Equal(t, string(pawl.StageRecheck), runs[2].Stage)
	require.Equal(t, digest([]byte(`{"b":2}`)), runs[2].InputDigest)
}

func TestAMatcherChangesTheEventForNobody(t *testing.T) {
	spoil := matching("spoil", func(ev *pawl.Event) bool { ev.Dir = "elsewhere"; ev.Input[0] = 'X'; return true })
	look := matching("look", func(ev *pawl.Event) bool { return ev.Dir == "here" && json.Valid(ev.Input) })
	ev := toolEvent()
	ev.Dir = "here"
	out, err := registry(t, pawl.Options{}, spoil, look).Dispatch(t.Context(), ev)
	require.NoError(t, err)
	require.Len(t, out.Runs(), 2)
}

func matching(name string, f func(*pawl.Event) bool) pawl.Hook {
	h := check(name, pawl.ToolBefore, pawl.Decision{}, pawl.MayRefuse)
	h.Match = matchFunc(f)
	return h
}

type matchFunc func(*pawl.Event) bool

func (f matchFunc) Match(ev *pawl.Event) bool { return f(ev) }
func (f matchFunc) String() string            { return "a func" }

func TestAnObserverThatEndsTheGoroutineSilencesNobody(t *testing.T) {
	for _, on := range []pawl.Trigger{pawl.StreamText, pawl.TurnAfter} {
		var heard []string
		observer := func(name string, on pawl.Trigger, exit bool) pawl.Hook {
			return pawl.Hook{Name: name, On: on, Handler: pawl.Observer(func(context.Context, *pawl.Event) {
				heard = append(heard, name)
				if exit {
					runtime.Goexit()
				}
			})}
		}
		var appended [][]string
		log := pawl.LogFunc(func(_ context.Context, recs ...pawl.Record) error {
			var names []string
			for _, rec := range recs {
				if run := rec.(*pawl.Run); run.Cause == pawl.CausePanic {
					names = append(names, run.ID)
				}
			}
			appended = append(appended, names)
			return nil
		})
		r := registry(t, pawl.Options{Log: log}, observer("d", "child."+on, true), observer("a", on, true), observer("b", on, true),
			observer("c", on, false), observer("e", "child."+on, false))
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = r.Dispatch(t.Context(), &pawl.Event{Trigger: on, Agent: pawl.Agent{ID: "sub"}})
		}()
		<-gone
		require.ElementsMatch(t, []string{"a", "b", "c", "d", "e"}, heard)
		about := ":" + string(on)
		require.Equal(t, [][]string{{"hook:d" + about, "hook:a" + about, "hook:b" + about}}, appended, "at once, in the order of the configuration")
	}
}

func TestAllThatPanicsAtAQuietTriggerWaitsForTheLogOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hooks []pawl.Hook
		for _, name := range []string{"a", "b", "c"} {
			hooks = append(hooks, pawl.Hook{Name: name, On: pawl.StreamText, Handler: pawl.Observer(func(context.Context, *pawl.Event) { panic(name) })})
		}
		hangs := pawl.LogFunc(func(ctx context.Context, _ ...pawl.Record) error { <-ctx.Done(); return ctx.Err() })
		began := time.Now()
		out, err := registry(t, pawl.Options{Log: hangs}, hooks...).Dispatch(t.Context(), &pawl.Event{Trigger: pawl.StreamText})
		require.ErrorIs(t, err, pawl.ErrLog)
		require.Len(t, out.Runs(), 3)
		require.Len(t, out.Decision().Warnings, 1)
		require.Equal(t, 2*time.Second, time.Since(began))
	})
}

// A child that cannot follow its parent refuses everything, and so does what is derived from it.
func TestWhatIsDerivedFromARegistryThatRefusesRefuses(t *testing.T) {
	table := pawl.DefaultTriggers()
	table["own.moment"] = pawl.Contract{Can: pawl.MayRefuse}
	root := pawl.NewLive(registry(t, pawl.Options{Triggers: table}, refuse("guard")))
	child, err := root.With(check("own", "own.moment", pawl.Decision{}, pawl.MayRefuse))
	require.NoError(t, err)
	grandchild, err := child.With(check("more", pawl.ToolAfter, pawl.Decision{}, pawl.MayRefuse))
	require.NoError(t, err)
	require.NoError(t, root.Replace(registry(t, pawl.Options{}, refuse("guard"))))
	for _, l := range []*pawl.Live{child, grandchild, pawl.NewLive(child.Registry())} {
		out, err := l.Dispatch(t.Context(), toolEvent())
		require.Error(t, err)
		require.Equal(t, pawl.Refuse, out.Verdict)
	}
	_, err = child.Registry().With(check("late", pawl.ToolAfter, pawl.Decision{}, pawl.MayRefuse))
	require.Error(t, err)
	_, err = pawl.NewLive(child.Registry()).Add(check("late", pawl.ToolAfter, pawl.Decision{}, pawl.MayRefuse))
	require.Error(t, err)
}

// ---- stops

func TestTheStopCap(t *testing.T) {
	r := registry(t, pawl.Options{StopCap: 3}, check("s", pawl.TurnStop, pawl.Decision{Verdict: pawl.Refuse, Reason: "go on"}, pawl.MayRefuse))
	stop := func(turn string) pawl.Outcome {
		out, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.TurnStop, Turn: turn, StopActive: true})
		require.NoError(t, err)
		return out
	}
	for range 3 {
		require.Equal(t, pawl.Refuse, stop("t1").Verdict)
	}
	over := stop("t1")
	require.Equal(t, pawl.Pass, over.Verdict)
	require.Len(t, over.Decision().Warnings, 1)
	require.True(t, over.Runs()[0].PassedOpen)
	require.False(t, over.Runs()[0].Refused)
	require.Equal(t, pawl.Refuse, stop("t2").Verdict, "a new turn counts anew")
}

// ---- allow

func TestAllowAnswersOnlyWhatThePolicyLeftOpen(t *testing.T) {
	allow := check("a", pawl.ToolApproval, pawl.Decision{Verdict: pawl.Allow}, pawl.MayAllow)
	broken := pawl.Hook{Name: "b", On: pawl.ToolApproval, Effects: pawl.MayRefuse, FailOpen: true, Handler: failing[pawl.CauseError]}
	deny := check("d", pawl.ToolApproval, pawl.Decision{Verdict: pawl.Refuse}, pawl.MayRefuse)
	for _, c := range []struct {
		name  string
		hooks []pawl.Hook
		ev    pawl.Event
		want  pawl.Verdict
	}{
		{"alone", []pawl.Hook{allow}, pawl.Event{}, pawl.Allow},
		{"a hook asked at tool.before", []pawl.Hook{allow}, pawl.Event{Verdict: pawl.Ask}, pawl.Pass},
		{"beside a check that did not happen", []pawl.Hook{allow, broken}, pawl.Event{}, pawl.Pass},
		{"beside a refusal", []pawl.Hook{allow, deny}, pawl.Event{}, pawl.Refuse},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.ev.Trigger, c.ev.Tool = pawl.ToolApproval, "Bash"
			out, err := registry(t, pawl.Options{}, c.hooks...).Dispatch(t.Context(), &c.ev)
			require.NoError(t, err)
			require.Equal(t, c.want, out.Verdict)
		})
	}
	_, err := registry(t, pawl.Options{}).With(allow)
	require.ErrorIs(t, err, pawl.ErrWiden)
}

// ---- sub-agents

func TestSubAgentsAreCovered(t *testing.T) {
	var heard []string
	listen := func(name string, on pawl.Trigger) pawl.Hook {
		return pawl.Hook{Name: name, On: on, Handler: pawl.Observer(func(_ context.Context, ev *pawl.Event) {
			heard = append(heard, fmt.Sprintf("%s:%s:%s:%d", name, ev.Trigger, ev.Agent.ID, ev.Agent.Depth))
		})}
	}
	r := registry(t, pawl.Options{}, refuse("guard"), listen("plain", pawl.TurnAfter), listen("child", "child.turn.after"),
		listen("text", "child.stream.text"), listen("bg", "background.*"), listen("child-bg", "child.background.*"), listen("spawn", "child.spawn.before"))
	child := pawl.Agent{ID: "a1", Type: "coder", Depth: 2}
	ev := toolEvent()
	ev.Agent = child
	out, err := r.Dispatch(t.Context(), ev)
	require.NoError(t, err)
	require.Equal(t, pawl.Refuse, out.Verdict)
	for _, on := range []pawl.Trigger{pawl.TurnAfter, pawl.StreamText, "background.done", pawl.SpawnBefore} {
		for _, agent := range []pawl.Agent{{}, child} {
			_, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: on, Agent: agent})
			require.NoError(t, err)
		}
	}
	require.Equal(t, []string{"plain:turn.after::0", "plain:turn.after:a1:2", "child:child.turn.after:a1:2", "text:child.stream.text:a1:2",
		"bg:background.done::0", "bg:background.done:a1:2", "child-bg:child.background.done:a1:2", "spawn:child.spawn.before:a1:2"}, heard)
	_, err = pawl.New(pawl.Options{}, listen("gate", "child.tool.before"))
	require.ErrorContains(t, err, "unknown trigger", "only what bubbles is heard by a child's name")
}

// ---- loud at load

func TestEveryFaultAtOnce(t *testing.T) {
	bad, err := pawl.Regexp(`Bash(git push*)`)
	require.NoError(t, err)
	at := pawl.Origin{Layer: "project", File: "hooks.toml", Line: 3, Column: 5}
	faults := []struct {
		hook pawl.Hook
		want string
	}{
		{pawl.Hook{Name: "Bad_Name", On: pawl.ToolBefore, Handler: failing["error"]}, `"Bad_Name" is not a name`},
		{pawl.Hook{Name: "twice", On: pawl.ToolBefore, Handler: failing["error"]}, ""},
		{pawl.Hook{Name: "twice", On: pawl.ToolBefore, Handler: failing["error"]}, "the name is taken by the hook at project:hooks.toml:3:5"},
		{pawl.Hook{Name: "typo", On: "tool.befor", Handler: failing["error"]}, `did you mean "tool.before"?`},
		{pawl.Hook{Name: "none", On: pawl.ToolBefore}, "no handler"},
		{pawl.Hook{Name: "nil-func", On: pawl.ToolBefore, Handler: pawl.HandlerFunc(nil)}, "no handler"},
		{pawl.Hook{Name: "nil-watch", On: pawl.ToolBefore, Handler: pawl.Observer(nil)}, "no handler"},
		{pawl.Hook{Name: "dot", On: "background.", Handler: failing["error"]}, "is not a trigger's name"},
		{pawl.Hook{Name: "mute", On: pawl.ToolBefore, Match: speechless{}, Handler: failing["error"]}, "its matcher panicked"},
		{pawl.Hook{Name: "late", On: pawl.ToolAfter, Effects: pawl.MayAsk, Handler: failing["error"]}, "tool.after cannot ask"},
		{pawl.Hook{Name: "past", On: pawl.ToolAfter, Timeout: -1, Handler: failing["error"]}, "negative"},
		{pawl.Hook{Name: "watcher", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Handler: pawl.Observer(func(context.Context, *pawl.Event) {})}, "an observer cannot decide"},
		{pawl.Hook{Name: "rule", On: pawl.ToolBefore, Match: bad, Handler: failing["error"]}, "can never match a tool name"}, // M03
		{pawl.Hook{Name: "no-names", On: pawl.ToolBefore, Match: pawl.Names(), Handler: failing["error"]}, "never matches"},
		{pawl.Hook{Name: "nothing", On: pawl.TurnStop, Match: pawl.Names("Bash"), Handler: failing["error"]}, "no name to match"},
		{pawl.Hook{Name: "glob", On: pawl.ToolBefore, Match: pawl.All(pawl.Paths("[")), Handler: failing["error"]}, "glob"},
	}
	var hooks []pawl.Hook
	for _, f := range faults {
		f.hook.Origin = at
		hooks = append(hooks, f.hook)
	}
	r, err := pawl.New(pawl.Options{}, hooks...)
	require.Nil(t, r)
	for _, f := range faults {
		require.ErrorContains(t, err, f.want)
	}
	require.Equal(t, len(faults)-1, strings.Count(err.Error(), "project:hooks.toml:3:5: hook"))
	registry(t, pawl.Options{}, pawl.Hook{Name: "group", On: pawl.ToolBefore, Match: names(t, "mcp__fs__(.*)"), Handler: failing["error"]})
	_, err = pawl.Regexp(`^(?!Read$).*`) // M05
	require.ErrorContains(t, err, "lookaround is not supported")
}

func TestContractsThatContradict(t *testing.T) {
	for want, table := range map[string]map[pawl.Trigger]pawl.Contract{
		"quiet":            {"x": {Can: pawl.MayRefuse, Quiet: true}},
		"tool.approval":    {"x": {Can: pawl.MayAllow}},
		"RefusalContinues": {"x": {RefusalContinues: true}},
		"lowercase":        {"X Y": {}},
		"child.":           {"child.x": {}},
	} {
		_, err := pawl.New(pawl.Options{Triggers: table})
		require.ErrorContains(t, err, want)
	}
}

func TestACustomTriggerIsARow(t *testing.T) {
	table := pawl.DefaultTriggers()
	table["deploy.before"] = pawl.Contract{Can: pawl.MayRefuse, Subject: pawl.AboutSource}
	h := check("d", "deploy.before", pawl.Decision{Verdict: pawl.Refuse}, pawl.MayRefuse)
	h.Match = pawl.Names("production")
	r := registry(t, pawl.Options{Triggers: table}, h)
	out, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: "deploy.before", Source: "production"})
	require.NoError(t, err)
	require.Equal(t, pawl.Refuse, out.Verdict)
	require.Equal(t, "hook d: refused", out.Decision().Reason, "a blank reason gets a stock text")
	out, err = r.Dispatch(t.Context(), &pawl.Event{Trigger: "deploy.after"})
	require.ErrorIs(t, err, pawl.ErrTrigger)
	require.Equal(t, pawl.Refuse, out.Verdict)
	out, err = r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.ToolBefore})
	require.ErrorIs(t, err, pawl.ErrTrigger)
	require.Equal(t, pawl.Refuse, out.Verdict)
}

// ---- the ten properties, over registries made at random

// spec is a hook made at random. What it does is a function of its name and of the event it is shown, so
// that the same event always gets the same answer.
type spec struct {
	Name                 string
	May                  pawl.Effect
	Open, Shadow, Beside bool
	Match                int
	Timed, Program       bool
	Delay                time.Duration
	Echo                 bool // notes repeat the event
	Sound                bool // never fails
}

// sight is what one call of a handler was shown, and what it answered.
type sight struct {
	name     string
	ev       pawl.Event
	decision pawl.Decision
}

type sights struct {
	mu   sync.Mutex
	list []sight
}

func (s *sights) add(x sight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, x)
}

func (s *sights) last(name string) (last *sight) {
	for i := range s.list {
		if s.list[i].name == name {
			last = &s.list[i]
		}
	}
	return last
}

// readsInput matches by what the event holds, so that a rewrite may change its mind.
type readsInput struct{ want string }

func (m readsInput) Match(ev *pawl.Event) bool { return strings.Contains(string(ev.Input), m.want) }
func (m readsInput) String() string            { return "reads " + m.want }

// anyProgram is a program for dispatch: it is bounded, and takes a slot.
type anyProgram struct{ pawl.HandlerFunc }

func (anyProgram) Argv() []string { return []string{"x"} }
func (anyProgram) Digest() string { return "sha256:x" }

func specs(on pawl.Trigger, can pawl.Effect, least, most int) *rapid.Generator[[]spec] {
	one := rapid.Custom(func(t *rapid.T) spec {
		return spec{
			May:  pawl.Effect(rapid.Uint8().Draw(t, "may")) & can,
			Open: rapid.Bool().Draw(t, "open"), Shadow: rapid.IntRange(0, 4).Draw(t, "shadow") == 0,
			Beside: rapid.Bool().Draw(t, "beside"), Match: rapid.IntRange(0, 4).Draw(t, "match"),
			Timed: rapid.Bool().Draw(t, "timed"), Program: rapid.Bool().Draw(t, "program"),
			Delay: time.Duration(rapid.IntRange(0, 900).Draw(t, "delay")) * time.Millisecond,
		}
	})
	return rapid.Custom(func(t *rapid.T) []spec {
		list := rapid.SliceOfN(one, least, most).Draw(t, "specs")
		for i := range list {
			list[i].Name = fmt.Sprintf("h%d-%d", i, rapid.IntRange(0, 1000).Draw(t, "n"))
		}
		return list
	})
}

func (s spec) hook(on pawl.Trigger, seen *sights) pawl.Hook {
	f := pawl.HandlerFunc(func(ctx context.Context, ev *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
		if s.Delay > 0 && (s.Timed || s.Program) {
			time.Sleep(s.Delay)
		}
		d, err := s.answer(ev)
		seen.add(sight{s.Name, *ev, d})
		if err == errPanic {
			panic(err)
		}
		return d, err
	})
	h := pawl.Hook{Name: s.Name, On: on, Effects: s.May, FailOpen: s.Open, Shadow: s.Shadow, Concurrent: s.Beside, Handler: f, Match: s.matcher()}
	if pawl.DefaultTriggers()[on].Subject == pawl.AboutNothing && (s.Match == 1 || s.Match == 2) {
		h.Match = nil
	}
	if s.Timed {
		h.Timeout = time.Second
	}
	if s.Program {
		h.Handler = anyProgram{f}
	}
	return h
}

func (s spec) matcher() pawl.Matcher {
	switch s.Match {
	case 1:
		return pawl.Names("Bash", "Other")
	case 2:
		return pawl.All(pawl.Names("Alias"), pawl.Agents("main"))
	case 3:
		return readsInput{"a"}
	case 4:
		return readsInput{"h1"}
	}
	return nil
}

var errPanic = errors.New("panic")

// answer is the hook's opinion of an event.
func (s spec) answer(ev *pawl.Event) (d pawl.Decision, err error) {
	h := fnv.New32a()
	fmt.Fprint(h, s.Name, string(ev.Input), string(ev.Output))
	n := int(h.Sum32())
	pick := func(of int) int { n = n*1103515245 + 12345; return (n >> 8 & 0xffff) % of }
	for _, v := range []pawl.Verdict{pawl.Ask, pawl.Refuse, pawl.Halt} {
		if pick(6) == 0 {
			d.Verdict, d.Reason = v, s.Name+" says "+v.String()
		}
	}
	if d.Effects()&^s.May != 0 && pick(8) != 0 {
		d = pawl.Decision{} // mostly it keeps to its effects
	}
	if s.May&pawl.MayNote != 0 && pick(2) == 0 {
		d.Notes = []string{"note of " + s.Name}
		if s.Echo {
			d.Notes[0] += string(ev.Output)
		}
	}
	if s.May&pawl.MayRewrite != 0 {
		switch pick(4) {
		case 0:
			d.Input = json.RawMessage(fmt.Sprintf(`{"by":%q}`, s.Name))
		case 1:
			if !strings.Contains(string(ev.Input), s.Name) { // one that is content with its own work
				d.Input, _ = json.Marshal(map[string]string{"was": string(ev.Input), "by": s.Name})
			}
		}
	}
	if s.May&pawl.MayReplace != 0 {
		switch pick(4) {
		case 0:
			d.Output = json.RawMessage(fmt.Sprintf(`"out of %s"`, s.Name))
		case 1:
			d.Output, _ = json.Marshal(s.Name + " of " + string(ev.Output))
		}
	}
	if s.Sound {
		return d, nil
	}
	switch pick(12) {
	case 0:
		err = errors.New("broken")
	case 1:
		err = errPanic
	}
	return d, err
}

func hooksOf(list []spec, on pawl.Trigger, seen *sights) []pawl.Hook {
	hooks := make([]pawl.Hook, len(list))
	for i, s := range list {
		hooks[i] = s.hook(on, seen)
	}
	return hooks
}

var fixedNow = func() time.Time { return time.Unix(1e9, 0) }

func canAt(on pawl.Trigger) pawl.Effect { return pawl.DefaultTriggers()[on].Can }

func randomEvent(t *rapid.T, on pawl.Trigger) *pawl.Event {
	return &pawl.Event{
		Trigger: on, Session: "s", Call: "c", Tool: rapid.SampledFrom([]string{"Bash", "Other", "Third"}).Draw(t, "tool"),
		Aliases: rapid.SampledFrom([][]string{nil, {"Alias"}, {"Alias", "Other"}}).Draw(t, "aliases"),
		Agent:   rapid.SampledFrom([]pawl.Agent{{}, {ID: "a", Type: "t", Depth: 1}}).Draw(t, "agent"),
		Input:   json.RawMessage(fmt.Sprintf(`{"n":%d}`, rapid.IntRange(0, 50).Draw(t, "n"))),
		Output:  json.RawMessage(fmt.Sprintf(`"result %d"`, rapid.IntRange(0, 50).Draw(t, "o"))),
	}
}

// inBubble checks a property with time that costs nothing.
func inBubble(t *testing.T, property func(*testing.T, *rapid.T)) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) { property(t, rt) })
	})
}

func strictness(v pawl.Verdict) int {
	return map[pawl.Verdict]int{pawl.Allow: 0, pawl.Pass: 1, pawl.Ask: 2, pawl.Refuse: 3, pawl.Halt: 4}[v]
}

// judging reports whether what the hook last saw, or that with its own change, is the event.
func (s *sight) judged(final *pawl.Event, outputs bool) bool {
	same := func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
	in := same(s.ev.Input, final.Input) || s.decision.Input != nil && same(s.decision.Input, final.Input)
	out := same(s.ev.Output, final.Output) || s.decision.Output != nil && same(s.decision.Output, final.Output)
	return in && (out || !outputs)
}

// Property 1, first half: where the event ends the same, one more hook never makes the outcome laxer. What
// R's hooks say must be about the final event for that: they judge, or they rewrite in turn without failing;
// one that does both, or sees an event that does not last, is property 2's. The hook that is added may do
// anything but allow.
func TestNarrow(t *testing.T) {
	for _, on := range []pawl.Trigger{pawl.ToolBefore, pawl.ToolAfter, pawl.ToolApproval, pawl.TurnStop} {
		t.Run(string(on), func(t *testing.T) {
			inBubble(t, func(t *testing.T, rt *rapid.T) {
				can := canAt(on) &^ pawl.MayAllow
				list := specs(on, can, 0, 5).Draw(rt, "hooks")
				for i := range list {
					const changes = pawl.MayRewrite | pawl.MayReplace
					list[i].Beside = false
					if list[i].Sound = rapid.Bool().Draw(rt, "rewriter"); list[i].Sound {
						list[i].May &= changes
					} else {
						list[i].May &^= changes
					}
				}
				more := specs(on, can, 1, 1).Draw(rt, "more")
				more[0].Name = "more"
				ev := randomEvent(rt, on)
				place := rapid.IntRange(0, len(list)).Draw(rt, "place")
				a, before := finalOf(t, list, ev)
				b, after := finalOf(t, slices.Insert(slices.Clone(list), place, more[0]), ev)
				if a == b {
					require.GreaterOrEqual(t, strictness(after), strictness(before))
				}
			})
		})
	}
}

// finalOf dispatches ev and returns the event that an observer saw last, and the verdict.
func finalOf(t *testing.T, list []spec, ev *pawl.Event) (final string, v pawl.Verdict) {
	watch := pawl.Hook{Name: "watch", On: ev.Trigger, Handler: pawl.Observer(func(_ context.Context, ev *pawl.Event) {
		final = fmt.Sprintf("%s %s", ev.Input, ev.Output)
	})}
	out, err := registry(t, pawl.Options{}, append(hooksOf(list, ev.Trigger, &sights{}), watch)...).Dispatch(t.Context(), ev)
	require.NoError(t, err)
	return final, out.Verdict
}

// Property 2, and the second half of 1: every check has judged the final event.
func TestJudgedLast(t *testing.T) {
	for _, on := range []pawl.Trigger{pawl.ToolBefore, pawl.ToolAfter} {
		t.Run(string(on), func(t *testing.T) {
			inBubble(t, func(t *testing.T, rt *rapid.T) {
				list := specs(on, canAt(on), 1, 6).Draw(rt, "hooks")
				ev := randomEvent(rt, on)
				var seen sights
				out, err := registry(t, pawl.Options{}, hooksOf(list, on, &seen)...).Dispatch(t.Context(), ev)
				require.NoError(t, err)
				failed := map[string]bool{}
				for _, run := range out.Runs() {
					failed[run.Name] = failed[run.Name] || run.Cause != ""
				}
				for _, s := range list {
					judges := s.May&(pawl.MayRefuse|pawl.MayHalt|pawl.MayAsk) != 0
					if s.Shadow || !judges || failed[s.Name] || !matches(s, out.Event()) {
						continue
					}
					last := seen.last(s.Name)
					require.NotNil(t, last, "%s never ran", s.Name)
					require.True(t, last.judged(out.Event(), out.Verdict < pawl.Refuse), "%s judged %s and %s, not %s and %s", s.Name,
						last.ev.Input, last.ev.Output, out.Event().Input, out.Event().Output)
				}
			})
		})
	}
}

// matches asks the matcher of a spec as the planner would.
func matches(s spec, ev *pawl.Event) bool { return s.matcher() == nil || s.matcher().Match(ev) }

// Property 3: what a hook said and was entitled to say stays said, whatever became of the hook.
func TestSaidStaysSaid(t *testing.T) {
	for _, on := range []pawl.Trigger{pawl.ToolBefore, pawl.PromptSubmit, pawl.CompactAfter} {
		t.Run(string(on), func(t *testing.T) {
			inBubble(t, func(t *testing.T, rt *rapid.T) {
				list := specs(on, canAt(on), 1, 6).Draw(rt, "hooks")
				var seen sights
				out, err := registry(t, pawl.Options{}, hooksOf(list, on, &seen)...).Dispatch(t.Context(), randomEvent(rt, on))
				require.NoError(t, err)
				for _, s := range list {
					for _, x := range seen.list {
						if x.name == s.Name && !s.Shadow && x.decision.Verdict >= pawl.Ask && verdictEffect(x.decision.Verdict)&^s.May == 0 &&
							!panicked(out.Runs(), s.Name) {
							require.GreaterOrEqual(t, out.Verdict, x.decision.Verdict, "%s", s.Name)
						}
					}
				}
			})
		})
	}
}

func panicked(runs []pawl.Run, name string) bool { // what panics returns no decision
	return slices.ContainsFunc(runs, func(r pawl.Run) bool { return r.Name == name && r.Cause == pawl.CausePanic })
}

func verdictEffect(v pawl.Verdict) pawl.Effect {
	return pawl.Decision{Verdict: v}.Effects()
}

// Property 4: the same outcome and the same records under every schedule and any number of slots.
func TestOrderIsConfigurationOrder(t *testing.T) {
	on := pawl.ToolBefore
	inBubble(t, func(t *testing.T, rt *rapid.T) {
		list := specs(on, canAt(on), 2, 6).Draw(rt, "hooks")
		ev := randomEvent(rt, on)
		var want string
		for range 3 {
			var log bytes.Buffer
			opts := pawl.Options{Log: pawl.JSONLog(&log), Now: fixedNow, Parallel: rapid.IntRange(1, 4).Draw(rt, "parallel")}
			out, err := registry(t, opts, hooksOf(list, on, &sights{})...).Dispatch(t.Context(), ev)
			require.NoError(t, err)
			d, _ := json.Marshal(out.Decision())
			got := fmt.Sprintf("%s\n%s\n%s\n%s", out.Verdict, d, out.Event().Input, elapsed.ReplaceAllString(log.String(), ""))
			require.Equal(t, cmp.Or(want, got), got)
			want = got
			for i := range list {
				list[i].Delay = time.Duration(rapid.IntRange(0, 900).Draw(rt, "delay")) * time.Millisecond
			}
		}
	})
}

var elapsed = regexp.MustCompile(`,"elapsed_ms":[0-9.]+`)

func TestATieWithTheDeadlineHasOneCause(t *testing.T) {
	for _, c := range []struct {
		took time.Duration
		want pawl.Cause
	}{{time.Second, pawl.CauseTimeout}, {3 * time.Second, pawl.CauseAbandoned}} {
		for range 1000 {
			synctest.Test(t, func(t *testing.T) {
				h := hook("h", pawl.ToolBefore, pawl.MayRefuse, func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
					time.Sleep(c.took)
					return pawl.Decision{}, nil
				})
				h.Timeout = time.Second
				out, _ := registry(t, pawl.Options{}, h).Dispatch(t.Context(), toolEvent())
				require.Equal(t, c.want, out.Runs()[0].Cause)
			})
		}
	}
}

// Property 5: every start leaves exactly one record, and no program starts after its run's record.
func TestOneRecord(t *testing.T) {
	on := pawl.ToolBefore
	inBubble(t, func(t *testing.T, rt *rapid.T) {
		defer time.Sleep(2 * time.Hour)
		list := specs(on, canAt(on), 1, 5).Draw(rt, "hooks")
		var starts atomic.Int64
		var closed atomic.Bool
		gate := pawl.GateFunc(func(context.Context, pawl.Command) (pawl.Result, error) {
			require.False(t, closed.Load(), "a program started after the records")
			return pawl.Result{}, nil
		})
		hooks := hooksOf(list, on, &sights{})
		mischief := rapid.SliceOfN(rapid.SampledFrom([]string{"", "goexit", "hang", "late"}), len(hooks), len(hooks)).Draw(rt, "mischief")
		for i := range hooks {
			inner, what := hooks[i].Handler, mischief[i]
			hooks[i].Timeout = time.Second // a Goexit or a hang in the caller's goroutine is the caller's
			hooks[i].Handler = pawl.HandlerFunc(func(ctx context.Context, ev *pawl.Event, g pawl.Gate) (pawl.Decision, error) {
				starts.Add(1)
				switch what {
				case "goexit":
					runtime.Goexit()
				case "hang":
					time.Sleep(time.Minute)
					_, err := g.Run(ctx, pawl.Command{Args: []string{"x"}})
					require.ErrorIs(t, err, pawl.ErrClosed)
				case "late":
					go func() {
						time.Sleep(time.Minute)
						_, err := g.Run(ctx, pawl.Command{Args: []string{"x"}})
						require.ErrorIs(t, err, pawl.ErrClosed)
					}()
				}
				_, _ = g.Run(ctx, pawl.Command{Args: []string{"x"}})
				return inner.Handle(ctx, ev, g)
			})
		}
		var log bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if rapid.Bool().Draw(rt, "cancel") {
			time.AfterFunc(500*time.Millisecond, cancel)
		}
		out, err := registry(t, pawl.Options{Gate: gate, Log: pawl.JSONLog(&log)}, hooks...).Dispatch(ctx, randomEvent(rt, on))
		closed.Store(true)
		require.NoError(t, err)
		ran := 0
		for _, run := range out.Runs() {
			if run.Outcome == pawl.Ran {
				ran++
			}
		}
		require.EqualValues(t, starts.Load(), ran)
		require.Equal(t, len(out.Runs()), strings.Count(log.String(), "\n"))
	})
}

// Property 6: after a refusal at tool.after no byte of the result is in the outcome.
func TestRefusedIsNotDelivered(t *testing.T) {
	on := pawl.ToolAfter
	refusals := 0
	inBubble(t, func(t *testing.T, rt *rapid.T) {
		list := specs(on, canAt(on), 1, 6).Draw(rt, "hooks")
		for i := range list {
			list[i].Echo = list[i].May == pawl.MayNote
		}
		ev := randomEvent(rt, on)
		ev.Output = json.RawMessage(`"SECRET of the result"`)
		ev.Payload = "SECRET too"
		out, err := registry(t, pawl.Options{}, hooksOf(list, on, &sights{})...).Dispatch(t.Context(), ev)
		require.NoError(t, err)
		if out.Verdict >= pawl.Refuse {
			refusals++
			dump := fmt.Sprintf("%+v %+v %s", out.Decision(), out.Event(), out.Event().Output)
			require.NotContains(t, dump, "SECRET")
			require.Nil(t, out.Event().Output)
			require.Nil(t, out.Decision().Output)
		}
	})
	require.NotZero(t, refusals, "the property was never put to the test")
}

// Property 7: a shadow changes nothing but its own records.
func TestShadowIsInvisible(t *testing.T) {
	on := pawl.ToolBefore
	inBubble(t, func(t *testing.T, rt *rapid.T) {
		list := specs(on, canAt(on), 0, 4).Draw(rt, "hooks")
		shadows := specs(on, canAt(on), 1, 3).Draw(rt, "shadows")
		for i := range list {
			list[i].Shadow = false
		}
		both := slices.Clone(list)
		for i, s := range shadows {
			s.Shadow, s.Name = true, fmt.Sprintf("shadow-%d", i)
			both = slices.Insert(both, rapid.IntRange(0, len(both)).Draw(rt, "place"), s)
		}
		ev := randomEvent(rt, on)
		show := func(list []spec) string {
			out, err := registry(t, pawl.Options{Now: fixedNow}, hooksOf(list, on, &sights{})...).Dispatch(t.Context(), ev)
			require.NoError(t, err)
			s := fmt.Sprintf("%v %q %q %s %s\n", out.Verdict, out.Decision().Reason, out.Decision().Notes, out.Event().Input, out.Event().Output)
			for _, run := range out.Runs() {
				if !run.Shadow {
					run.ConfigDigest, run.Elapsed = "", 0
					s += string(run.AppendJSON(nil)) + "\n"
				}
			}
			return s
		}
		require.Equal(t, show(list), show(both))
	})
}

// Property 8: what Explain says is what Dispatch does, with the memo cold and warm.
func TestExplainIsDispatch(t *testing.T) {
	on := pawl.ToolBefore
	inBubble(t, func(t *testing.T, rt *rapid.T) {
		list := specs(on, canAt(on), 1, 6).Draw(rt, "hooks")
		r := registry(t, pawl.Options{}, hooksOf(list, on, &sights{})...)
		for range 2 {
			ev := randomEvent(rt, on)
			cold := rapid.Bool().Draw(rt, "cold")
			var said []pawl.Explanation
			if cold {
				said = r.Explain(t.Context(), ev)
			}
			out, err := r.Dispatch(t.Context(), ev)
			require.NoError(t, err)
			if !cold {
				said = r.Explain(t.Context(), ev)
			}
			ran := map[string]bool{}
			for _, run := range out.Runs() {
				ran[run.Name] = true
			}
			for i, e := range said {
				require.Equal(t, list[i].Name, e.Hook.Name)
				switch e.Fires {
				case pawl.FiresYes:
					require.True(t, ran[e.Hook.Name], "%s was to run", e.Hook.Name)
				case pawl.FiresNo:
					require.False(t, ran[e.Hook.Name], "%s was not to run: %s", e.Hook.Name, e.Why)
					require.NotEmpty(t, e.Why)
				}
			}
		}
	})
}

// Property 9: Dispatch returns in time whatever handlers, gate and log do, and leaves nothing behind but
// what its records call abandoned.
func TestDispatchReturns(t *testing.T) {
	hostile := map[string]pawl.HandlerFunc{
		"deaf": failing[pawl.CauseAbandoned],
		"late": func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
			time.Sleep(1500 * time.Millisecond)
			return pawl.Decision{}, nil
		},
		"polite": failing[pawl.CauseTimeout],
		"panics": failing[pawl.CausePanic],
		"exits":  failing["goexit"],
		"gated": func(ctx context.Context, _ *pawl.Event, g pawl.Gate) (pawl.Decision, error) {
			_, err := g.Run(ctx, pawl.Command{})
			return pawl.Decision{}, err
		},
		"instant": func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) { return pawl.Decision{}, nil },
	}
	names := []string{"deaf", "late", "polite", "panics", "exits", "gated", "instant"}
	inBubble(t, func(t *testing.T, rt *rapid.T) {
		defer time.Sleep(3 * time.Hour)
		picks := rapid.SliceOfN(rapid.SampledFrom(names), 1, 8).Draw(rt, "handlers")
		var hooks []pawl.Hook
		serial := 0
		for i, p := range picks {
			h := hook(fmt.Sprintf("%s-%d", p, i), pawl.ToolBefore, pawl.MayRefuse, hostile[p])
			if rapid.Bool().Draw(rt, "serial") {
				h.Effects |= pawl.MayRewrite
				serial++
			}
			h.Timeout = time.Second
			hooks = append(hooks, h)
		}
		hang := rapid.Bool().Draw(rt, "log hangs")
		gate := pawl.GateFunc(func(context.Context, pawl.Command) (pawl.Result, error) {
			time.Sleep(time.Hour)
			return pawl.Result{}, nil
		})
		log := pawl.LogFunc(func(context.Context, ...pawl.Record) error {
			if hang {
				time.Sleep(time.Hour)
			}
			return nil
		})
		before := inThisBubble()
		began := time.Now()
		out, _ := registry(t, pawl.Options{Gate: gate, Log: log}, hooks...).Dispatch(t.Context(), toolEvent())
		const span = 3 * time.Second
		require.LessOrEqual(t, time.Since(began), time.Duration(serial+1)*span+2*time.Second)
		synctest.Wait()
		abandoned := 0
		for _, run := range out.Runs() {
			if run.Cause == pawl.CauseAbandoned {
				abandoned++
			}
		}
		if hang {
			abandoned++
		}
		require.Equal(t, before+abandoned, inThisBubble())
	})
}

// inThisBubble counts the goroutines of the synctest bubble that asks.
func inThisBubble() int {
	own := string(bubble.Find(stack(false)))
	return strings.Count(string(stack(true)), own+"]") + strings.Count(string(stack(true)), own+",")
}

func stack(all bool) []byte {
	buf := make([]byte, 1<<20)
	return buf[:runtime.Stack(buf, all)]
}

var bubble = regexp.MustCompile(`synctest bubble \d+`)

// Property 10: a Live is always the base and the additions not undone, in order, and a child never less.
func TestLive(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := func(l *pawl.Live) (list []string) {
			for h := range l.Registry().Hooks() {
				list = append(list, h.Name)
			}
			return list
		}
		base := []string{"base"}
		root := pawl.NewLive(registry(t, pawl.Options{}, refuse("base")))
		child, err := root.With(refuse("kid"))
		require.NoError(t, err)
		type added struct {
			name string
			undo func()
		}
		var rootAdds, childAdds []added
		next := 0
		want := func(adds []added) (list []string) {
			for _, a := range adds {
				list = append(list, a.name)
			}
			return list
		}
		for range rapid.IntRange(1, 15).Draw(rt, "steps") {
			switch rapid.IntRange(0, 4).Draw(rt, "step") {
			case 0, 1:
				l, adds := root, &rootAdds
				if rapid.Bool().Draw(rt, "child") {
					l, adds = child, &childAdds
				}
				next++
				name := fmt.Sprintf("add-%d", next)
				undo, err := l.Add(refuse(name))
				require.NoError(t, err)
				*adds = append(*adds, added{name, undo})
			case 2:
				adds := &rootAdds
				if rapid.Bool().Draw(rt, "child") {
					adds = &childAdds
				}
				if len(*adds) > 0 {
					i := rapid.IntRange(0, len(*adds)-1).Draw(rt, "which")
					(*adds)[i].undo()
					(*adds)[i].undo()
					*adds = slices.Delete(*adds, i, i+1)
				}
			case 3:
				next++
				base = []string{fmt.Sprintf("base-%d", next)}
				require.NoError(t, root.Replace(registry(t, pawl.Options{}, refuse(base[0]))))
			case 4:
				_, err := root.Add(check("w", pawl.ToolApproval, pawl.Decision{}, pawl.MayAllow), refuse(base[0]))
				require.Error(t, err, "a name that is taken")
				_, err = child.Add(check("w", pawl.ToolApproval, pawl.Decision{}, pawl.MayAllow))
				require.ErrorIs(t, err, pawl.ErrWiden)
			}
			parent := append(slices.Clone(base), want(rootAdds)...)
			require.Equal(t, parent, names(root))
			require.Equal(t, append(append(parent, "kid"), want(childAdds)...), names(child))
		}
	})
}

func TestLiveUnderConcurrentChange(t *testing.T) {
	root := pawl.NewLive(registry(t, pawl.Options{}, refuse("base")))
	child, err := root.With(check("n", pawl.ToolBefore, pawl.Decision{Notes: []string{"kid"}}, pawl.MayNote))
	require.NoError(t, err)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 200 {
				undo, err := root.Add(check(fmt.Sprintf("add-%d-%d", w, i), pawl.ToolBefore, pawl.Decision{}, pawl.MayRefuse))
				require.NoError(t, err)
				out, err := child.Dispatch(t.Context(), toolEvent())
				require.NoError(t, err)
				require.Equal(t, pawl.Refuse, out.Verdict, "the parent's refusal holds in the child")
				require.Equal(t, []string{"kid"}, out.Decision().Notes)
				undo()
			}
		})
	}
	wg.Wait()
	var names []string
	for h := range child.Registry().Hooks() {
		names = append(names, h.Name)
	}
	require.Equal(t, []string{"base", "n"}, names)
}

func TestAChildKeepsBothOfAName(t *testing.T) {
	root := pawl.NewLive(registry(t, pawl.Options{}))
	child, err := root.With(refuse("same"))
	require.NoError(t, err)
	_, err = root.Add(check("same", pawl.ToolBefore, pawl.Decision{Notes: []string{"n"}}, pawl.MayNote))
	require.NoError(t, err)
	out, err := child.Dispatch(t.Context(), toolEvent())
	require.NoError(t, err)
	require.Equal(t, []string{"same-2", "same"}, []string{out.Runs()[0].Name, out.Runs()[1].Name})
	require.ErrorIs(t, child.Replace(root.Registry()), pawl.ErrWiden)
}

func TestAChildThatCannotFollowRefuses(t *testing.T) {
	root := pawl.NewLive(registry(t, pawl.Options{}))
	child, err := root.With(refuse("guard"))
	require.NoError(t, err)
	require.NoError(t, root.Replace(registry(t, pawl.Options{Triggers: map[pawl.Trigger]pawl.Contract{"other": {}}})))
	out, err := child.Dispatch(t.Context(), toolEvent())
	require.ErrorContains(t, err, "unknown trigger")
	require.Equal(t, pawl.Refuse, out.Verdict)
}

// ---- matching

func names(t testing.TB, expr string) pawl.Matcher {
	m, err := pawl.Regexp(expr)
	require.NoError(t, err)
	return m
}

func TestMatchers(t *testing.T) {
	rule := func(r string) pawl.Matcher {
		m, err := pawl.Args(r)
		require.NoError(t, err)
		return m
	}
	bash := func(line string) pawl.Event {
		in, _ := json.Marshal(map[string]string{"command": line})
		return pawl.Event{Tool: "Bash", Input: in}
	}
	edit := func(file string) pawl.Event {
		return pawl.Event{Tool: "Edit", Dir: "/w", Input: json.RawMessage(fmt.Sprintf(`{"file_path":%q}`, file))}
	}
	touches := func(paths ...string) pawl.Event { return pawl.Event{Tool: "Edit", Dir: "/w", Paths: paths} }
	for _, c := range []struct {
		m    pawl.Matcher
		ev   pawl.Event
		want bool
	}{
		{pawl.Names("Bash"), bash("ls"), true},
		{pawl.Names("Bash"), pawl.Event{Tool: "BashOutput"}, false},
		{pawl.Names("Write"), pawl.Event{Tool: "apply_patch", Aliases: []string{"Write", "Edit"}}, true}, // M07
		{names(t, "mcp__.*"), pawl.Event{Tool: "mcp__a__b"}, true},
		{names(t, "^Bash$"), pawl.Event{Tool: "BashOutput"}, false},
		{pawl.Names("startup"), pawl.Event{Source: "startup"}, true},
		{pawl.Names("coder"), pawl.Event{Agent: pawl.Agent{Type: "coder"}}, true},
		{pawl.Agents("main"), pawl.Event{}, true},
		{pawl.Agents("main"), pawl.Event{Agent: pawl.Agent{ID: "1"}}, false},
		{pawl.Agents("sub"), pawl.Event{Agent: pawl.Agent{ID: "1"}}, true},
		{pawl.Agents("coder"), pawl.Event{Agent: pawl.Agent{Type: "coder"}}, true},
		{pawl.Agents("coder"), pawl.Event{Agent: pawl.Agent{Type: "tester"}}, false},
		{pawl.All(), pawl.Event{}, true},
		{pawl.All(pawl.Names("Bash"), pawl.Agents("sub")), bash("ls"), false},
		{pawl.Paths("*.go"), touches("/w/a/b.go"), true},
		{pawl.Paths("*.go"), touches("/w/a/b.txt"), false},
		{pawl.Paths("src/**"), touches("src/a/b"), true},
		{pawl.Paths("src/**"), touches("/w/src/a/b"), true},
		{pawl.Paths("src/**"), touches("/w/lib/../src/x"), true},
		{pawl.Paths("src/**"), touches("/other/src/a"), false},
		{pawl.Paths("src/*.go"), touches("/w/src/a/b.go"), false},
		{pawl.Paths("/etc/**"), touches("../etc/passwd"), true},
		{pawl.Paths("**/secret/*"), touches("/w/a/secret/x"), true},
		{pawl.Paths("src/**"), touches(), true},                               // the runtime does not know
		{rule("Bash(git commit *)"), bash(`git commit -m "two words"`), true}, // M11
		{rule("Bash(git commit *)"), bash(`git commit`), false},
		{rule("Bash(git commit *)"), bash(`git commitx`), false},
		{rule("Bash(git push:*)"), bash(`git push`), true},
		{rule("Bash(git push:*)"), bash(`git push -f`), true},
		{rule("Bash(git push:*)"), bash(`git pushy`), false},
		{rule("Bash(git push *)"), bash(`cd x && A=1 git push -f`), true},
		{rule("Bash(git push *)"), bash(`echo $(git push -f)`), true},
		{rule("Bash(git push *)"), bash("echo `git push -f`"), true},
		{rule("Bash(git push *)"), bash(`if true; then git push -f; fi`), true},
		{rule("Bash(git push *)"), bash(`g"it" pu\sh -f`), true},
		{rule("Bash(git push *)"), bash(`echo "git push -f"`), false},
		{rule("Bash(git push *)"), bash(`$TOOL push -f`), true},      // a name that nobody knows
		{rule("Bash(git push *)"), bash(`git push 'unclosed`), true}, // a line that does not parse
		{rule("Bash(git push *)"), bash(`git ${a:-push} x`), true},   // words that nobody knows
		{rule("Bash(git push *)"), bash(`git {push,x} y`), true},
		{rule("Bash(git push *)"), bash(`{git,push,x}`), true},
		{rule("Bash(git push *)"), bash(`git pus[h] x`), true},
		{rule("Bash(git push *)"), bash(`ls $HOME *.go`), false},
		{rule("Bash(git push *)"), bash(`[ -f x ] && make || [[ -z x ]]`), false},
		{rule("Bash(git push *)"), bash(`git diff $BASE -- *.go; git show stash@{0}; git commit -m "$(cat <<'EOF'` + "\nx\nEOF\n)\""), false},
		{rule("Bash(git push *)"), bash(`git $SUB x`), true},
		{rule("Bash(git push *)"), bash(`git push $REMOTE`), true},
		{rule("Bash(git push:*)"), bash(`git push`), true},
		{rule("Bash(git push:*)"), bash(`git push $REMOTE`), true},
		{rule("Bash(git push:*)"), bash(`ls && git push`), true},
		{rule("Bash(git p*)"), bash(`git pu$X`), true},
		{rule("Bash(git push *)"), bash(`[g"i"t] push x`), true},
		{rule("Bash(git push *)"), bash("command alias g='git push'\ng o"), true}, // another name for it
		{rule("Bash(git push *)"), bash("shopt -s expand_aliases\nBASH_ALIASES=([g]='git push')\ng o"), true},
		{rule("Bash(git push *)"), bash(`PS4='$(git push o)'; set -x; :`), true}, // a text that is run later
		{rule("Bash(git push *)"), bash(`x='$(git push o)'; echo "${x@P}"`), true},
		{rule("Bash(git push *)"), bash(`git commit -m "a * b [c]"`), false},
		{rule("Bash(git push *)"), bash("ls # x\\\ngit push -f"), true}, // shells read it otherwise than the parser
		{rule("Bash(git push *)"), bash("ls\r\nls"), true},
		{rule("Bash(git push *)"), bash(`$'\x67it' push -f`), true}, // nor are words known that the shell decodes
		{rule("Bash(git push *)"), bash(`git $'\x70ush' -f`), true},
		{rule("Bash(git push *)"), bash(`git $"pull" -f`), true},
		{rule("Bash(git push *)"), bash(`git $'pull' -f`), false},
		{rule("Bash(git push *)"), bash(`grep $'\t' x`), false},
		{rule("Bash(git push *)"), bash(`HOME=push; git ~ -f`), true},
		{rule("Bash(git push *)"), bash(`git diff HEAD~1`), false},
		{rule("Bash(git push *)"), bash("alias g='git push'\ng -f"), true},
		{rule("Bash(git push *)"), bash("alias"), false},
		{rule("Bash(export *)"), bash(`cd x && export A=1`), true}, // bash's grammar has clauses of their own for these
		{rule("Bash(export *)"), bash(`cd x && declare A=1`), false},
		{rule("Bash(make)"), bash(`make $x`), true},
		{rule("Bash(make:*)"), bash(`make $x`), true},
		{rule("Bash(*make x)"), bash(`gmake $x`), true},
		{rule("Bash(make)"), bash(`ls $x && export A=$y`), false}, // another command, whatever its words
		{rule("Bash(make:*)"), bash(`ls $x`), false},
		{rule("Bash(reboot)"), bash(`((reboot))`), true}, // sh knows no arithmetic there
		{rule("Bash(git push *)"), bash("# what follows\nfor f in *.go; do\n  gofmt -l \"$f\" >/dev/null 2>&1 # quiet\ndone\ncat <<'EOF' | tee \\\n  x\ngit push\nEOF\n"), false},
		{rule("Bash(rm *)"), pawl.Event{Tool: "Bash", Input: json.RawMessage(`{"command":"ls","command":"rm x"}`)}, true},
		{rule("Bash(rm *)"), pawl.Event{Tool: "Bash", Input: json.RawMessage(`not JSON`)}, true},
		{rule("Bash(rm *)"), pawl.Event{Tool: "Other", Input: json.RawMessage(`{"command":"rm x"}`)}, false},
		{rule("Shell(rm *)"), pawl.Event{Tool: "Bash", Aliases: []string{"Shell"}, Input: json.RawMessage(`{"command":"rm x"}`)}, true},
		{rule("Bash"), bash("anything"), true},
		{rule("Edit(*.ts)"), edit("/w/src/a.ts"), true},
		{rule("Edit(*.ts)"), edit("/w/src/a.go"), false},
		{rule("Edit(src/**)"), edit("/w/src/a.go"), true},
		{rule("Edit(./src/**)"), edit("src/a.go"), true},
		{rule("Edit(src/**)"), pawl.Event{Tool: "Edit", Input: json.RawMessage(`{}`)}, true},
	} {
		require.Equal(t, c.want, c.m.Match(&c.ev), "%s on %s %s %v", c.m, c.ev.Tool, c.ev.Input, c.ev.Paths)
	}
	for _, bad := range []string{"", "(x)", "Bash(", "Bash()", "Ba sh(x)", "WebFetch(domain:x.org)"} {
		_, err := pawl.Args(bad)
		require.Error(t, err, bad)
	}
}

// M01: a matcher that is left out fires once for every tool; a tool that answers to two names is one event.
func TestAHookFiresOnceForAToolWithTwoNames(t *testing.T) {
	h := refuse("a")
	h.Match = pawl.Names("Write", "Edit")
	out, err := registry(t, pawl.Options{}, h, refuse("b")).Dispatch(t.Context(),
		&pawl.Event{Trigger: pawl.ToolBefore, Tool: "apply_patch", Aliases: []string{"Write", "Edit"}})
	require.NoError(t, err)
	require.Len(t, out.Runs(), 2)
}

// Names come from a model, and so does their length: what is remembered of them is bounded in bytes.
func TestNamesAreLookedUpOnceUnlessTheyAreLongTogether(t *testing.T) {
	for _, c := range []struct {
		name    string
		aliases []string
		want    int
	}{
		{strings.Repeat("x", 256), nil, 1},
		{strings.Repeat("x", 257), nil, 2},
		{"Bash", []string{strings.Repeat("x", 126), strings.Repeat("y", 126)}, 1},
		{"Bash", []string{strings.Repeat("x", 126), strings.Repeat("y", 127)}, 2},
		{"Bash", make([]string, 8), 1},
		{"Bash", make([]string, 9), 2},
	} {
		asked, h := 0, refuse("h")
		h.Match = askedName{&asked}
		r := registry(t, pawl.Options{}, h)
		for range 2 { // what is not remembered is still matched
			out, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.ToolBefore, Tool: c.name, Aliases: c.aliases})
			require.NoError(t, err)
			require.Equal(t, pawl.Refuse, out.Verdict)
		}
		require.Equal(t, c.want, asked, "%d bytes and %q", len(c.name), c.aliases)
	}
}

// askedName matches every name and counts how often it is asked.
type askedName struct{ times *int }

func (m askedName) Match(*pawl.Event) bool { return true }
func (m askedName) MatchName(string) bool  { *m.times++; return true }
func (m askedName) String() string         { return "asked" }

// A byte that is no UTF-8 is U+FFFD to a regular expression: the index finds what the matcher matches.
func TestAPatternOfNoCharacterIsFoundAsItMatches(t *testing.T) {
	for _, expr := range []string{"^a\ufffd", "a\ufffd", "(a\ufffd)+", `^a\x{fffd}b`, "xyz|a\ufffd"} {
		h := refuse("a")
		h.Match = names(t, expr)
		ev := &pawl.Event{Trigger: pawl.ToolBefore, Tool: "a\xffb"}
		require.True(t, h.Match.Match(ev), expr)
		out, err := registry(t, pawl.Options{}, h).Dispatch(t.Context(), ev)
		require.NoError(t, err)
		require.Len(t, out.Runs(), 1, expr)
	}
}

func TestAMatcherThatPanicsMatchesAndFailsItsHook(t *testing.T) {
	for name, m := range map[string]pawl.Matcher{"reads": panicky{}, "names": panickyName{}} {
		t.Run(name, func(t *testing.T) {
			h := check("h", pawl.ToolBefore, pawl.Decision{}, pawl.MayRefuse)
			h.Match = m
			r := registry(t, pawl.Options{}, h)
			for range 2 { // cold and warm
				out, err := r.Dispatch(t.Context(), toolEvent())
				require.NoError(t, err)
				require.Equal(t, pawl.Refuse, out.Verdict)
				require.Equal(t, pawl.CausePanic, out.Runs()[0].Cause)
			}
		})
	}
}

type panicky struct{}

func (panicky) Match(*pawl.Event) bool { panic("matcher") }
func (panicky) String() string         { return "panicky" }

type panickyName struct{ panicky }

func (panickyName) MatchName(string) bool { panic("name matcher") }

// FuzzIndex holds index, memo and a naive walk equal.
func FuzzIndex(f *testing.F) {
	f.Add("Bash", "Edit", "^mcp__a", "a.c", "B")
	f.Add("mcp__a__b", "", "(?i)bash", "x|y", "^a+b")
	f.Add("", "A", "(ab)*c", "[^a]b", "é")
	f.Fuzz(func(t *testing.T, name, alias, expr1, expr2, exact string) {
		matchers := []pawl.Matcher{nil, pawl.Names(exact, alias), pawl.All(pawl.Names(name), pawl.Names(alias, exact))}
		for _, e := range []string{expr1, expr2} {
			if m, err := pawl.Regexp(e); err == nil {
				matchers = append(matchers, m, pawl.All(m, pawl.Names(name, exact)))
			}
		}
		table := map[pawl.Trigger]pawl.Contract{"x": {Can: pawl.MayNote, Subject: pawl.AboutSource}}
		var hooks []pawl.Hook
		var used []pawl.Matcher
		for i, m := range matchers {
			h := check(fmt.Sprintf("h%d", i), "x", pawl.Decision{}, 0)
			h.Match = m
			if _, err := pawl.New(pawl.Options{Triggers: table}, h); err == nil {
				hooks, used = append(hooks, h), append(used, m)
			}
		}
		r := registry(t, pawl.Options{Triggers: table}, hooks...)
		for _, source := range []string{name, alias, exact, name, alias} {
			var want, got []string
			for i, m := range used {
				ev := &pawl.Event{Source: source}
				if m == nil || source != "" && m.Match(ev) {
					want = append(want, hooks[i].Name)
				}
			}
			out, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: "x", Source: source})
			require.NoError(t, err)
			for _, run := range out.Runs() {
				got = append(got, run.Name)
			}
			require.Equal(t, want, got, "%q", source)
		}
	})
}

// FuzzPaths holds globs equal to a plain reading of their definition, also where many ** could take turns.
func FuzzPaths(f *testing.F) {
	f.Add("src/**/x/*.go", "src/a/x/x/b.go")
	f.Add("**/a/**/a/**/b", "a/a/a/a/b")
	f.Add("**", "a")
	f.Add("a/**/**/b", "a/b")
	f.Add("[a-c]/?/**", "b/é/c")
	f.Add(strings.Repeat("**/a/", 30)+"b", strings.Repeat("a/", 100)+"c")
	f.Fuzz(func(t *testing.T, glob, file string) {
		h := check("h", pawl.ToolBefore, pawl.Decision{}, pawl.MayRefuse)
		h.Match = pawl.Paths(glob)
		if _, err := pawl.New(pawl.Options{}, h); err != nil || path.Clean(glob) != glob || path.Clean("/"+file) != "/"+file || strings.Contains(file, `\`) {
			return
		}
		if !strings.Contains(glob, "/") || path.IsAbs(glob) {
			return
		}
		ev := pawl.Event{Tool: "Edit", Dir: "/", Paths: []string{"/" + file}}
		want := plainGlob(strings.Split(glob, "/"), strings.Split(file, "/"))
		require.Equal(t, want, pawl.Paths(glob).Match(&ev), "%q over %q", glob, file)
	})
}

// plainGlob fills a table: whether what is left of the glob matches what is left of the path.
func plainGlob(glob, parts []string) bool {
	fits := make([][]bool, len(glob)+1)
	for i := len(glob); i >= 0; i-- {
		fits[i] = make([]bool, len(parts)+1)
		for j := len(parts); j >= 0; j-- {
			switch {
			case i == len(glob):
				fits[i][j] = j == len(parts)
			case glob[i] == "**":
				fits[i][j] = fits[i+1][j] || j < len(parts) && fits[i][j+1]
			case j < len(parts):
				ok, _ := path.Match(glob[i], parts[j])
				fits[i][j] = ok && fits[i+1][j+1]
			}
		}
	}
	return fits[0][0]
}

// What a rule does not match, no shell at hand runs: lines of a shell's signs, in a folder of their own, where git
// tells of a push.
func TestNoShellRunsWhatARuleDidNotSee(t *testing.T) {
	var shells []string
	for _, name := range []string{"bash", "dash"} {
		if shell, err := exec.LookPath(name); err == nil {
			shells = append(shells, shell)
		}
	}
	if len(shells) == 0 {
		t.Skip("no shell to compare with")
	}
	m, err := pawl.Args("Bash(git push *)")
	require.NoError(t, err)
	dir, bin := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(bin+"/git", []byte("#!/bin/sh\n[ $# -gt 1 ] && [ \"$1\" = push ] && echo PUSHED >&2\n"), 0o755))
	frames := rapid.SampledFrom(strings.Split(`@|ls; @|$(@)|"$(@)"|{ @; }|if :; then @; fi|case x in x) @;; esac|: ${x:-$(@)}|[[ -n $(@) ]]|ls # x%@|ls &>x @|`+
		`cat <<E%$(@)%E|cat <<E%x%E%@|cat <<'E'%@%E|ls 'x%@'|time @|a=(x $(@))|((1)) && @|!(@)|f() { @; }; f|echo "x%@"|let x=1; @`, "|"))
	pushes := rapid.SampledFrom([]string{"git push -f", "g\\it push -f", "'git' \"push\" -f", "g\\\nit push -f", "x=1 >x git push -f", "$'git' push -f"})
	pieces := rapid.SampledFrom([]string{"\\\n", "#", " #", "\\", "'", `"`, "$", "`", "$'", "\\'", ";", "&", "|", "(", ")", "{", "}", "<", ">", "\r", "\n", " ", "<<E\n", "\nE\n", "&>", "<&", "-", "[", "]", "!"})
	rapid.Check(t, func(t *rapid.T) {
		line := strings.ReplaceAll(strings.ReplaceAll(frames.Draw(t, "frame"), "%", "\n"), "@", pushes.Draw(t, "push"))
		for range rapid.IntRange(0, 4).Draw(t, "pieces") {
			at := rapid.IntRange(0, len(line)).Draw(t, "at")
			line = line[:at] + pieces.Draw(t, "piece") + line[at:]
		}
		in, err := json.Marshal(map[string]string{"command": line})
		require.NoError(t, err)
		if m.Match(&pawl.Event{Tool: "Bash", Input: in}) {
			return
		}
		for _, shell := range shells {
			cmd := exec.CommandContext(t.Context(), shell, "-c", line)
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + bin}
			out, _ := cmd.CombinedOutput()
			require.NotContains(t, string(out), "PUSHED", "%s: %q", shell, line)
		}
	})
}

// FuzzArgs asks of any rule that it matches the line it spells, alone or behind another command, and that no
// call it cannot read slips by.
func FuzzArgs(f *testing.F) {
	for _, s := range []string{"git push *", "git push:*", "rm -rf /", "*", "a*b*c", "cat <<E\nx\nE", "$(x) y", "A=1 make", "((1+2))", "x &", "\x9a"} {
		f.Add(s, "more words")
	}
	f.Fuzz(func(t *testing.T, pattern, filler string) {
		m, err := pawl.Args("Bash(" + pattern + ")")
		if err != nil || !utf8.ValidString(pattern+filler) {
			return
		}
		line := strings.ReplaceAll(strings.TrimSuffix(pattern, ":*"), "*", filler)
		asked := func(tool, line string) bool {
			in, err := json.Marshal(map[string]string{"command": line})
			require.NoError(t, err)
			return m.Match(&pawl.Event{Tool: tool, Input: in})
		}
		require.True(t, asked("Bash", line), "%q over %q", m, line)
		require.False(t, asked("Other", line))
		require.True(t, asked("Bash", "$("), "a line that does not parse")
		require.True(t, m.Match(&pawl.Event{Tool: "Bash", Input: json.RawMessage(`{"command":7}`)}))
		if word := strings.Fields(line); len(word) > 0 && strings.Join(word, " ") == line && !strings.ContainsFunc(line, notPlain) {
			for _, shell := range []string{"true; " + line, "true && " + line, "X=1 " + line, "echo $(" + line + ")", "( " + line + " )"} {
				require.True(t, asked("Bash", shell), "%q over %q", m, shell)
			}
		}
	})
}

func notPlain(r rune) bool { return r != ' ' && r != '/' && !('a' <= r && r <= 'm') }

// ---- what is shown

var update = flag.Bool("update", false, "write what is shown from what is")

// The trigger table in the README is the one in the code.
func TestTheReadmesTriggerTable(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(readme), "<!-- triggers:begin -->")
	require.True(t, ok)
	shown, _, ok := strings.Cut(rest, "<!-- triggers:end -->")
	require.True(t, ok)
	if *update {
		const begin, end = "<!-- triggers:begin -->", "<!-- triggers:end -->"
		text := strings.Replace(string(readme), begin+shown+end, begin+"\n"+triggerTable()+end, 1)
		require.NoError(t, os.WriteFile("README.md", []byte(text), 0o644))
		return
	}
	require.Equal(t, strings.TrimSpace(triggerTable()), strings.TrimSpace(shown))
	byRow := map[pawl.Trigger]pawl.Contract{}
	for _, r := range pawl.TriggerRows() {
		byRow[r.Trigger] = pawl.Contract{Can: r.Can, Subject: r.Sees, Bubbles: r.Bubbles, Quiet: r.Quiet, RefusalContinues: r.RefusalContinues}
	}
	require.Equal(t, pawl.DefaultTriggers(), byRow)
}

// triggerTable is the table as the README prints it.
func triggerTable() string {
	var b strings.Builder
	b.WriteString("| trigger | matchers see | can | | ZeroCode | zidane |\n|---|---|---|---|---|---|\n")
	for _, r := range pawl.TriggerRows() {
		var marks []string
		for mark, on := range map[string]bool{"bubbles": r.Bubbles, "quiet": r.Quiet, "refusal continues": r.RefusalContinues} {
			if on {
				marks = append(marks, mark)
			}
		}
		slices.Sort(marks)
		can := strings.ReplaceAll(r.Can.String(), "none", "–")
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", r.Trigger, r.Sees, can, strings.Join(marks, ", "), r.ZeroCode, r.Zidane)
	}
	return b.String()
}

// A stand-in is redacted like a result, and no observer takes it for a call that ran.
func TestAStandInPassesReplacersAlone(t *testing.T) {
	var asked []string
	hook := func(name string, on pawl.Trigger, may pawl.Effect, d pawl.Decision) pawl.Hook {
		return hook(name, on, may, func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
			asked = append(asked, name)
			return d, nil
		})
	}
	reg, err := pawl.New(pawl.Options{},
		hook("observe", pawl.ToolAfter, 0, pawl.Decision{}),
		hook("check", pawl.ToolAfter, pawl.MayRefuse, pawl.Decision{Verdict: pawl.Refuse}),
		hook("note", pawl.ToolAfter, pawl.MayNote, pawl.Decision{Notes: []string{"n"}}),
		hook("replace", pawl.ToolAfter, pawl.MayReplace, pawl.Decision{Output: json.RawMessage(`"clean"`)}),
		hook("child", "child.tool.after", 0, pawl.Decision{}),
	)
	require.NoError(t, err)
	ev := &pawl.Event{Trigger: pawl.ToolAfter, Tool: "t", Agent: pawl.Agent{ID: "a"}, Output: json.RawMessage(`"dirty"`), StandIn: true}
	out, err := reg.Dispatch(t.Context(), ev)
	require.NoError(t, err)
	require.Equal(t, []string{"replace"}, asked)
	require.Equal(t, pawl.Pass, out.Verdict)
	require.JSONEq(t, `"clean"`, string(out.Event().Output))

	fires := map[string]pawl.Fires{}
	for _, e := range reg.Explain(t.Context(), ev) {
		fires[e.Hook.Name] = e.Fires
	}
	require.Equal(t, map[string]pawl.Fires{"observe": pawl.FiresNo, "check": pawl.FiresNo, "note": pawl.FiresNo, "replace": pawl.FiresYes, "child": pawl.FiresNo}, fires)
}

func TestWhatHooksSayStandsInConfigurationOrder(t *testing.T) {
	note := func(name string, may pawl.Effect) pawl.Hook {
		return check(name, pawl.ToolBefore, pawl.Decision{Notes: []string{name}, Verdict: pawl.Ask, Reason: name}, pawl.MayNote|may)
	}
	quiet := check("first", pawl.ToolBefore, pawl.Decision{Notes: []string{"first"}}, pawl.MayNote) // observes last
	out, err := registry(t, pawl.Options{}, quiet, note("second", pawl.MayAsk), note("third", pawl.MayAsk|pawl.MayRewrite)).
		Dispatch(t.Context(), toolEvent())
	require.NoError(t, err)
	require.Equal(t, []string{"first", "second", "third"}, out.Decision().Notes)
	require.Equal(t, "second", out.Decision().Reason)
	stages := ""
	for _, run := range out.Runs() {
		stages += run.Name + ":" + run.Stage + " "
	}
	require.Equal(t, "third:rewrite second:check first:observe ", stages)
}

// D11: a policy that allows everything hides no call from its hooks.
func TestAPermissivePolicyHidesNothingFromHooks(t *testing.T) {
	anything := pawl.GateFunc(func(context.Context, pawl.Command) (pawl.Result, error) { return pawl.Result{Code: 2}, nil })
	guard := pawl.Hook{Name: "guard", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Handler: anyProgram{
		func(ctx context.Context, _ *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
			res, err := gate.Run(ctx, pawl.Command{Args: []string{"mysql-guard"}})
			if res.Code == 2 {
				return pawl.Decision{Verdict: pawl.Refuse, Reason: "not on production"}, err
			}
			return pawl.Decision{}, err
		}}}
	out, err := registry(t, pawl.Options{Gate: anything}, guard).Dispatch(t.Context(), toolEvent())
	require.NoError(t, err)
	require.Equal(t, pawl.Refuse, out.Verdict)
}

// C05: waiting for a slot is not a hook's time, and never more programs are alive than there are slots.
func TestManyCallsAtOnceWaitForSlotsAndTimeNothingOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var alive, most, ran atomic.Int64
		var hooks []pawl.Hook
		for i := range 6 {
			hooks = append(hooks, pawl.Hook{Name: fmt.Sprintf("h%d", i), On: pawl.ToolBefore, Effects: pawl.MayRefuse, Timeout: time.Second,
				Handler: anyProgram{func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
					now := alive.Add(1)
					for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
					}
					time.Sleep(200 * time.Millisecond)
					alive.Add(-1)
					ran.Add(1)
					return pawl.Decision{}, nil
				}}})
		}
		r := registry(t, pawl.Options{Parallel: 8}, hooks...)
		var calls sync.WaitGroup
		for range 40 {
			calls.Go(func() {
				out, err := r.Dispatch(t.Context(), toolEvent())
				require.NoError(t, err)
				require.Equal(t, pawl.Pass, out.Verdict)
			})
		}
		calls.Wait()
		require.EqualValues(t, 240, ran.Load())
		require.EqualValues(t, 8, most.Load())
	})
}

func TestASecretIsInNothingThatIsSaid(t *testing.T) {
	const secret = "hunter2hunter2"
	redact := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(secret), []byte("[redacted]")) }
	says := func(d pawl.Decision, err error) pawl.Hook {
		h := hook("h", pawl.ToolAfter, pawl.MayRefuse|pawl.MayNote|pawl.MayReplace,
			func(ctx context.Context, _ *pawl.Event, g pawl.Gate) (pawl.Decision, error) {
				_, _ = g.Run(ctx, pawl.Command{Args: []string{"x"}})
				return d, err
			})
		h.Concurrent = true
		return h
	}
	gate := pawl.GateFunc(func(context.Context, pawl.Command) (pawl.Result, error) {
		return pawl.Result{Stderr: []byte(strings.Repeat("x", 1015) + secret)}, nil
	})
	for name, h := range map[string]pawl.Hook{
		"refusal": says(pawl.Decision{Verdict: pawl.Refuse, Reason: secret, Notes: []string{secret}, Warnings: []string{secret}}, nil),
		"output":  says(pawl.Decision{Output: json.RawMessage(`{"a":"` + secret + `"}`)}, nil),
		"error":   says(pawl.Decision{}, errors.New("it said "+secret)),
		"failure": says(pawl.Decision{Verdict: pawl.Refuse, Reason: secret}, &pawl.Failure{Cause: pawl.CauseExit, Err: errors.New(secret)}),
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			r := registry(t, pawl.Options{Gate: gate, Redact: redact, Log: pawl.JSONLog(&log)}, h)
			out, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.ToolAfter, Tool: "Bash"})
			require.NoError(t, err)
			said, _ := json.Marshal(out.Decision())
			require.NotContains(t, string(said)+string(out.Event().Output)+log.String(), "hunter2")
			require.Contains(t, string(said)+log.String(), "[redacted]")
		})
	}
	broken := registry(t, pawl.Options{Gate: gate, Redact: func([]byte) []byte { panic("redactor") }}, says(pawl.Decision{Notes: []string{secret}}, nil))
	out, err := broken.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.ToolAfter, Tool: "Bash"})
	require.NoError(t, err)
	require.Equal(t, pawl.Refuse, out.Verdict, "a redactor that crashed publishes nothing")
	require.NotContains(t, fmt.Sprintf("%+v %+v", out.Decision(), out.Runs()), secret)
}

type speechless struct{ panicky }

func (speechless) String() string { panic("no words") }

// A hook of a row that ends in ".*" is held to every row below it.
func TestAHookOfManyTriggersIsHeldToEachOfThem(t *testing.T) {
	table := map[pawl.Trigger]pawl.Contract{"job.*": {Can: pawl.MayRefuse}, "job.quiet": {Quiet: true}, "job.tool": {Subject: pawl.AboutTool}}
	_, err := pawl.New(pawl.Options{Triggers: table}, check("all", "job.*", pawl.Decision{}, pawl.MayRefuse))
	require.ErrorContains(t, err, "job.quiet cannot refuse")
	require.ErrorContains(t, err, "job.tool cannot refuse")
	r := registry(t, pawl.Options{Triggers: table}, check("all", "job.*", pawl.Decision{}, 0))
	out, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: "job.done"})
	require.NoError(t, err)
	require.Len(t, out.Runs(), 1)
}

func TestOptionsThatMeanNothingAreFaults(t *testing.T) {
	for _, opts := range []pawl.Options{{LogFailure: 9}, {Parallel: -1}, {Grace: -1}} {
		_, err := pawl.New(opts)
		require.Error(t, err)
	}
}

func TestADispatchOfNothingIsRefused(t *testing.T) {
	out, err := registry(t, pawl.Options{}, refuse("a")).Dispatch(t.Context(), nil)
	require.ErrorIs(t, err, pawl.ErrTrigger)
	require.Equal(t, pawl.Refuse, out.Verdict)
	require.Error(t, pawl.NewLive(registry(t, pawl.Options{})).Replace(nil))
}

type vandal struct{}

func (vandal) Match(ev *pawl.Event) bool { ev.Tool, ev.Input[0] = "Evil", 'Z'; return true }
func (vandal) String() string            { return "vandal" }

func TestAMatcherCannotChangeTheEvent(t *testing.T) {
	var seen []string
	h := seeing("h", &seen, "")
	h.Match = vandal{}
	ev := toolEvent()
	r := registry(t, pawl.Options{}, h)
	r.Explain(t.Context(), ev)
	_, err := r.Dispatch(t.Context(), ev)
	require.NoError(t, err)
	require.Equal(t, toolEvent(), ev)
	require.Equal(t, []string{`{"command":"ls"}`}, seen)
}

func TestAShadowsRecordIsNobodysCondition(t *testing.T) {
	broken := pawl.LogFunc(func(context.Context, ...pawl.Record) error { return errors.New("disk full") })
	h := refuse("a")
	h.Shadow = true
	out, err := registry(t, pawl.Options{Log: broken}, h).Dispatch(t.Context(), toolEvent())
	require.ErrorIs(t, err, pawl.ErrLog)
	require.Equal(t, pawl.Pass, out.Verdict)
}

// A command that a model wrote cannot exhaust the process that guards it, however deep or long it is.
func TestARuleAboutArgumentsReadsAnyCommand(t *testing.T) {
	m, err := pawl.Args("Bash(git push *)")
	require.NoError(t, err)
	stars, err := pawl.Args("Bash(*git*push*git*push*git*x*)")
	require.NoError(t, err)
	for _, line := range []string{
		strings.Repeat("(", 200_000) + "ls" + strings.Repeat(")", 200_000), strings.Repeat("$(", 200_000), strings.Repeat("f() { ", 200_000),
		strings.Repeat("git push ", 200_000), strings.Repeat("a", 50<<20),
	} {
		in, _ := json.Marshal(map[string]string{"command": line})
		ev := &pawl.Event{Tool: "Bash", Input: in}
		require.True(t, m.Match(ev) && stars.Match(ev), "a guard is not skipped for want of a fact")
	}
}

// A hook cannot swell the log by its reason: the record has the ends of it, the decision all of it.
func TestARecordHasTheEndsOfALongReason(t *testing.T) {
	for _, middle := range []string{strings.Repeat("é", 4<<20), strings.Repeat("x", 8<<20), strings.Repeat("\xff", 1<<20)} {
		reason := "BEGIN " + middle + " END"
		var log bytes.Buffer
		r, err := pawl.New(pawl.Options{Log: pawl.JSONLog(&log)}, pawl.Hook{
			Name: "long", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Handler: pawl.HandlerFunc(
				func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
					return pawl.Decision{Verdict: pawl.Refuse, Reason: reason}, nil
				})})
		require.NoError(t, err)
		out, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash"})
		require.NoError(t, err)
		require.Equal(t, reason, out.Decision().Reason)
		kept := out.Runs()[0].Reason
		require.LessOrEqual(t, len(kept), 8<<10+40)
		require.Regexp(t, `^(?s)BEGIN .* END$`, kept)
		require.Contains(t, kept, "bytes left out")
		require.Less(t, log.Len(), 64<<10)
	}
}
