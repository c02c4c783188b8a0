package guard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pawl-hooks/pawl"
)

// A Hasher gives calls of a tool a key: a call with the key of an earlier one gets its result again. ok false
// keeps the call out of it. It may be called concurrently; one that panics fails the hook.
type Hasher func(input json.RawMessage) (key string, ok bool)

// WholeInput is the Hasher for which calls are equal when their inputs are, whatever the order of members. An
// input that cannot be read, or repeats a name, is kept out.
func WholeInput(input json.RawMessage) (key string, ok bool) {
	v := jsontext.Value(slices.Clone(input))
	if err := v.Format(jsontext.ReorderRawObjects(true)); err != nil {
		return "", false
	}
	return string(v), true
}

// Fields returns the Hasher for which calls are equal when these members of their inputs are. An input that is
// not an object, or has none of them, is kept out.
func Fields(names ...string) Hasher {
	return func(input json.RawMessage) (string, bool) {
		members, err := object(input)
		if err != nil {
			return "", false
		}
		key, found := "", false
		for _, name := range names {
			v, ok := members[name]
			found = found || ok
			key += canonical(json.RawMessage(v)) + "\x00"
		}
		return key, found
	}
}

// A Dedup answers a call with the result of an earlier equal one in the same run. Never list a tool with side
// effects or with output that changes. A call equal to one that is still running waits for it; results that
// are errors, or that a hook refused, are not kept. The zero Dedup does nothing.
type Dedup struct {
	Name     string            // of its hooks; empty: "dedup"
	Tools    map[string]Hasher // by canonical name or alias
	Keep     int               // results of a run; zero: 128. Of more, the oldest goes
	MaxBytes int               // of a result that is kept; zero: 1 MiB

	// Wait bounds how long a call waits for an equal one that passed tool.before to start; once
	// tool.started tells of that, it waits for the end. Zero: 1 s. After it the call runs by itself.
	Wait time.Duration

	runs runs[memory]
}

type memory struct {
	flights map[string]*flight
	results map[string]json.RawMessage
	order   []string // keys of results, oldest first
}

// A flight is a call under way whose result others may wait for.
type flight struct {
	call          string
	started, done chan struct{}
}

// Hooks returns the hooks of the guard, or every fault in its settings.
func (d *Dedup) Hooks() ([]pawl.Hook, error) {
	name := cmp.Or(d.Name, "dedup")
	if err := d.check(name); err != nil {
		return nil, err
	}
	d.runs.drop = (*memory).abandonAll
	return append([]pawl.Hook{
		{Name: name, On: pawl.ToolBefore, Effects: pawl.MayReplace, Handler: pawl.HandlerFunc(d.before)},
		observer(name+"-settle", pawl.ToolBefore, d.settle),
		observer(name+"-started", pawl.ToolStarted, d.started),
		observer(name+"-cancelled", pawl.ToolCancelled, d.Forget),
		observer(name+"-keep", pawl.ToolAfter, d.keep),
	}, d.runs.endings(name)...), nil
}

func (d *Dedup) check(name string) error {
	var faults []error
	for _, tool := range sorted(d.Tools) {
		if tool == "" || d.Tools[tool] == nil {
			faults = append(faults, fmt.Errorf("guard %s: tool %q: want a tool's name and a hasher", name, tool))
		}
	}
	if d.Keep < 0 || d.MaxBytes < 0 || d.Wait < 0 {
		faults = append(faults, fmt.Errorf("guard %s: keep, max_bytes and wait must not be below zero", name))
	}
	return errors.Join(faults...)
}

// key is the event's, with its tool.
func (d *Dedup) key(ev *pawl.Event) (string, bool) {
	tool, hash, ok := lookup(d.Tools, ev)
	if !ok {
		return "", false
	}
	key, ok := hash(slices.Clone(ev.Input))
	return tool + "\x00" + key, ok
}

