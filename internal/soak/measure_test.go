//go:build linux

package soak_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A measure is what a process has at one time.
type measure struct {
	goroutines  int
	descriptors int
	children    int    // zombies are among them
	marked      int    // descendants anywhere
	heap        uint64 // bytes in use after a collection
	resident    int    // KiB
}

func (m measure) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d children, %d descendants, heap %d KiB, resident %d KiB",
		m.goroutines, m.descriptors, m.children, m.marked, m.heap>>10, m.resident)
}

// measure waits until what was let go has gone, and looks.
func (c *crowd) measure(t *testing.T) (m measure) {
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) { // other processes end in their own time
		runtime.GC()
		m.goroutines = runtime.NumGoroutine()
		m.children, m.marked = c.processes()
		if m.goroutines <= idle && m.children+m.marked == 0 {
			break
		}
		if time.Now().After(end) {
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
			t.Fatalf("something stays: %v", m)
		}
	}
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	m.heap = mem.HeapAlloc
	fds, _ := os.ReadDir("/proc/self/fd")
	m.descriptors = len(fds)
	m.resident = resident()
	return m
}

// idle is how many goroutines a test has that does nothing: the runner's and its own.
const idle = 2

// processes counts our children, and whoever has our mark in its environment.
func (c *crowd) processes() (children, marked int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	self := strconv.Itoa(os.Getpid())
	for _, path := range stats {
		stat, _ := os.ReadFile(path)
		if _, after, ok := strings.Cut(string(stat), ") "); ok && strings.Fields(after)[1] == self {
			children++
		}
		env, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		if bytes.Contains(env, []byte(c.mark)) {
			marked++
		}
	}
	return children, marked
}

func resident() (kib int) {
	status, _ := os.ReadFile("/proc/self/status")
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	if fields := strings.Fields(after); len(fields) > 0 {
		kib, _ = strconv.Atoi(fields[0])
	}
	return kib
}
