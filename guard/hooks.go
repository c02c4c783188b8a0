package guard

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/pawl-hooks/pawl"
)

// A Guard is a ready-made handler: the hooks that make it up, or what is wrong with its settings. Hooks is
// called once, before the first event.
type Guard interface {
	Hooks() ([]pawl.Hook, error)
}

// Hooks returns the hooks of the guards in the order that the package documentation states, whatever order
// they are given in; guards of the same kind, and those that are not of this package, keep theirs, the latter
// first. The error joins the faults of all of them, and there are no hooks then.
func Hooks(guards ...Guard) ([]pawl.Hook, error) {
	for i, g := range guards {
		if v := reflect.ValueOf(g); g == nil || v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, fmt.Errorf("guard %d of %d is nil", i+1, len(guards))
		}
	}
	guards = slices.Clone(guards)
	slices.SortStableFunc(guards, func(a, b Guard) int { return cmp.Compare(place(a), place(b)) })
	var hooks []pawl.Hook
	var faults []error
	for _, g := range guards {
		more, err := g.Hooks()
		hooks, faults = append(hooks, more...), append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return hooks, nil
}

// place is a guard's place in the order.
func place(g Guard) int {
	switch g := g.(type) {
	case *origin:
		return place(g.Guard)
	case *Counter:
		return 1
	case *Repeat:
		return 2
	case *Budget:
		return 3
	case *ReadFirst:
		return 4
	case *Dedup:
		return 5
	case *Redact:
		return 6
	case *Truncate:
		return 7
	case *OutputBudget:
		return 8
	}
	return 0
}

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// Fit leaves out the observers among the hooks whose triggers a runtime's own table does not have, so that one
// that never dispatches agent.done, say, can use the guards all the same. A hook with a say is never left out:
// pawl.New then says that its trigger is unknown.
func Fit(table map[pawl.Trigger]pawl.Contract, hooks []pawl.Hook) []pawl.Hook {
	return slices.DeleteFunc(slices.Clone(hooks), func(h pawl.Hook) bool {
		_, known := table[h.On]
		return h.Effects == 0 && !known
	})
}
