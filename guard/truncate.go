package guard

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/internal/cut"
)

// Which part of a long text a Truncate keeps.
const (
	KeepHead = "head" // the beginning
	KeepTail = "tail" // the end, where a program says what came of it
	KeepBoth = "both" // half of each
)

// A Truncate cuts long texts in the results of tools: a result that is a string, and any string within one.
// What it cuts is replaced by a marker that says how many bytes are missing and where; the marker comes on top
// of Max. Characters are not split.
type Truncate struct {
	Name  string   // of its hook; empty: "truncate"
	Tools []string // canonical names or aliases; empty: all
	Max   int      // bytes of a text that are kept; at least 1
	Keep  string   // KeepHead, KeepTail or KeepBoth; empty: KeepTail
}

// Hooks returns the hook of the guard, or every fault in its settings.
func (t *Truncate) Hooks() ([]pawl.Hook, error) {
	name := cmp.Or(t.Name, "truncate")
	var faults []error
	if t.Max < 1 {
		faults = append(faults, fmt.Errorf("guard %s: max is %d, want at least 1 byte", name, t.Max))
	}
	switch t.Keep {
	case "", KeepHead, KeepTail, KeepBoth:
	default:
		faults = append(faults, fmt.Errorf("guard %s: keep is %q, want %q, %q or %q", name, t.Keep, KeepHead, KeepTail, KeepBoth))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return []pawl.Hook{rewriter(name, pawl.ToolAfter, t.Tools, t.cut)}, nil
}

func (t *Truncate) cut(s string) string {
	if len(s) <= t.Max {
		return s
	}
	switch t.Keep {
	case KeepHead:
		head := cut.Head(s, t.Max)
		return fmt.Sprintf("%s\n…(%d bytes truncated from tail)…", head, len(s)-len(head))
	case KeepBoth:
		head, tail := cut.Head(s, (t.Max+1)/2), cut.Tail(s, t.Max/2)
		return fmt.Sprintf("%s\n…(%d bytes truncated from middle)…\n%s", head, len(s)-len(head)-len(tail), tail)
	}
	tail := cut.Tail(s, t.Max)
	return fmt.Sprintf("…(%d bytes truncated from head)…\n%s", len(s)-len(tail), tail)
}
