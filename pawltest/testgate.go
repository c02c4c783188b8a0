package pawltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawl-hooks/pawl"
)

// A GateKit says what [TestGate] needs to know of a gate.
type GateKit struct {
	New      func() pawl.Gate // a gate that runs what it is asked; called for every rule
	Programs Programs         // how helper programs run under it; nil: Shell
	Dir      string           // where they may run and write; empty: a temporary directory
	Refused  *pawl.Command    // a command that the policy refuses; nil: that rule is left out
	Bound    time.Duration    // how soon Run returns once its context is done; zero: 5 s
}

// TestGate holds a gate that runs programs to the contract of [pawl.Gate] and [pawl.Command]. It returns
// every [Violation], joined, or nil. What needs named pipes and signals is left out on Windows.
func TestGate(kit GateKit) error { return testGate(kit, gateRules) }

func testGate(kit GateKit, rules []rule[*gateCheck]) error {
	if kit.Programs == nil {
		kit.Programs = Shell
	}
	kit.Bound = orDefault(kit.Bound)
	return judge(rules, func() (*gateCheck, func(), error) {
		dir, err := os.MkdirTemp(kit.Dir, "pawltest")
		if err != nil {
			return nil, nil, err
		}
		c := &gateCheck{GateKit: kit, gate: kit.New(), dir: dir}
		return c, func() { _ = os.RemoveAll(dir) }, nil
	})
}

// gateRules are the contract, in the order in which it is easiest to mend.
var gateRules = []rule[*gateCheck]{
	{"an exit code is data and no error", (*gateCheck).exitCode},
	{"standard output and error are apart and whole", (*gateCheck).streams},
	{"what is printed arrives byte for byte", (*gateCheck).bytes},
	{"words reach the program as they are", (*gateCheck).words},
	{"standard input is written whole, then ended", (*gateCheck).input},
	{"without input there is nothing to read", (*gateCheck).noInput},
	{"input that nobody reads is no error", (*gateCheck).unreadInput},
	{"the program runs in Dir", (*gateCheck).directory},
	{"Env reaches the program, the later of two alike", (*gateCheck).environment},
	{"a program that is not there could not run", (*gateCheck).missing},
	{"a directory that is not there is no place to run", (*gateCheck).missingDir},
	{"a command without words could not run", (*gateCheck).noWords},
	{"where Direct cannot start there are still Args", (*gateCheck).direct},
	{"a refusal by the policy wraps ErrRefused", (*gateCheck).refusal},
	{"what is printed beyond Limit is read, counted and not kept", (*gateCheck).limit},
	{"a death by a signal is no exit code", (*gateCheck).signal},
	{"Run returns soon after its context ended", (*gateCheck).ends},
	{"Run returns soon though the program does not want to end", (*gateCheck).endsDeaf},
	{"a context that is done leaves nothing running", (*gateCheck).alreadyDone},
	{"a descendant does not hold Run by the pipes it has", (*gateCheck).descendant},
	{"a descendant that left the group does not hold Run", (*gateCheck).farDescendant},
	{"commands at once do not mix", (*gateCheck).concurrent},
	{"a result belongs to the caller", (*gateCheck).resultOwned},
	{"Elapsed is how long it ran", (*gateCheck).elapsed},
}

// A gateCheck is one rule being looked at.
type gateCheck struct {
	GateKit
	gate pawl.Gate
	dir  string
}

// ran is what a gate said of one command.
type ran struct {
	res  pawl.Result
	err  error
	took time.Duration
}

// run asks the gate, and sees to it that it comes back and leaves the command as it is.
func (c *gateCheck) run(ctx context.Context, cmd pawl.Command) (ran, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*c.Bound)
	defer cancel()
	before := copied(cmd)
	said := make(chan ran, 1)
	err := bounded(ctx, c.Bound, func(ctx context.Context) {
		start := time.Now()
		res, err := c.gate.Run(ctx, cmd)
		said <- ran{res, err, time.Since(start)}
	})
	if err != nil {
		return ran{}, err
	}
	if !reflect.DeepEqual(before, cmd) {
		return ran{}, errors.New("Run changed the command")
	}
	return <-said, nil
}

func (c *gateCheck) command(name string, args ...string) pawl.Command {
	return pawl.Command{ID: "hook:pawltest:session.start", Args: c.Programs(name, args...), Dir: c.dir}
}

// printed runs a helper that is to exit with 0, and compares what it printed.
func (c *gateCheck) printed(cmd pawl.Command, stdout string) error {
	r, err := c.ended(cmd, 0)
	if err != nil {
		return err
	}
	return want("standard output", stdout, string(r.res.Stdout))
}

