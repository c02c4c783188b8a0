package gate

import (
	"fmt"
	"sync"
)

// A Filter passes on one output stream with its secrets taken out. It is used by one goroutine at a time
// and for one stream. What it returns is good until its next call.
type Filter interface {
	// Write takes the next bytes of the stream and returns what of it may be kept by now. It holds back
	// what may turn out to be the beginning of a secret.
	Write(p []byte) []byte
	// Flush returns what was held back, at the end of the stream.
	Flush() []byte
}

// A capture keeps the first limit bytes of a stream and counts the rest. The filter comes before the cut,
// so that no secret is cut in two and then missed. One goroutine writes; take may be called by another.
type capture struct {
	limit  int
	filter Filter

	mu     sync.Mutex
	begun  bool // something was written
	kept   []byte
	cut    int64
	err    error // the filter panicked: nothing of the stream may be shown
	closed bool  // taken: what still comes belongs to nobody
}

// write adds the next bytes of the stream.
func (c *capture) write(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.begun = true
	if c.filter != nil && !c.full() {
		p = c.filtered(func() []byte { return c.filter.Write(p) })
	}
	c.keep(p)
}

// room returns where the next bytes may be read to, for grow to take them in; nil: they go through write.
func (c *capture) room() []byte {
	if !c.begun || c.filter != nil || c.full() {
		return nil
	}
	if len(c.kept) == cap(c.kept) {
		bigger := make([]byte, len(c.kept), min(max(512, 4*cap(c.kept)), c.limit))
		copy(bigger, c.kept)
		c.kept = bigger
	}
	return c.kept[len(c.kept):min(cap(c.kept), c.limit)]
}

// grow keeps the first n bytes of room.
func (c *capture) grow(n int) { c.kept = c.kept[:len(c.kept)+n] }

// full reports whether all that still comes is only counted, by skip.
func (c *capture) full() bool { return len(c.kept) >= c.limit }

func (c *capture) skip(n int) { c.cut += int64(n) }

func (c *capture) keep(p []byte) {
	n := min(len(p), c.limit-len(c.kept))
	c.kept = append(c.kept, p[:n]...)
	c.cut += int64(len(p) - n)
}

// filtered calls the caller's filter; what it panics with ends the stream, not the process.
func (c *capture) filtered(call func() []byte) (p []byte) {
	defer func() {
		if v := recover(); v != nil {
			c.err = fmt.Errorf("the filter of an output stream panicked: %v", v)
			c.kept, c.limit = nil, 0
			p = nil
		}
	}()
	return call()
}

// take ends the stream and returns what was kept of it.
func (c *capture) take() (kept []byte, cut int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.filter != nil && !c.closed && c.err == nil {
		c.keep(c.filtered(c.filter.Flush))
	}
	c.closed = true
	return c.kept, c.cut, c.err
}
