package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/command"
)

// A line that goes without the shell must come to the words that the shell makes of it: the table runs both
// ways, by a program that prints its words.
func TestDirectIsWhatTheShellMakesOfIt(t *testing.T) {
	dir := t.TempDir()
	show := filepath.Join(dir, "show")
	require.NoError(t, os.WriteFile(show, []byte("#!/bin/sh\nfor w in \"$0\" \"$@\"; do printf '%s\\0' \"$w\"; done\n"), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	direct := 0
	for line, want := range map[string]bool{
		`show`: true, `show a  b`: true, `show 'a  b'`: true, `show "a b"`: true, `show a\ b`: true, `show "a\nb" "a\$b" "c:\d"`: true,
		`show 'it''s'`: true, `show "x"'y'z`: true, `show ""`: true, `show --flag=v a=b`: true, `show a\` + "\n" + `b`: false, "show a\n": false, `show é 日本`: true,
		`  show a `: true, `show a;`: true, `show %s @x +y ,z :w`: true, `show ! x`: true, `show a#b`: false, `show '#'`: false, `show '~' '*'`: true,
		`show ~`: false, `show a~`: false, `show *.go`: false, `show [ab]`: false, `show {a,b}`: false, `show $HOME`: false, `show "$HOME"`: false,
		"show `x`": false, `show $(x)`: false, `show a | cat`: false, `show a && show b`: false, `show a; show b`: false, `show >x`: false,
		`show <x`: false, `show a &`: false, `A=1 show`: false, `! show`: false, `(show)`: false, `{ show; }`: false, `if true; then show; fi`: false,
		`cd /`: false, `echo x`: false, `test x`: false, `exit 2`: false, `. show`: false, `exec show`: false, `sh\ow a`: true, `"show" a`: true,
		`show $'a\nb'`: false, `show 'unclosed`: false, `show # comment`: false, "# note \\\nshow b": false, "show # at C:\\\nshow b": false, ``: false, ` `: false, `show <<E`: false, `time show`: false,
		"show a\nshow b": false, `$SHOW`: false, `show "a` + "`" + `b"`: false, `"a b"`: true, `show \\`: true, `show "\\"`: true, `show a^b`: false, "show a\x00": false, "show a\r": false, "show a\r\n": false,
	} {
		words := command.Direct(line)
		require.Equal(t, want, words != nil, "%q gave %q", line, words)
		if words == nil || words[0] != "show" {
			continue
		}
		direct++
		require.Equal(t, printed(t, exec.Command("/bin/sh", "-c", line)), printed(t, exec.Command(words[0], words[1:]...)), "%q", line)
		if bash, err := exec.LookPath("bash"); err == nil {
			require.Equal(t, printed(t, exec.Command(bash, "--posix", "-c", line)), printed(t, exec.Command(words[0], words[1:]...)), "%q", line)
		}
	}
	require.Greater(t, direct, 10)
}

// What some shell does itself goes to the shell; each that is here is asked for its words.
func TestWhatAShellDoesItselfGoesToTheShell(t *testing.T) {
	words := strings.Fields("bye private r ttyctl - nocorrect foreach end zstyle compound enum redirect stop realpath rename local")
	for name, args := range map[string][]string{
		"bash": {"-c", "compgen -b; compgen -k"}, "zsh": {"-fc", "print -l -- ${(k)builtins} ${(k)reswords}"}, "ksh93": {"-c", "builtin"},
		"busybox": {"sh", "-c", "help | sed 1,2d"},
	} {
		if shell, err := exec.LookPath(name); err == nil {
			out, err := exec.Command(shell, args...).Output()
			require.NoError(t, err, name)
			require.NotEmpty(t, strings.Fields(string(out)), name)
			words = append(words, strings.Fields(string(out))...)
		}
	}
	for _, word := range words {
		if !strings.Contains(word, "/") {
			require.Nil(t, command.Direct(word+" x"), word)
		}
	}
	require.NotNil(t, command.Direct("cat x"))
}

func printed(t *testing.T, cmd *exec.Cmd) []string {
	out, err := cmd.Output()
	require.NoError(t, err, "%q", cmd.Args)
	return strings.Split(string(out), "\x00")[1:]
}

// FuzzDirect: whatever goes without its shell, the shell makes the same words of.
func FuzzDirect(f *testing.F) {
	for _, c := range taken {
		f.Add(c.line)
	}
	for _, line := range []string{`show 'it''s' "a\nb"`, `~/x`, `a{b,c}`, `x=1 y`, `a\` + "\n" + `b`, `"$x"`, "a;", "a # b", "\"é\"\x00", "0\r", `\a "\\\""`} {
		f.Add(line)
	}
	found := shells(f)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, line string) {
		words := command.Direct(line)
		if words == nil {
			return
		}
		for _, shell := range found {
			said, err := asked(t, shell, dir, leading.ReplaceAllString(line, ""))
			require.NoError(t, err, "%s %q", shell, line)
			require.Equal(t, words, said, "%s %q", shell, line)
		}
	})
}
