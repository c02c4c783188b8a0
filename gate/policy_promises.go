package gate

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Promises are rules that a session took upon itself while it ran. They narrow at once and are never taken
// back. The zero Promises are none. They may be used concurrently.
type Promises struct {
	mu    sync.RWMutex
	rules []Rule
}

// Add adds one promise. It is an error when the rule is not well formed or names no action.
func (p *Promises) Add(r Rule) error {
	if field, why := r.fault(); why != "" {
		return fmt.Errorf("promise: %s: %s", field, why)
	}
	if r.Action == "" {
		return errors.New("promise: names no action")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.rules, r) {
		p.rules = append(p.rules, r)
	}
	return nil
}

// all returns the promises made so far. Those made later go to another part of the slice.
func (p *Promises) all() []Rule {
	if p == nil {
		return nil
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.rules
}
