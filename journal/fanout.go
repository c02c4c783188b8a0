package journal

import (
	"context"
	"errors"
	"sync"

	"github.com/pawl-hooks/pawl"
)

// Fanout returns a Log that hands every record to all of logs, in order, whatever becomes of the others. Its
// error joins theirs: a record is kept only where all keep it. A nil Log is left out; of none, nothing is kept.
func Fanout(logs ...pawl.Log) pawl.Log {
	return pawl.LogFunc(func(ctx context.Context, recs ...pawl.Record) error {
		var errs []error
		for _, l := range logs {
			if l != nil {
				errs = append(errs, l.Append(ctx, recs...))
			}
		}
		return errors.Join(errs...)
	})
}

// A Counter is a Log that counts the runs that were passed open: checks that did not happen and let the
// event through. It may be used concurrently.
type Counter struct {
	Next pawl.Log // takes the records; nil: they are only counted

	mu     sync.Mutex
	byHook map[string]int64
}

// Append counts and hands on. What Next does not take is counted all the same.
func (c *Counter) Append(ctx context.Context, recs ...pawl.Record) error {
	for _, rec := range recs {
		if run, ok := rec.(*pawl.Run); ok && run.PassedOpen {
			c.mu.Lock()
			if c.byHook == nil {
				c.byHook = map[string]int64{}
			}
			c.byHook[run.Name]++
			c.mu.Unlock()
		}
	}
	if c.Next == nil {
		return nil
	}
	return c.Next.Append(ctx, recs...)
}

// PassedOpen returns how many runs were passed open, by the name of their hook. The map is the caller's.
func (c *Counter) PassedOpen() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := make(map[string]int64, len(c.byHook))
	for name, n := range c.byHook {
		counts[name] = n
	}
	return counts
}
