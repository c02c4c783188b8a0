package main

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/pawl-hooks/pawl"
)

// slow is how long a hook may take before a person is told what they wait for.
const slow = time.Second

// A progress keeps one line on a terminal that names the hook that has run longest, once that is over a
// second. It is told of hooks by its Trace.
type progress struct {
	w       io.Writer
	mu      sync.Mutex
	running []waiting
	shown   bool
	hidden  int // questions that are being asked
	stopped chan struct{}
	done    sync.WaitGroup
}

// A waiting is one hook that runs, since when.
type waiting struct {
	hook  *pawl.Hook
	since time.Time
}

// newProgress starts a progress line on w; stop ends it.
func newProgress(w io.Writer) *progress {
	p := &progress{w: w, stopped: make(chan struct{})}
	p.done.Go(p.tick)
	return p
}

// trace is what the dispatch tells p.
func (p *progress) trace() *pawl.Trace {
	return &pawl.Trace{Started: p.started, Finished: p.finished}
}

func (p *progress) started(hook *pawl.Hook, _ *pawl.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = append(p.running, waiting{hook, time.Now()})
}

func (p *progress) finished(hook *pawl.Hook, _ *pawl.Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.running, func(w waiting) bool { return w.hook.Name == hook.Name })
	if at >= 0 {
		p.running = slices.Delete(p.running, at, at+1)
	}
	p.clear()
}

// stop takes the line away and ends p.
func (p *progress) stop() {
	close(p.stopped)
	p.done.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// hide keeps the line away until the func it returns is called. A nil p has nothing to hide.
func (p *progress) hide() (show func()) {
	if p == nil {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hidden++
	p.clear()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.hidden--
	}
}

func (p *progress) tick() {
	ticker := time.NewTicker(slow / 4)
	defer ticker.Stop()
	for {
		select {
		case <-p.stopped:
			return
		case now := <-ticker.C:
			p.show(now)
		}
	}
}

func (p *progress) show(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hidden > 0 || len(p.running) == 0 || now.Sub(p.running[0].since) < slow {
		return
	}
	first := p.running[0]
	line := "waiting for hook " + first.hook.Name
	if first.hook.Status != "" {
		line += ": " + plain(first.hook.Status)
	}
	if more := len(p.running) - 1; more > 0 {
		line += fmt.Sprintf(" (and %d more)", more)
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s %ds", line, int(now.Sub(first.since).Seconds()))
	p.shown = true
}

// clear takes the line away; p.mu is held.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
