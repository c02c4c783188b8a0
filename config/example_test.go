package config_test

import (
	"fmt"
	"testing/fstest"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/config"
)

// A project's hook waits for a person, while what the machine's owner demands runs at once.
func ExampleLoad() {
	files := fstest.MapFS{
		"repo/.git/HEAD": {Data: []byte("ref: refs/heads/main")},
		"repo/.codex/hooks.json": {Data: []byte(`{"hooks": {"PreToolUse": [
			{"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh"}]}]}}`)},
		"etc/zerotwo/requirements.toml": {Data: []byte(`
[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = "/opt/policy/stop.py"
`)},
	}
	set, err := config.Load(config.Options{
		FS: files, Home: "/home/u", Root: config.FindRoot(files, "/repo/src"),
		Getenv: func(string) string { return "" },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range set.Entries {
		fmt.Printf("%s: %s", e.Hook.Name, e.Status)
		if e.Reason != "" {
			fmt.Print(", ", e.Reason)
		}
		fmt.Println()
	}
	registry, err := pawl.New(pawl.Options{}, set.Hooks...)
	fmt.Println(registry.Enabled(pawl.TurnStop), registry.Enabled(pawl.ToolBefore), err)
	// Output:
	// managed-stop-0-0: managed
	// project-pre-tool-use-0-0: untrusted, it was not reviewed yet, and the folder /repo is not trusted: pawl trust accept project-pre-tool-use-0-0 --project /repo
	// true false <nil>
}
