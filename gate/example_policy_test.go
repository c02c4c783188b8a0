package gate_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

func ExamplePolicy() {
	policy, err := gate.ParsePolicy("policy.toml", []byte(`
[[rules]]
action = "exec.path.*"
decision = "deny"

[[rules]]
action = "exec.path.jq"
decision = "allow"
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, program := range []string{"jq", "curl", "./scripts/check"} {
		fmt.Println(policy.Decide(nil, pawl.Command{Args: []string{program}}))
	}

	guarded := policy.Wrap(gate.Exec{})
	_, err = guarded.Run(context.Background(), pawl.Command{Args: []string{"curl", "https://example.org"}})
	fmt.Println(err, errors.Is(err, pawl.ErrRefused))
	// Output:
	// allow exec.path.jq: project rule action=exec.path.jq decision=allow (policy.toml:6:3)
	// deny exec.path.curl: project rule action=exec.path.* decision=deny (policy.toml:2:3)
	// allow exec.workspace.scripts.check: default rule action=exec.workspace.* decision=allow
	// refused by policy: exec.path.curl true
}

func ExampleRedactor() {
	r := &gate.Redactor{Held: []string{`p"ssw/rd-of-mine`}, Shapes: true}
	fmt.Println(r.String(`login with p"ssw/rd-of-mine`))
	fmt.Println(r.String(`{"login":"p\"ssw\/rd-of-mine","key":"AKIAIOSFODNN7EXAMPLE"}`))
	// Output:
	// login with [redacted credential]
	// {"login":"[redacted credential]","key":"[redacted shape]"}
}
