package figures

import (
	"math"
	"math/bits"
	"time"
)

// A histogram keeps how many durations fell into each of buckets that grow with what they hold: sixteen to
// a doubling, so that a bucket's middle is within 4 % of anything in it.
type histogram struct {
	buckets []uint32 // by number; as long as the longest needs
	n       uint64
}

const perDoubling = 16

// bucketOf numbers the bucket of d: below sixteen the value itself.
func bucketOf(d time.Duration) int {
	v := uint64(max(d, 0))
	if v < perDoubling {
		return int(v)
	}
	shift := bits.Len64(v) - 5 // v>>shift is from 16 to 31
	return shift*perDoubling + int(v>>shift)
}

// middle is what a bucket's number stands for.
func middle(bucket int) time.Duration {
	if bucket < 2*perDoubling {
		return time.Duration(bucket)
	}
	shift := bucket/perDoubling - 1
	low := uint64(bucket-shift*perDoubling) << shift
	return time.Duration(low + 1<<shift/2)
}

func (h *histogram) add(d time.Duration) {
	b := bucketOf(d)
	if b >= len(h.buckets) {
		h.buckets = append(h.buckets, make([]uint32, b+1-len(h.buckets))...)
	}
	if h.buckets[b] < math.MaxUint32 {
		h.buckets[b]++
		h.n++
	}
}

// quantile returns the duration that a share q of them do not exceed; zero where there is none.
func (h *histogram) quantile(q float64) time.Duration {
	want := uint64(math.Ceil(q * float64(h.n)))
	var seen uint64
	for b, n := range h.buckets {
		if seen += uint64(n); n > 0 && seen >= want {
			return middle(b)
		}
	}
	return 0
}
