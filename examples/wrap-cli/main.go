// Wrap-cli puts a project's hooks in front of another program: it asks them about the command line, and
// runs it only if none refuses.
//
//	go run ./examples/wrap-cli git push
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/dialect/native"
	"github.com/pawl-hooks/pawl/gate"
)

const hooksFile = "testdata/wrap-cli/hooks.toml"

func main() {
	if len(os.Args) > 1 {
		os.Exit(wrap(os.Args[1:]))
	}
	// Without a command line it shows one that may run and one that may not.
	wrap([]string{"go", "list", "-m"})
	wrap([]string{"go", "clean", "-modcache"})
}

// wrap returns the exit code: the program's own, 3 where a hook refused, 1 where the hooks do not load.
func wrap(argv []string) int {
	read, issues := native.LoadFile(os.DirFS("."), hooksFile, "", native.Options{})
	for _, issue := range issues {
		fmt.Fprintln(os.Stderr, issue)
	}
	if dialect.HasErrors(issues) {
		return 1
	}
	policy := &gate.Policy{}
	hooks, err := pawl.New(pawl.Options{Gate: gate.Chain(policy.Wrap)(gate.Exec{})}, read.Hooks...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	line := strings.Join(argv, " ")
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ev := pawl.Event{Trigger: pawl.ToolBefore, Tool: "Bash", Input: input}
	out, err := hooks.Dispatch(context.Background(), &ev)
	for _, note := range out.Decision().Notes {
		fmt.Println("note:", note)
	}
	if err != nil || out.Verdict >= pawl.Ask { // there is nobody to ask
		fmt.Printf("%s: %s: %s\n", line, out.Verdict, out.Decision().Reason)
		return 3
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return cmd.ProcessState.ExitCode()
}