// ended runs a helper that is to exit with code.
func (c *gateCheck) ended(cmd pawl.Command, code int) (ran, error) {
	r, err := c.run(context.Background(), cmd)
	if err == nil && r.err != nil {
		err = fmt.Errorf("Run failed: %w", r.err)
	}
	if err == nil {
		err = first(want("the exit code", code, r.res.Code), want("the signal", "", r.res.Signal))
	}
	return r, err
}

func (c *gateCheck) exitCode() error {
	for _, code := range []int{0, 1, 2, 130, 255} {
		if _, err := c.ended(c.command("exit", strconv.Itoa(code)), code); err != nil {
			return err
		}
	}
	return nil
}

func (c *gateCheck) streams() error {
	r, err := c.ended(c.command("print", "out\n", "err\n", "3"), 3)
	return first(err,
		want("standard output", "out\n", string(r.res.Stdout)),
		want("standard error", "err\n", string(r.res.Stderr)),
		want("the count of what was cut", int64(0), r.res.Cut))
}

func (c *gateCheck) bytes() error { return c.printed(c.command("garbage"), garbage) }

func (c *gateCheck) words() error {
	words := []string{"", "a b", `"'$x;|&*?~` + "`\\", "-n", "--", "é\n\t", ""}
	return c.printed(c.command("args", words...), strings.Join(words, "\x00")+"\x00")
}

const pipeful = 1 << 20 // more than any pipe holds

func (c *gateCheck) input() error {
	cmd := c.command("cat")
	cmd.Stdin = bytes.Repeat([]byte("0123456789abcde\n"), pipeful/16)
	cmd.Limit = 2 * pipeful
	return c.printed(cmd, string(cmd.Stdin))
}

func (c *gateCheck) noInput() error { return c.printed(c.command("cat"), "") }

func (c *gateCheck) unreadInput() error {
	cmd := c.command("noread")
	cmd.Stdin = make([]byte, pipeful)
	return c.printed(cmd, "")
}

func (c *gateCheck) directory() error {
	dir := filepath.Join(c.dir, "a b")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	cmd := c.command("pwd")
	cmd.Dir = dir
	r, err := c.ended(cmd, 0)
	if err != nil {
		return err
	}
	here, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if there, err := os.Stat(string(r.res.Stdout)); err != nil || !os.SameFile(here, there) {
		return fmt.Errorf("it ran in %q, not in %q", r.res.Stdout, dir)
	}
	return nil
}

func (c *gateCheck) environment() error {
	cmd := c.command("env", "PAWLTEST_VALUE")
	cmd.Env = []string{"PAWLTEST_VALUE=first", "PAWLTEST_VALUE=a b=$c"}
	return c.printed(cmd, "a b=$c")
}

// couldNotRun wants an error that is no refusal.
func (c *gateCheck) couldNotRun(cmd pawl.Command) error {
	r, err := c.run(context.Background(), cmd)
	switch {
	case err != nil:
		return err
	case r.err == nil:
		return fmt.Errorf("Run has no error, and the exit code %d", r.res.Code)
	case errors.Is(r.err, pawl.ErrRefused):
		return fmt.Errorf("Run calls it a refusal: %w", r.err)
	}
	return nil
}

func (c *gateCheck) missing() error {
	cmd := c.command("noread")
	cmd.Args = []string{filepath.Join(c.dir, "no-such-program")}
	bare := cmd
	bare.Args = []string{"pawltest-no-such-program"}
	return first(c.couldNotRun(cmd), c.couldNotRun(bare))
}

func (c *gateCheck) missingDir() error {
	cmd := c.command("noread")
	cmd.Dir = filepath.Join(c.dir, "no-such-directory")
	return c.couldNotRun(cmd)
}

func (c *gateCheck) noWords() error { return c.couldNotRun(pawl.Command{Dir: c.dir}) }

// direct: a gate may pass over Direct, or run it, but nothing is lost by it.
func (c *gateCheck) direct() error {
	cmd := c.command("print", "out", "", "0")
	cmd.Direct = []string{"pawltest-no-such-program"}
	same := c.command("print", "out", "", "0")
	same.Direct = same.Args
	return first(c.printed(cmd, "out"), c.printed(same, "out"))
}

func (c *gateCheck) refusal() error {
	if c.Refused == nil {
		return errLeftOut
	}
	r, err := c.run(context.Background(), *c.Refused)
	if err == nil && !errors.Is(r.err, pawl.ErrRefused) {
		err = fmt.Errorf("Run says %v", r.err)
	}
	return err
}

func (c *gateCheck) limit() error {
	const printed, limit = 300_000, 1000
	cmd := c.command("flood", strconv.Itoa(printed))
	cmd.Limit = limit
	r, err := c.ended(cmd, 0)
	kept := strings.Repeat("x", limit)
	return first(err,
		want("standard output", kept, string(r.res.Stdout)),
		want("standard error", kept, string(r.res.Stderr)),
		want("the count of what was cut", int64(2*(printed-limit)), r.res.Cut))
}

