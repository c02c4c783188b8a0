package main

import (
	"fmt"

	"github.com/pawl-hooks/pawl/guard"
)

// A reply is one turn of the scripted model.
type reply struct {
	text  string
	calls []guard.Call
}

func call(tool, field, value string) guard.Call {
	return guard.Call{Tool: tool, Input: fmt.Appendf(nil, `{%q:%q}`, field, value)}
}

// script is what the model says, by task, whatever it is told.
func script() map[string][]reply {
	test := call("shell", "command", "make test")
	return map[string][]reply{
		"Make the tests pass.": {
			{"I look around.", []guard.Call{call("search", "query", "TODO"), call("read_file", "path", "a.go"), call("search", "query", "TODO"), call("search", "query", "")}},
			{"I clean up.", []guard.Call{call("shell", "command", "rm -rf build"), call("shell", "command", "git push --force"), call("shell", "command", "printenv")}},
			{"", []guard.Call{call("EnterPlanMode", "plan", "x"), call("Teleport", "to", "y")}},
			{"", []guard.Call{call("run_query", "query", "a"), call("run_query", "query", "b"), call("run_query", "query", "c"), call("todowrite", "query", "1"), call("todowrite", "query", "2"), call("todowrite", "query", "3")}},
			{"", []guard.Call{test, test, test, test, test}},
			{"", []guard.Call{call("shell", "command", "cat big.log"), call("spawn", "task", "Find the failing test.")}},
			{"I am done.", nil},
			{"All tests pass.", nil},
		},
		"Find the failing test.": {
			{"", []guard.Call{call("read_file", "path", "a_test.go"), call("shell", "command", "rm -rf /"), call("run_query", "query", "a")}},
			{"It is TestA.", nil},
		},
	}
}
