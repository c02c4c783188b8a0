package gate_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/gate"
)

func direct(line string, env ...string) pawl.Command {
	return pawl.Command{Args: command.Shell(line), Direct: command.Direct(line), Env: env}
}

func inDir(dir string, cmd pawl.Command) pawl.Command {
	cmd.Dir = dir
	return cmd
}

func TestALineWithoutItsShell(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("lines for /bin/sh")
	}
	dir := t.TempDir()
	plain := filepath.Join(dir, "no-interpreter")
	require.NoError(t, os.WriteFile(plain, []byte("echo by the shell\n"), 0o755))
	real, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	other := filepath.Join(dir, "other")
	for folder, script := range map[string]string{filepath.Join(dir, "bin"): "#!/bin/sh\nexit 3\n", other: "#!/bin/sh\n"} {
		require.NoError(t, os.Mkdir(folder, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "own"), []byte(script), 0o755))
	}
	for name, c := range map[string]struct {
		cmd  pawl.Command
		code int
		out  string
	}{
		"runs by itself":                               {direct("cat /dev/null"), 0, ""},
		"what is missing is the shell's to tell":       {direct("no-such-program-here x"), 127, ""},
		"so is a script without a #! line":             {direct(plain), 0, "by the shell\n"},
		"a function of the environment is the shell's": {direct("cat x", "BASH_FUNC_cat%%=() { echo function; }"), -2, ""},
		"a relative folder of PATH is the shell's":     {inDir(dir, direct("own x", "PATH=bin:"+other)), 3, ""},
		"so is an empty one, wherever it stands":       {inDir(filepath.Join(dir, "bin"), direct("own x", "PATH=:"+other)), 3, ""},
		"it is told where it is":                       {inDir(dir, direct("printenv PWD")), 0, real + "\n"},
		"by its real name, behind a link":              {inDir(link, direct("printenv PWD")), 0, real + "\n"},
		"by the name that it was told":                 {inDir(link, direct("printenv PWD", "PWD="+link)), 0, link + "\n"},
		"also where somebody says it is elsewhere":     {inDir(dir, direct("printenv PWD", "PWD=/x")), 0, real + "\n"},
		"a path is a path with any PATH":               {inDir(dir, direct("./bin/own x", "PATH=:")), 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.NotNil(t, c.cmd.Direct)
			res, err := gate.Exec{}.Run(context.Background(), c.cmd)
			require.NoError(t, err)
			if c.code != -2 { // what that shell is decides
				require.Equal(t, c.code, res.Code)
			}
			require.Contains(t, string(res.Stdout), c.out)
		})
	}
}

// The stricter of the shell's action and the program's own decides, and the record shows the shell's.
func TestALineWithoutItsShellIsDecidedTwice(t *testing.T) {
	ran := 0
	inner := pawl.GateFunc(func(context.Context, pawl.Command) (pawl.Result, error) { ran++; return pawl.Result{}, nil })
	for _, c := range []struct {
		shell, own gate.Ruling
		runs       bool
	}{{gate.Allow, gate.Allow, true}, {gate.Deny, gate.Allow, false}, {gate.Allow, gate.Deny, false}} {
		ran = 0
		p := &gate.Policy{Rules: []gate.Rule{{Action: "exec.workspace.bin.sh", Decision: c.shell}, {Action: "exec.path.git", Decision: c.own}}}
		res, err := p.Wrap(inner).Run(context.Background(), direct("git status"))
		require.Equal(t, c.runs, err == nil)
		require.Equal(t, c.runs, ran == 1)
		require.Equal(t, "exec.workspace.bin.sh", res.Action)
	}
}
