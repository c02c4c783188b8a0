package config_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/pawl-hooks/pawl/config"
	"github.com/stretchr/testify/require"
)

var project = fstest.MapFS{
	"w/hooks/check.py":      {Data: []byte("import sys\n")},
	"w/hooks/check.sh":      {Data: []byte("exit 0\n")},
	"w/hooks/guard":         {Data: []byte("#!/bin/sh\n"), Mode: 0o755},
	"w/hooks/plain":         {Data: []byte("exit 2\n")},
	"w/hooks/lib.py":        {Data: []byte("x = 1\n")},
	"w/sub/local.sh":        {Data: []byte("exit 0\n")},
	"w/local.sh":            {Data: []byte("exit 0\n")},
	"w/it's here/a b.sh":    {Data: []byte("exit 0\n")},
	"w/log.txt":             {Data: []byte("data\n")},
	"w/python3":             {Data: []byte("data\n")},
	"h/.zerotwo/hooks/s.py": {Data: []byte("x\n")},
	"usr/bin/python3":       {Data: []byte("\x7fELF"), Mode: 0o755},
	"bin/sh":                {Data: []byte("\x7fELF"), Mode: 0o755},
	"opt/guard":             {Data: []byte("\x7fELF"), Mode: 0o755},
	"proc/kmsg":             {Data: []byte("never ends")},
	"p/run.sh":              {Data: []byte("exit 0\n")},
	"w/guard.sh":            {Data: []byte("exit 2\n")},
	"w/sub/guard.sh":        {Data: []byte("exit 2\n")},
	"w/sub/deep/guard.sh":   {Data: []byte("exit 2\n")},
	"w/env.sh":              {Data: []byte("A=1\nexport A\n")},
	"w/away.sh":             {Data: []byte("A=1\ncd /\n")},
}

var known = map[string]string{"HOME": "/h", "CLAUDE_PROJECT_DIR": "/w", "PLUGIN_ROOT": "/p"}

