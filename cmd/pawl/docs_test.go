package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

// The page for authors of hooks, followed literally: its file loads, its event fires the hook in it, its
// answer is read, and its record has the fields that a record has.
func TestThePageForHookAuthorsWorks(t *testing.T) {
	page, err := os.ReadFile("../../docs/hook-authors.md")
	require.NoError(t, err)
	files, values := blocks(string(page), "toml"), blocks(string(page), "json")
	require.Len(t, files, 1)
	require.Len(t, values, 3)
	event, answer, record := values[0], values[1], values[2]

	dir := t.TempDir()
	write(t, dir, "hooks.toml", files[0])
	write(t, dir, "event.json", event)
	require.Equal(t, "1 hook, 0 warnings\n", pawlIn(t, dir, exitPass, "check", "hooks.toml"))
	require.Contains(t, pawlIn(t, dir, exitPass, "explain", "--config", "hooks.toml", "--event", "event.json"), "yes    tests-pass  check")

	write(t, dir, "answer.json", answer)
	write(t, dir, "answers.toml", `
[[hooks]]
name = "answers"
on = "tool.before"
run = ["cat", "answer.json"]
wire = "json"
output = "refuse"
`)
	var said struct {
		Verdict, Reason string
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &said))
	fired := pawlIn(t, dir, exitRefuse, "fire", "--log", "log.jsonl", "--config", "answers.toml", "--event", "event.json")
	require.Contains(t, fired, said.Verdict)
	require.Contains(t, fired, said.Reason)

	log, err := os.ReadFile(dir + "/log.jsonl")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	var kept, shown map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &kept))
	require.NoError(t, json.Unmarshal([]byte(record), &shown))
	for field := range shown {
		require.Contains(t, kept, field)
	}
}

// The policies of the page on the gate load and decide as it says, and so do the defaults and the names.
func TestThePoliciesOfTheGatePageDecideAsItSays(t *testing.T) {
	page, err := os.ReadFile("../../docs/gate.md")
	require.NoError(t, err)
	files := blocks(string(page), "toml")
	require.Len(t, files, 2)
	five, err := gate.ParsePolicy("five.toml", []byte(files[0]))
	require.NoError(t, err)
	closed, err := gate.ParsePolicy("closed.toml", []byte(files[1]))
	require.NoError(t, err)
	for _, c := range []struct {
		policy *gate.Policy
		kind   string
		args   []string
		direct []string
		want   string
	}{
		{five, "", []string{"make"}, nil, "allow exec.path.make: project"},
		{five, "", []string{"curl"}, nil, "deny exec.path.curl: project"},
		{five, "", []string{"git"}, nil, "ask exec.path.git: project"},
		{five, "", []string{"terraform"}, nil, "agent_then_human exec.path.terraform: project"},
		{five, "", []string{"jq"}, nil, "allow exec.path.jq: project"},
		{five, "reviewer", []string{"jq"}, nil, "agent_review exec.path.jq: project"},
		{five, "", []string{"/bin/sh", "-c", "git push"}, []string{"git", "push"}, "ask exec.path.git: project"},
		{five, "", []string{"/bin/sh", "-c", "git push | cat"}, nil, "allow exec.workspace.bin.sh: default"},
		{five, "", []string{"./scripts/check"}, nil, "allow exec.workspace.scripts.check: default"},
		{five, "", []string{"/nix/store/x/bin/y"}, nil, "ask exec.nix.store.x.bin.y: no rule"},
		{five, "", []string{"a/../b"}, nil, "ask exec.unparsed: no rule"},
		{closed, "", []string{"make"}, nil, "deny exec.path.make: project"},
	} {
		ev := &pawl.Event{Trigger: pawl.ToolBefore, Agent: pawl.Agent{Type: c.kind}}
		got := c.policy.Decide(ev, pawl.Command{Args: c.args, Direct: c.direct}).String()
		require.Contains(t, got, c.want, "%s %v", c.kind, c.args)
	}
}

// Every command that a page shows is one that there is, with flags that there are.
func TestThePagesShowCommandsThatThereAre(t *testing.T) {
	seen := 0
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	for _, name := range append(pages, "../../README.md", "../../CONTRIBUTING.md") {
		page, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, command := range regexp.MustCompile("(?m)(?:^ {4}|`)pawl ([a-z]+[^`\n#>|]*)").FindAllStringSubmatch(string(page), -1) {
			words := strings.Fields(command[1])
			help, err := exec.Command("pawl", words[0], "--help").Output()
			require.NoError(t, err, "%s: pawl %s", name, command[1])
			seen++
			for _, flag := range regexp.MustCompile(`--[a-z]+`).FindAllString(command[1], -1) {
				if words[0] != "trust" && words[0] != "log" { // their flags are their subcommands'
					require.Contains(t, string(help), flag, "%s: pawl %s", name, command[1])
				}
			}
		}
	}
	require.Greater(t, seen, 20)
}

// blocks are the fenced code blocks of a page in one language.
func blocks(page, lang string) []string {
	var all []string
	for _, m := range regexp.MustCompile("(?s)```"+lang+"\n(.*?)```").FindAllStringSubmatch(page, -1) {
		all = append(all, m[1])
	}
	return all
}

// pawlIn runs the command in a folder and returns what it prints.
func pawlIn(t *testing.T, dir string, want int, args ...string) string {
	t.Helper()
	cmd := exec.Command("pawl", args...)
	cmd.Dir = dir
	out, _ := cmd.Output()
	require.Equal(t, want, cmd.ProcessState.ExitCode(), "pawl %s: %s", strings.Join(args, " "), out)
	return string(out)
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(dir+"/"+name, []byte(text), 0o600))
}
