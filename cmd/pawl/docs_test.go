package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/config"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/gate"
)

// Every page is followed literally: the script of its name in testdata/page lays out what its reader has and
// follows its blocks. A block that no script follows, or that nothing here knows how to follow, fails.
func TestThePagesAreFollowedLiterally(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the pages' commands are for sh")
	}
	all := pages(t)
	ci, err := os.ReadFile("../../.ci/run")
	require.NoError(t, err)
	require.Contains(t, string(ci), "\nstep 'go test' "+wholeSuite+"\n")
	t.Run("page", func(t *testing.T) {
		testscript.Run(t, testscript.Params{
			Dir: "testdata/page", UpdateScripts: *update, RequireExplicitExec: true, Setup: reader,
			Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code, "follow": all.follow},
		})
	})
	var shapes []string
	for _, blocks := range all {
		for _, b := range blocks {
			if b.kind() == "shape" {
				shapes = append(shapes, b.where())
			} else {
				require.True(t, b.followed, "%s: no script of testdata/page follows this block:\n%s", b.where(), b.text)
			}
		}
	}
	require.ElementsMatch(t, []string{"docs/guarantees.md: The way of one event"}, shapes, "blocks for the eye alone")
}

// The policies of the page on the gate load and decide as it says, and so do the defaults and the names.
func TestThePoliciesOfTheGatePageDecideAsItSays(t *testing.T) {
	var policies []*gate.Policy
	for _, b := range pages(t)["gate"] {
		if b.kind() == "policy" {
			policy, err := gate.ParsePolicy(b.words[2], []byte(b.text))
			require.NoError(t, err)
			policies = append(policies, policy)
		}
	}
	require.Len(t, policies, 2)
	five, closed := policies[0], policies[1]
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

// What runtime-authors.md says that the commands print as JSON are the fields that they print.
func TestThePageNamesTheFieldsOfEveryCommandsJSON(t *testing.T) {
	page, err := os.ReadFile("../../docs/runtime-authors.md")
	require.NoError(t, err)
	for command, prints := range map[string]any{
		"check": dialect.Issue{}, "list": config.Listing{}, "explain": explanation{}, "fire": report{}, "import": imported{}, "log replay": replayed{},
	} {
		row := regexp.MustCompile("(?m)^\\| `" + command + "`.* \\| ((?:`\\w+` ?)+)").FindSubmatch(page)
		require.NotNil(t, row, command)
		var want []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(prints)) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
				want = append(want, name)
			}
		}
		require.Equal(t, want, strings.Fields(strings.ReplaceAll(string(row[1]), "`", " ")), command)
	}
}

// Every command that a page names in a sentence is one that there is, with flags that there are.
func TestThePagesShowCommandsThatThereAre(t *testing.T) {
	seen := 0
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	for _, name := range append(pages, "../../README.md", "../../CONTRIBUTING.md") {
		page, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, command := range regexp.MustCompile("`pawl ([a-z]+[^`\n#>|]*)").FindAllStringSubmatch(string(page), -1) {
			words := strings.Fields(command[1])
			if len(words) > 1 && (words[0] == "trust" || words[0] == "log") {
				words = words[:2] // whose flags are their subcommands'
			} else {
				words = words[:1]
			}
			help, err := exec.Command("pawl", append(words, "--help")...).Output()
			require.NoError(t, err, "%s: pawl %s", name, command[1])
			seen++
			for _, flag := range regexp.MustCompile(`--[a-z]+`).FindAllString(command[1], -1) {
				require.Contains(t, string(help), flag, "%s: pawl %s", name, command[1])
			}
		}
	}
	require.Greater(t, seen, 20)
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(dir+"/"+name, []byte(text), 0o600))
}
