package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

type approver func(ctx context.Context, q gate.Question) (gate.Reply, error)

func (f approver) Approve(ctx context.Context, q gate.Question) (gate.Reply, error) { return f(ctx, q) }

type reviewer func(ctx context.Context, q gate.Question) (gate.Review, error)

func (f reviewer) Review(ctx context.Context, q gate.Question) (gate.Review, error) { return f(ctx, q) }

func says(c gate.Choice) approver {
	return func(_ context.Context, q gate.Question) (gate.Reply, error) {
		return gate.Reply{ID: q.ID, Choice: c, By: "ann"}, nil
	}
}

func reviews(permit bool) reviewer {
	return func(_ context.Context, q gate.Question) (gate.Review, error) {
		return gate.Review{ID: q.ID, Permit: permit, Reason: "it only reads"}, nil
	}
}

// memory is a log that keeps records as JSON.
type memory struct {
	mu    sync.Mutex
	lines []string
	fail  string // the kind that is not taken
}

func (m *memory) Append(_ context.Context, recs ...pawl.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, rec := range recs {
		if rec.Kind() == m.fail {
			return errors.New("disk full")
		}
		line, err := pawl.AppendRecord(nil, rec)
		if err != nil {
			return err
		}
		m.lines = append(m.lines, string(line))
	}
	return nil
}

// outcomes lists kind:outcome of what was recorded.
func (m *memory) outcomes() []string {
	var list []string
	for _, line := range m.lines {
		var rec struct{ Kind, Outcome string }
		if json.Unmarshal([]byte(line), &rec) != nil {
			return []string{line}
		}
		list = append(list, strings.TrimSuffix(strings.TrimPrefix(rec.Kind, "approval.")+":"+rec.Outcome, ":"))
	}
	return list
}

func policyOf(d gate.Ruling) *gate.Policy {
	return &gate.Policy{Rules: []gate.Rule{act("exec.path.*", d)}}
}

// What an approver that is not there adds is told, but not twice that nobody can be asked.
func TestThatNobodyCanBeAskedIsSaidOnce(t *testing.T) {
	for err, want := range map[error]string{
		gate.ErrNobody: "refused by policy: exec.path.jq: it needs approval and nobody can be asked",
		fmt.Errorf("%w: the window is closed", gate.ErrNobody): "refused by policy: exec.path.jq: it needs approval and nobody can be asked: the window is closed",
	} {
		gone := approver(func(context.Context, gate.Question) (gate.Reply, error) { return gate.Reply{}, err })
		g := gate.Chain(policyOf(gate.Ask).Wrap, (&gate.Approve{Approver: gone}).Wrap)(pawl.GateFunc(func(context.Context, pawl.Command) (pawl.Result, error) {
			t.Error("it ran")
			return pawl.Result{}, nil
		}))
		_, got := g.Run(t.Context(), pawl.Command{Args: []string{"jq"}})
		require.EqualError(t, got, want)
	}
}

