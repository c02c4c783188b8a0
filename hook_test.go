package pawl_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

func TestGoexitHereStillLeavesTheRecord(t *testing.T) {
	var log bytes.Buffer
	h := pawl.Hook{Name: "h", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Handler: failing["goexit"]}
	r := registry(t, pawl.Options{Log: pawl.JSONLog(&log)}, refuse("first"), h, refuse("never"))
	returned, done := false, make(chan bool)
	go func() {
		defer close(done)
		_, _ = r.Dispatch(t.Context(), toolEvent())
		returned = true
	}()
	<-done
	require.False(t, returned)
	require.Equal(t, 2, strings.Count(log.String(), "\n"))
	require.Contains(t, log.String(), `"cause":"panic"`)
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
	vandal := hook("vandal", pawl.ToolBefore, 0, func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
		copy(ev.Input, "XXXXXXXX")
		ev.Tool = "Other"
		return pawl.Decision{}, nil
	})
	vandal.Effects = pawl.MayRewrite
	var seen []string
	ev := toolEvent()
	_, err := registry(t, pawl.Options{}, vandal, seeing("guard", &seen, "")).Dispatch(t.Context(), ev)
	require.NoError(t, err)
	require.Equal(t, []string{`{"command":"ls"}`}, seen)
	require.Equal(t, toolEvent(), ev)
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