func TestScriptsACommandLineNames(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       map[string]string
	}{
		{"a program by its path", `./hooks/guard --fast`, map[string]string{"./hooks/guard": "/w/hooks/guard"}},
		{"a program outside of the system's folders", `/opt/guard`, map[string]string{"/opt/guard": "/opt/guard"}},
		{"an interpreter's script, not the interpreter", `/usr/bin/python3 hooks/check.py`, map[string]string{"hooks/check.py": "/w/hooks/check.py"}},
		{"the way the page recommends", `/usr/bin/python3 "$(git rev-parse --show-toplevel)/hooks/check.py"`,
			map[string]string{`"$(git rev-parse --show-toplevel)/hooks/check.py"`: "/w/hooks/check.py"}},
		{"the home directory", `python3 ~/.zerotwo/hooks/s.py`, map[string]string{"~/.zerotwo/hooks/s.py": "/h/.zerotwo/hooks/s.py"}},
		{"the home variable", `python3 "$HOME/.zerotwo/hooks/s.py"`, map[string]string{`"$HOME/.zerotwo/hooks/s.py"`: "/h/.zerotwo/hooks/s.py"}},
		{"the project's variable", `"$CLAUDE_PROJECT_DIR"/hooks/guard`, map[string]string{`"$CLAUDE_PROJECT_DIR"/hooks/guard`: "/w/hooks/guard"}},
		{"a variable with a default", `${HOOKS:-./hooks}/guard`, map[string]string{"${HOOKS:-./hooks}/guard": "/w/hooks/guard"}},
		{"a plugin's root", `${PLUGIN_ROOT}/run.sh`, map[string]string{"${PLUGIN_ROOT}/run.sh": "/p/run.sh"}},
		{"quotes and blanks", `"./it's here/a b.sh" x`, map[string]string{`"./it's here/a b.sh"`: "/w/it's here/a b.sh"}},
		{"escaped blanks", `./it\'s\ here/a\ b.sh`, map[string]string{`./it\'s\ here/a\ b.sh`: "/w/it's here/a b.sh"}},
		{"several commands", `./hooks/guard && sh hooks/check.sh | python3 hooks/check.py; (. ./sub/local.sh)`, map[string]string{
			"./hooks/guard": "/w/hooks/guard", "hooks/check.sh": "/w/hooks/check.sh",
			"hooks/check.py": "/w/hooks/check.py", "./sub/local.sh": "/w/sub/local.sh"}},
		{"a shell within a shell", `bash -c 'exec ./hooks/guard'`, map[string]string{"./hooks/guard": "/w/hooks/guard"}},
		{"a login shell within a shell", `bash -lc 'exec ./hooks/guard --fast'`, map[string]string{"./hooks/guard": "/w/hooks/guard"}},
		{"a shell with its options in one", `timeout 5 sh -euc 'python3 hooks/check.py; true'`, map[string]string{"hooks/check.py": "/w/hooks/check.py"}},
		{"a shell of another system's", `pwsh -NoProfile -Command './hooks/guard --fast'`, map[string]string{"./hooks/guard": "/w/hooks/guard"}},
		{"one name in two folders", `./local.sh && cd sub && ./local.sh`, map[string]string{"./local.sh": "/w/local.sh", "./local.sh (2)": "/w/sub/local.sh"}},
		{"the working directory's variable", `sh "$PWD/hooks/plain"`, map[string]string{`"$PWD/hooks/plain"`: "/w/hooks/plain"}},
		{"the working directory's name", `sh "$(pwd)/hooks/plain"`, map[string]string{`"$(pwd)/hooks/plain"`: "/w/hooks/plain"}},
		{"the working directory after cd", `cd sub && sh ${PWD}/local.sh`, map[string]string{"${PWD}/local.sh": "/w/sub/local.sh"}},
		{"after cd", `cd sub && ./local.sh`, map[string]string{"./local.sh": "/w/sub/local.sh"}},
		{"a script without ending or mode, by its place", `sh hooks/plain`, map[string]string{"hooks/plain": "/w/hooks/plain"}},
		{"a script on standard input", `sh < hooks/check.sh`, map[string]string{"hooks/check.sh": "/w/hooks/check.sh"}},
		{"the value of an option", `node --require=./hooks/check.py`, map[string]string{"--require=./hooks/check.py": "/w/hooks/check.py"}},
		{"data is no script", `grep -q x log.txt`, map[string]string{}},
		{"a file of the kernel's is not read", `sh /proc/kmsg`, map[string]string{}},
		{"what is written to is no script", `cat >> hooks/check.sh`, map[string]string{}},
		{"a bare name is looked up in PATH, not here", `python3 --version`, map[string]string{}},
		{"a file that is not there", `./hooks/missing.sh`, map[string]string{}},
		{"an unknown variable", `$WHO/hooks/guard`, map[string]string{}},
		{"another substitution", `$(cat where)/hooks/guard`, map[string]string{}},
		{"no shell text at all", `./hooks/guard "`, map[string]string{"./hooks/guard": "/w/hooks/guard"}},
		{"nothing", ``, map[string]string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, config.ScriptsOfLine(project, c.line, "/w", known, "/w"))
		})
	}
}

