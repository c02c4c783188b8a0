package pawltest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/pawltest"
)

// A buffer is a writer whose lines may be read while others write.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) lines() ([][]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := strings.TrimSuffix(b.b.String(), "\n")
	if text == "" {
		return nil, nil
	}
	var lines [][]byte
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, []byte(line))
	}
	return lines, nil
}

func TestALogThatKeepsTheContract(t *testing.T) {
	for name, fresh := range map[string]func() (pawl.Log, func() ([][]byte, error)){
		"pawl's own": func() (pawl.Log, func() ([][]byte, error)) {
			b := &buffer{}
			return pawl.JSONLog(b), b.lines
		},
		"the recorder": func() (pawl.Log, func() ([][]byte, error)) {
			l := &pawltest.Log{}
			return l, func() ([][]byte, error) { return l.Lines, nil }
		},
		"a log behind the recorder": func() (pawl.Log, func() ([][]byte, error)) {
			b := &buffer{}
			return &pawltest.Log{Next: pawl.JSONLog(b)}, b.lines
		},
	} {
		t.Run(name, func(t *testing.T) { require.NoError(t, pawltest.TestLog(pawltest.LogKit{New: fresh})) })
	}
}

// A brokenLog keeps lines by way of an honest one, which write may cheat.
type brokenLog func(honest pawl.Log, b *buffer, ctx context.Context, recs []pawl.Record) error

// brokenLogs each break one rule.
var brokenLogs = []struct {
	name string
	log  func() brokenLog
	rule string
}{
	{"the last comes first", plainly(func(honest pawl.Log, _ *buffer, ctx context.Context, recs []pawl.Record) error {
		for i := range recs {
			if err := honest.Append(ctx, recs[len(recs)-1-i]); err != nil {
				return err
			}
		}
		return nil
	}), "records are kept in the order of their Append"},
	{"one of many is enough", plainly(func(honest pawl.Log, _ *buffer, ctx context.Context, recs []pawl.Record) error {
		return honest.Append(ctx, recs[:min(1, len(recs))]...)
	}), "records are kept in the order of their Append"},
	{"an Append of nothing leaves a line", plainly(func(honest pawl.Log, b *buffer, ctx context.Context, recs []pawl.Record) error {
		if len(recs) == 0 {
			_, err := b.Write([]byte("{\"kind\":\"\"}\n"))
			return err
		}
		return honest.Append(ctx, recs...)
	}), "an Append of nothing adds nothing"},
	{"only hook.run is known", plainly(func(honest pawl.Log, _ *buffer, ctx context.Context, recs []pawl.Record) error {
		var known []pawl.Record
		for _, rec := range recs {
			if rec.Kind() == "hook.run" {
				known = append(known, rec)
			}
		}
		return honest.Append(ctx, known...)
	}), "a record of any kind is kept with all it has"},
	{"text is pasted", plainly(func(honest pawl.Log, b *buffer, ctx context.Context, recs []pawl.Record) error {
		for _, rec := range recs {
			if run, ok := rec.(*pawl.Run); ok {
				if _, err := b.Write([]byte(`{"kind":"hook.run","name":"` + run.Name + "\"}\n")); err != nil {
					return err
				}
			} else if err := honest.Append(ctx, rec); err != nil {
				return err
			}
		}
		return nil
	}), "a record is one line without control characters, whatever is in it"},
	{"lines are cut", plainly(func(honest pawl.Log, b *buffer, ctx context.Context, recs []pawl.Record) error {
		for _, rec := range recs {
			line, err := json.Marshal(rec)
			if err != nil {
				return err
			}
			if _, err := b.Write(append(line[:min(len(line), 4096)], '\n')); err != nil {
				return err
			}
		}
		return nil
	}), "a large record is kept whole"},
	{"what cannot be written is passed over", plainly(func(honest pawl.Log, _ *buffer, ctx context.Context, recs []pawl.Record) error {
		_ = honest.Append(ctx, recs...)
		return nil
	}), "a record that is none is an error and leaves no trace"},
	{"half a record stays behind", plainly(func(honest pawl.Log, b *buffer, ctx context.Context, recs []pawl.Record) error {
		err := honest.Append(ctx, recs...)
		if err != nil {
			_, _ = b.Write([]byte(`{"kind":"x",` + "\n"))
		}
		return err
	}), "a record that is none is an error and leaves no trace"},
	{"an error keeps nothing more", func() brokenLog {
		var mu sync.Mutex
		var sticky error
		return func(honest pawl.Log, _ *buffer, ctx context.Context, recs []pawl.Record) error {
			mu.Lock()
			defer mu.Unlock()
			if sticky == nil {
				sticky = honest.Append(ctx, recs...)
			}
			return sticky
		}
	}, "a record that is none is an error and leaves no trace"},
	{"records are written later", func() brokenLog {
		var mu sync.Mutex
		var waiting []pawl.Record
		return func(honest pawl.Log, b *buffer, ctx context.Context, recs []pawl.Record) error {
			mu.Lock()
			defer mu.Unlock()
			waiting = append(waiting, recs...)
			return nil
		}
	}, "records are kept in the order of their Append"},
	{"every other is lost at once", func() brokenLog {
		var inside sync.Mutex
		var once sync.Once
		lost := make(chan struct{})
		return func(honest pawl.Log, _ *buffer, ctx context.Context, recs []pawl.Record) error {
			if !inside.TryLock() {
				once.Do(func() { close(lost) })
				return nil // someone else is writing
			}
			defer inside.Unlock()
			if len(recs) > 0 && strings.HasPrefix(recs[0].Kind(), "writer-") {
				select {
				case <-lost:
				case <-ctx.Done():
				}
			}
			return honest.Append(context.WithoutCancel(ctx), recs...)
		}
	}, "Appends at once lose and mix nothing"},
	{"a done context is a yes", plainly(func(honest pawl.Log, _ *buffer, ctx context.Context, recs []pawl.Record) error {
		if ctx.Err() != nil {
			return nil
		}
		return honest.Append(ctx, recs...)
	}), "under a done context it returns soon, and says so if it kept nothing"},
	{"a done context is no reason to return", plainly(func(honest pawl.Log, _ *buffer, ctx context.Context, recs []pawl.Record) error {
		if ctx.Err() != nil {
			select {}
		}
		return honest.Append(ctx, recs...)
	}), "under a done context it returns soon, and says so if it kept nothing"},
	{"it keeps nothing", plainly(func(pawl.Log, *buffer, context.Context, []pawl.Record) error { return nil }), "a record of any kind is kept with all it has"},
	{"it never does", plainly(func(pawl.Log, *buffer, context.Context, []pawl.Record) error { return errors.New("full") }), "a large record is kept whole"},
	{"it panics", plainly(func(pawl.Log, *buffer, context.Context, []pawl.Record) error { panic("x") }), "an Append of nothing adds nothing"},
}

