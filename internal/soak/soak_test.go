//go:build linux

// Package soak_test lets a registry run for long among handlers, programs, gates and logs of which many go
// wrong, and looks at what is left: nothing.
//
//	go test ./internal/soak -run TestSoak -v -timeout 60m -soak 100000
package soak_test

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/journal"
	"github.com/pawl-hooks/pawl/pawltest"
)

var size = flag.Int("soak", 1000, "how many events TestSoak dispatches")

const (
	together = 64   // events at once
	wave     = 2000 // events until what hangs is let go
)

func TestMain(m *testing.M) {
	pawltest.Main()
	os.Exit(m.Run())
}

// TestSoak is every guarantee under load: each event is judged, and in the end goroutines, descriptors,
// processes and memory are what they were after a tenth of it.
func TestSoak(t *testing.T) {
	c := newCrowd(t)
	start := time.Now()
	began := measured(t, c.mark)
	c.storm(t, 0, *size/10)
	tenth := measured(t, c.mark)
	c.storm(t, *size/10, *size)
	whole := measured(t, c.mark)
	took := time.Since(start)
	t.Logf("%d events in %v, %d at once: %s", *size, took.Round(time.Second), together, c.tally())
	t.Logf("before %v", began)
	t.Logf("at 10%% %v", tenth)
	t.Logf("at 100%% %v", whole)
	require.Equal(t, began.goroutines, tenth.goroutines)
	whole.isNoMoreThan(t, tenth)
	c.wasEventful(t)
	c.audit(t)
}

// storm dispatches the events from first up to last, and lets go what hangs after each wave.
func (c *crowd) storm(t *testing.T, first, last int) {
	for ; first < last; first += wave {
		c.renew(t)
		events := make(chan int)
		faults := make(chan error, together)
		var all sync.WaitGroup
		for range together {
			all.Go(func() {
				var wrong error
				for i := range events {
					wrong = cmp.Or(wrong, c.fired(i))
				}
				faults <- wrong
			})
		}
		for i := first; i < min(first+wave, last); i++ {
			events <- i
		}
		close(events)
		all.Wait()
		c.letGo()
		for range together {
			require.NoError(t, <-faults)
		}
	}
}

// triggers are what is fired, the more often the more frequent.
var triggers = []pawl.Trigger{
	pawl.ToolBefore, pawl.ToolBefore, pawl.ToolBefore, pawl.ToolAfter, pawl.ToolAfter, pawl.ToolStarted, pawl.TurnStop, pawl.ToolApproval,
}

// eventOf makes the event of a number: always the same, and each in a session that never ends properly.
func eventOf(i int) *pawl.Event {
	r := rand.New(rand.NewPCG(1, uint64(i)))
	ev := &pawl.Event{
		Trigger: triggers[r.IntN(len(triggers))], Session: fmt.Sprint("session-", i/3), Turn: fmt.Sprint("turn-", i), Call: fmt.Sprint("call-", i),
		Tool: []string{"Bash", "Edit", "mcp__a__b"}[r.IntN(3)], Aliases: []string{"Write"}, Paths: []string{"a/b.go"},
		Input: json.RawMessage(fmt.Sprintf(`{"command":"make %d","n":9007199254740993}`, i)),
	}
	if r.IntN(4) == 0 {
		ev.Agent = pawl.Agent{ID: fmt.Sprint("agent-", i), Type: "explore", Depth: 1}
	}
	if ev.Trigger == pawl.ToolAfter {
		ev.Output = json.RawMessage(`{"stdout":"` + secret + `"}`)
	}
	return ev
}

// fired fires one event on a goroutine of its own: an untimed handler that calls Goexit ends its caller's.
func (c *crowd) fired(i int) error {
	said := make(chan error, 1)
	go func() {
		returned := false
		var err error
		defer func() {
			if !returned {
				err = c.exits(i)
			}
			said <- err
		}()
		err = c.fire(i)
		returned = true
	}()
	return <-said
}

// exits counts an event whose Dispatch is to end its goroutine, and is an error where none is to.
func (c *crowd) exits(i int) error {
	c.exited.Add(1)
	r := dice(eventOf(i).Call, untimed)
	if r.IntN(100) < 3 && pick(r, c.bad.Load().handlers, untimedBut...) == "goexit" {
		return nil
	}
	return fmt.Errorf("event %d ended its goroutine", i)
}

// fire dispatches one event, some of them under a context that ends, some with one hook more, and judges
// what came of it.
func (c *crowd) fire(i int) error {
	ev := eventOf(i)
	r := rand.New(rand.NewPCG(2, uint64(i)))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	switch r.IntN(100) {
	case 0:
		cancel()
	case 1, 2:
		ctx, cancel = context.WithTimeout(ctx, time.Duration(r.IntN(30))*time.Millisecond)
		defer cancel()
	case 3, 4:
		undo, err := c.live.Add(c.passer(fmt.Sprint("added-", i)))
		if err != nil {
			return err
		}
		defer undo()
	}
	start := time.Now()
	out, err := c.live.Dispatch(ctx, ev)
	return c.judge(ev, out, err, time.Since(start))
}

// audit reads the log back: a whole chain, and every record that it took.
func (c *crowd) audit(t *testing.T) {
	require.NoError(t, c.journal.Close())
	report, err := journal.Verify(c.path, journal.Against{Checkpoints: c.path + ".heads"})
	require.NoError(t, err)
	require.True(t, report.OK(), "%v", report.Faults)
	var runs int64
	for e, err := range journal.ReadFile(c.path) {
		require.NoError(t, err)
		require.NoError(t, e.Err)
		if e.Kind == "hook.run" {
			runs++
		}
	}
	require.LessOrEqual(t, c.kept.Load(), runs)
	require.LessOrEqual(t, runs, c.kept.Load()+c.unsure.Load())
	t.Logf("the log has %d lines in %d files, whole and in order; %d are hook.run", report.Lines, len(report.Files), runs)
}
