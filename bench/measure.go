package main

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
)

// perCall runs the ways in turn, so that a busy machine bears on all alike, and returns the median time of one
// call of each, in nanoseconds. Each turn calls a way batch times. The order of a turn is drawn, so that none always
// finds the caches and processors as the same other one left them.
func perCall(rounds, batch int, ways ...func()) []float64 {
	times := make([][]time.Duration, len(ways))
	for range rounds {
		for _, i := range rand.Perm(len(ways)) {
			way := ways[i]
			began := time.Now()
			for range batch {
				way()
			}
			times[i] = append(times[i], time.Since(began))
		}
	}
	ns := make([]float64, len(ways))
	for i := range ways {
		ns[i] = float64(median(times[i])) / float64(batch)
	}
	return ns
}

// rotate is perCall for ways that take long.
func rotate(rounds int, ways ...func()) []time.Duration {
	times := make([]time.Duration, len(ways))
	for i, ns := range perCall(rounds, 1, ways...) {
		times[i] = time.Duration(ns)
	}
	return times
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// allocations returns how many allocations one call makes, on average over n, in the whole process.
func allocations(n int, call func()) float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	call()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		call()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(n)
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
