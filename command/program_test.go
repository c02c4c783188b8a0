package command_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
)

// A teller is a codec of fixed words: what it tells, and what it reads out of any result.
type teller struct {
	msg  command.Message
	d    pawl.Decision
	err  error
	fail error // of Encode
}

func (c teller) Encode(*pawl.Event) (command.Message, error) { return c.msg, c.fail }
func (c teller) Decode(*pawl.Event, pawl.Result) (pawl.Decision, error) {
	return c.d, c.err
}
func (c teller) String() string { return "teller" }

// keeps is a gate that remembers what it was asked and answers res, err.
type keeps struct {
	asked []pawl.Command
	res   pawl.Result
	err   error
}

func (g *keeps) Run(_ context.Context, cmd pawl.Command) (pawl.Result, error) {
	g.asked = append(g.asked, cmd)
	return g.res, g.err
}

func cause(t *testing.T, err error) pawl.Cause {
	t.Helper()
	var f *pawl.Failure
	require.ErrorAs(t, err, &f)
	return f.Cause
}

func TestTheCommandIsTheConfiguredWordsAndTheMessage(t *testing.T) {
	gate := &keeps{}
	words := append(make([]string, 0, 8), "./check", "--strict")
	p := command.Program{
		Name: "x", Args: words, Env: []string{"B=hook"}, Inherit: true, Limit: 9, Linger: true,
		Codec: teller{msg: command.Message{Args: []string{"--tool", "a"}, Stdin: []byte("in"), Env: []string{"B=codec"}}},
	}
	_, err := p.Handle(t.Context(), &pawl.Event{Dir: "/event"}, gate)
	require.NoError(t, err)
	require.Equal(t, []pawl.Command{{
		Args: []string{"./check", "--strict", "--tool", "a"},
		Dir:  "/event", Env: []string{"B=codec", "B=hook"}, Inherit: true, Stdin: []byte("in"), Limit: 9, Linger: true,
	}}, gate.asked)
	require.Equal(t, []string{"", ""}, words[2:4], "the configured words have no room that a message writes into")
}

func TestAHooksOwnDirWinsOverTheEvents(t *testing.T) {
	gate := &keeps{}
	_, err := command.Program{Args: []string{"a"}, Dir: "/hook"}.Handle(t.Context(), &pawl.Event{Dir: "/event"}, gate)
	require.NoError(t, err)
	require.Equal(t, "/hook", gate.asked[0].Dir)
}

func TestWhatTheGateSaysOfACommandThatDidNotRunIsKept(t *testing.T) {
	for name, said := range map[string]error{
		"refused by policy": &pawl.RefusedError{Action: "exec.path.x"},
		"not found":         errors.New("no such program"),
	} {
		t.Run(name, func(t *testing.T) {
			p := command.Program{Args: []string{"x"}, Codec: teller{d: pawl.Decision{Verdict: pawl.Refuse}}}
			d, err := p.Handle(t.Context(), &pawl.Event{}, &keeps{err: said})
			require.Equal(t, said, err)
			require.Zero(t, d, "a program that did not run decides nothing")
		})
	}
}

func TestAPolicyRefusalIsKeptThoughTheContextEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := command.Program{Args: []string{"x"}}.Handle(ctx, &pawl.Event{}, &keeps{err: pawl.ErrRefused})
	require.ErrorIs(t, err, pawl.ErrRefused)
}

// H19: a program that exits 0 on the way out of its timeout has not passed.
func TestATimeoutLeavesNoDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		gate := pawl.GateFunc(func(ctx context.Context, _ pawl.Command) (pawl.Result, error) {
			<-ctx.Done()
			return pawl.Result{Code: 0, Stdout: []byte("fine")}, nil
		})
		p := command.Program{Args: []string{"x"}, Codec: teller{d: pawl.Decision{Verdict: pawl.Allow, Notes: []string{"fine"}}}}
		d, err := p.Handle(ctx, &pawl.Event{}, gate)
		require.Equal(t, pawl.CauseTimeout, cause(t, err))
		require.Zero(t, d)
	})
}

func TestACancelledContextLeavesNoDecision(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	gate := pawl.GateFunc(func(context.Context, pawl.Command) (pawl.Result, error) {
		cancel()
		return pawl.Result{}, nil
	})
	_, err := command.Program{Args: []string{"x"}}.Handle(ctx, &pawl.Event{}, gate)
	require.Equal(t, pawl.CauseCancelled, cause(t, err))
	require.ErrorIs(t, err, context.Canceled)
}