func plainly(l brokenLog) func() brokenLog { return func() brokenLog { return l } }

func TestABrokenLogIsFoundOut(t *testing.T) {
	for _, c := range brokenLogs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := pawltest.TestLog(pawltest.LogKit{Bound: 100 * time.Millisecond, New: func() (pawl.Log, func() ([][]byte, error)) {
				b := &buffer{}
				honest, broken := pawl.JSONLog(b), c.log()
				return pawl.LogFunc(func(ctx context.Context, recs ...pawl.Record) error { return broken(honest, b, ctx, recs) }), b.lines
			}})
			require.Contains(t, rules(t, err), c.rule, "%v", err)
		})
	}
}

// A log that holds the records themselves shows what became of them later.
func TestALogThatKeepsTheRecordsIsFoundOut(t *testing.T) {
	err := pawltest.TestLog(pawltest.LogKit{New: func() (pawl.Log, func() ([][]byte, error)) {
		var mu sync.Mutex
		var kept []pawl.Record
		log := pawl.LogFunc(func(_ context.Context, recs ...pawl.Record) error {
			mu.Lock()
			defer mu.Unlock()
			for _, rec := range recs {
				if _, err := json.Marshal(rec); err != nil {
					return err
				}
			}
			kept = append(kept, recs...)
			return nil
		})
		return log, func() (lines [][]byte, err error) {
			mu.Lock()
			defer mu.Unlock()
			for _, rec := range kept {
				line, err := json.Marshal(rec)
				if err != nil {
					return nil, err
				}
				lines = append(lines, line)
			}
			return lines, nil
		}
	}})
	require.Equal(t, []string{"the record is not kept to be read later"}, rules(t, err), "%v", err)
}

func TestEveryRuleForLogsHasALogThatBreaksIt(t *testing.T) {
	broken := map[string]bool{"the record is not kept to be read later": true} // by the test above
	for _, c := range brokenLogs {
		broken[c.rule] = true
	}
	for _, rule := range pawltest.LogRules() {
		require.True(t, broken[rule], rule)
	}
}
