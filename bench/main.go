// Command bench holds pawl to its goals of performance. Every figure compares both sides, rotated in one loop,
// so that a busy machine bears on both.
//
//	cd bench && go run . [-quick] [-json FILE] [-plots DIR]
//
// It exits 1 where a goal is missed.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
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

// at most makes a figure that must not exceed its limit.
func atMost(what string, value, limit float64, unit string) figure {
	return figure{What: what, Limit: limit, Figure: value, Unit: unit, Met: value <= limit}
}

// missing makes a figure that could not be taken here.
func missing(what, why string) figure { return figure{What: what, Note: "not measured: " + why} }

func main() {
	if play() {
		return
	}
	quick := flag.Bool("quick", false, "fewer rounds: under a minute")
	out := flag.String("json", "", "write the figures to this file too")
	plots := flag.String("plots", "", "draw the two plots into this folder")
	only := flag.String("only", "", "one goal: P6")
	flag.Parse()
	b, err := newBench(*quick)
	if err == nil {
		defer b.close()
		err = run(b, *out, *plots, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(b *bench, out, plots, only string) error {
	fmt.Printf("%s %s/%s, %d CPUs; helper programs in %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
		map[bool]string{true: "C", false: "Go"}[b.native])
	var all []figure
	met, taken := 0, 0
	began := time.Now()
	for _, g := range goals() {
		if only != "" && g.name != only {
			continue
		}
		figures := g.measure(b)
		good := true
		for i := range figures {
			figures[i].Goal = g.name
			good = good && figures[i].Met
		}
		taken++
		if good {
			met++
		}
		show(figures)
		all = append(all, figures...)
	}
	if only == "" {
		peers(b)
	}
	if plots != "" {
		if err := draw(b, plots); err != nil {
			return err
		}
	}
	if out != "" {
		data, _ := json.MarshalIndent(all, "", "  ")
		if err := os.WriteFile(out, append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("took %v\n%d of %d goals met\n", time.Since(began).Round(time.Second), met, taken)
	if met < taken {
		b.close()
		os.Exit(1)
	}
	return nil
}

func show(figures []figure) {
	w := tabwriter.NewWriter(os.Stdout, 6, 0, 2, ' ', 0)
	for _, f := range figures {
		if f.Unit == "" {
			fmt.Fprintf(w, "%-4s\t%-62s\t%s\n", f.Goal, f.What, f.Note)
			continue
		}
		verdict := "met"
		if !f.Met {
			verdict = "MISSED"
		}
		fmt.Fprintf(w, "%-4s\t%-62s\t%10.3f\t<= %.3f %s\t%s\t%s\n", f.Goal, f.What, f.Figure, f.Limit, f.Unit, verdict, f.Note)
	}
	w.Flush()
}
