// Package otel makes OpenTelemetry spans and metrics of hook runs and of the programs they start, and hands
// the trace context to those programs.
//
// A [Telemetry] is used in two places: as a [pawl.Log], beside the one that keeps the records, and in front
// of the gate. Names follow OpenTelemetry's conventions for programs (process.*, error.type) and, for what an
// event is about, those for generative AI (gen_ai.*, which are not stable yet); what has no convention is
// named pawl.*.
package otel

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawl-hooks/pawl"
)

// Scope is the name of the instrumentation.
const Scope = "github.com/pawl-hooks/pawl/otel"

// Attributes that have no convention, and those of generative AI, which semconv does not hold.
const (
	hookName    = attribute.Key("pawl.hook.name")
	hookTrigger = attribute.Key("pawl.hook.trigger")
	hookStage   = attribute.Key("pawl.hook.stage")
	hookOutcome = attribute.Key("pawl.hook.outcome")
	hookVerdict = attribute.Key("pawl.hook.verdict")
	hookReason  = attribute.Key("pawl.hook.reason")
	hookSource  = attribute.Key("pawl.hook.source")
	hookRefused = attribute.Key("pawl.hook.refused")
	hookOpen    = attribute.Key("pawl.hook.passed_open")
	hookShadow  = attribute.Key("pawl.hook.shadow")
	action      = attribute.Key("pawl.action")
	commandID   = attribute.Key("pawl.command.id")

	toolName       = attribute.Key("gen_ai.tool.name")
	toolCallID     = attribute.Key("gen_ai.tool.call.id")
	conversationID = attribute.Key("gen_ai.conversation.id")
	agentID        = attribute.Key("gen_ai.agent.id")
)

// Options say where spans and metrics go. Nil is the global of the otel package.
type Options struct {
	Tracer     trace.TracerProvider
	Meter      metric.MeterProvider
	Propagator propagation.TextMapPropagator // writes what programs get as environment
	Redact     func([]byte) []byte           // over the words of programs; nil: as they are
}

// A Telemetry makes spans and metrics. It may be used concurrently. Make one with [New].
type Telemetry struct {
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
	redact     func([]byte) []byte
	duration   metric.Float64Histogram
	open       metric.Int64Counter
}

// New returns a Telemetry, or the error of the meter.
func New(opts Options) (*Telemetry, error) {
	if opts.Tracer == nil {
		opts.Tracer = otel.GetTracerProvider()
	}
	if opts.Meter == nil {
		opts.Meter = otel.GetMeterProvider()
	}
	if opts.Propagator == nil {
		opts.Propagator = otel.GetTextMapPropagator()
	}
	t := &Telemetry{
		tracer:     opts.Tracer.Tracer(Scope, trace.WithSchemaURL(semconv.SchemaURL)),
		propagator: opts.Propagator, redact: opts.Redact,
	}
	meter := opts.Meter.Meter(Scope, metric.WithSchemaURL(semconv.SchemaURL))
	var err error
	t.duration, err = meter.Float64Histogram("pawl.hook.duration", metric.WithUnit("s"), metric.WithDescription("How long hook runs took."),
		metric.WithExplicitBucketBoundaries(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300))
	if err != nil {
		return nil, fmt.Errorf("otel: %w", err)
	}
	t.open, err = meter.Int64Counter("pawl.hook.passed_open", metric.WithUnit("{run}"),
		metric.WithDescription("Runs whose check did not happen and that let the event through."))
	if err != nil {
		return nil, fmt.Errorf("otel: %w", err)
	}
	return t, nil
}

// Append makes a span of each run among recs, below the span of ctx, which is that of the dispatch, and
// counts it. It never fails.
func (t *Telemetry) Append(ctx context.Context, recs ...pawl.Record) error {
	for _, rec := range recs {
		if run, ok := rec.(*pawl.Run); ok {
			t.span(ctx, run)
			t.count(ctx, run)
		}
	}
	return nil
}

func (t *Telemetry) span(ctx context.Context, run *pawl.Run) {
	start := run.Time
	if start.IsZero() {
		start = time.Now().Add(-run.Elapsed)
	}
	_, span := t.tracer.Start(ctx, "hook "+run.Name, trace.WithTimestamp(start), trace.WithAttributes(runAttributes(run)...))
	if run.Cause != "" {
		span.SetAttributes(semconv.ErrorTypeKey.String(string(run.Cause)))
		span.SetStatus(codes.Error, run.Reason)
	}
	span.End(trace.WithTimestamp(start.Add(run.Elapsed)))
}