func (c *gateCheck) signal() error {
	if !hasSignals {
		return errLeftOut
	}
	r, err := c.run(context.Background(), c.command("die"))
	if err == nil && r.err != nil {
		err = fmt.Errorf("Run failed: %w", r.err)
	}
	if err == nil && r.res.Signal == "" {
		err = errors.New("no signal is named")
	}
	return first(err, want("the exit code", -1, r.res.Code))
}

// watched looks at a rule by a beacon, which says whether a program runs.
func (c *gateCheck) watched(look func(*beacon) error) error {
	b, err := newBeacon(c.dir)
	switch {
	case err != nil:
		return err
	case b == nil:
		return errLeftOut
	}
	defer b.close()
	return look(b)
}

// passed reports a program that is said to have ended well.
func (r ran) passed() bool { return r.err == nil && r.res.Signal == "" && r.res.Code == 0 }

// interrupted runs a helper that goes on for ever, ends the context once it runs, and looks what is left.
func (c *gateCheck) interrupted(name string) error {
	return c.watched(func(b *beacon) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		stop, lit := make(chan struct{}), make(chan bool, 1)
		go func() {
			lit <- b.lit(stop)
			cancel()
		}()
		r, err := c.run(ctx, c.command(name, b.path))
		close(stop)
		switch {
		case err != nil:
			return err
		case !<-lit:
			return fmt.Errorf("the program never ran: %w", orNothing(r.err))
		case r.passed():
			return errors.New("Run says that a program which was stopped exited with 0")
		case !b.gone(time.Second):
			return errors.New("the program still runs")
		}
		return nil
	})
}

func orNothing(err error) error {
	if err == nil {
		return errors.New("Run has no error")
	}
	return err
}

func (c *gateCheck) ends() error     { return c.interrupted("hang") }
func (c *gateCheck) endsDeaf() error { return c.interrupted("deaf") }

func (c *gateCheck) alreadyDone() error {
	return c.watched(func(b *beacon) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		r, err := c.run(ctx, c.command("hang", b.path))
		switch {
		case err != nil:
			return err
		case r.passed():
			return errors.New("Run says that the program exited with 0")
		case !b.gone(time.Second):
			return errors.New("the program runs")
		}
		return nil
	})
}

// leaves runs a helper that leaves a descendant behind, and looks whether it is still there.
func (c *gateCheck) leaves(name string, look func(*beacon) error) error {
	return c.watched(func(b *beacon) error {
		r, err := c.ended(c.command(name, b.path), 0)
		if err == nil {
			err = want("standard output", "left", string(r.res.Stdout))
		}
		if err == nil {
			err = look(b)
		}
		return err
	})
}

func (c *gateCheck) descendant() error {
	return c.leaves("leave", func(b *beacon) error {
		if !b.gone(time.Second) {
			return errors.New("the descendant still runs")
		}
		return nil
	})
}

// farDescendant is out of a gate's reach, if not of a sandbox's; it holds Run no longer than the other.
func (c *gateCheck) farDescendant() error {
	return c.leaves("away", func(*beacon) error { return nil })
}

func (c *gateCheck) concurrent() error {
	const many = 12
	errs := make([]error, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			cmd := c.command("cat")
			cmd.Stdin = bytes.Repeat([]byte{byte('a' + i)}, 10_000)
			errs[i] = c.printed(cmd, string(cmd.Stdin))
		})
	}
	all.Wait()
	return first(errs...)
}

// resultOwned: what one caller holds neither changes with the next command nor changes what that gets.
func (c *gateCheck) resultOwned() error {
	kept, err := c.ended(c.command("print", "one", "ONE", "0"), 0)
	if err != nil {
		return err
	}
	if err := c.printed(c.command("print", "two", "TWO", "0"), "two"); err != nil {
		return err
	}
	err = first(
		want("the first's standard output after the second", "one", string(kept.res.Stdout)),
		want("the first's standard error after the second", "ONE", string(kept.res.Stderr)))
	for _, stream := range [][]byte{kept.res.Stdout, kept.res.Stderr} {
		clear(stream)
	}
	return first(err, c.printed(c.command("print", "one", "ONE", "0"), "one"))
}

func (c *gateCheck) elapsed() error {
	r, err := c.ended(c.command("noread"), 0)
	if err == nil && (r.res.Elapsed <= 0 || r.res.Elapsed > r.took) {
		err = fmt.Errorf("it is %v of a Run that took %v", r.res.Elapsed, r.took)
	}
	return err
}