func (d *Dedup) before(ctx context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
	key, ok := d.key(ev)
	if !ok || ev.Output != nil || ev.Recheck {
		return pawl.Decision{}, nil
	}
	for {
		result, ahead := d.join(ev, key)
		if ahead == nil {
			return pawl.Decision{Output: result}, nil
		}
		if again, err := ahead.wait(ctx, d.Wait); !again {
			return pawl.Decision{}, err
		}
	}
}

// join finds the result of an equal call, or the flight to wait for; with neither, this call leads one.
func (d *Dedup) join(ev *pawl.Event, key string) (result json.RawMessage, ahead *flight) {
	d.runs.do(ev, func(m *memory) {
		if r, ok := m.results[key]; ok {
			result = slices.Clone(r)
			return
		}
		if f := m.flights[key]; f != nil && (f.call != ev.Call || f.call == "") {
			ahead = f
			return
		}
		if m.flights == nil {
			m.flights, m.results = map[string]*flight{}, map[string]json.RawMessage{}
		}
		if m.flights[key] == nil {
			m.flights[key] = &flight{call: ev.Call, started: make(chan struct{}), done: make(chan struct{})}
		}
	})
	return result, ahead
}

// wait reports whether the flight ended, and so whether to look again.
func (f *flight) wait(ctx context.Context, limit time.Duration) (ended bool, err error) {
	if limit == 0 {
		limit = time.Second
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-f.done:
		return true, nil
	case <-f.started:
	case <-timer.C:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
	select {
	case <-f.done:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// settle sees what all hooks together decided: a call that will not run, or not as it was keyed, leads nothing.
func (d *Dedup) settle(ev *pawl.Event) {
	key, ok := d.key(ev)
	d.runs.peek(ev, func(m *memory) {
		own, f := m.led(ev, key)
		if f != nil && (!ok || own != key || ev.Verdict >= pawl.Refuse || ev.Output != nil) {
			m.end(own)
		}
	})
}

func (d *Dedup) started(ev *pawl.Event) {
	key, _ := d.key(ev)
	d.runs.peek(ev, func(m *memory) {
		if _, f := m.led(ev, key); f != nil {
			closeOnce(f.started)
		}
	})
}

// keep remembers the result as the model sees it, after every hook, so that nothing redacted is kept.
func (d *Dedup) keep(ev *pawl.Event) {
	key, ok := d.key(ev)
	most, size := cmp.Or(d.Keep, 128), cmp.Or(d.MaxBytes, 1<<20)
	d.runs.peek(ev, func(m *memory) {
		own, f := m.led(ev, key)
		if f == nil {
			return
		}
		if ok && own == key && !ev.Failed && ev.Verdict < pawl.Refuse && ev.Output != nil && len(ev.Output) <= size {
			m.store(key, slices.Clone(ev.Output), most)
		}
		m.end(own)
	})
}

// Forget gives up a call that passed tool.before and then did not run, so that equal ones do not wait for it. A
// runtime that dispatches tool.cancelled for it need not call this.
func (d *Dedup) Forget(ev *pawl.Event) {
	key, _ := d.key(ev)
	d.runs.peek(ev, func(m *memory) {
		if own, f := m.led(ev, key); f != nil {
			m.end(own)
		}
	})
}

// led finds the flight that the event's call leads: by the call, and by the key where calls have no ids.
func (m *memory) led(ev *pawl.Event, key string) (string, *flight) {
	if f := m.flights[key]; f != nil && f.call == ev.Call {
		return key, f
	}
	if ev.Call != "" {
		for own, f := range m.flights {
			if f.call == ev.Call {
				return own, f
			}
		}
	}
	return "", nil
}

func (m *memory) store(key string, result json.RawMessage, most int) {
	if _, ok := m.results[key]; !ok {
		m.order = append(m.order, key)
	}
	m.results[key] = result
	for len(m.order) > most {
		delete(m.results, m.order[0])
		m.order = m.order[1:]
	}
}

func (m *memory) end(key string) {
	close(m.flights[key].done)
	delete(m.flights, key)
}

func (m *memory) abandonAll() {
	for key := range m.flights {
		m.end(key)
	}
}

// closeOnce is for channels that one lock guards.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}