// A file that does not run is never said to be covered: a cd is followed, or what is named after it is missed.
func TestScriptsAreLookedForWhereTheShellStands(t *testing.T) {
	const top, sub, deep, none = "/w/guard.sh", "/w/sub/guard.sh", "/w/sub/deep/guard.sh", ""
	for line, want := range map[string]string{
		`cd sub && ./guard.sh`: sub, `cd -- sub && ./guard.sh`: sub, `cd -P sub && ./guard.sh`: sub, `cd -L sub; ./guard.sh`: sub,
		`cd -Pe sub && ./guard.sh`: sub, `cd -@ sub && ./guard.sh`: sub, `pushd sub && ./guard.sh`: sub, `command cd sub && ./guard.sh`: sub,
		`command -p cd sub && ./guard.sh`: sub, `builtin cd sub && ./guard.sh`: sub, `\cd sub; ./guard.sh`: sub,
		`cd sub/deep/..; ./guard.sh`: sub, `cd sub; cd deep; ./guard.sh`: deep, `cd sub && cd .. && ./guard.sh`: top, `cd /w/sub; ./guard.sh`: sub,
		`cd "$PWD/sub"; ./guard.sh`: sub, `eval "cd sub"; ./guard.sh`: sub, `eval cd sub; ./guard.sh`: sub, `time cd sub; ./guard.sh`: sub,
		`cd sub || exit; ./guard.sh`: sub, `cd sub || exit 1 && ./guard.sh`: sub, `cd sub || { echo no; exit 1; }; ./guard.sh`: sub,
		`if cd sub; then ./guard.sh; fi`: sub, `if ! cd sub; then exit; fi; ./guard.sh`: sub, `[ -d sub ] && cd sub && ./guard.sh`: sub,
		`[ -d sub ] || exit; cd sub; ./guard.sh`: sub, `f() { cd sub; }; f; ./guard.sh`: sub, `f() { ./guard.sh; }; cd sub; f`: sub,
		`{ cd sub; }; ./guard.sh`: sub, `(cd sub; ./guard.sh)`: sub, `x=$(cd sub; ./guard.sh)`: sub, `./guard.sh <(cd sub)`: top,
		`(cd sub) && ./guard.sh`: top, `x=$(cd sub); ./guard.sh`: top, `cd sub & ./guard.sh`: top, `sh -c 'cd sub'; ./guard.sh`: top,
		`cd sub | true; sh -c ./guard.sh`: top, `case x in x) true;; esac; ./guard.sh`: top, `for i in 1 2; do ./guard.sh; done`: top,
		`while read x; do ./guard.sh "$x"; done`: top, `sudo cd sub; ./guard.sh`: top, `cd sub; sh -c 'cd ..; ./guard.sh'`: top,
		`env -C sub ./guard.sh`: sub, `env --chdir=sub ./guard.sh`: sub, `env --chdir sub ./guard.sh`: sub, `env -Csub ./guard.sh`: sub,
		`env -C sub sh -c 'exec ./guard.sh'`: sub, `timeout 5 env -C sub ./guard.sh`: sub, `sudo -D sub ./guard.sh`: sub, `env -C sub true; ./guard.sh`: top,
		`git -C sub bisect run ./guard.sh`: sub, `make -C sub SHELL=sh -f guard.sh`: sub, `make --directory=sub -f guard.sh`: sub,
		`. ./env.sh; ./guard.sh`: top, `cd sub; . /w/env.sh; ./guard.sh`: sub,
		`cd "$(git rev-parse --show-toplevel)/sub" && ./guard.sh`: sub, `trap 'cd sub' EXIT; ./guard.sh`: top,

		`cd s*b; ./guard.sh`: none, `cd s?b; ./guard.sh`: none, `cd s[u]b; ./guard.sh`: none, `cd {sub,x}; ./guard.sh`: none, `cd ~who; ./guard.sh`: none,
		`d=sub; cd $d; ./guard.sh`: none, `cd $d && ./guard.sh`: none, `cd "$(cat where)"; ./guard.sh`: none, `cd -; ./guard.sh`: none,
		`popd; ./guard.sh`: none, `pushd; ./guard.sh`: none, `pushd +1; ./guard.sh`: none, `cd sub deep; ./guard.sh`: none,
		`cd -x sub; ./guard.sh`: none, `cd missing; ./guard.sh`: none, `CDPATH=/x; cd sub; ./guard.sh`: none, `CDPATH=/x; cd ./sub; ./guard.sh`: sub,
		`pushd sub; ./guard.sh`: none, `builtin cd sub; ./guard.sh`: none, `HOME=/w/sub; cd ~; ./guard.sh`: none,
		`if [ -d sub ]; then cd sub; fi; ./guard.sh`: none, `[ -d sub ] && cd sub; ./guard.sh`: none, `case $x in a) cd sub;; esac; ./guard.sh`: none,
		`while ./guard.sh; do cd sub; done`: none, `for d in sub deep; do cd $d; ./guard.sh; done`: none, `until cd sub; do true; done; ./guard.sh`: none,
		`if x; then f() { cd sub; }; else f() { true; }; fi; f; ./guard.sh`: none, `f() { cd sub && return; }; [ -n "$x" ] && f; ./guard.sh`: none,
		`true | cd sub; ./guard.sh`: none, `eval "$x"; ./guard.sh`: none, `$x sub; ./guard.sh`: none, `"$x" && ./guard.sh`: none,
		`. "$x"; ./guard.sh`: none, `source missing; ./guard.sh`: none, `trap ./guard.sh EXIT`: none, `f() { ./guard.sh; }; trap f EXIT`: none,
		`env -C $d ./guard.sh`: none, `env $x ./guard.sh`: none, `env --chdir=missing ./guard.sh`: none, `make -C "$d" -f guard.sh`: none,
		`find . -execdir ./guard.sh ';'`: none, `ssh host ./guard.sh`: none, `cd $d; sh "$PWD/guard.sh" ./x`: none, `cd sub; sh "$OLDPWD/guard.sh" && cd $d && ./x`: none,
		`f() { f; f; ./guard.sh; }; cd $d; f`: none, `cd sub && ./guard.sh "`: none,
	} {
		t.Run(line, func(t *testing.T) {
			found, missed := config.MissedByLine(project, line, "/w", map[string]string{"HOME": "/h"}, "/w")
			delete(found, "./env.sh")
			delete(found, "/w/env.sh")
			if want == none {
				require.Empty(t, found)
				require.NotEmpty(t, missed)
				return
			}
			require.Len(t, found, 1)
			for _, file := range found {
				require.Equal(t, want, file)
			}
			require.Empty(t, missed)
		})
	}
}