// L06: death by a signal is no exit code and no answer, whatever the codec makes of it.
func TestASignalFailsAndARestrictionStands(t *testing.T) {
	killed := &keeps{res: pawl.Result{Code: -1, Signal: "killed"}}
	p := command.Program{Name: "x", Args: []string{"x"}, Codec: teller{d: pawl.Decision{Verdict: pawl.Halt, Reason: "no"}}}
	d, err := p.Handle(t.Context(), &pawl.Event{}, killed)
	require.Equal(t, pawl.CauseSignal, cause(t, err))
	require.Equal(t, pawl.Halt, d.Verdict)

	own := &pawl.Failure{Cause: pawl.CauseOutput}
	p.Codec = teller{err: own}
	_, err = p.Handle(t.Context(), &pawl.Event{}, killed)
	require.Same(t, own, err, "a codec that names its own failure is believed")
}

func TestAnEndThatNobodySawFailsAndARestrictionStands(t *testing.T) {
	for name, codec := range map[string]command.Codec{
		"a codec that does not look": teller{d: pawl.Decision{Verdict: pawl.Halt, Reason: "no"}},
		"the flags":                  command.Flags{Output: command.OutputRefuse},
		"those that ignore":          command.Flags{},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := command.Program{Name: "x", Args: []string{"x"}, Codec: codec}.Handle(t.Context(), &pawl.Event{}, &keeps{res: pawl.Result{Code: -1}})
			require.Equal(t, pawl.CauseExit, cause(t, err))
			require.ErrorContains(t, err, "SIGCHLD")
			if _, looks := codec.(teller); looks {
				require.Equal(t, pawl.Halt, d.Verdict)
			}
		})
	}
}

func TestAProgramThatCannotBeAskedFailsAndRunsNothing(t *testing.T) {
	wrong := errors.New("wrong")
	for name, p := range map[string]command.Program{
		"no words":         {},
		"an empty program": {Args: []string{"", "x"}},
		"encoding fails":   {Args: []string{"x"}, Codec: teller{fail: wrong}},
	} {
		t.Run(name, func(t *testing.T) {
			gate := &keeps{}
			_, err := p.Handle(t.Context(), &pawl.Event{}, gate)
			require.Error(t, err)
			require.Empty(t, gate.asked)
		})
	}
	_, err := command.Program{Args: []string{"x"}}.Handle(t.Context(), &pawl.Event{}, nil)
	require.Equal(t, pawl.CauseStart, cause(t, err))
}

// lined is a codec of lines.
type lined struct{ teller }

func (lined) Lines() bool { return true }

func TestAKeptProgramIsAskedAsSuchAndOnlyInLines(t *testing.T) {
	gate := &keeps{res: pawl.Result{Stdout: []byte("{}")}}
	p := command.Program{Args: []string{"x"}, Keep: true, Codec: lined{}}
	_, err := p.Handle(t.Context(), &pawl.Event{}, gate)
	require.NoError(t, err)
	require.True(t, gate.asked[0].Keep)

	for _, codec := range []command.Codec{nil, command.Flags{}, teller{}} {
		p.Codec = codec
		_, err = p.Handle(t.Context(), &pawl.Event{}, gate)
		require.Equal(t, pawl.CauseStart, cause(t, err))
		require.Len(t, gate.asked, 1, "an exit code that never comes would read as yes")
	}
}

// What a program said before its gate found a fault in it is a restriction or nothing.
func TestARestrictionBesideTheGatesErrorStands(t *testing.T) {
	fault := &pawl.Failure{Cause: pawl.CauseOutput}
	gate := pawl.GateFunc(func(context.Context, pawl.Command) (pawl.Result, error) {
		return pawl.Result{Stdout: []byte("said")}, fault
	})
	p := command.Program{Args: []string{"x"}, Codec: teller{d: pawl.Decision{Verdict: pawl.Refuse, Reason: "no"}}}
	d, err := p.Handle(t.Context(), &pawl.Event{}, gate)
	require.Same(t, fault, err)
	require.Equal(t, pawl.Refuse, d.Verdict)
}

// D07: a restriction without words names the hook.
func TestARestrictionWithoutAReasonNamesTheHook(t *testing.T) {
	for verdict, want := range map[pawl.Verdict]string{
		pawl.Pass:   " \n",
		pawl.Allow:  " \n",
		pawl.Ask:    "hook x asks for approval and gave no reason",
		pawl.Refuse: "hook x refused and gave no reason",
		pawl.Halt:   "hook x halted the run and gave no reason",
	} {
		t.Run(verdict.String(), func(t *testing.T) {
			p := command.Program{Name: "x", Args: []string{"x"}, Codec: teller{d: pawl.Decision{Verdict: verdict, Reason: " \n"}}}
			d, err := p.Handle(t.Context(), &pawl.Event{}, &keeps{})
			require.NoError(t, err)
			require.Equal(t, want, d.Reason)
		})
	}
}

