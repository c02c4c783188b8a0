package gate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

func TestExecNames(t *testing.T) {
	shell := []string{"/nix/store/dev-zig", "/nix/store/dev-go/bin/"}
	tests := map[string]struct {
		namer gate.ExecNamer
		dir   string
		arg   string
		want  string
	}{
		"bare":                              {arg: "jq", want: "exec.path.jq"},
		"bare with a dot":                   {arg: "build.sh", want: "exec.path.build%2Esh"},
		"bare with a percent":               {arg: "a%2Eb", want: "exec.path.a%252Eb"},
		"workspace":                         {arg: "./build.sh", want: "exec.workspace.build%2Esh"},
		"workspace, a directory":            {arg: "./build/sh", want: "exec.workspace.build.sh"},
		"redundant spelling":                {arg: ".//./build/./sh", want: "exec.workspace.build.sh"},
		"absolute outside":                  {arg: "/etc/passwd", want: "exec.workspace.etc.passwd"},
		"absolute inside":                   {namer: gate.ExecNamer{Root: "/p/proj/"}, arg: "/p/proj/build.sh", want: "exec.workspace.build%2Esh"},
		"absolute inside, doubled":          {namer: gate.ExecNamer{Root: "/p/proj"}, arg: "/p//./proj//build.sh", want: "exec.workspace.build%2Esh"},
		"look-alike of the root":            {namer: gate.ExecNamer{Root: "/p/proj"}, arg: "/p/proj-x/b", want: "exec.workspace.p.proj-x.b"},
		"the root itself":                   {namer: gate.ExecNamer{Root: "/p/proj"}, arg: "/p/proj", want: gate.Unparsed},
		"relative, run in the root":         {namer: gate.ExecNamer{Root: "/p"}, dir: "/p", arg: "./b", want: "exec.workspace.b"},
		"relative, run below the root":      {namer: gate.ExecNamer{Root: "/p"}, dir: "/p/sub", arg: "./b", want: "exec.workspace.sub.b"},
		"relative, run outside":             {namer: gate.ExecNamer{Root: "/p"}, dir: "/tmp", arg: "./b", want: "exec.workspace.tmp.b"},
		"relative, run in the store":        {namer: gate.ExecNamer{Root: "/p"}, dir: "/nix/store/x", arg: "./b", want: "exec.nix.store.x.b"},
		"store":                             {arg: "/nix/store/dev-zig/bin/zig", want: "exec.nix.store.dev-zig.bin.zig"},
		"store, spelt otherwise":            {arg: "//nix/./store/dev-zig/bin/zig", want: "exec.nix.store.dev-zig.bin.zig"},
		"store itself":                      {arg: "/nix/store", want: gate.Unparsed},
		"look-alike of the store":           {arg: "/nix/storeroom/x", want: "exec.workspace.nix.storeroom.x"},
		"development shell":                 {namer: gate.ExecNamer{Devshell: shell}, arg: "/nix/store/dev-zig/bin/zig", want: "exec.devshell.dev-zig.bin.zig"},
		"development shell, entry itself":   {namer: gate.ExecNamer{Devshell: shell}, arg: "/nix/store/dev-zig", want: "exec.devshell.dev-zig"},
		"development shell, trailing slash": {namer: gate.ExecNamer{Devshell: shell}, arg: "/nix/store/dev-go/bin/go", want: "exec.devshell.dev-go.bin.go"},
		"look-alike of the shell":           {namer: gate.ExecNamer{Devshell: shell}, arg: "/nix/store/dev-zig2/bin/zig", want: "exec.nix.store.dev-zig2.bin.zig"},
		"the whole store is no shell":       {namer: gate.ExecNamer{Devshell: []string{"/nix/store", "/nix/store/", "/usr", "", "/nix/store/.."}}, arg: "/nix/store/a/b", want: "exec.nix.store.a.b"},
		"climbing":                          {arg: "a/../b", want: gate.Unparsed},
		"climbing at the start":             {arg: "../b", want: gate.Unparsed},
		"climbing alone":                    {arg: "..", want: gate.Unparsed},
		"climbing into the store":           {namer: gate.ExecNamer{Devshell: shell}, arg: "/nix/store/dev-zig/../x", want: gate.Unparsed},
		"climbing by the directory":         {namer: gate.ExecNamer{Root: "/p"}, dir: "/p/..", arg: "./b", want: gate.Unparsed},
		"empty":                             {arg: "", want: gate.Unparsed},
		"slash":                             {arg: "/", want: gate.Unparsed},
		"dot":                               {arg: ".", want: gate.Unparsed},
		"a NUL":                             {arg: "a\x00b", want: gate.Unparsed},
		"longer than a path":                {arg: strings.Repeat("a", 4097), want: gate.Unparsed},
		"as long as a path and never cut":   {arg: strings.Repeat(".x", 2048), want: "exec.path." + strings.Repeat("%2Ex", 2048)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tc.namer.Action(pawl.Command{Args: []string{tc.arg, "ignored"}, Dir: tc.dir})
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
	t.Run("no words", func(t *testing.T) {
		got, err := gate.ExecNamer{}.Action(pawl.Command{})
		require.NoError(t, err)
		require.Equal(t, gate.Unparsed, got)
	})
}

func TestConfusablePathsHaveDistinctNames(t *testing.T) {
	seen := map[string]string{}
	for _, arg := range []string{"a.b", "./a.b", "a/b", "a./b", "a/.b", "a%2Eb", "./a%2Eb", "a%b", "./a%b", "a/b.c", "a.b/c", "a/b/c",
		"/nix/store/a.b", "/nix/store/a/b", "./nix/store/a/b", "./path/a", "./A.b"} {
		got, err := gate.ExecNamer{}.Action(pawl.Command{Args: []string{arg}})
		require.NoError(t, err)
		require.Empty(t, seen[got], "%s and %s share %s", arg, seen[got], got)
		seen[got] = arg
	}
}

func TestNamesAreOneToOne(t *testing.T) {
	part := rapid.StringMatching(`[a%.2E*\n]{1,6}`).Filter(func(s string) bool { return s != "." && s != ".." })
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOfN(part, 1, 3).Draw(t, "a"), rapid.SliceOfN(part, 1, 3).Draw(t, "b")
		x, _ := gate.ExecNamer{}.Action(pawl.Command{Args: []string{"./" + strings.Join(a, "/")}})
		y, _ := gate.ExecNamer{}.Action(pawl.Command{Args: []string{"./" + strings.Join(b, "/")}})
		require.Equal(t, strings.Join(a, "/") == strings.Join(b, "/"), x == y)
		require.Equal(t, len(a)+2, len(strings.Split(x, ".")), "a dot of the name always separates")
	})
}
