// Command bench holds pawl to its goals of performance. Every figure compares both sides, rotated in one loop,
// so that a busy machine bears on both.
//
//	cd bench && go run . [-quick] [-bare] [-only P2] [-json FILE] [-plots DIR] [-cpuprofile FILE]
//
// It exits 1 where a goal is missed, and 2 before it measures where it cannot do what is asked.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"text/tabwriter"
	"time"
)

// A figure is one number of a goal.
type figure struct {
	Goal   string  `json:"goal"`
	What   string  `json:"what"`
	Limit  float64 `json:"limit"`
	Figure float64 `json:"figure"`
	Unit   string  `json:"unit"`
	Met    bool    `json:"met"`
	Note   string  `json:"note,omitempty"`
}

// atMost makes a figure that must not exceed its limit.
func atMost(what string, value, limit float64, unit string) figure {
	return figure{What: what, Limit: limit, Figure: value, Unit: unit, Met: value <= limit}
}

// besides makes a figure that has no limit: it explains one that has.
func besides(what string, value float64, unit string) figure {
	return figure{What: what, Figure: value, Unit: unit, Met: true, Note: "no goal"}
}

// missing makes a figure that could not be taken here.
func missing(what, why string) figure { return figure{What: what, Note: "not measured: " + why} }

func main() {
	if play() {
		return
	}
	var opts options
	opts.define(flag.CommandLine)
	flag.Parse()
	if err := opts.check(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	b, err := newBench(opts.quick, opts.bare)
	met := false
	if err == nil {
		err = profiled(opts.profile, func() error {
			var err error
			met, err = run(b, &opts)
			return err
		})
		b.close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	if err != nil || !met {
		os.Exit(1)
	}
}

// profiled does something and writes where its time went to a file, if one is named.
func profiled(path string, do func() error) error {
	if path == "" {
		return do()
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return do()
}

// run takes and shows every figure, and reports whether all goals were met. A file that cannot be written after all
// keeps none of the others back.
func run(b *bench, opts *options) (bool, error) {
	fmt.Printf("%s %s/%s, %d CPUs; helper programs in %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
		map[bool]string{true: "C", false: "Go"}[b.native])
	began := time.Now()
	all, met, taken := b.take(opts.only)
	if opts.only == "" {
		peers(b)
	}
	var unwritten, undrawn error
	if opts.out != "" {
		data, _ := json.MarshalIndent(all, "", "  ")
		unwritten = os.WriteFile(opts.out, append(data, '\n'), 0o644)
	}
	if opts.plots != "" {
		undrawn = draw(b, opts.plots)
	}
	fmt.Printf("took %v\n%d of %d goals met\n", time.Since(began).Round(time.Second), met, taken)
	return met == taken, errors.Join(unwritten, undrawn)
}

// take measures the goals, or the one that is named, and counts those that were met.
func (b *bench) take(only string) (all []figure, met, taken int) {
	for _, g := range goals() {
		if only != "" && g.name != only {
			continue
		}
		figures, missed := g.measure(b), false
		for i := range figures {
			figures[i].Goal = g.name
			missed = missed || !figures[i].Met
		}
		taken++
		if !missed {
			met++
		}
		show(figures)
		all = append(all, figures...)
	}
	return all, met, taken
}

func show(figures []figure) {
	w := tabwriter.NewWriter(os.Stdout, 6, 0, 2, ' ', 0)
	for _, f := range figures {
		if f.Unit == "" {
			fmt.Fprintf(w, "%-4s\t%-62s\t%s\n", f.Goal, f.What, f.Note)
			continue
		}
		limit, verdict := fmt.Sprintf("<= %.3f %s", f.Limit, f.Unit), "met"
		switch {
		case f.Note != "":
			limit, verdict = f.Unit, f.Note
		case !f.Met:
			verdict = "MISSED"
		}
		fmt.Fprintf(w, "%-4s\t%-62s\t%10.3f\t%s\t%s\n", f.Goal, f.What, f.Figure, limit, verdict)
	}
	w.Flush()
}
