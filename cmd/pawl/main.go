// Pawl checks, lists, explains and fires the hooks of an agent runtime without the agent.
//
//	pawl check .pawl/hooks.toml
//	pawl explain --config .pawl/hooks.toml --event event.json
//	pawl fire --config .pawl/hooks.toml --event event.json
//
// pawl --help lists every command, and pawl COMMAND --help teaches one. Each prints JSON with --json.
//
// # Exit codes
//
//	0  pass, allow, clean
//	1  something to mend in the command line, a file or the event
//	2  a fault of pawl or of its log; wins over 3
//	3  refuse or halt, or a log that does not verify
//	4  ask
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/pawl-hooks/pawl/internal/doc"
)

// The exit codes, the same for every command.
const (
	exitPass   = 0 // pass, allow, clean
	exitUsage  = 1 // usage, a file that does not load, a bad event, an unknown trigger
	exitFault  = 2 // a fault of pawl or of its log; wins over exitRefuse
	exitRefuse = 3 // refuse or halt, or a log that does not verify
	exitAsk    = 4 // ask
)

// A codeError ends a command with a code of its own; any other error is exitUsage. A nil err is silent:
// what there was to say has been printed.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// silently ends a command with code once all is said.
func silently(code int) error {
	if code == exitPass {
		return nil
	}
	return &codeError{code: code}
}

// fault is an error that is neither the caller's nor a hook's.
func fault(err error) error { return &codeError{code: exitFault, err: err} }

// An app is the world around one invocation.
type app struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	look     look // of out
	errLook  look // of err
	json     bool
	parser   *kong.Kong
	progress *progress // nil where nobody watches
}

func main() {
	hearPipes()
	os.Exit(run(os.Args[1:], &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv,
		look: lookOf(os.Stdout, os.Getenv), errLook: lookOf(os.Stderr, os.Getenv),
	}))
}

// run is the whole of one invocation; it returns the exit code.
func run(args []string, a *app) (code int) {
	// kong asks for the process to end after help and version: that unwinds to here.
	type exit int
	out := &told{w: a.out}
	a.out = out
	defer func() {
		switch e := recover().(type) {
		case nil:
		case exit:
			code = int(e)
		default:
			panic(e)
		}
		if out.err != nil && code != exitFault {
			code = a.fail(fault(out.err))
		}
	}()
	var c cli
	parser, err := kong.New(&c, kong.Name("pawl"), kong.Description(about), kong.Writers(a.out, a.err),
		kong.Exit(func(code int) { panic(exit(code)) }), kong.Bind(a),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Vars{"version": version()})
	if err != nil {
		return a.fail(fault(err))
	}
	a.parser = parser
	a.json = slices.Contains(args, "--json") // until it is known
	ctx, err := parser.Parse(args)
	if err != nil {
		return a.fail(usage(err))
	}
	if a.json = c.JSON; blank(ctx) != nil {
		return a.fail(blank(ctx))
	}
	return a.fail(ctx.Run())
}

// usage says what to do next after a command line that makes no sense.
func usage(err error) error {
	if untold(err) {
		return fault(err)
	}
	where := "pawl"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil && parse.Context.Selected() != nil {
		where += " " + parse.Context.Selected().Path()
	}
	return fmt.Errorf("%w\nrun %q for what there is", err, where+" --help")
}

// fail prints err, if it says anything, and returns its exit code.
func (a *app) fail(err error) int {
	if err == nil {
		return exitPass
	}
	code := exitUsage
	var coded *codeError
	if errors.As(err, &coded) {
		if coded.err == nil {
			return coded.code
		}
		code = coded.code
	}
	var path *fs.PathError
	switch {
	case untold(err):
		code = exitFault
	case coded == nil && errors.As(err, &path):
		err = doc.Unreadable(path.Path, path)
	}
	fmt.Fprintf(a.err, "%s %s\n", a.errLook.bad("pawl:"), err)
	if a.json {
		text, _ := json.Marshal(map[string]string{"error": err.Error()})
		fmt.Fprintf(a.out, "%s\n", text)
	}
	return code
}
