// Package command answers events by running programs.
//
// A [Program] is a handler: it encodes the event by its [Codec], asks the gate to run the command, and reads
// what came back. It starts nothing itself. [Flags] is the plainest codec, that of native hooks: facts as
// arguments, the exit code as the answer. [Split] turns a command line into words where no shell is needed,
// and [Shell] names the shell where one is.
package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pawl-hooks/pawl"
)

// A Program is a hook's program. It must not be changed once it is in a registry; it may then be asked
// concurrently. The zero Program names nothing to run and fails.
type Program struct {
	Name    string   // the hook's, for what people are told
	Args    []string // program and arguments, never expanded
	Direct  []string // what Args comes to without its shell, by the func Direct; nil: the shell is needed, as for a line with "$@"
	Dir     string   // working directory; empty: the event's
	Env     []string // KEY=value, over what the gate grants and the codec sets
	Inherit bool     // ask for the host process's whole environment
	Limit   int      // bytes of each stream kept; zero: the gate's limit
	Linger  bool     // descendants may outlive a program that ended well
	Keep    bool     // keep it alive between events; the codec must be a Liner
	Codec   Codec    // nil: Flags{}, which tells nothing and takes no answer
}

// Handle runs the program for ev. What the gate says of a command that did not run is returned as it is; a
// context that ended while it ran leaves no decision, whatever the program said on the way out. Of an output
// that comes beside an error, what it restricts still counts. An input of another kind of JSON than the event's
// is no rewrite but a failure.
func (p Program) Handle(ctx context.Context, ev *pawl.Event, gate pawl.Gate) (pawl.Decision, error) {
	cmd, err := p.command(ev)
	if err != nil {
		return pawl.Decision{}, err
	}
	if gate == nil {
		return pawl.Decision{}, &pawl.Failure{Cause: pawl.CauseStart, Err: errors.New("no gate to run it by")}
	}
	res, err := gate.Run(ctx, cmd)
	switch {
	case errors.Is(err, pawl.ErrRefused):
		return pawl.Decision{}, err
	case ctx.Err() != nil:
		return pawl.Decision{}, ended(ctx)
	case err != nil && len(res.Stdout) > 0:
		d, _ := p.codec().Decode(ev, res)
		return p.named(d), err
	case err != nil:
		return pawl.Decision{}, err
	}
	d, err := p.codec().Decode(ev, res)
	if err == nil && (res.Signal != "" || res.Code < 0) {
		err = Exited(res)
	}
	if err == nil {
		err = sameKind(ev.Input, d.Input)
	}
	return p.named(d), err
}

// kinds names the kinds of JSON for people; false is true's.
var kinds = map[jsontext.Kind]string{
	'{': "an object", '[': "a list", '"': "a string", '0': "a number", 't': "true or false", 'f': "true or false", 'n': "null",
}

// sameKind fails a rewrite of the input into JSON of another kind: no tool takes its arguments now as an object,
// now as a text, and checks that look at them would judge neither. Where there was no input every kind goes.
func sameKind(was, is []byte) error {
	had, has := kinds[jsontext.Value(was).Kind()], kinds[jsontext.Value(is).Kind()]
	if had == has || had == "" || had == "null" || has == "" {
		return nil
	}
	return &pawl.Failure{Cause: pawl.CauseOutput, Err: fmt.Errorf("it makes %s of an input that is %s", has, had)}
}

// command puts the configured words and the codec's message together. The Program's own slices are never
// handed on with room to append to.
func (p Program) command(ev *pawl.Event) (pawl.Command, error) {
	if len(p.Args) == 0 || p.Args[0] == "" {
		return pawl.Command{}, &pawl.Failure{Cause: pawl.CauseStart, Err: errors.New("names no program")}
	}
	if liner, ok := p.codec().(Liner); p.Keep && !(ok && liner.Lines()) {
		return pawl.Command{}, &pawl.Failure{Cause: pawl.CauseStart,
			Err: fmt.Errorf("a program that is kept must be told and answer in lines, and %q is not read so", p.codec().String())}
	}
	msg, err := p.codec().Encode(ev)
	if err != nil {
		return pawl.Command{}, fmt.Errorf("telling the program: %w", err)
	}
	dir := p.Dir
	if dir == "" {
		dir = ev.Dir
	}
	return pawl.Command{
		Args:    slices.Concat(p.Args, msg.Args),
		Direct:  slices.Clone(p.Direct), // a line that is direct looks at no argument of its shell
		Dir:     dir,
		Env:     slices.Concat(msg.Env, p.Env),
		Inherit: p.Inherit,
		Stdin:   msg.Stdin,
		Limit:   p.Limit,
		Linger:  p.Linger,
		Keep:    p.Keep,
	}, nil
}

func (p Program) codec() Codec {
	if p.Codec == nil {
		return Flags{}
	}
	return p.Codec
}

// ended names the way ctx ended. The dispatch measures for itself; this is for those who call Handle alone.
func ended(ctx context.Context) error {
	cause := pawl.CauseCancelled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		cause = pawl.CauseTimeout
	}
	return &pawl.Failure{Cause: cause, Err: context.Cause(ctx)}
}

// did says what a program that gave no reason did.
var did = map[pawl.Verdict]string{
	pawl.Ask:    "asks for approval",
	pawl.Refuse: "refused",
	pawl.Halt:   "halted the run",
}

// named puts the hook's name where the codec wants it, and where a program that refuses says nothing else.
func (p Program) named(d pawl.Decision) pawl.Decision {
	signer, ok := p.codec().(Signer)
	signed := ok && signer.Signed()
	what, restricts := did[d.Verdict]
	switch {
	case restricts && strings.TrimSpace(d.Reason) == "":
		d.Reason = fmt.Sprintf("hook %s %s and gave no reason", p.Name, what)
	case restricts && signed:
		d.Reason = fmt.Sprintf("hook %s %s: %s", p.Name, what, d.Reason)
	}
	if signed {
		d.Warnings = slices.Clone(d.Warnings)
		for i, w := range d.Warnings {
			d.Warnings[i] = fmt.Sprintf("hook %s: %s", p.Name, w)
		}
	}
	return d
}

// Argv returns a copy of the configured words.
func (p Program) Argv() []string { return slices.Clone(p.Args) }

// Digest returns "sha256:" and the hash of all that decides what runs and how its answer is read. The
// Name is not part of it: the same program under another name is the same program.
func (p Program) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "args %q\ndir %q\nenv %q\ninherit %t\nlimit %d\nlinger %t\ncodec %q\n",
		p.Args, p.Dir, p.Env, p.Inherit, p.Limit, p.Linger, p.codec().String())
	if p.Direct != nil {
		fmt.Fprintf(h, "direct %q\n", p.Direct)
	}
	if p.Keep { // only then, so that what was trusted before there was such a field still is
		fmt.Fprintln(h, "keep")
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
