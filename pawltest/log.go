package pawltest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/pawl-hooks/pawl"
)

// A Log records what is appended to it. The zero Log takes all. It may be used concurrently; its fields are
// to be read when nothing runs any more.
type Log struct {
	Next    pawl.Log        // decides whether the records were kept; nil: they were
	Appends [][]pawl.Record // the records of each Append that kept its records; runs are copies
	Lines   [][]byte        // the same records as JSON, one after another
	Failed  int             // how many did not

	mu sync.Mutex
}

// Append records recs, unless Next does not take them, or one of them is no record: a JSON object whose
// first field is "kind".
func (l *Log) Append(ctx context.Context, recs ...pawl.Record) error {
	kept, lines, err := keep(recs)
	if err == nil && l.Next != nil {
		err = l.Next.Append(ctx, recs...)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.Failed++
		return err
	}
	if len(kept) > 0 {
		l.Appends = append(l.Appends, kept)
		l.Lines = append(l.Lines, lines...)
	}
	return nil
}

func keep(recs []pawl.Record) (kept []pawl.Record, lines [][]byte, err error) {
	for _, rec := range recs {
		line, err := json.Marshal(rec)
		if err != nil {
			return nil, nil, fmt.Errorf("record %q: %w", rec.Kind(), err)
		}
		if want := fmt.Appendf(nil, `{"kind":%q`, rec.Kind()); !bytes.HasPrefix(line, want) {
			return nil, nil, fmt.Errorf("record %q does not begin with its kind: %.80s", rec.Kind(), line)
		}
		if run, ok := rec.(*pawl.Run); ok {
			own := *run
			rec = &own
		}
		kept, lines = append(kept, rec), append(lines, line)
	}
	return kept, lines, nil
}

// Records returns every record so far, in order, at any time.
func (l *Log) Records() []pawl.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	var recs []pawl.Record
	for _, a := range l.Appends {
		recs = append(recs, a...)
	}
	return recs
}

// Runs returns every hook.run so far, in order, at any time.
func (l *Log) Runs() []*pawl.Run {
	var runs []*pawl.Run
	for _, rec := range l.Records() {
		if run, ok := rec.(*pawl.Run); ok {
			runs = append(runs, run)
		}
	}
	return runs
}
