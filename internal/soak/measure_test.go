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

	"github.com/stretchr/testify/require"
)

// A measure is what a process has at one time.
type measure struct {
	goroutines  int
	descriptors int
	children    int // zombies are among them
	marked      int // descendants anywhere
	threads     int
	heap        uint64 // bytes in use after a collection
	resident    int    // KiB
}

func (m measure) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d children, %d descendants, %d threads, heap %d KiB, resident %d KiB",
		m.goroutines, m.descriptors, m.children, m.marked, m.threads, m.heap>>10, m.resident)
}

// isNoMoreThan holds a measure to an earlier one.
func (m measure) isNoMoreThan(t *testing.T, before measure) {
	require.Equal(t, before.goroutines, m.goroutines, "goroutines")
	require.Equal(t, before.descriptors, m.descriptors, "descriptors")
	require.Zero(t, m.children, "processes that nobody waited for")
	require.LessOrEqual(t, m.heap, before.heap+before.heap/10+1<<20, "bytes of the heap in use")
}

// measured waits until what was let go has gone, and looks; descendants are known by a mark in their environment.
func measured(t *testing.T, mark string) (m measure) {
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) { // other processes end in their own time
		runtime.GC()
		m.goroutines = runtime.NumGoroutine()
		m.children, m.marked = processes(mark)
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
	m.threads, m.resident = status("Threads:"), status("VmRSS:")
	return m
}

// idle is how many goroutines a test has that does nothing: the runner's and its own.
const idle = 2

// processes counts our children, and whoever has our mark in its environment.
func processes(mark string) (children, marked int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	self := strconv.Itoa(os.Getpid())
	for _, path := range stats {
		stat, _ := os.ReadFile(path)
		if _, after, ok := strings.Cut(string(stat), ") "); ok && strings.Fields(after)[1] == self {
			children++
		}
		env, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		if bytes.Contains(env, []byte(mark)) {
			marked++
		}
	}
	return children, marked
}

// status is a number that the kernel tells of us, in KiB if it is a size.
func status(name string) (n int) {
	text, _ := os.ReadFile("/proc/self/status")
	_, after, _ := strings.Cut(string(text), name)
	if fields := strings.Fields(after); len(fields) > 0 {
		n, _ = strconv.Atoi(fields[0])
	}
	return n
}
