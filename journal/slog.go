package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/pawl-hooks/pawl"
)

// Slog returns a Log that hands records to a handler of log/slog: the kind is the message, the fields of the
// record are the attributes, in order. A run that failed is a warning, anything else an info. What the
// handler's level leaves out counts as kept; the handler's error is the Log's.
func Slog(h slog.Handler) pawl.Log {
	return pawl.LogFunc(func(ctx context.Context, recs ...pawl.Record) error {
		for _, rec := range recs {
			level := slog.LevelInfo
			if run, ok := rec.(*pawl.Run); ok && (run.Cause != "" || run.PassedOpen) {
				level = slog.LevelWarn
			}
			if !h.Enabled(ctx, level) {
				continue
			}
			line, err := pawl.AppendRecord(nil, rec)
			if err != nil {
				return err
			}
			entry := slog.NewRecord(time.Now(), level, rec.Kind(), 0)
			if err := addFields(&entry, line); err != nil {
				return fmt.Errorf("record %s: %w", rec.Kind(), err)
			}
			if err := h.Handle(ctx, entry); err != nil {
				return fmt.Errorf("record %s: %w", rec.Kind(), err)
			}
		}
		return nil
	})
}

// addFields adds the fields of a JSON object but its kind; its time becomes the entry's.
func addFields(entry *slog.Record, line []byte) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			return err
		}
		switch key {
		case "kind":
			continue
		case "time":
			if at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(value)); err == nil {
				entry.Time = at
				continue
			}
		}
		entry.AddAttrs(slog.Any(key.(string), plain(value))) // the key of an object is a string
	}
	return nil
}

// plain makes a whole number an int64, as handlers show it best.
func plain(v any) any {
	n, ok := v.(json.Number)
	if !ok {
		return v
	}
	if i, err := n.Int64(); err == nil {
		return i
	}
	f, _ := n.Float64() // out of range is infinite, which says enough
	return f
}
