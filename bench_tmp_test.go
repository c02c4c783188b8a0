package pawl_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/pawl-hooks/pawl"
)

func hooksN(n int) []pawl.Hook {
	var hs []pawl.Hook
	for i := range n {
		h := refuse(fmt.Sprintf("h%d", i))
		if i%20 == 0 {
			m, _ := pawl.Regexp(fmt.Sprintf("^mcp__server%d__.*", i))
			h.Match = m
		} else {
			h.Match = pawl.Names(fmt.Sprintf("Tool%d", i))
		}
		hs = append(hs, h)
	}
	return hs
}

func BenchmarkNoMatch(b *testing.B) {
	for _, n := range []int{10, 10000} {
		r := registry(b, pawl.Options{}, hooksN(n)...)
		ev := toolEvent()
		ctx := context.Background()
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Dispatch(ctx, ev)
			}
		})
		ev2 := toolEvent()
		ev2.Aliases = []string{"Shell", "Exec"}
		b.Run(fmt.Sprint(n, "alias"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Dispatch(ctx, ev2)
			}
		})
		names := make([]string, 20000)
		for i := range names {
			names[i] = fmt.Sprintf("mcp__srv%d__tool", i)
		}
		b.Run(fmt.Sprint(n, "first"), func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				ev.Tool = names[i%20000]
				i++
				r.Dispatch(ctx, ev)
			}
		})
	}
}

func BenchmarkQuiet(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		var hs []pawl.Hook
		var raw []func(context.Context, *pawl.Event)
		c := 0
		f := func(context.Context, *pawl.Event) { c++ }
		for i := range n {
			hs = append(hs, pawl.Hook{Name: fmt.Sprintf("o%d", i), On: pawl.StreamText, Handler: pawl.Observer(f)})
			raw = append(raw, f)
		}
		r := registry(b, pawl.Options{}, hs...)
		ev := &pawl.Event{Trigger: pawl.StreamText}
		ctx := b.Context()
		b.Run(fmt.Sprint("raw", n), func(b *testing.B) {
			for b.Loop() {
				for _, f := range raw {
					f(ctx, ev)
				}
			}
		})
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Dispatch(ctx, ev)
			}
		})
	}
}

func BenchmarkRecorded(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		var hs []pawl.Hook
		for i := range n {
			hs = append(hs, check(fmt.Sprintf("o%d", i), pawl.ToolBefore, pawl.Decision{}, pawl.MayRefuse))
		}
		r := registry(b, pawl.Options{}, hs...)
		ev := toolEvent()
		ctx := b.Context()
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Dispatch(ctx, ev)
			}
		})
	}
}
