// Package figures counts what a team watches about its hooks: how often each ran, refused, failed and was
// passed open, how long it took, and what a hook in shadow would have decided. The same [Figures] read a
// log after the fact and follow a registry while it works.
package figures

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/journal"
)

// Figures count runs. They are a [pawl.Log] that keeps nothing else, so that they can stand in a
// [journal.Fanout]. The zero Figures are ready; they may be used concurrently. Their memory grows with the
// number of hooks, not of runs.
type Figures struct {
	mu    sync.Mutex
	hooks map[string]*counts
}

// counts are the figures of one hook as they are kept.
type counts struct {
	Hook
	times histogram
}

// A Hook is the figures of one hook. Its runs include rechecks.
type Hook struct {
	Name       string               `json:"name"`
	Triggers   []pawl.Trigger       `json:"triggers"` // in the order first seen
	Runs       int                  `json:"runs"`
	Refusals   int                  `json:"refusals"`    // enforced
	Asks       int                  `json:"asks"`        // enforced
	Failures   map[pawl.Cause]int   `json:"failures"`    // by cause; empty where there was none
	PassedOpen int                  `json:"passed_open"` // of the failures, those that let the event through
	Shadow     int                  `json:"shadow"`      // runs in shadow
	Would      map[pawl.Verdict]int `json:"would"`       // of those, what they would have decided
	P50        time.Duration        `json:"-"`           // within 4 %
	P95        time.Duration        `json:"-"`           // within 4 %
	Slowest    time.Duration        `json:"-"`
}

// Failed is the number of failures, of whatever cause.
func (h *Hook) Failed() int {
	n := 0
	for _, c := range h.Failures {
		n += c
	}
	return n
}

// MarshalJSON writes the durations in milliseconds, as p50_ms, p95_ms and slowest_ms.
func (h Hook) MarshalJSON() ([]byte, error) {
	type fields Hook
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return json.Marshal(struct {
		fields
		P50     float64 `json:"p50_ms"`
		P95     float64 `json:"p95_ms"`
		Slowest float64 `json:"slowest_ms"`
	}{fields(h), ms(h.P50), ms(h.P95), ms(h.Slowest)})
}

// Append counts the runs among recs. It never fails.
func (f *Figures) Append(_ context.Context, recs ...pawl.Record) error {
	for _, rec := range recs {
		if run, ok := rec.(*pawl.Run); ok {
			f.Add(run)
		}
	}
	return nil
}

// Add counts one run.
func (f *Figures) Add(run *pawl.Run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.hooks[run.Name]
	if c == nil {
		if f.hooks == nil {
			f.hooks = map[string]*counts{}
		}
		c = &counts{Hook: Hook{Name: run.Name, Failures: map[pawl.Cause]int{}, Would: map[pawl.Verdict]int{}}}
		f.hooks[run.Name] = c
	}
	c.add(run)
}

func (c *counts) add(run *pawl.Run) {
	c.Runs++
	if !slices.Contains(c.Triggers, run.Trigger) {
		c.Triggers = append(c.Triggers, run.Trigger)
	}
	switch {
	case run.Shadow:
		c.Shadow++
		c.Would[run.Verdict]++
	case run.Refused:
		c.Refusals++
	case run.Verdict == pawl.Ask:
		c.Asks++
	}
	if run.Cause != "" {
		c.Failures[run.Cause]++
	}
	if run.PassedOpen {
		c.PassedOpen++
	}
	c.times.add(run.Elapsed)
	c.Slowest = max(c.Slowest, run.Elapsed)
}

// Hooks returns the figures so far, by name. They are the caller's.
func (f *Figures) Hooks() []Hook {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]Hook, 0, len(f.hooks))
	for _, c := range f.hooks {
		h := c.Hook
		h.Triggers, h.Failures, h.Would = slices.Clone(h.Triggers), maps.Clone(h.Failures), maps.Clone(h.Would)
		h.P50, h.P95 = min(c.times.quantile(0.50), h.Slowest), min(c.times.quantile(0.95), h.Slowest)
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b Hook) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Read counts the runs of a log. Entries of other kinds are left out, and so are those that are no records;
// how many those were comes back. A log that cannot be read is an error.
func Read(entries iter.Seq2[*journal.Entry, error]) (f *Figures, unread int, err error) {
	f = new(Figures)
	for e, err := range entries {
		if err != nil {
			return f, unread, err
		}
		switch run, err := e.Run(); {
		case e.Err != nil || e.Kind == "hook.run" && err != nil:
			unread++
		case err == nil:
			f.Add(run)
		}
	}
	return f, unread, nil
}
