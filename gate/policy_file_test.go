package gate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

func TestAPolicyInEveryFormat(t *testing.T) {
	sources := map[string]string{
		"p.toml": "# who may what\n[[rules]]\naction = \"exec.path.*\"\ndecision = \"deny\"\n[[rules]]\ntool=\"hook\"\nmodel=\"m\"\nagent_kind=\"sub\"\ndecision=\"agent_then_human\"\n[[agents]]\nkind=\"main\"\n[[agents]]\nkind=\"sub\"\nparent=\"main\"\n",
		"p.json": `{"rules":[{"action":"exec.path.*","decision":"deny"},{"tool":"hook","model":"m","agent_kind":"sub","decision":"agent_then_human"}],"agents":[{"kind":"main"},{"kind":"sub","parent":"main"}]}`,
		"p.zon":  `.{ .rules = .{ .{ .action = "exec.path.*", .decision = .deny }, .{ .tool = "hook", .model = "m", .agent_kind = "sub", .decision = "agent_then_human" } }, .agents = .{ .{ .kind = "main" }, .{ .kind = "sub", .parent = "main" } } }`,
		"project.zon": `.{ .hooks = .{}, .unknown_block = 7, .policy = .{ .rules = .{ .{ .action = "exec.path.*", .decision = .deny },
			.{ .tool = "hook", .model = "m", .agent_kind = "sub", .decision = "agent_then_human" } }, .agents = .{ .{ .kind = "main" }, .{ .kind = "sub", .parent = "main" } } } }`,
	}
	for file, source := range sources {
		t.Run(file, func(t *testing.T) {
			p, err := gate.ParsePolicy(file, []byte(source))
			require.NoError(t, err)
			require.Len(t, p.Rules, 2)
			require.Equal(t, file, p.Rules[0].Origin.File)
			require.NotZero(t, p.Rules[0].Origin.Line)
			for i := range p.Rules {
				p.Rules[i].Origin = pawl.Origin{}
			}
			require.Equal(t, []gate.Rule{
				{Action: "exec.path.*", Decision: gate.Deny},
				{Tool: "hook", Model: "m", AgentKind: "sub", Decision: gate.AgentThenHuman},
			}, p.Rules)
			require.Len(t, p.Kinds, 2)
			require.Equal(t, gate.Deny, p.Judge(gate.Query{Action: "exec.path.jq"}).Ruling)
			require.Equal(t, gate.Allow, p.Judge(gate.Query{Action: "exec.workspace.x"}).Ruling, "the defaults stay behind")
		})
	}
	t.Run("the rule that decided is shown with its place", func(t *testing.T) {
		p, err := gate.ParsePolicy("p.toml", []byte(sources["p.toml"]))
		require.NoError(t, err)
		require.Equal(t, "deny exec.path.jq: project rule action=exec.path.* decision=deny (p.toml:2:3)", p.Decide(nil, pawl.Command{Args: []string{"jq"}}).String())
	})
	t.Run("nothing in it", func(t *testing.T) {
		for file, source := range map[string]string{"p.toml": "", "p.json": "{}", "q.json": `{"policy":{}}`, "p.zon": ".{}"} {
			p, err := gate.ParsePolicy(file, []byte(source))
			require.NoError(t, err)
			require.Equal(t, gate.Ask, p.Judge(gate.Query{Action: "x"}).Ruling)
		}
	})
}