func TestWhatIsNamedByAFullPathIsFoundWhereverTheShellStands(t *testing.T) {
	for _, line := range []string{`cd $d; /w/guard.sh`, `. ./away.sh; sh /w/guard.sh`, `f() { /w/guard.sh; }; trap f EXIT`, `ssh host /w/guard.sh`} {
		found, _ := config.MissedByLine(project, line, "/w", known, "/w")
		require.Contains(t, found, "/w/guard.sh", line)
	}
	found, missed := config.MissedByLine(project, `. ./away.sh; ./guard.sh`, "/w", known, "/w")
	require.Equal(t, map[string]string{"./away.sh": "/w/away.sh"}, found)
	require.Contains(t, missed, "a file that is read by .")
}

// The system follows a link before the .. behind it, a shell's cd does not.
func TestALinkIsFollowedAsWhoeverRunsTheCommandDoes(t *testing.T) {
	dir := tempDir(t)
	for _, folder := range []string{"", "far", "far/sub"} {
		write(t, "exit 2\n", dir, folder, "guard.sh")
	}
	require.NoError(t, os.Symlink(filepath.Join(dir, "far", "sub"), filepath.Join(dir, "link")))
	for line, want := range map[string]string{
		`link/../guard.sh`: "far/guard.sh", `cd link/..; ./guard.sh`: "guard.sh", `cd -P link/..; ./guard.sh`: "far/guard.sh",
		`cd link; cd ..; ./guard.sh`: "guard.sh", `cd link; cd -P ..; ./guard.sh`: "far/guard.sh", `cd link; ../guard.sh`: "far/guard.sh",
		`env -C link/.. ./guard.sh`: "far/guard.sh",
	} {
		found, _ := config.MissedByLine(nil, line, dir, known, dir)
		require.Len(t, found, 1, line)
		for _, file := range found {
			require.Equal(t, filepath.Join(dir, want), file, line)
		}
	}
}

func TestScriptsAListOfWordsNames(t *testing.T) {
	require.Equal(t, map[string]string{"./hooks/guard": "/w/hooks/guard"},
		config.ScriptsOfArgv(project, []string{"./hooks/guard", "log.txt"}, "/w"))
	require.Equal(t, map[string]string{"hooks/check.py": "/w/hooks/check.py"},
		config.ScriptsOfArgv(project, []string{"env", "python3", "hooks/check.py", "log.txt"}, "/w"))
	require.Empty(t, config.ScriptsOfArgv(project, []string{"$HOME/x", "~/y"}, "/w"), "words are never expanded")
	require.Equal(t, map[string]string{"./local.sh": "/w/sub/local.sh"},
		config.ScriptsOfArgv(project, []string{"./local.sh"}, "/w/sub", "/w"), "the first base that has it")
}

func TestDigestCoversEachScriptAndWord(t *testing.T) {
	const definition = "sha256:d"
	require.Equal(t, definition, config.Combine(definition, nil), "without scripts it reads as in a host's store")
	sums := map[string]bool{}
	for _, scripts := range []map[string]string{
		{"a": "1"}, {"a": "2"}, {"b": "1"}, {"a": "1", "b": "1"}, {"a": "1\n1:b=1"}, {"a\n1:b": "1"},
	} {
		sums[config.Combine(definition, scripts)] = true
	}
	require.Len(t, sums, 6)
}

func FuzzScriptsOfACommandLine(f *testing.F) {
	for _, line := range []string{`./hooks/guard`, `sh -c "sh -c 'sh -c ./hooks/guard'"`, `${A:-${B:-x}}/y`, `$(git rev-parse --show-toplevel)`, "cd / && cd .. && ./x", "a=$((1<<62)) {1..9}",
		"f() { g; g; }; g() { f; f; }; f", "while cd x; do while cd y; do ./guard.sh; done; done"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for word, file := range config.ScriptsOfLine(project, line, "/w", known, "/w") {
			require.NotEmpty(t, word)
			require.NotEmpty(t, file)
		}
	})
}
