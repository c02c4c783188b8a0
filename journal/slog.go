package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/pawl-hooks/pawl"
)

// Slog returns a Log that hands records to a handler of log/slog: the kind is the message, the fields of the
// record are the attributes, in order; DEL and the controls above it are spelled out, as \u007f. A run that
// failed is a warning, anything else an info. What the handler's level leaves out counts as kept; the handler's
// error is the Log's.
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

// plain makes a whole number an int64, as handlers show it best, and spells out the control characters that
// the handler for JSON would write as they are: a terminal obeys them.
func plain(v any) any {
	switch v := v.(type) {
	case string:
		return spelled(v)
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64() // out of range is infinite, which says enough
		return f
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	}
	return v
}

// spelled writes DEL and the controls above it as \u and their number.
func spelled(s string) string {
	isHigh := func(r rune) bool { return 0x7f <= r && r <= 0x9f }
	if !strings.ContainsFunc(s, isHigh) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isHigh(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
