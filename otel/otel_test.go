package otel_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/otel"
)

// setup returns a Telemetry, the spans it made and its metrics so far.
func setup(t *testing.T) (*otel.Telemetry, *tracetest.SpanRecorder, *sdktrace.TracerProvider, func() map[string]metricdata.Aggregation) {
	t.Helper()
	spans, reader := tracetest.NewSpanRecorder(), sdkmetric.NewManualReader()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	tel, err := otel.New(otel.Options{
		Tracer: tracers, Meter: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), Propagator: propagation.TraceContext{},
		Redact: func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "hunter2", "[redacted]")) },
	})
	require.NoError(t, err)
	return tel, spans, tracers, func() map[string]metricdata.Aggregation {
		var got metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(context.Background(), &got))
		metrics := map[string]metricdata.Aggregation{}
		for _, scope := range got.ScopeMetrics {
			for _, m := range scope.Metrics {
				metrics[m.Name] = m.Data
			}
		}
		return metrics
	}
}

func attributes(s sdktrace.ReadOnlySpan) map[string]string {
	got := map[string]string{}
	for _, a := range s.Attributes() {
		got[string(a.Key)] = a.Value.String()
	}
	return got
}

// fake answers as it is told and remembers the environment it was given.
type fake struct {
	res pawl.Result
	err error
	env []string
}

func (f *fake) Run(_ context.Context, cmd pawl.Command) (pawl.Result, error) {
	f.env = cmd.Env
	return f.res, f.err
}

func TestADispatchLeavesASpanForEachRunAndProgram(t *testing.T) {
	tel, spans, tracers, metrics := setup(t)
	inner := &fake{res: pawl.Result{Action: "exec.path.zig", Code: 1}}
	hook := pawl.Hook{Name: "tests-pass", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Timeout: time.Minute, Handler: pawl.HandlerFunc(
		func(ctx context.Context, _ *pawl.Event, g pawl.Gate) (pawl.Decision, error) {
			_, err := g.Run(ctx, pawl.Command{Args: []string{"/usr/bin/zig", "build", "--key=hunter2"}, Env: []string{"A=b"}})
			return pawl.Decision{Verdict: pawl.Refuse, Reason: "no"}, err
		})}
	r, err := pawl.New(pawl.Options{Gate: tel.Wrap(inner), Log: tel}, hook)
	require.NoError(t, err)
	ctx, root := tracers.Tracer("t").Start(t.Context(), "call")
	_, err = r.Dispatch(ctx, &pawl.Event{Trigger: pawl.ToolBefore, Session: "s1", Call: "c1", Tool: "Bash", Agent: pawl.Agent{ID: "a1", Type: "x"}})
	require.NoError(t, err)
	root.End()

	ended := spans.Ended()
	require.Len(t, ended, 3)
	program, run := ended[0], ended[1]
	require.Equal(t, "zig", program.Name())
	require.Equal(t, trace.SpanKindClient, program.SpanKind())
	require.Equal(t, map[string]string{
		"process.executable.name": "zig", "process.command_args": `["/usr/bin/zig","build","--key=[redacted]"]`, "process.exit.code": "1",
		"error.type": "1", "pawl.action": "exec.path.zig", "pawl.command.id": "hook:tests-pass:c1",
	}, attributes(program))
	require.Equal(t, "hook tests-pass", run.Name())
	for _, s := range ended[:2] {
		require.Equal(t, root.SpanContext().SpanID(), s.Parent().SpanID(), "it is not below the dispatch's span")
	}
	got := attributes(run)
	for key, want := range map[string]string{"pawl.hook.name": "tests-pass", "pawl.hook.trigger": "tool.before", "pawl.hook.verdict": "refuse", "pawl.hook.refused": "true",
		"pawl.hook.outcome": "ran", "pawl.hook.reason": "no", "gen_ai.tool.name": "Bash", "gen_ai.tool.call.id": "c1", "gen_ai.conversation.id": "s1", "gen_ai.agent.id": "a1"} {
		require.Equal(t, want, got[key], key)
	}
	require.NotContains(t, got, "pawl.hook.shadow")
	require.Equal(t, codes.Unset, run.Status().Code, "a hook that refuses did its work")

	require.Contains(t, inner.env, "A=b")
	require.Contains(t, strings.Join(inner.env, " "), "TRACEPARENT=00-"+root.SpanContext().TraceID().String()+"-"+program.SpanContext().SpanID().String())

	times := metrics()["pawl.hook.duration"].(metricdata.Histogram[float64]).DataPoints
	require.Len(t, times, 1)
	require.Equal(t, uint64(1), times[0].Count)
	_, hasTool := times[0].Attributes.Value("gen_ai.tool.name")
	require.False(t, hasTool, "a model chooses tools: they make too many series")
}

func TestFailuresAreErrorsOfTheirCause(t *testing.T) {
	tel, spans, _, metrics := setup(t)
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	require.NoError(t, tel.Append(t.Context(), &pawl.Run{Name: "h", Outcome: pawl.Ran, Cause: pawl.CauseTimeout, PassedOpen: true, Time: at, Elapsed: time.Second}))
	run := spans.Ended()[0]
	require.Equal(t, codes.Error, run.Status().Code)
	require.Equal(t, "timeout", attributes(run)["error.type"])
	require.Equal(t, at, run.StartTime())
	require.Equal(t, at.Add(time.Second), run.EndTime())
	open := metrics()["pawl.hook.passed_open"].(metricdata.Sum[int64]).DataPoints
	require.Equal(t, int64(1), open[0].Value)
	cause, _ := open[0].Attributes.Value("error.type")
	require.Equal(t, attribute.StringValue("timeout"), cause)
}

func TestAProgramThatDidNotRunSaysWhy(t *testing.T) {
	tests := map[string]struct {
		inner fake
		kind  string
	}{
		"refused":    {fake{err: &pawl.RefusedError{Action: "exec.path.rm"}}, "refused_by_policy"},
		"not there":  {fake{err: errors.New("no such file hunter2")}, "could_not_run"},
		"killed":     {fake{res: pawl.Result{Code: -1, Signal: "killed"}}, "killed"},
		"ended well": {fake{}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tel, spans, _, _ := setup(t)
			_, err := tel.Wrap(&tc.inner).Run(t.Context(), pawl.Command{})
			require.Equal(t, tc.inner.err, err)
			span := spans.Ended()[0]
			require.Equal(t, tc.kind, attributes(span)["error.type"])
			require.NotContains(t, span.Status().Description, "hunter2")
		})
	}
}

func TestTheGlobalsAreUsedWhereNothingIsGiven(t *testing.T) {
	tel, err := otel.New(otel.Options{})
	require.NoError(t, err)
	require.NoError(t, tel.Append(t.Context(), &pawl.Run{Name: "h"}))
	env := []string{"A=b", "C=d"}[:1]
	inner := &fake{}
	_, err = tel.Wrap(inner).Run(t.Context(), pawl.Command{Args: []string{"x"}, Env: env})
	require.NoError(t, err)
	require.Equal(t, []string{"A=b"}, inner.env)
	require.Equal(t, "C=d", env[:2][1])
}
