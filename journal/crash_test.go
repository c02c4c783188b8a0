//go:build unix

package journal_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/journal"
)

// helper names what a re-executed test binary does instead of testing.
const helper = "JOURNAL_TEST_HELPER"

func TestMain(m *testing.M) {
	switch os.Getenv(helper) {
	case "":
		os.Exit(m.Run())
	case "append":
		appendForever(os.Args[1], os.Args[2])
	case "append-some":
		appendSome(os.Args[1], os.Args[2])
	}
}

// appendForever appends until it is killed, and says on stdout which record is kept.
func appendForever(path, name string) {
	l, err := journal.Open(path, journal.Options{MaxBytes: 30_000})
	check(err)
	fmt.Println("open")
	for i := 0; ; i++ {
		check(l.Append(context.Background(), &custom{"test." + name, strings.Repeat(strconv.Itoa(i), 1+rand.IntN(200))}))
		fmt.Println(i)
	}
}

func appendSome(path, name string) {
	l, err := journal.Open(path, journal.Options{MaxBytes: 20_000})
	check(err)
	for i := range 500 {
		check(l.Append(context.Background(), &custom{"test." + name, strconv.Itoa(i)}))
	}
	check(l.Close())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func reexec(ctx context.Context, t *testing.T, does string, args ...string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), helper+"="+does)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	return cmd, &out
}

func TestAWriterKilledAnywhereLosesNothingItSaidWasKept(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	path := filepath.Join(t.TempDir(), "pawl.log")
	said := map[string]int{}
	for i := range rounds {
		name := fmt.Sprintf("w%d", i)
		said[name] = killedWriter(t, path, name, i%4 == 0)
	}
	written(t, path, 1, journal.Options{})
	r := verified(t, path, journal.Against{})
	require.True(t, r.OK(), r.Faults)
	kept, total := map[string]int{}, 0
	for e, err := range journal.ReadFile(path) {
		require.NoError(t, err)
		require.NoError(t, e.Err)
		kept[strings.TrimPrefix(e.Kind, "test.")]++
	}
	for name, n := range said {
		require.Contains(t, []int{n, n + 1}, kept[name], "%s said that %d were kept", name, n)
		total += n
	}
	require.Greater(t, total, rounds, "the writers never came to write")
	t.Logf("%d records of %d writers in %d files", total, rounds, len(r.Files))
}

// killedWriter lets a writer append, kills it at any moment, also in its start where early, and returns how
// many records it said were kept.
func killedWriter(t *testing.T, path, name string, early bool) (kept int) {
	t.Helper()
	limit := time.Minute
	if early {
		limit = rand.N(10 * time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], path, name)
	cmd.Env = append(os.Environ(), helper+"=append")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	if err := cmd.Start(); err != nil {
		require.ErrorIs(t, err, context.DeadlineExceeded)
		return 0
	}
	last := 1 + rand.IntN(150)
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		if line != "open\n" {
			kept++
		}
		if kept == last && !early {
			cancel() // the writer goes on until the signal reaches it
		}
	}
	require.Error(t, cmd.Wait(), "it was to be killed")
	return kept
}

func TestProcessesShareALog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.log")
	var cmds []*exec.Cmd
	for i := range 3 {
		cmd, out := reexec(t.Context(), t, "append-some", path, fmt.Sprintf("p%d", i))
		cmds = append(cmds, cmd)
		defer func() { require.Empty(t, out.String()) }()
	}
	for _, cmd := range cmds {
		require.NoError(t, cmd.Wait())
	}
	r := verified(t, path, journal.Against{})
	require.True(t, r.OK(), r.Faults)
	next := map[string]int{}
	for e, err := range journal.ReadFile(path) {
		require.NoError(t, err)
		if strings.HasPrefix(e.Kind, "test.") {
			require.Contains(t, string(e.Raw), fmt.Sprintf(`"text":"%d"`, next[e.Kind]), "out of order")
			next[e.Kind]++
		}
	}
	require.Equal(t, map[string]int{"test.p0": 500, "test.p1": 500, "test.p2": 500}, next)
}

func TestALockThatIsHeldIsWaitedForAsLongAsTheContextAllows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.log")
	l := open(t, path, journal.Options{})
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	err = l.Append(ctx, run(0))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "another process holds its lock")
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_UN))
	require.NoError(t, l.Append(t.Context(), run(1)))
	require.Equal(t, 1, verified(t, path, journal.Against{}).Lines)
}

func TestAPipeIsNoLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, err := journal.Open(path, journal.Options{})
	require.ErrorContains(t, err, "not a regular file")
}
