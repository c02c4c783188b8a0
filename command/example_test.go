package command_test

import (
	"context"
	"fmt"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
)

// A hook's program is told what it asked for as arguments, and refuses by its exit code.
func ExampleProgram() {
	check := command.Program{
		Name: "check-a-write", Args: []string{"./scripts/check"},
		Codec: command.Flags{Inputs: []string{command.InputTool, command.InputAction}, Output: command.OutputRefuse},
	}
	gate := pawl.GateFunc(func(_ context.Context, cmd pawl.Command) (pawl.Result, error) {
		fmt.Println(cmd.Args)
		return pawl.Result{Code: 1, Stderr: []byte("generated files are not edited\n")}, nil
	})
	ev := &pawl.Event{Trigger: pawl.ToolBefore, Tool: "write_file", Action: "call.write_file"}
	d, err := check.Handle(context.Background(), ev, gate)
	fmt.Println(d.Verdict, err)
	fmt.Println(d.Reason)
	// Output:
	// [./scripts/check --tool write_file --action call.write_file]
	// refuse <nil>
	// hook check-a-write refused: generated files are not edited
}

// A line that needs no shell is split as a shell would; another tells what stands in the way.
func ExampleSplit() {
	words, err := command.Split(`./scripts/check --note "it's fine"`)
	fmt.Printf("%q %v\n", words, err)
	_, err = command.Split(`./scripts/check $FILE | tee log`)
	fmt.Println(err)
	// Output:
	// ["./scripts/check" "--note" "it's fine"] <nil>
	// column 17: "$": a shell would put a variable's value here; put it in single quotes to mean the character itself, or ask for a shell by name to have it interpreted: sh -c '…'
	// column 23: "|": a shell would begin a pipe here; put it in single quotes to mean the character itself, or ask for a shell by name to have it interpreted: sh -c '…'
}
