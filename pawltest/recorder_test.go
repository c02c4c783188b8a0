package pawltest_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/pawltest"
)

func TestTheRecordersSeeWhatADispatchDoes(t *testing.T) {
	gate := &pawltest.Gate{Next: pawltest.Exits(1, "no", "")}
	log := &pawltest.Log{}
	r, err := pawl.New(pawl.Options{Gate: gate, Log: log}, pawl.Hook{
		Name: "tests-pass", On: pawl.ToolBefore, Effects: pawl.MayRefuse,
		Handler: command.Program{Name: "tests-pass", Args: []string{"zig", "build"}, Codec: command.Flags{Output: command.OutputRefuse}},
	})
	require.NoError(t, err)
	o, err := r.Dispatch(t.Context(), &pawl.Event{Trigger: pawl.ToolBefore, Tool: "request_action", Call: "c1", Dir: "/w"})
	require.NoError(t, err)
	require.Equal(t, pawl.Refuse, o.Verdict)

	require.Len(t, gate.Calls, 1)
	call := gate.Calls[0]
	require.Equal(t, "tests-pass", call.Hook)
	require.Equal(t, "request_action", call.Event.Tool)
	require.Equal(t, "hook:tests-pass:c1", call.Command.ID)
	require.Equal(t, [][]string{{"zig", "build"}}, gate.Args())
	require.True(t, call.Returned)
	require.Equal(t, 1, call.Result.Code)

	require.Len(t, log.Appends, 1)
	require.Len(t, log.Runs(), 1)
	run := log.Runs()[0]
	require.Equal(t, "exec.path.zig", run.Action)
	require.True(t, run.Refused)
	require.Contains(t, string(log.Lines[0]), `{"kind":"hook.run","name":"tests-pass","trigger":"tool.before","tool":"request_action","action":"exec.path.zig","outcome":"ran","errored":true,"refused":true`)
}

func TestTheGateRecordsCopiesAndWhatNeverCameBack(t *testing.T) {
	gate := &pawltest.Gate{Next: pawltest.PanicGate("x")}
	cmd := pawl.Command{Args: []string{"a"}, Direct: []string{"d"}, Env: []string{"A=1"}, Stdin: []byte("in")}
	require.Panics(t, func() { _, _ = gate.Run(t.Context(), cmd) })
	cmd.Args[0], cmd.Direct[0], cmd.Env[0], cmd.Stdin[0] = "b", "e", "B=2", 'X'
	require.Equal(t, []pawltest.Call{{Command: pawl.Command{Args: []string{"a"}, Direct: []string{"d"}, Env: []string{"A=1"}, Stdin: []byte("in")}}}, gate.Calls)
}

func TestTheRecordersMayBeUsedConcurrently(t *testing.T) {
	gate, log := &pawltest.Gate{}, &pawltest.Log{}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			_, err := gate.Run(context.Background(), pawl.Command{Args: []string{"x"}})
			if err == nil {
				err = log.Append(context.Background(), &pawl.Run{Name: "x"})
			}
			if err != nil || len(gate.Args()) == 0 || len(log.Runs()) == 0 {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
	require.Len(t, gate.Calls, 50)
	require.Len(t, log.Records(), 50)
}

func TestTheLogTakesRecordsAloneAndKeepsCopies(t *testing.T) {
	log := &pawltest.Log{}
	require.Error(t, log.Append(t.Context(), notARecord{}))
	require.Error(t, log.Append(t.Context(), &pawl.Run{Name: "x"}, notARecord{}))
	run := &pawl.Run{Name: "before"}
	require.NoError(t, log.Append(t.Context(), run))
	require.NoError(t, log.Append(t.Context()))
	run.Name = "after"
	require.Equal(t, "before", log.Runs()[0].Name)
	require.Equal(t, 2, log.Failed)
	require.Len(t, log.Appends, 1)
	require.Len(t, log.Lines, 1)

	full := errors.New("full")
	refusing := &pawltest.Log{Next: pawltest.ErrorLog(full)}
	require.ErrorIs(t, refusing.Append(t.Context(), run), full)
	require.Empty(t, refusing.Records())
	require.Equal(t, 1, refusing.Failed)
}

// notARecord does not begin with its kind.
type notARecord struct {
	Name string `json:"name"`
}

func (notARecord) Kind() string { return "x" }

func TestAScriptAnswersByTheProgramsName(t *testing.T) {
	s := &pawltest.Script{
		Queue: map[string][]pawl.GateFunc{
			"fmt": {pawltest.Exits(0, "one", ""), pawltest.Exits(1, "", "two"), pawltest.Dies("killed")},
			"vet": {pawltest.Refuses("no")},
		},
		Func: map[string]pawl.GateFunc{"fmt": pawltest.Exits(7, "", ""), "gone": pawltest.Missing},
	}
	run := func(args ...string) (pawl.Result, error) { return s.Run(t.Context(), pawl.Command{Args: args}) }
	require.Equal(t, []string{"fmt", "fmt", "fmt", "vet"}, s.Unused())

	res, err := run("fmt", "-l")
	require.NoError(t, err)
	require.Equal(t, pawl.Result{Action: "exec.path.fmt", Stdout: []byte("one"), Stderr: []byte{}}, res)
	res, _ = run("fmt")
	require.Equal(t, 1, res.Code)
	require.Equal(t, []string{"fmt", "vet"}, s.Unused())
	res, _ = run("fmt")
	require.Equal(t, "killed", res.Signal)
	require.Equal(t, -1, res.Code)
	for range 2 {
		res, _ = run("fmt")
		require.Equal(t, 7, res.Code, "behind the queue stands the func")
	}
	_, err = run("vet")
	require.ErrorIs(t, err, pawl.ErrRefused)
	require.Empty(t, s.Unused())

	for _, args := range [][]string{{"vet"}, {"other"}, {"gone"}, {}} {
		_, err = run(args...)
		require.Error(t, err, args)
		require.NotErrorIs(t, err, pawl.ErrRefused)
	}
}
