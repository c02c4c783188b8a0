package config_test

import (
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
	for _, line := range []string{`./hooks/guard`, `sh -c "sh -c 'sh -c ./hooks/guard'"`, `${A:-${B:-x}}/y`, `$(git rev-parse --show-toplevel)`, "cd / && cd .. && ./x", "a=$((1<<62)) {1..9}"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for word, file := range config.ScriptsOfLine(project, line, "/w", known, "/w") {
			require.NotEmpty(t, word)
			require.NotEmpty(t, file)
		}
	})
}
