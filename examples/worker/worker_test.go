package main_test

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

// languages are the programs of this folder.
var languages = map[string][]string{
	"sh":     {"sh", "check.sh"},
	"python": {"python3", "check.py"},
	"node":   {"node", "check.js"},
}

const refused = `{"verdict":"refuse","reason":"whole trees stay"}`

func inEach(t *testing.T, test func(t *testing.T, args []string)) {
	for name, args := range languages {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(args[0]); err != nil {
				t.Skip(args[0], "is not installed")
			}
			test(t, args)
		})
	}
}

func TestHelpersKeepAHookAlive(t *testing.T) {
	inEach(t, func(t *testing.T, args []string) {
		w := &gate.Workers{Exec: gate.Exec{Grace: 5 * time.Second}, Greeting: time.Minute}
		defer w.Close()
		ask := func(event string) string {
			res, err := w.Run(t.Context(), pawl.Command{Args: args, Env: []string{"PYTHONDONTWRITEBYTECODE=1"}, Keep: true, Stdin: []byte(event)})
			require.NoError(t, err)
			require.Zero(t, res.Code)
			return string(res.Stdout)
		}
		for range 3 {
			require.JSONEq(t, "{}", ask(`{"call":"c1","input":{"command":"ls"}}`))
			require.JSONEq(t, refused, ask(`{"call":"c2","input":{"command":"rm -rf /"}}`))
			require.JSONEq(t, "{}", ask("{\"call\":\"c3\",\"input\":{\"command\":\"é \u2028 \\n \\\\ % $(id) 'q\"}}"))
		}
	})
}

// Without pawl's word in the environment they answer what they are told and end.
func TestHelpersAnswerOneEventToo(t *testing.T) {
	inEach(t, func(t *testing.T, args []string) {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
		cmd.Stdin = bytes.NewBufferString(`{"call":"c1","input":{"command":"rm -rf /"}}` + "\n")
		out, err := cmd.Output()
		require.NoError(t, err)
		require.JSONEq(t, refused, string(out))
	})
}

// What a check, or a program that it starts, prints past the helper is not taken for the answer.
func TestAStrayLineIsNoAnswer(t *testing.T) {
	for program, script := range map[string]string{
		"sh":      `exec 3>&1; check() { echo '{}' >&3; }; . ./pawl-worker.sh`,
		"python3": `import os, pawl_worker; pawl_worker.serve(lambda event: os.system("echo '{}'") and None)`,
		"node":    `require("./pawl-worker.js").serve(() => { require("child_process").execFileSync("echo", ["{}"], { stdio: "inherit" }) })`,
	} {
		t.Run(program, func(t *testing.T) {
			if _, err := exec.LookPath(program); err != nil {
				t.Skip(program, "is not installed")
			}
			w := &gate.Workers{Exec: gate.Exec{Grace: 5 * time.Second}, Greeting: time.Minute}
			defer w.Close()
			flag := map[string]string{"node": "-e"}[program]
			_, err := w.Run(t.Context(), pawl.Command{Args: []string{program, cmp.Or(flag, "-c"), script}, Env: []string{"PYTHONDONTWRITEBYTECODE=1"}, Keep: true, Stdin: []byte("{}")})
			var e *gate.WorkerError
			require.ErrorAs(t, err, &e)
			require.Equal(t, gate.SpokeUnasked, e.Kind)
		})
	}
}

// An event that a check cannot take ends it, and that is no answer.
func TestACheckThatBreaksIsNoAnswer(t *testing.T) {
	for _, args := range [][]string{languages["python"], languages["node"]} {
		if _, err := exec.LookPath(args[0]); err != nil {
			continue
		}
		w := &gate.Workers{Exec: gate.Exec{Grace: 5 * time.Second}, Greeting: time.Minute}
		defer w.Close()
		res, err := w.Run(t.Context(), pawl.Command{Args: args, Env: []string{"PYTHONDONTWRITEBYTECODE=1"}, Keep: true, Stdin: []byte(`not JSON`)})
		require.NoError(t, err)
		require.Equal(t, 1, res.Code)
		require.Empty(t, res.Stdout)
		require.NotEmpty(t, res.Stderr)
	}
}