func TestWhoDecidesOnWhatThePolicyLeavesOpen(t *testing.T) {
	late := approver(func(ctx context.Context, _ gate.Question) (gate.Reply, error) {
		<-ctx.Done()
		return gate.Reply{}, ctx.Err()
	})
	deaf := approver(func(_ context.Context, q gate.Question) (gate.Reply, error) {
		time.Sleep(2 * time.Hour) // in a bubble
		return gate.Reply{ID: q.ID, Choice: gate.Once}, nil
	})
	wrong := approver(func(_ context.Context, q gate.Question) (gate.Reply, error) {
		return gate.Reply{ID: q.ID + 1, Choice: gate.Once}, nil
	})
	gone := approver(func(context.Context, gate.Question) (gate.Reply, error) { return gate.Reply{}, gate.ErrNobody })
	broken := approver(func(context.Context, gate.Question) (gate.Reply, error) { return gate.Reply{}, errors.New("no socket") })
	panics := approver(func(context.Context, gate.Question) (gate.Reply, error) { panic("boom") })
	unknown := says(gate.Choice(9))
	wrongReview := reviewer(func(context.Context, gate.Question) (gate.Review, error) { return gate.Review{Permit: true}, nil })
	tests := map[string]struct {
		ruling  gate.Ruling
		approve *gate.Approve
		runs    bool
		log     string
		reason  string
	}{
		"allowed":                       {gate.Allow, &gate.Approve{}, true, "response:allowed_by_policy", ""},
		"denied, whoever would approve": {gate.Deny, &gate.Approve{Approver: says(gate.Session), Reviewer: reviews(true)}, false, "response:refused_by_policy", ""},
		"a yes":                         {gate.Ask, &gate.Approve{Approver: says(gate.Once)}, true, "request response:approved_by_user", ""},
		"a yes for the session":         {gate.Ask, &gate.Approve{Approver: says(gate.Session)}, true, "request response:approved_by_user", ""},
		"a no":                          {gate.Ask, &gate.Approve{Approver: says(gate.No)}, false, "request response:refused_by_user", "said no"},
		"an answer nobody knows":        {gate.Ask, &gate.Approve{Approver: unknown}, false, "request response:refused_by_user", "said no"},
		"nobody":                        {gate.Ask, &gate.Approve{}, false, "response:nobody_to_ask", "nobody can be asked"},
		"nobody in front of it":         {gate.Ask, &gate.Approve{Approver: gone}, false, "request response:nobody_to_ask", "nobody can be asked"},
		"too late":                      {gate.Ask, &gate.Approve{Approver: late}, false, "request response:expired", "nobody answered in time"},
		"too late, and deaf to it":      {gate.Ask, &gate.Approve{Approver: deaf, Timeout: 5 * time.Hour}, false, "request response:expired", "nobody answered in time"},
		"at once":                       {gate.Ask, &gate.Approve{Approver: late, Timeout: -1}, false, "request response:expired", "nobody answered in time"},
		"an answer to another question": {gate.Ask, &gate.Approve{Approver: wrong}, false, "request response:mismatched", "another question"},
		"asking fails":                  {gate.Ask, &gate.Approve{Approver: broken}, false, "request response:unavailable", "no socket"},
		"asking panics":                 {gate.Ask, &gate.Approve{Approver: panics}, false, "request response:unavailable", "boom"},
		"a reviewer's yes":              {gate.AgentReview, &gate.Approve{Reviewer: reviews(true)}, true, "request response:approved_by_review", ""},
		"a reviewer's no":               {gate.AgentReview, &gate.Approve{Reviewer: reviews(false), Approver: says(gate.Once)}, false, "request response:refused_by_review", "it only reads"},
		"no reviewer":                   {gate.AgentReview, &gate.Approve{Approver: says(gate.Once)}, false, "response:nobody_to_ask", "nobody can be asked"},
		"a review of another question":  {gate.AgentReview, &gate.Approve{Reviewer: wrongReview}, false, "request response:mismatched", "another question"},
		"both say yes":                  {gate.AgentThenHuman, &gate.Approve{Reviewer: reviews(true), Approver: says(gate.Once)}, true, "request request response:approved_by_user", ""},
		"the reviewer alone":            {gate.AgentThenHuman, &gate.Approve{Reviewer: reviews(true)}, false, "request response:nobody_to_ask", "nobody can be asked"},
		"the person alone":              {gate.AgentThenHuman, &gate.Approve{Approver: says(gate.Once)}, false, "response:nobody_to_ask", "nobody can be asked"},
		"the reviewer says no first":    {gate.AgentThenHuman, &gate.Approve{Reviewer: reviews(false), Approver: says(gate.Once)}, false, "request response:refused_by_review", "it only reads"},
		"the person says no after":      {gate.AgentThenHuman, &gate.Approve{Reviewer: reviews(true), Approver: says(gate.No)}, false, "request request response:refused_by_user", "said no"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var inner ran
				var log memory
				tc.approve.Log = &log
				g := policyOf(tc.ruling).Wrap(tc.approve.Wrap(&inner))
				res, err := g.Run(t.Context(), pawl.Command{ID: "hook:h:c1", Args: []string{"jq"}})
				require.Equal(t, "exec.path.jq", res.Action)
				require.Equal(t, tc.runs, err == nil, err)
				require.Equal(t, tc.runs, len(inner.commands) == 1)
				require.Equal(t, tc.log, strings.Join(log.outcomes(), " "))
				for _, line := range log.lines {
					require.Contains(t, line, `"tool_call_id":"hook:h:c1"`)
					require.Contains(t, line, `"action":"exec.path.jq"`)
				}
				if tc.runs {
					return
				}
				var refused *pawl.RefusedError
				require.ErrorAs(t, err, &refused)
				require.Equal(t, "exec.path.jq", refused.Action)
				require.Contains(t, refused.Reason, tc.reason)
				time.Sleep(3 * time.Hour) // the deaf end
			})
		})
	}
}

