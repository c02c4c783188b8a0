package guard

// Kept returns how many runs a guard keeps state of; -1 for one that keeps none.
func Kept(g Guard) int {
	switch g := g.(type) {
	case *Counter:
		return g.runs.order.Len()
	case *Repeat:
		return g.runs.order.Len()
	case *Budget:
		return g.runs.order.Len()
	case *ReadFirst:
		return g.runs.order.Len()
	case *Dedup:
		return g.runs.order.Len()
	case *OutputBudget:
		return g.runs.order.Len()
	case *Once:
		return g.runs.order.Len()
	}
	return -1
}
