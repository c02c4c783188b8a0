package main

import (
	"runtime"
	"slices"
	"time"
)

// rotate runs the ways in turn, so that a busy machine bears on all alike, and returns the median time of
// one call of each. Each turn calls a way batch times.
func rotate(rounds, batch int, ways ...func()) []time.Duration {
	times := make([][]time.Duration, len(ways))
	for range rounds {
		for i, way := range ways {
			began := time.Now()
			for range batch {
				way()
			}
			times[i] = append(times[i], time.Since(began))
		}
	}
	medians := make([]time.Duration, len(ways))
	for i := range ways {
		medians[i] = median(times[i])
	}
	return scale(medians, batch)
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// perCall is a time in nanoseconds that keeps its fractions.
func perCall(rounds, batch int, ways ...func()) []float64 {
	ns := make([]float64, len(ways))
	times := make([][]time.Duration, len(ways))
	for range rounds {
		for i, way := range ways {
			began := time.Now()
			for range batch {
				way()
			}
			times[i] = append(times[i], time.Since(began))
		}
	}
	for i := range ways {
		ns[i] = float64(median(times[i])) / float64(batch)
	}
	return ns
}

func scale(times []time.Duration, batch int) []time.Duration {
	for i := range times {
		times[i] /= time.Duration(batch)
	}
	return times
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