// O13: another dialect's reason is told as the program worded it.
func TestAReasonIsTheProgramsOwnUnlessTheCodecSigns(t *testing.T) {
	p := command.Program{Name: "x", Args: []string{"x"}, Codec: teller{d: pawl.Decision{Verdict: pawl.Refuse, Reason: "no\n"}}}
	d, err := p.Handle(t.Context(), &pawl.Event{}, &keeps{})
	require.NoError(t, err)
	require.Equal(t, "no\n", d.Reason)
}

func TestTheDigestChangesWithWhatRunsAndNotWithTheName(t *testing.T) {
	base := command.Program{Name: "x", Args: []string{"a", "b"}}
	require.Regexp(t, `^sha256:[0-9a-f]{64}$`, base.Digest())
	renamed := base
	renamed.Name = "y"
	require.Equal(t, base.Digest(), renamed.Digest())

	seen := map[string]string{base.Digest(): "base"}
	for name, p := range map[string]command.Program{
		"other words":   {Args: []string{"a", "c"}},
		"words joined":  {Args: []string{"a b"}},
		"a quote":       {Args: []string{`a" "b`}},
		"bad byte ff":   {Args: []string{"a\xff"}},
		"bad byte fe":   {Args: []string{"a\xfe"}},
		"replacement":   {Args: []string{"a\uFFFD"}},
		"direct":        {Args: base.Args, Direct: []string{"a"}},
		"other direct":  {Args: base.Args, Direct: []string{"b"}},
		"dir":           {Args: base.Args, Dir: "/d"},
		"env":           {Args: base.Args, Env: []string{"A=1"}},
		"inherit":       {Args: base.Args, Inherit: true},
		"limit":         {Args: base.Args, Limit: 1},
		"linger":        {Args: base.Args, Linger: true},
		"keep":          {Args: base.Args, Keep: true},
		"codec":         {Args: base.Args, Codec: teller{}},
		"flags inputs":  {Args: base.Args, Codec: command.Flags{Inputs: []string{"tool"}}},
		"inputs turned": {Args: base.Args, Codec: command.Flags{Inputs: []string{"tool", "action"}}},
		"turned inputs": {Args: base.Args, Codec: command.Flags{Inputs: []string{"action", "tool"}}},
		"flags output":  {Args: base.Args, Codec: command.Flags{Output: command.OutputRefuse}},
	} {
		require.NotContains(t, seen, p.Digest(), name)
		seen[p.Digest()] = name
	}
	require.Equal(t, base.Digest(), command.Program{Args: base.Args, Codec: command.Flags{Output: command.OutputIgnore}}.Digest(),
		"a default that is written out is the same definition")
}

func TestArgvIsACopy(t *testing.T) {
	p := command.Program{Args: []string{"a", "b"}}
	p.Argv()[0] = "changed"
	require.Equal(t, []string{"a", "b"}, p.Argv())
	var _ pawl.Program = p
}

// Whatever the dialect: no check that reads an object's arguments judges a text.
func TestARewriteIntoAnotherKindOfJSONFails(t *testing.T) {
	for name, c := range map[string]struct {
		was, is, says string
	}{
		"object to object":   {`{"command":"ls"}`, `{}`, ""},
		"object to string":   {`{"command":"ls"}`, `"ls"`, "it makes a string of an input that is an object"},
		"object to list":     {` {}`, `[{}]`, "it makes a list of an input that is an object"},
		"object to null":     {`{}`, `null`, "it makes null of an input that is an object"},
		"no rewrite":         {`{}`, ``, ""},
		"string to object":   {`"ls"`, `{}`, "it makes an object of an input that is a string"},
		"string to string":   {`"ls"`, ` "rm"`, ""},
		"number to boolean":  {`1`, `true`, "it makes true or false of an input that is a number"},
		"true to false":      {`true`, `false`, ""},
		"no input to any":    {``, `"x"`, ""},
		"null to any":        {`null`, `[]`, ""},
		"unreadable to list": {`?`, `[]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := command.Program{Args: []string{"x"}, Codec: teller{d: pawl.Decision{Verdict: pawl.Ask, Reason: "r", Input: []byte(c.is)}}}
			d, err := p.Handle(t.Context(), &pawl.Event{Input: []byte(c.was)}, &keeps{})
			require.Equal(t, pawl.Ask, d.Verdict, "what it said stands")
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, pawl.CauseOutput, cause(t, err))
			require.ErrorContains(t, err, c.says)
			require.NotNil(t, d.Input, "a rewrite was asked for: the original does not stand")
		})
	}
}
