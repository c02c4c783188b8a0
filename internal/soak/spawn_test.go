//go:build linux

package soak_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

var spawns = flag.Int("spawns", 300, "how many programs TestSpawnsLeaveNothing starts in each way; in a sandbox a tenth of it")

const beside = 8 // programs at once

// A spawn is a program and what must come of it.
type spawn struct {
	name   string
	weight int
	cmd    pawl.Command
	within time.Duration // then its context ends, or somewhat earlier; zero: never
	good   func(pawl.Result, error) bool
}

func sh(script string) pawl.Command { return pawl.Command{Args: []string{"sh", "-c", script}} }

func code(n int) func(pawl.Result, error) bool {
	return func(res pawl.Result, err error) bool { return err == nil && res.Code == n && res.Signal == "" }
}

func killed(res pawl.Result, err error) bool { return err == nil && res.Signal == "killed" }

// whatever is due where a context ends at any moment: before the start, while the program runs, or behind its end.
func whatever(_ pawl.Result, err error) bool {
	return err == nil || errors.Is(err, context.DeadlineExceeded)
}

func missing(_ pawl.Result, err error) bool {
	var start *gate.StartError
	return errors.As(err, &start) && start.Kind == gate.NotFound
}

func spawnList() (list []spawn) {
	const moment = 4 * time.Millisecond
	large := bytes.Repeat([]byte("x"), 1<<20)
	for _, s := range []spawn{
		{"ends well", 80, pawl.Command{Args: []string{"true"}, Stdin: []byte("x")}, 0, code(0)},
		{"fails", 2, pawl.Command{Args: []string{"false"}}, 0, code(1)},
		{"reads its input", 2, pawl.Command{Args: []string{"cat"}, Stdin: large[:200_000]}, 0, code(0)},
		{"never reads", 2, pawl.Command{Args: []string{"true"}, Stdin: large}, 0, code(0)},
		{"closes its input", 2, pawl.Command{Args: []string{"sh", "-c", "exec <&-; exec true"}, Stdin: large}, 0, code(0)},
		{"floods", 2, pawl.Command{Args: []string{"head", "-c", "1000000", "/dev/zero"}}, 0, code(0)},
		{"kills itself", 2, sh("kill -9 $$"), 0, killed},
		{"is not there", 1, pawl.Command{Args: []string{"no-such-program"}}, 0, missing},
		{"is no file", 1, pawl.Command{Args: []string{"/no/such/program"}}, 0, missing},
		{"is late", 2, pawl.Command{Args: []string{"sleep", "60"}}, moment, whatever},
		{"is cut off", 2, pawl.Command{Args: []string{"true"}}, moment, whatever},
		{"floods and is late", 1, pawl.Command{Args: []string{"cat", "/dev/zero"}, Stdin: large}, moment, whatever},
		{"ignores TERM", 1, sh("trap '' TERM; while :; do sleep 60; done"), moment, whatever},
		{"leaves a child", 1, sh("sleep 60 & exit 3"), 0, code(3)},
	} {
		list = append(list, slices.Repeat([]spawn{s}, s.weight)...)
	}
	return list
}

// A spawner starts programs in one way.
type spawner struct {
	way   string
	gate  pawl.Gate
	count int
	list  []spawn // as often as it weighs
	mark  string  // in the environment of every program
}

func (s *spawner) start(t *testing.T, first, last int) measure {
	numbers, faults := make(chan int), make(chan error, beside)
	for range beside {
		go func() {
			var wrong error
			for i := range numbers {
				wrong = cmp.Or(wrong, s.spawn(i))
			}
			faults <- wrong
		}()
	}
	for i := first; i < last; i++ {
		numbers <- i
	}
	close(numbers)
	for range beside {
		require.NoError(t, <-faults, s.way)
	}
	debug.FreeOSMemory()
	return measured(t, s.mark)
}

func (s *spawner) spawn(i int) error {
	r := rand.New(rand.NewPCG(3, uint64(i)))
	p := s.list[r.IntN(len(s.list))]
	ctx := context.Background()
	if p.within > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, time.Duration(r.Int64N(int64(p.within))))
		defer cancel()
	}
	p.cmd.Env = []string{s.mark}
	if res, err := s.gate.Run(ctx, p.cmd); !p.good(res, err) {
		return fmt.Errorf("number %d, which %s: %+v %w", i, p.name, res, errors.Join(err))
	}
	return nil
}

// TestSpawnsLeaveNothing starts programs that end in every way there is, and wants half of them and all of them to
// leave no more behind than a tenth did.
//
//	go test ./internal/soak -run TestSpawns -v -timeout 60m -spawns 100000
func TestSpawnsLeaveNothing(t *testing.T) {
	list, mark := spawnList(), "PAWL_SOAK="+t.TempDir()
	fast, portable := gate.Exec{Grace: grace / 10}, gate.Exec{Grace: grace / 10, Portable: true}
	box := gate.Sandbox{Limits: gate.Limits{Processes: 100}, BestEffort: true}
	for _, s := range []*spawner{
		{way: "Exec", gate: fast, count: *spawns}, {way: "Exec, portable", gate: portable, count: *spawns},
		{way: "Sandbox", gate: box.Wrap(fast), count: *spawns / 10}, {way: "Sandbox, portable", gate: box.Wrap(portable), count: *spawns / 10},
	} {
		s.list, s.mark = list, mark
		began := time.Now()
		tenth := s.start(t, 0, s.count/10)
		half := s.start(t, s.count/10, s.count/2)
		whole := s.start(t, s.count/2, s.count)
		t.Logf("%s: %d programs in %v, %d at once", s.way, s.count, time.Since(began).Round(time.Second), beside)
		t.Logf("at 10%% %v", tenth)
		t.Logf("at 50%% %v", half)
		t.Logf("at 100%% %v", whole)
		for _, later := range []measure{half, whole} {
			later.isNoMoreThan(t, tenth)
			require.LessOrEqual(t, later.threads, tenth.threads+2*beside, "threads")
			require.LessOrEqual(t, later.resident, tenth.resident+tenth.resident/10+8<<10, "KiB of memory")
		}
	}
}
