package gate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-hooks/pawl"
)

const (
	defaultLimit = 64 << 10    // bytes of each stream kept
	defaultGrace = time.Second // from TERM to the return: the first half of the registry's own grace
)

// Exec is the [pawl.Gate] that runs programs. It decides nothing: put policy in front of it (see [Chain]).
// The zero Exec is ready to use; an Exec may be called concurrently and must not change while it runs.
//
// A program is started from its argument list alone, never by a shell, in a process group of its own. Its
// standard input is the command's, written while the clock runs; a program that closes it early or never
// reads is no error. Of each output stream the first bytes are kept, up to the limit, and the rest is read
// and counted.
//
// When the context ends, the group gets TERM, after half of Grace KILL, and Run returns before Grace is
// over, whatever the program and its descendants do: one that left the group and holds a pipe is reported
// in Orphans. A program that was started gives a nil error even then; its Elapsed says how long it took.
// Where a program ends by itself, a descendant that holds a pipe has a tenth of Grace to finish writing;
// then the group is killed, unless the command asks for Linger and no pipe is held.
//
// A command with Direct runs that, and its Args, the shell's, only where Direct cannot start.
//
// A command with Keep does not start: [Workers] runs those.
//
// An error is a [*StartError] where the program could not start, wraps the context's error where that had
// ended before, and wraps [pawl.ErrRefused] where the command asks for what this Exec does not grant.
//
// # Limits
//
// A descendant that leaves the process group and lets go of the pipes is not seen. A group is killed as a
// whole: under Linger, one descendant that still holds a pipe takes the others with it. On Windows a job
// object stands in for the group and CTRL_BREAK for TERM; a child that the program starts before it is
// in the job, in its first microseconds, can be missed.
type Exec struct {
	Limit int           // bytes of each stream kept where the command says nothing; zero: 64 KiB
	Grace time.Duration // from the end of the context to the return; zero: 1 s. At most half of [pawl.Options].Grace
	Dir   string        // working directory where the command names none; empty: the process's own

	// Host is the environment to grant from; nil: the process's own at the time of each run.
	Host []string
	// Grant names the variables of Host that a program gets; a name that ends in "*" grants all that begin
	// so. Nil: PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_*, TERM, TMPDIR, TZ (and on Windows what programs
	// cannot start without). Empty but not nil grants nothing.
	Grant []string
	// RefuseInherit refuses commands that ask for the whole of Host.
	RefuseInherit bool

	// Redact makes the filter that one output stream passes before it is cut, such as [Redactor.Filter] of
	// the one redactor of a runtime; nil: streams stay as they are.
	Redact func() Filter

	// Portable runs programs through os/exec also where a faster way is there.
	Portable bool
}

// Run starts cmd and waits for its end.
func (e Exec) Run(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
	return e.runIn(ctx, cmd, nil)
}

// runIn runs cmd in a sandbox, or as it is where s is nil.
func (e Exec) runIn(ctx context.Context, cmd pawl.Command, s *Sandbox) (res pawl.Result, err error) {
	if cmd.Keep {
		return res, cannotKeep(cmd, "gate.Exec runs a program once: put gate.Workers in its place, or do not ask to keep it")
	}
	err = directly(cmd, func(cmd pawl.Command) error {
		res, err = e.run(ctx, cmd, s)
		return err
	})
	return res, err
}

// directly starts a command in its direct form where it has one, and by its shell where that cannot start
// for reasons that the shell may know better about.
func directly(cmd pawl.Command, start func(pawl.Command) error) error {
	if cmd.Direct != nil {
		shell := cmd.Args
		cmd.Args = cmd.Direct
		err := start(cmd)
		var why *StartError
		if !errors.As(err, &why) || why.Kind == CannotConfine || why.Kind == NotWhatWasAsked {
			return err
		}
		cmd.Args, cmd.Direct = shell, nil
	}
	return start(cmd)
}