func TestEveryFaultOfAPolicyFile(t *testing.T) {
	tests := map[string]struct {
		file, source string
		want         []string // each fault, in order
	}{
		"misspelled decision": {"p.toml", "[[rules]]\naction = \"a\"\ndecision = \"alow\"\n",
			[]string{"p.toml:3:12: unknown `decision` \"alow\" (did you mean `allow`?)"}},
		"misspelled field, and no decision": {"p.json", `{"rules":[{"acton":"a"}]}`,
			[]string{"p.json:1:11: `decision` is missing", "p.json:1:12: unknown key \"acton\" (did you mean `action`?)"}},
		"misspelled list": {"p.toml", "[[rule]]\ndecision = \"deny\"\n",
			[]string{"p.toml:1:3: unknown key \"rule\" (did you mean `rules`?)"}},
		"a bare star in each field": {"p.json", `{"rules":[{"action":"*","tool":"*","model":"*","agent_kind":"*","decision":"deny"}]}`,
			[]string{`p.json:1:21: ` + "`action` \"*\"", `p.json:1:32: ` + "`tool` \"*\"", `p.json:1:44: ` + "`model` \"*\"", `p.json:1:61: ` + "`agent_kind` \"*\""}},
		"patterns that are none": {"p.json", `{"rules":[{"action":"","decision":"deny"},{"action":".*","decision":"deny"},{"action":"a.*.b","decision":"deny"}]}`,
			[]string{"p.json:1:21: `action` \"\": empty", "p.json:1:53: `action` \".*\": nothing before", "p.json:1:87: `action` \"a.*.b\": \"*\" may stand only at the end"}},
		"a NUL in a name":           {"p.json", `{"rules":[{"action":"a\u0000","decision":"deny"}]}`, []string{"p.json:1:21: `action` \"a\\x00\": holds a NUL byte"}},
		"rules that are no list":    {"p.zon", `.{ .rules = .{ .decision = .deny } }`, []string{"p.zon:1:13: `rules`: expected a list, found a table"}},
		"a rule that is no table":   {"p.json", `{"rules":["deny"]}`, []string{"p.json:1:11: `rules`: expected a table, found the string \"deny\""}},
		"a rule right under policy": {"p.zon", `.{ .policy = .{ .{ .decision = .deny } } }`, []string{"p.zon:1:14: `policy`: expected a table, found a list"}},
		"a parent nobody declared":  {"p.toml", "[[agents]]\nkind = \"a\"\nparent = \"b\"\n", []string{"p.toml:1:3: agent kind \"a\": its parent \"b\" is not declared"}},
		"a child that holds more": {"p.toml", "[[agents]]\nkind = \"a\"\n[[agents]]\nkind = \"b\"\nparent = \"a\"\n[[rules]]\nagent_kind=\"a\"\naction=\"x\"\ndecision=\"deny\"\n",
			[]string{`p.toml:3:3: agent kind "b" would get ask where its parent "a" has deny, for action x, tool any, model any`}},
		"no policy at all":  {"p.json", `[]`, []string{"p.json:1:1: `policy`: expected a table"}},
		"a broken file":     {"p.toml", "[[rules]\n", []string{"p.toml:1:"}},
		"an unknown format": {"p.yaml", "rules: []\n", []string{"p.yaml:1:1: the format of this file is not known"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := gate.ParsePolicy(tc.file, []byte(tc.source))
			require.Nil(t, p)
			require.Error(t, err)
			lines := strings.Split(err.Error(), "\n")
			require.Len(t, lines, len(tc.want), err.Error())
			for i, want := range tc.want {
				require.True(t, strings.HasPrefix(lines[i], want), "%s\nwant %s", lines[i], want)
			}
		})
	}
}

