//go:build unix

package pawltest_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/pawltest"
)

func TestAGateThatKeepsTheContract(t *testing.T) {
	refusing := pawl.GateFunc(func(ctx context.Context, cmd pawl.Command) (pawl.Result, error) {
		if len(cmd.Args) > 0 && cmd.Args[0] == "rm" {
			return pawl.Result{}, &pawl.RefusedError{Action: "exec.path.rm"}
		}
		return model{}.Run(ctx, cmd)
	})
	for name, kit := range map[string]pawltest.GateKit{
		"with the test binary's helpers": {New: func() pawl.Gate { return model{} }, Programs: pawltest.Reexec},
		"with the shell's helpers":       {New: func() pawl.Gate { return model{} }},
		"behind a recorder":              {New: func() pawl.Gate { return &pawltest.Gate{Next: model{}} }, Programs: pawltest.Reexec},
		"with a policy":                  {New: func() pawl.Gate { return refusing }, Programs: pawltest.Reexec, Refused: &pawl.Command{Args: []string{"rm"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit.Dir = t.TempDir()
			require.NoError(t, pawltest.TestGate(kit))
			left, err := os.ReadDir(kit.Dir)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// over is a gate that asks the model, and breaks what it says or what it is told.
func over(f func(ctx context.Context, cmd pawl.Command, m model) (pawl.Result, error)) pawl.Gate {
	return pawl.GateFunc(func(ctx context.Context, cmd pawl.Command) (pawl.Result, error) { return f(ctx, cmd, model{}) })
}

// told breaks what the gate is told.
func told(f func(*pawl.Command)) pawl.Gate {
	return over(func(ctx context.Context, cmd pawl.Command, m model) (pawl.Result, error) {
		f(&cmd)
		return m.Run(ctx, cmd)
	})
}

// said breaks what the gate says.
func said(f func(pawl.Command, *pawl.Result, error) error) pawl.Gate {
	return over(func(ctx context.Context, cmd pawl.Command, m model) (pawl.Result, error) {
		res, err := m.Run(ctx, cmd)
		err = f(cmd, &res, err)
		return res, err
	})
}

// brokenGates each break one rule, some of them in passing another.
var brokenGates = []struct {
	name string
	gate pawl.Gate
	rule string
}{
	{"an exit code is an error", said(func(_ pawl.Command, res *pawl.Result, err error) error {
		if res.Code > 0 {
			return errors.New("exit status")
		}
		return err
	}), "an exit code is data and no error"},
	{"255 is -1", said(func(_ pawl.Command, res *pawl.Result, err error) error {
		res.Code = int(int8(res.Code))
		return err
	}), "an exit code is data and no error"},
	{"both streams are one", said(func(_ pawl.Command, res *pawl.Result, err error) error {
		res.Stdout, res.Stderr = append(res.Stdout, res.Stderr...), nil
		return err
	}), "standard output and error are apart and whole"},
	{"text is mended", said(func(_ pawl.Command, res *pawl.Result, err error) error {
		res.Stdout = bytes.ToValidUTF8(res.Stdout, []byte("?"))
		return err
	}), "what is printed arrives byte for byte"},
	{"empty words are left out", told(func(cmd *pawl.Command) {
		var kept []string
		for _, w := range cmd.Args {
			if w != "" {
				kept = append(kept, w)
			}
		}
		cmd.Args = kept
	}), "words reach the program as they are"},
	{"input is a pipeful", told(func(cmd *pawl.Command) { cmd.Stdin = cmd.Stdin[:min(len(cmd.Stdin), 64<<10)] }), "standard input is written whole, then ended"},
	{"there is always input", told(func(cmd *pawl.Command) {
		if len(cmd.Stdin) == 0 {
			cmd.Stdin = []byte("{}")
		}
	}), "without input there is nothing to read"},
	{"a closed pipe is an error", said(func(cmd pawl.Command, res *pawl.Result, err error) error {
		if len(cmd.Stdin) > len(res.Stdout) {
			return errors.New("broken pipe")
		}
		return err
	}), "input that nobody reads is no error"},
	{"it runs anywhere", told(func(cmd *pawl.Command) { cmd.Dir = "" }), "the program runs in Dir"},
	{"it runs somewhere else if need be", told(func(cmd *pawl.Command) {
		if _, err := os.Stat(cmd.Dir); err != nil {
			cmd.Dir = ""
		}
	}), "a directory that is not there is no place to run"},
	{"the environment stays out", told(func(cmd *pawl.Command) { cmd.Env = nil }), "Env reaches the program, the later of two alike"},
	{"the first of two variables wins", told(func(cmd *pawl.Command) { cmd.Env = cmd.Env[:min(1, len(cmd.Env))] }), "Env reaches the program, the later of two alike"},
	{"a missing program is exit code 127", said(func(_ pawl.Command, res *pawl.Result, err error) error {
		if err != nil {
			res.Code = 127
		}
		return nil
	}), "a program that is not there could not run"},
	{"a missing program is a refusal", said(func(_ pawl.Command, _ *pawl.Result, err error) error {
		if err != nil {
			return pawl.ErrRefused
		}
		return nil
	}), "a program that is not there could not run"},
	{"no words are nothing to do", over(func(ctx context.Context, cmd pawl.Command, m model) (pawl.Result, error) {
		if len(cmd.Args) == 0 {
			return pawl.Result{}, nil
		}
		return m.Run(ctx, cmd)
	}), "a command without words could not run"},
	{"Direct is all there is", told(func(cmd *pawl.Command) {
		if cmd.Direct != nil {
			cmd.Args = cmd.Direct
		}
	}), "where Direct cannot start there are still Args"},
	{"a refusal is any error", said(func(cmd pawl.Command, _ *pawl.Result, err error) error {
		if cmd.Args == nil || cmd.Args[0] == "rm" {
			return errors.New("refused")
		}
		return err
	}), "a refusal by the policy wraps ErrRefused"},
	{"everything is kept", told(func(cmd *pawl.Command) { cmd.Limit = 1 << 30 }), "what is printed beyond Limit is read, counted and not kept"},
	{"what was cut is not counted", said(func(_ pawl.Command, res *pawl.Result, err error) error {
		res.Cut = 0
		return err
	}), "what is printed beyond Limit is read, counted and not kept"},
	{"a signal is exit code 137", said(func(_ pawl.Command, res *pawl.Result, err error) error {
		if res.Signal != "" {
			res.Code, res.Signal = 137, ""
		}
		return err
	}), "a death by a signal is no exit code"},
	{"a signal is exit code 0", said(func(_ pawl.Command, res *pawl.Result, err error) error {
		res.Code, res.Signal = max(res.Code, 0), ""
		return err
	}), "Run returns soon after its context ended"},
	{"the context is ignored", over(func(ctx context.Context, cmd pawl.Command, m model) (pawl.Result, error) {
		return m.Run(context.WithoutCancel(ctx), cmd)
	}), "Run returns soon after its context ended"},
	{"the context is ignored, when done before", over(func(ctx context.Context, cmd pawl.Command, m model) (pawl.Result, error) {
		if ctx.Err() != nil {
			return m.Run(context.WithoutCancel(ctx), cmd)
		}
		return m.Run(ctx, cmd)
	}), "a context that is done leaves nothing running"},
	{"Run leaves and the program stays", over(func(ctx context.Context, cmd pawl.Command, m model) (pawl.Result, error) {
		type ran struct {
			res pawl.Result
			err error
		}
		done := make(chan ran, 1)
		go func() {
			res, err := m.Run(context.WithoutCancel(ctx), cmd)
			done <- ran{res, err}
		}()
		select {
		case r := <-done:
			return r.res, r.err
		case <-ctx.Done():
			return pawl.Result{}, ctx.Err()
		}
	}), "Run returns soon after its context ended"},
	{"it only asks the program to end", model{soft: true}, "Run returns soon though the program does not want to end"},
	{"it kills the program alone", model{alone: true}, "a descendant does not hold Run by the pipes it has"},
	{"it waits for the pipes", model{alone: true, patient: true}, "a descendant does not hold Run by the pipes it has"},
	{"it waits for the pipes, having killed the group", model{patient: true}, "a descendant that left the group does not hold Run"},
	{"one buffer for all", sharedBuffer(), "a result belongs to the caller"},
	{"the last input is everyone's", lastInput(), "commands at once do not mix"},
	{"it has no clock", said(func(_ pawl.Command, res *pawl.Result, err error) error {
		res.Elapsed = 0
		return err
	}), "Elapsed is how long it ran"},
	{"it resolves the program in place", told(func(cmd *pawl.Command) {
		if len(cmd.Args) > 0 {
			cmd.Args[0] += ""
			cmd.Args[len(cmd.Args)-1] += " "
		}
	}), "words reach the program as they are"},
	{"it panics", pawltest.PanicGate("x"), "an exit code is data and no error"},
	{"it ends its goroutine", pawl.GateFunc(pawltest.GoexitGate), "Elapsed is how long it ran"},
	{"it runs nothing", &pawltest.Gate{}, "words reach the program as they are"},
}

// sharedBuffer hands out one buffer again and again.
func sharedBuffer() pawl.Gate {
	var mu sync.Mutex
	var buffer [1 << 16]byte
	return said(func(_ pawl.Command, res *pawl.Result, err error) error {
		mu.Lock()
		defer mu.Unlock()
		if len(res.Stdout) <= len(buffer) {
			res.Stdout = buffer[:copy(buffer[:], res.Stdout)]
		}
		return err
	})
}

// lastInput keeps the input of the command that came last where every command finds it.
func lastInput() pawl.Gate {
	var mu sync.Mutex
	var last []byte
	meet := make(chan struct{})
	return over(func(ctx context.Context, cmd pawl.Command, m model) (pawl.Result, error) {
		mu.Lock()
		last = cmd.Stdin
		mu.Unlock()
		if len(cmd.Stdin) == 10_000 { // those that come at once, an even number: they meet by two
			select {
			case meet <- struct{}{}:
			case <-meet:
			case <-ctx.Done():
			}
		}
		mu.Lock()
		cmd.Stdin = last
		mu.Unlock()
		return m.Run(ctx, cmd)
	})
}

func TestABrokenGateIsFoundOut(t *testing.T) {
	for _, c := range brokenGates {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := pawltest.JudgeGateBy(c.rule, pawltest.GateKit{
				New: func() pawl.Gate { return c.gate }, Programs: pawltest.Reexec, Dir: t.TempDir(),
				Refused: &pawl.Command{Args: []string{"rm"}}, Bound: 500 * time.Millisecond,
			})
			require.Equal(t, []string{c.rule}, rules(t, err), "%v", err)
		})
	}
}

func TestEveryViolationIsToldAtOnce(t *testing.T) {
	err := pawltest.TestGate(pawltest.GateKit{New: func() pawl.Gate { return pawltest.PanicGate("x") }, Programs: pawltest.Reexec, Dir: t.TempDir()})
	want := pawltest.GateRules()
	want = slices.DeleteFunc(want, func(rule string) bool { return rule == "a refusal by the policy wraps ErrRefused" }) // left out
	require.Equal(t, want, rules(t, err))
	require.ErrorContains(t, err, "an exit code is data and no error: panicked: x\n")
}

func TestEveryRuleForGatesHasAGateThatBreaksIt(t *testing.T) {
	broken := map[string]bool{}
	for _, c := range brokenGates {
		broken[c.rule] = true
	}
	for _, rule := range pawltest.GateRules() {
		require.True(t, broken[rule], rule)
	}
}
