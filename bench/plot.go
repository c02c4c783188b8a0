package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/pawl-hooks/pawl"
)

var plotNames = [...]string{"hooks.png", "at-once.png"}

// draw writes two plots: what a dispatch costs against the number of hooks, and what command hooks cost that
// run at once.
func draw(b *bench, dir string) error {
	if err := drawHooks(b, filepath.Join(dir, plotNames[0])); err != nil {
		return err
	}
	return drawAtOnce(b, filepath.Join(dir, plotNames[1]))
}

func drawHooks(b *bench, path string) error {
	var none, one plotter.XYs
	ctx := context.Background()
	for _, n := range []int{10, 30, 100, 300, 1000, 3000, 10000} {
		miss, hit := registry(pawl.Options{}, matching(n)...), registry(pawl.Options{}, append(matching(n), named("Bash"))...)
		ev := toolCall()
		t := perCall(b.rounds(100), 200, func() { _, _ = miss.Dispatch(ctx, ev) }, func() { _, _ = hit.Dispatch(ctx, ev) })
		none = append(none, plotter.XY{X: float64(n), Y: t[0]})
		one = append(one, plotter.XY{X: float64(n), Y: t[1]})
	}
	p := plot.New()
	p.Title.Text = "One dispatch among n hooks"
	p.X.Label.Text, p.Y.Label.Text = "hooks", "ns"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	return save(p, path, "no hook matches", none, "one Go handler matches", one)
}

func named(tool string) pawl.Hook {
	h := quiet("match")
	h.Match = pawl.Names(tool)
	return h
}

func drawAtOnce(b *bench, path string) error {
	var exec, ours plotter.XYs
	one := bareExec(told(), b.hook)
	for _, n := range []int{1, 2, 4, 8, 16, 32, 64} {
		r := registry(pawl.Options{Gate: b.runner(false)}, programs(n, b.hook)...)
		t := rotate(max(b.rounds(60), 8), func() {
			var wg sync.WaitGroup
			for range n {
				wg.Go(one)
			}
			wg.Wait()
		}, dispatching(r))
		exec = append(exec, plotter.XY{X: float64(n), Y: t[0].Seconds() * 1000})
		ours = append(ours, plotter.XY{X: float64(n), Y: t[1].Seconds() * 1000})
	}
	p := plot.New()
	p.Title.Text = "n command hooks at once"
	p.X.Label.Text, p.Y.Label.Text = "hooks at once", "ms until all have ended"
	return save(p, path, "os/exec, a goroutine each", exec, "pawl, whole dispatch", ours)
}

func save(p *plot.Plot, path string, lines ...any) error {
	p.Legend.Top, p.Legend.Left = true, true
	if err := plotutil.AddLinePoints(p, lines...); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return p.Save(6*vg.Inch, 3.5*vg.Inch, path)
}
