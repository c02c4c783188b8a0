package gate

import "github.com/pawl-hooks/pawl"

// A Middleware puts something in front of a gate. What it returns must be safe for concurrent use.
type Middleware func(next pawl.Gate) pawl.Gate

// Chain puts middlewares in front of a gate, outermost first:
//
//	gate.Chain(record.Wrap, policy.Wrap, approve.Wrap, sandbox.Wrap)(gate.Exec{})
//
// [Workers] stands in the place of the Exec where programs are to be kept alive.
//
// A nil Middleware is left out. Without any, the gate comes back as it is.
func Chain(middlewares ...Middleware) Middleware {
	return func(inner pawl.Gate) pawl.Gate {
		for i := len(middlewares) - 1; i >= 0; i-- {
			if middlewares[i] != nil {
				inner = middlewares[i](inner)
			}
		}
		return inner
	}
}
