package journal

import (
	"context"
	"errors"
	"os"
	"sync"
)

// A group lets the Appends that wait for the disk share one sync. A sync that failed is never tried again:
// the system may have dropped what it could not write, and a second sync would say that all is well.
type group struct {
	mu      sync.Mutex
	file    *os.File // the last that a ticket was drawn for
	written uint64   // tickets drawn
	synced  uint64   // tickets known to be safe
	round   *round   // the sync under way; nil: none
	err     error
}

// A round is one sync and those who wait for it.
type round struct{ done chan struct{} }

// ticket is drawn for what has just been written to f, by one goroutine at a time.
func (g *group) ticket(f *os.File) uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f != nil {
		g.file = f
	}
	g.written++
	return g.written
}

func (g *group) broken() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// wait returns once a sync that began after the ticket was drawn is over.
func (g *group) wait(ctx context.Context, ticket uint64) error {
	for {
		g.mu.Lock()
		if g.err != nil || g.synced >= ticket {
			defer g.mu.Unlock()
			return g.err
		}
		if g.round == nil {
			g.round = &round{done: make(chan struct{})}
			go g.run(g.round, g.file, g.written)
		}
		done := g.round.done
		g.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// run syncs f, which makes all tickets up to target safe: a file is synced before another takes its place.
func (g *group) run(r *round, f *os.File, target uint64) {
	err := syncData(f)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settle(err, target)
	g.round = nil
	close(r.done)
}

// syncNow syncs f at once. Nil, and a file that was closed after its last sync, are fine.
func (g *group) syncNow(f *os.File) error {
	err := syncData(f)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settle(err, 0)
	return g.err
}

func (g *group) settle(err error, target uint64) {
	if err != nil && g.err == nil {
		g.err = err
	}
	g.synced = max(g.synced, target)
}

// syncData makes the contents of f safe. It may run while f is closed.
func syncData(f *os.File) error {
	if f == nil {
		return nil
	}
	err := dataSync(f)
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
