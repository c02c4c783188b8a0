// Package hostfile is what the readers of hosts' hook files have in common: the shape EVENT, groups,
// handlers, with the place of everything; matchers; and what an entry is named and hashed by.
package hostfile

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/internal/docissue"
	"github.com/pawl-hooks/pawl/wire"
)

// A File is a source being read. It collects issues; one of them being an error, nothing of it loads.
type File struct {
	dialect.Source
	Flavour wire.Flavour
	Issues  []dialect.Issue

	doc *doc.Document
}

// Open parses src and returns the node that src.Under leads to, or nil where there is none, which an issue
// then says.
func Open(src dialect.Source, flavour wire.Flavour) (*File, *doc.Node) {
	if src.Layer == "" {
		src.Layer = "config"
	}
	if src.KeySource == "" {
		src.KeySource = src.File
	}
	if src.Warned == nil {
		src.Warned = new(atomic.Bool)
	}
	f := &File{Source: src, Flavour: flavour}
	d, faults := doc.Parse(src.File, src.Data, f.format())
	if len(faults) > 0 {
		f.Issues = docissue.Errors(faults)
		return f, nil
	}
	f.doc = d
	if host := foreign(d.Root); host != "" && d.Format != doc.TOML {
		f.Error(d.Root.Pos, "its hooks cannot be carried over as they are", "this is a hooks file of %s, which is not read here", host)
		return f, nil
	}
	return f, f.under(d.Root)
}

func (f *File) format() doc.Format {
	switch f.Format {
	case dialect.JSONC:
		return doc.JSONC
	case dialect.TOML:
		return doc.TOML
	case "":
		if format := doc.FormatOf(f.File); format != "" {
			return format
		}
	}
	return doc.JSON
}

// IsTOML reports whether the file is TOML.
func (f *File) IsTOML() bool { return f.doc.Format == doc.TOML }

func (f *File) under(n *doc.Node) *doc.Node {
	for i, step := range f.Under {
		next := n.Get(step)
		if n.Is(doc.List) {
			if at, err := strconv.Atoi(step); err == nil && at >= 0 && at < len(n.Items) {
				next = n.Items[at]
			}
		}
		if next == nil {
			f.Error(n.Pos, "", "there is no %s here", strings.Join(f.Under[:i+1], "."))
			return nil
		}
		n = next
	}
	return n
}

// Error reports what keeps the file from loading.
func (f *File) Error(at doc.Pos, hint, format string, args ...any) {
	f.report(dialect.Error, at, "", "", hint, format, args...)
}

func (f *File) report(s dialect.Severity, at doc.Pos, event, index, hint, format string, args ...any) {
	issue := docissue.Of(f.doc.FaultAt(at, fmt.Sprintf(format, args...), hint), s)
	issue.Event, issue.Index = event, index
	f.Issues = append(f.Issues, issue)
}

// Done returns what the file holds: no entry where something is an error.
func (f *File) Done(entries []dialect.Entry) ([]dialect.Entry, []dialect.Issue) {
	dialect.SortIssues(f.Issues)
	if dialect.HasErrors(f.Issues) {
		return nil, f.Issues
	}
	return entries, f.Issues
}

// Origin is a place in the file.
func (f *File) Origin(at doc.Pos) pawl.Origin {
	return pawl.Origin{Layer: f.Layer, File: f.File, Line: at.Line, Column: at.Column}
}
