package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/pawl-hooks/pawl/internal/legible"
)

// plain makes a message safe to show on a terminal and keeps it on one line: what a hook or a file says must not move
// the cursor, nor hide what it names.
func plain(s string) string { return exact(lines.Replace(s)) }

var lines = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ")

// exact shows a command, a path, a matcher or a name: no two look the same.
func exact(s string) string { return legible.Text(s) }

// block is plain for text of several lines, each behind indent.
func block(indent, s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(indent+plain(strings.ReplaceAll(line, "\t", "    ")), " ")
	}
	return strings.Join(lines, "\n")
}

// A table is rows of cells with their columns lined up.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer) *table {
	return &table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
}

// row adds one row; an empty cell shows as a dash.
func (t *table) row(cells ...string) {
	for i, c := range cells {
		if c == "" {
			c = "-"
		}
		cells[i] = exact(c)
	}
	fmt.Fprintln(t.w, strings.Join(cells, "\t"))
}

func (t *table) flush() error { return t.w.Flush() }

// list is items, and an empty list rather than null where there are none.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