func TestAnAskerThatAgreesToADenyChangesNothing(t *testing.T) {
	var inner ran
	_, err := policyOf(gate.Deny).Wrap(yes{&inner}).Run(t.Context(), pawl.Command{Args: []string{"jq"}})
	require.ErrorIs(t, err, pawl.ErrRefused)
	require.Empty(t, inner.commands)
}

type yes struct{ pawl.Gate }

func (yes) Ask(context.Context, gate.Answer, pawl.Command) error { return nil }

func TestAQuestionThatCannotBeRecordedIsNotAsked(t *testing.T) {
	for _, kind := range []string{"approval.request", "approval.response"} {
		var inner ran
		asked := false
		a := &gate.Approve{Log: &memory{fail: kind}, Approver: approver(func(ctx context.Context, q gate.Question) (gate.Reply, error) {
			asked = true
			return says(gate.Once)(ctx, q)
		})}
		_, err := policyOf(gate.Ask).Wrap(a.Wrap(&inner)).Run(t.Context(), pawl.Command{Args: []string{"jq"}})
		var failure *pawl.Failure
		require.ErrorAs(t, err, &failure)
		require.Equal(t, pawl.CauseLog, failure.Cause)
		require.Empty(t, inner.commands)
		require.Equal(t, kind == "approval.response", asked)
	}
}

func TestASessionGrantNarrowsPromptingAndNeverPolicy(t *testing.T) {
	var inner ran
	asked := 0
	a := &gate.Approve{Reviewer: reviews(false), Approver: approver(func(ctx context.Context, q gate.Question) (gate.Reply, error) {
		asked++
		return says(gate.Session)(ctx, q)
	})}
	gateOf := func(d gate.Ruling) pawl.Gate { return policyOf(d).Wrap(a.Wrap(&inner)) }
	try := func(d gate.Ruling, word string) error {
		_, err := gateOf(d).Run(t.Context(), pawl.Command{Args: []string{word}})
		return err
	}
	require.NoError(t, try(gate.Ask, "jq"))
	require.NoError(t, try(gate.Ask, "jq"))
	require.Equal(t, 1, asked)
	require.NoError(t, try(gate.Ask, "jq2"), "another action is another question")
	require.Equal(t, 2, asked)
	require.ErrorIs(t, try(gate.Deny, "jq"), pawl.ErrRefused)
	require.ErrorIs(t, try(gate.AgentThenHuman, "jq"), pawl.ErrRefused, "the reviewer still has a say")
	require.ErrorIs(t, try(gate.AgentReview, "jq"), pawl.ErrRefused)
	other := &gate.Approve{Approver: says(gate.No)}
	_, err := policyOf(gate.Ask).Wrap(other.Wrap(&inner)).Run(t.Context(), pawl.Command{Args: []string{"jq"}})
	require.ErrorIs(t, err, pawl.ErrRefused, "it does not outlive its Approve")
}

func TestTheSameQuestionAtOnceIsAskedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inner ran
		asked := 0
		a := &gate.Approve{Approver: approver(func(ctx context.Context, q gate.Question) (gate.Reply, error) {
			asked++
			time.Sleep(time.Minute)
			return says(gate.Session)(ctx, q)
		})}
		var mu sync.Mutex
		g := policyOf(gate.Ask).Wrap(a.Wrap(pawl.GateFunc(func(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			return inner.Run(ctx, cmd)
		})))
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if _, err := g.Run(t.Context(), pawl.Command{Args: []string{"jq"}}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		require.Equal(t, 1, asked)
		require.Len(t, inner.commands, 5)
	})
}

func TestTheWaitForAPersonIsNotTheHooksTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inner ran
		a := &gate.Approve{Approver: approver(func(ctx context.Context, q gate.Question) (gate.Reply, error) {
			if q.Hook != "h" || q.Tool != "Bash" || q.Trigger != pawl.ToolBefore || q.Agent.ID != "a1" || q.Call != "hook:h:c1" {
				t.Errorf("%+v", q)
			}
			time.Sleep(4 * time.Minute)
			return says(gate.Once)(ctx, q)
		})}
		hook := pawl.Hook{Name: "h", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Timeout: time.Second, Handler: pawl.HandlerFunc(
			func(ctx context.Context, _ *pawl.Event, g pawl.Gate) (pawl.Decision, error) {
				_, err := g.Run(ctx, pawl.Command{Args: []string{"jq"}})
				return pawl.Decision{}, err
			})}
		r, err := pawl.New(pawl.Options{Gate: policyOf(gate.Ask).Wrap(a.Wrap(&inner))}, hook)
		require.NoError(t, err)
		out, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash", Call: "c1", Agent: pawl.Agent{ID: "a1", Type: "x"}})
		require.NoError(t, err)
		require.Equal(t, pawl.Pass, out.Verdict)
		require.Len(t, inner.commands, 1)
		require.Equal(t, "exec.path.jq", out.Runs()[0].Action)
	})
}

func TestARefusedProgramIsRefusedByPolicyInTheRecord(t *testing.T) {
	for name, c := range map[string]struct {
		policy  *gate.Policy
		outcome string
		verdict pawl.Verdict
	}{
		"allowed":      {&gate.Policy{}, pawl.Ran, pawl.Pass},
		"denied":       {policyOf(gate.Deny), pawl.RefusedByPolicy, pawl.Refuse},
		"nobody there": {policyOf(gate.Ask), pawl.RefusedByPolicy, pawl.Refuse},
	} {
		t.Run(name, func(t *testing.T) {
			hook := pawl.Hook{Name: "h", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Handler: pawl.HandlerFunc(
				func(ctx context.Context, _ *pawl.Event, g pawl.Gate) (pawl.Decision, error) {
					_, err := g.Run(ctx, pawl.Command{Args: []string{"jq"}})
					return pawl.Decision{}, err
				})}
			r, err := pawl.New(pawl.Options{Gate: c.policy.Wrap(new(gate.Approve).Wrap(&ran{}))}, hook)
			require.NoError(t, err)
			out, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash", Call: "c1"})
			require.NoError(t, err)
			require.Equal(t, c.verdict, out.Verdict)
			require.Equal(t, c.outcome, out.Runs()[0].Outcome)
			require.Equal(t, "exec.path.jq", out.Runs()[0].Action)
		})
	}
}

func TestACancelledWaitEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log memory
		a := &gate.Approve{Log: &log, Approver: approver(func(ctx context.Context, _ gate.Question) (gate.Reply, error) {
			<-ctx.Done()
			return gate.Reply{}, ctx.Err()
		})}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := policyOf(gate.Ask).Wrap(a.Wrap(&ran{})).Run(ctx, pawl.Command{Args: []string{"jq"}})
		require.Error(t, err)
		require.Equal(t, time.Second, time.Since(start))
		require.Equal(t, "request response:cancelled", strings.Join(log.outcomes(), " "))
	})
}

func TestAnAnswerAtTheDeadlineIsTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &gate.Approve{Timeout: time.Minute, Approver: approver(func(ctx context.Context, q gate.Question) (gate.Reply, error) {
			<-ctx.Done()
			return says(gate.Once)(ctx, q)
		})}
		for range 50 {
			var inner ran
			_, err := policyOf(gate.Ask).Wrap(a.Wrap(&inner)).Run(t.Context(), pawl.Command{Args: []string{"jq"}})
			require.ErrorIs(t, err, pawl.ErrRefused)
			require.Empty(t, inner.commands)
		}
	})
}

func TestWordsAreRedactedBeforeTheyAreShownOrRecorded(t *testing.T) {
	var log memory
	r := &gate.Redactor{Held: []string{"hunter2-hunter2"}}
	a := &gate.Approve{Log: &log, Redact: r.Bytes, Approver: approver(func(_ context.Context, q gate.Question) (gate.Reply, error) {
		if strings.Contains(strings.Join(q.Args, " "), "hunter2") {
			t.Error("shown")
		}
		return gate.Reply{ID: q.ID, Choice: gate.Once}, nil
	})}
	var inner ran
	_, err := policyOf(gate.Ask).Wrap(a.Wrap(&inner)).Run(t.Context(), pawl.Command{Args: []string{"jq", "--key=hunter2-hunter2"}})
	require.NoError(t, err)
	require.NotContains(t, strings.Join(log.lines, ""), "hunter2")
	require.Contains(t, inner.commands[0].Args[1], "hunter2", "the program gets its words as they are")
}

func TestATerminalAsks(t *testing.T) {
	q := gate.Question{ID: 3, Action: "exec.path.jq", Args: []string{"jq", "a b", "\x1b[2J"}, Dir: "/w", Hook: "h", Deadline: time.Now().Add(time.Minute)}
	for typed, want := range map[string]gate.Choice{"y\n": gate.Once, "YES\n": gate.Once, " a \n": gate.Session, "n\n": gate.No, "\n": gate.No, "yy\n": gate.No, "ja\n": gate.No} {
		var out bytes.Buffer
		reply, err := (&gate.Terminal{In: strings.NewReader(typed), Out: &out, By: "tty"}).Approve(t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, gate.Reply{ID: 3, Choice: want, By: "tty"}, reply, typed)
		require.Contains(t, out.String(), "Hook h needs your approval to run\n  $ jq \"a b\" \"\\x1b[2J\"\n  action exec.path.jq, in /w\n")
	}
	for name, term := range map[string]*gate.Terminal{
		"the zero one":        {},
		"nothing typed":       {In: strings.NewReader(""), Out: io.Discard},
		"a line not ended":    {In: strings.NewReader("y"), Out: io.Discard},
		"no place to show it": {In: strings.NewReader("y\n")},
	} {
		for range 2 {
			_, err := term.Approve(t.Context(), q)
			require.ErrorIs(t, err, gate.ErrNobody, name)
		}
	}
}

func TestALateLineAnswersNoLaterQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, typist := io.Pipe()
		term := &gate.Terminal{In: in, Out: io.Discard}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := term.Approve(ctx, gate.Question{ID: 1})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = typist.Write([]byte("y\n")) // meant for the first
		require.NoError(t, err)
		synctest.Wait()
		go func() {
			time.Sleep(time.Second)
			_, _ = typist.Write([]byte("n\n"))
		}()
		reply, err := term.Approve(t.Context(), gate.Question{ID: 2})
		require.NoError(t, err)
		require.Equal(t, gate.Reply{ID: 2, Choice: gate.No}, reply)
	})
}
