package main

import (
	"context"
	"fmt"

	"github.com/asaskevich/EventBus"
	"github.com/cloudwego/eino/callbacks"
	"github.com/gookit/event"

	"github.com/pawl-hooks/pawl"
)

// peers shows what telling handlers in process costs here and in event libraries that are Go modules. They
// keep no record, bound nothing and decide nothing: the quiet path is what compares.
func peers(b *bench) {
	fmt.Println("\nns to tell n handlers of one event       n=1      n=10     n=100")
	rows := map[string][]float64{}
	names := []string{"raw loop", "pawl, quiet trigger", "gookit/event", "asaskevich/EventBus", "eino callbacks"}
	for _, n := range []int{1, 10, 100} {
		count := 0
		t := perCall(b.rounds(200), 100, rawLoop(n, &count), ours(n, &count), gookit(n, &count), eventBus(n, &count), eino(n, &count))
		for i, name := range names {
			rows[name] = append(rows[name], t[i])
		}
	}
	for _, name := range names {
		fmt.Printf("  %-32s %10.0f%10.0f%10.0f\n", name, rows[name][0], rows[name][1], rows[name][2])
	}
	fmt.Println()
}

func rawLoop(n int, count *int) func() {
	handlers := make([]func(context.Context, *pawl.Event), n)
	for i := range handlers {
		handlers[i] = func(context.Context, *pawl.Event) { *count++ }
	}
	ctx, ev := context.Background(), &pawl.Event{Trigger: pawl.StreamText}
	return func() {
		for _, h := range handlers {
			h(ctx, ev)
		}
	}
}

func ours(n int, count *int) func() {
	hooks := make([]pawl.Hook, n)
	for i := range hooks {
		hooks[i] = pawl.Hook{Name: fmt.Sprintf("o%d", i), On: pawl.StreamText,
			Handler: pawl.Observer(func(context.Context, *pawl.Event) { *count++ })}
	}
	r := registry(pawl.Options{}, hooks...)
	ctx, ev := context.Background(), &pawl.Event{Trigger: pawl.StreamText}
	return func() { _, _ = r.Dispatch(ctx, ev) }
}

func gookit(n int, count *int) func() {
	m := event.NewManager("bench")
	for range n {
		m.On("stream", event.ListenerFunc(func(event.Event) error { *count++; return nil }))
	}
	return func() { _, _ = m.Fire("stream", nil) }
}

func eventBus(n int, count *int) func() {
	bus := EventBus.New()
	for range n {
		must(bus.Subscribe("stream", func(string) { *count++ }))
	}
	return func() { bus.Publish("stream", "delta") }
}

func eino(n int, count *int) func() {
	handlers := make([]callbacks.Handler, n)
	for i := range handlers {
		handlers[i] = callbacks.NewHandlerBuilder().OnStartFn(
			func(ctx context.Context, _ *callbacks.RunInfo, _ callbacks.CallbackInput) context.Context {
				*count++
				return ctx
			}).Build()
	}
	ctx := callbacks.InitCallbacks(context.Background(), &callbacks.RunInfo{Name: "bench"}, handlers...)
	return func() { callbacks.OnStart(ctx, "delta") }
}