// runAttributes lists what a run has; what it has not is left out.
func runAttributes(run *pawl.Run) []attribute.KeyValue {
	attrs := []attribute.KeyValue{hookName.String(run.Name), hookTrigger.String(string(run.Trigger)), hookVerdict.String(run.Verdict.String())}
	for _, text := range []struct {
		key   attribute.Key
		value string
	}{
		{hookStage, string(run.Stage)}, {hookOutcome, run.Outcome}, {hookReason, run.Reason}, {hookSource, run.Source}, {action, run.Action},
		{commandID, run.ID}, {toolName, run.Tool}, {toolCallID, run.Call}, {conversationID, run.Session}, {agentID, run.Agent},
	} {
		if text.value != "" {
			attrs = append(attrs, text.key.String(text.value))
		}
	}
	for _, flag := range []struct {
		key attribute.Key
		is  bool
	}{{hookRefused, run.Refused}, {hookOpen, run.PassedOpen}, {hookShadow, run.Shadow}} {
		if flag.is {
			attrs = append(attrs, flag.key.Bool(true))
		}
	}
	return attrs
}

// count adds a run to the metrics, under attributes that take few values: names come from files, and tools,
// which come from a model, are left out.
func (t *Telemetry) count(ctx context.Context, run *pawl.Run) {
	attrs := []attribute.KeyValue{hookName.String(run.Name), hookTrigger.String(string(run.Trigger)), hookOutcome.String(run.Outcome),
		hookVerdict.String(run.Verdict.String())}
	if run.Cause != "" {
		attrs = append(attrs, semconv.ErrorTypeKey.String(string(run.Cause)))
	}
	set := metric.WithAttributeSet(attribute.NewSet(attrs...))
	t.duration.Record(ctx, run.Elapsed.Seconds(), set)
	if run.PassedOpen {
		t.open.Add(ctx, 1, set)
	}
}

// Wrap is a gate's middleware: it makes a span of each command and hands its context to the program in the
// environment, as TRACEPARENT and whatever else the propagator writes. Stand it outermost, so that a
// refusal has its span too.
func (t *Telemetry) Wrap(next pawl.Gate) pawl.Gate {
	return pawl.GateFunc(func(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
		name := "program"
		if len(cmd.Args) > 0 {
			name = t.shown(path.Base(strings.ReplaceAll(cmd.Args[0], `\`, "/")))
		}
		ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			semconv.ProcessExecutableName(name), semconv.ProcessCommandArgs(t.words(cmd.Args)...), commandID.String(cmd.ID)))
		defer span.End()
		cmd.Env = t.environment(ctx, cmd.Env)
		res, err := next.Run(ctx, cmd)
		t.finish(span, res, err)
		return res, err
	})
}

func (t *Telemetry) finish(span trace.Span, res pawl.Result, err error) {
	if res.Action != "" {
		span.SetAttributes(action.String(res.Action))
	}
	if err != nil {
		kind := pawl.CouldNotRun
		if errors.Is(err, pawl.ErrRefused) {
			kind = pawl.RefusedByPolicy
		}
		span.SetAttributes(semconv.ErrorTypeKey.String(kind))
		span.SetStatus(codes.Error, t.shown(err.Error()))
		return
	}
	span.SetAttributes(semconv.ProcessExitCode(res.Code))
	if res.Code != 0 {
		kind := res.Signal
		if kind == "" {
			kind = fmt.Sprint(res.Code)
		}
		span.SetAttributes(semconv.ErrorTypeKey.String(kind))
		span.SetStatus(codes.Error, "")
	}
}

func (t *Telemetry) words(args []string) []string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = t.shown(a)
	}
	return words
}

func (t *Telemetry) shown(s string) string {
	if t.redact == nil {
		return s
	}
	return string(t.redact([]byte(s)))
}

// environment adds the context to env: keys in upper case, with _ for what a variable's name cannot hold.
func (t *Telemetry) environment(ctx context.Context, env []string) []string {
	carrier := propagation.MapCarrier{}
	t.propagator.Inject(ctx, carrier)
	env = env[:len(env):len(env)] // the caller's array is not ours to write to
	for _, key := range t.propagator.Fields() {
		if value := carrier.Get(key); value != "" {
			env = append(env, variable(key)+"="+value)
		}
	}
	return env
}

func variable(key string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '_'
	}, key)
}