func (e Exec) run(ctx context.Context, cmd pawl.Command, s *Sandbox) (pawl.Result, error) {
	if ctx.Err() != nil {
		return pawl.Result{}, notStarted(ctx)
	}
	l, err := e.launchIn(cmd, s)
	if err != nil {
		return pawl.Result{}, err
	}
	start := time.Now()
	res, err := l.run(ctx, e.Portable)
	if l.cage.close() {
		res.Orphans = true
	}
	res.Elapsed = time.Since(start)
	if err == nil && (res.Code == notFoundCode || res.Code == deniedCode) {
		err = l.carriageReturn()
	}
	if err != nil {
		return pawl.Result{}, err
	}
	return res, nil
}

// A launch is one command, checked and resolved, ready to start.
type launch struct {
	path   string // what is executed; relative to dir where args[0] is
	args   []string
	env    []string
	dir    string
	stdin  []byte
	open   bool // its input stays open, with nothing written
	limit  int
	grace  time.Duration
	linger bool
	redact func() Filter
	cage   *cage  // nil: not confined
	image  string // executed in place of path, if not empty
}

// executable returns what the kernel is told to execute.
func (l *launch) executable() string {
	if l.image != "" {
		return l.image
	}
	return l.path
}

// launchIn prepares a command for a sandbox, or as it is where s is nil. Its cage is to be closed.
func (e Exec) launchIn(cmd pawl.Command, s *Sandbox) (*launch, error) {
	l, err := e.launch(cmd)
	if err == nil && s != nil {
		l.cage, err = newCage(l, cmd, s)
	}
	return l, err
}

func (e Exec) launch(cmd pawl.Command) (*launch, error) {
	if e.RefuseInherit && cmd.Inherit {
		return nil, &pawl.RefusedError{Reason: "the whole environment of the host is not granted to programs"}
	}
	l := &launch{
		args: cmd.Args, dir: cmd.Dir, stdin: cmd.Stdin, limit: cmd.Limit,
		grace: e.Grace, linger: cmd.Linger, redact: e.Redact,
	}
	if l.dir == "" {
		l.dir = e.Dir
	}
	if l.limit <= 0 {
		l.limit = e.Limit
	}
	if l.limit <= 0 {
		l.limit = defaultLimit
	}
	if l.grace <= 0 {
		l.grace = defaultGrace
	}
	if err := l.check(cmd.Env); err != nil {
		return nil, err
	}
	l.env = e.environment(cmd, l.dir)
	if cmd.Direct != nil {
		if why := shells(l.env, l.args[0]); why != "" {
			return nil, &StartError{Kind: CannotStart, Arg0: l.args[0], Detail: why}
		}
		l.tellDir()
	}
	path, err := lookup(l.args[0], l.env)
	if err != nil {
		return nil, err
	}
	l.path = path
	if err := refuseWords(path, l.args); err != nil {
		return nil, err
	}
	return l, nil
}

// tellDir gives the program PWD, as every shell does: the name of its directory that it was told, else the real one.
func (l *launch) tellDir() {
	dir, err := filepath.Abs(l.dir)
	if told := getenv(l.env, "PWD"); err == nil && told != dir {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		l.env = lastOfEach(append(l.env, "PWD="+dir))
	}
}

// shells says why in env a shell may mean another program by name than we do; empty: it does not. Bash, where it stands
// behind /bin/sh, takes functions from its environment, and every shell looks in the folders of PATH that are relative.
func shells(env []string, name string) string {
	if slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "BASH_FUNC_"+name+"%%=") }) {
		return "the environment has a shell function of that name"
	}
	relative := func(dir string) bool { return !filepath.IsAbs(dir) }
	if !hasSeparator(name) && slices.ContainsFunc(strings.Split(getenv(env, "PATH"), string(filepath.ListSeparator)), relative) {
		return "PATH has a folder that is relative"
	}
	return ""
}

func (l *launch) capture() *capture {
	c := new(capture)
	l.ready(c)
	return c
}

// ready makes an empty c one that keeps a stream of the program.
func (l *launch) ready(c *capture) {
	c.limit = l.limit
	if l.redact != nil {
		c.filter = l.redact()
	}
}

func notStarted(ctx context.Context) error { return fmt.Errorf("program not started: %w", ctx.Err()) }
