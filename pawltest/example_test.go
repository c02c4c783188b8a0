package pawltest_test

import (
	"context"
	"fmt"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/pawltest"
)

// A runtime's test needs neither programs nor files: the script answers for them, and the log keeps what
// was recorded.
func ExampleScript() {
	script := &pawltest.Script{Queue: map[string][]pawl.GateFunc{
		"zig": {pawltest.Exits(1, "2 of 9 tests failed", ""), pawltest.Exits(0, "", "")},
	}}
	log := &pawltest.Log{}
	hooks, err := pawl.New(pawl.Options{Gate: script, Log: log}, pawl.Hook{
		Name:    "tests-pass",
		On:      pawl.ToolBefore,
		Match:   pawl.Names("request_action"),
		Effects: pawl.MayRefuse,
		Handler: command.Program{
			Name: "tests-pass", Args: []string{"zig", "build", "test"},
			Codec: command.Flags{Output: command.OutputRefuse},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		o, err := hooks.Dispatch(context.Background(), &pawl.Event{Trigger: pawl.ToolBefore, Tool: "request_action"})
		fmt.Println(o.Verdict, o.Decision().Reason, err)
	}
	for _, run := range log.Runs() {
		fmt.Println(run.Name, run.Action, run.Code, run.Refused)
	}
	fmt.Println(script.Unused())
	// Output:
	// refuse hook tests-pass refused: 2 of 9 tests failed <nil>
	// pass  <nil>
	// tests-pass exec.path.zig 1 true
	// tests-pass exec.path.zig 0 false
	// []
}

// The kits tell every rule that is broken, each in words.
func ExampleTestLog() {
	forgetful := pawl.LogFunc(func(context.Context, ...pawl.Record) error { return nil })
	err := pawltest.TestLog(pawltest.LogKit{New: func() (pawl.Log, func() ([][]byte, error)) {
		return forgetful, func() ([][]byte, error) { return nil, nil }
	}})
	for _, broken := range err.(interface{ Unwrap() []error }).Unwrap()[:2] {
		fmt.Println(broken)
	}
	// Output:
	// records are kept in the order of their Append: the count of lines is 0, not 5
	// a record of any kind is kept with all it has: the count of lines is 0, not 2
}