// What a rule that matches nothing was meant to deny is not denied: such a pattern is a fault, with what to write.
func TestAPatternThatCanMatchNoActionIsAFault(t *testing.T) {
	tests := map[string]string{ // pattern to a part of the hint
		"exec.path.true ":            `write "exec.path.true"`,
		" exec.*":                    `write "exec.*"`,
		"exec.path.\u200bjq":         "write the name anew",
		"exec.path.j\nq":             "write the name anew",
		"call.write\n":               `write "call.write"`,
		"exec":                       `write "exec.*"`,
		"exec.path":                  `write "exec.path.*"`,
		"exec.workspace":             `write "exec.workspace.*"`,
		"exec.devshell":              `write "exec.devshell.*"`,
		"exec.nix":                   `write "exec.nix.*"`,
		"exec.nix.store":             `write "exec.nix.store.*"`,
		"exec.unparsed.*":            `write "exec.unparsed"`,
		"Exec.path.*":                "write exec.path in lowercase",
		"EXEC.*":                     "exec.* is every one",
		"exec.Path.jq":               "write exec.path in lowercase",
		"exec.pth.*":                 "did you mean `exec.path`?",
		"exec.workspaces.x":          "did you mean `exec.workspace`?",
		"exec.sh":                    "exec.* is every one",
		"exec.path.":                 "exec.path.*",
		"exec.path..jq":              "exec.path.*",
		"exec.path./bin/sh":          "dots stand between",
		"exec.workspace.bin/sh":      "dots stand between",
		"exec.path.git push":         "exec.path.git)",
		"exec.path.git.*":            `write "exec.path.git"`,
		"exec.path.python3.11":       "exec.path.python3%2E11",
		"exec.path.python3%2e11":     "%2E",
		"exec.workspace.a%20b.check": "%25",
	}
	for pattern, hint := range tests {
		t.Run(pattern, func(t *testing.T) {
			_, err := gate.ParsePolicy("p.json", fmt.Appendf(nil, `{"rules":[{"decision":"deny","action":%q}]}`, pattern))
			require.ErrorContains(t, err, "p.json:1:39: `action` ")
			require.ErrorContains(t, err, hint)
		})
	}
	t.Run("so is a blank beside any name", func(t *testing.T) {
		for _, key := range []string{"tool", "model", "agent_kind"} {
			_, err := gate.ParsePolicy("p.json", fmt.Appendf(nil, `{"rules":[{"decision":"deny",%q:"x "}]}`, key))
			require.ErrorContains(t, err, "a blank beside the name (write \"x\")")
		}
	})
}

// Whatever a program is called, the file can name it and all that is beside it.
func TestEveryActionOfAProgramCanBeWritten(t *testing.T) {
	namer := gate.ExecNamer{Root: "/w", Devshell: []string{"/nix/store/dev"}}
	for _, program := range []string{
		"jq", "R", "python3.11", "a%b", "[", "", "..", "./x", "./my scripts/x y.py", "/bin/sh", "/w/Makefile", "/nix/store/dev/bin/zig", "/nix/store/x", "/nix/store", ".",
	} {
		action, err := namer.Action(pawl.Command{Args: []string{program}, Dir: "/w"})
		require.NoError(t, err)
		for pattern := action; ; {
			p, err := gate.ParsePolicy("p.json", fmt.Appendf(nil, `{"rules":[{"decision":"deny","action":%q}]}`, pattern))
			require.NoError(t, err)
			require.Equal(t, gate.Deny, p.Judge(gate.Query{Action: action}).Ruling)
			above := strings.LastIndex(strings.TrimSuffix(pattern, ".*"), ".")
			if above < 0 {
				break
			}
			pattern = pattern[:above] + ".*"
		}
	}
	_, err := gate.ParsePolicy("p.json", []byte(`{"rules":[{"decision":"deny","action":"git.push"},{"decision":"deny","action":"call.Bash"},{"decision":"deny","action":"net"}]}`))
	require.NoError(t, err, "a runtime's own")
}

func TestPolicyFilesOnDisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.toml")
	_, err := gate.LoadPolicy(file)
	require.ErrorContains(t, err, file+": cannot read the file")
	write := func(s string) { require.NoError(t, os.WriteFile(file, []byte(s), 0o600)) }

	write("[[rules]]\naction='x'\ndecision='deny'\n")
	p, err := gate.LoadPolicy(file)
	require.NoError(t, err)
	write("[[rules]]\naction='x'\ndecision='allow'\n")
	require.Equal(t, gate.Deny, p.Judge(gate.Query{Action: "x"}).Ruling, "an edit changes what was loaded")
	p, err = gate.LoadPolicy(file)
	require.NoError(t, err)
	require.Equal(t, gate.Allow, p.Judge(gate.Query{Action: "x"}).Ruling)

	write(strings.Repeat("#", 1<<20))
	_, err = gate.LoadPolicy(file)
	require.NoError(t, err)
	write(strings.Repeat("#", 1<<20+1))
	_, err = gate.LoadPolicy(file)
	require.ErrorContains(t, err, "larger than 1048576 bytes")

	var b strings.Builder
	for i := range 513 {
		fmt.Fprintf(&b, "[[rules]]\naction='a%d'\ndecision='deny'\n", i)
	}
	write(b.String())
	_, err = gate.LoadPolicy(file)
	require.ErrorContains(t, err, "513 rules, at most 512")
}
