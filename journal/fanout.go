package journal

import (
	"context"
	"errors"

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
