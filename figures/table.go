package figures

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Write writes the figures as a table, the hooks by name, and below it what hooks in shadow would have
// decided.
func (f *Figures) Write(w io.Writer) error {
	hooks := f.Hooks()
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "HOOK\tRUNS\tREFUSED\tASKED\tFAILED\tPASSED OPEN\tP50\tP95\tSLOWEST\tCAUSES")
	for _, h := range hooks {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\n", h.Name, h.Runs, h.Refusals, h.Asks, h.Failed(), h.PassedOpen,
			short(h.P50), short(h.P95), short(h.Slowest), counted(h.Failures))
	}
	for _, h := range hooks {
		if h.Shadow > 0 {
			words := map[string]int{}
			for v, n := range h.Would {
				words[v.String()] = n
			}
			fmt.Fprintf(table, "shadow %s: of %d runs would %s\n", h.Name, h.Shadow, counted(words))
		}
	}
	return table.Flush()
}

// counted lists counts, the highest first.
func counted[K ~string](m map[K]int) string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b K) int { return cmp.Or(m[b]-m[a], cmp.Compare(a, b)) })
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprintf("%s %d", k, m[k])
	}
	return strings.Join(parts, ", ")
}

// short rounds a duration to three digits or so.
func short(d time.Duration) string {
	for unit := time.Second; unit >= time.Microsecond; unit /= 1000 {
		if d >= unit {
			return d.Round(unit / 10).String()
		}
	}
	return d.String()
}
