package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/gate"
)

var update = flag.Bool("update", false, "rewrite the golden sections of the scripts")

// The command is built once and run as its own process, so that what is tested is what a person gets. It is
// built without the race detector even where the tests have it: it starts hundreds of times.
func TestMain(m *testing.M) {
	os.Exit(withCommand(m.Run))
}

func withCommand(run func() int) int {
	dir, err := os.MkdirTemp("", "pawl")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	name := "pawl"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "the command does not build: %v\n%s", err, out)
		return 1
	}
	if err := os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
		panic(err)
	}
	return run()
}

// Every file of testdata/script is one behaviour of the command line.
func TestScripts(t *testing.T) {
	files, err := os.ReadDir("testdata/script")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true,
		Condition: func(name string) (bool, error) {
			if name == "sandbox" {
				return gate.Sandbox{}.Check() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code, "scrub": scrub},
	})
}

// code N CMD…: the command must end with exactly that exit code. Its output can then be looked at.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// scrub FILE: what was printed on stdout, without what differs from one run to the next.
func scrub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: scrub file")
	}
	text := strings.ReplaceAll(ts.ReadFile("stdout"), ts.Getenv("WORK"), "WORK")
	for _, r := range []struct{ expr, to string }{
		{`"time":"[^"]*"`, `"time":"T"`},
		{`(?m)^\d\d:\d\d:\d\d `, `00:00:00 `},
		{`"(prev|hash)":"[0-9a-f]{64}"`, `"$1":"H"`},
		{`"elapsed_ms":[0-9.]+`, `"elapsed_ms":1`},
		{`looked in PATH [^"\\]*`, `looked in PATH P`},
		{`  +`, `  `}, // a column is as wide as the longest path
		{`sha256:[0-9a-f]{64}`, `sha256:D`},
		{`\b\d+(\.\d+)?(µs|ms|s)\b`, `1ms`},
	} {
		text = regexp.MustCompile(r.expr).ReplaceAllString(text, r.to)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}
