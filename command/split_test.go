package command_test

import (
	"bytes"
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/shlex"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-hooks/pawl/command"
)

// taken are lines that Split turns into words; sh says the same of every one. E04, E06.
var taken = []struct {
	name, line string
	want       []string
}{
	{"one word", `make`, []string{"make"}},
	{"blanks of all kinds", " \t npm \t run  test\t", []string{"npm", "run", "test"}},
	{"newlines around the command", "\n\n make all \n\n", []string{"make", "all"}},
	{"single quotes keep everything", `h 'a  b' 'c\d' '$x;|&"*' '#'`, []string{"h", "a  b", `c\d`, `$x;|&"*`, "#"}},
	{"double quotes keep blanks", `h "a  b" "it's" "*?[~{};|&<>()#"`, []string{"h", "a  b", "it's", "*?[~{};|&<>()#"}},
	{"a backslash in double quotes stays", `h "a\nb" "a\$b" "c:\d"`, []string{"h", `a\nb`, "a$b", `c:\d`}},
	{"what double quotes do escape", "h \"\\\\ \\\" \\` \\$\"", []string{"h", "\\ \" ` $"}},
	{"a backslash before what is not UTF-8 long", `h "\é" \é`, []string{"h", `\é`, "é"}},
	{"backslashes outside quotes", `h a\ b \"\' \# \~ \* \$x \\`, []string{"h", "a b", `"'`, "#", "~", "*", "$x", `\`}},
	{"a Windows path is an escape in sh", `C:\tools\guard.exe --x`, []string{"C:toolsguard.exe", "--x"}},
	{"a quoted Windows path", `"C:\tools\guard.exe" 'D:\x'`, []string{`C:\tools\guard.exe`, `D:\x`}},
	{"forward slashes", `C:/tools/guard.exe`, []string{"C:/tools/guard.exe"}},
	{"quotes within a word", `a'b'"c"d ''x ""`, []string{"abcd", "x", ""}},
	{"empty words", `h '' "" x`, []string{"h", "", "", "x"}},
	{"a continued line", "h a\\\nb \\\n c", []string{"h", "ab", "c"}},
	{"a continued line in double quotes", "h \"a\\\nb\"", []string{"h", "ab"}},
	{"a newline in quotes", "h 'a\nb' \"c\nd\"", []string{"h", "a\nb", "c\nd"}},
	{"other languages", `h café "日本"`, []string{"h", "café", "日本"}},
	{"a no-break space is no separator", "h a\u00a0b \u2003", []string{"h", "a\u00a0b", "\u2003"}},
	{"other control characters", "h a\vb\fc\x1b", []string{"h", "a\vb\fc\x1b"}},
	{"a hash within a word", `h a#b ''#c`, []string{"h", "a#b", "#c"}},
	{"a tilde within a word", `h a~ b~c ''~`, []string{"h", "a~", "b~c", "~"}},
	{"signs that no shell reads", `h a=b --x=y , ] % ^ @ + - : . / !x a!`, []string{"h", "a=b", "--x=y", ",", "]", "%", "^", "@", "+", "-", ":", ".", "/", "!x", "a!"}},
	{"a quoted keyword is a program", `'if' x`, []string{"if", "x"}},
	{"a quoted assignment is a program", `'A=b' x`, []string{"A=b", "x"}},
	{"env sets variables", `env A=b x`, []string{"env", "A=b", "x"}},
	{"a number and an equals sign", `1=x y`, []string{"1=x", "y"}},
}

// shells are those to compare with: sh is a must.
func shells(t testing.TB) []string {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh to compare with")
	}
	found := []string{sh}
	for _, other := range []string{"dash", "bash", "busybox"} {
		if path, err := exec.LookPath(other); err == nil {
			found = append(found, path)
		}
	}
	return found
}

// asked returns the words that a shell makes of line, in a directory with files that wildcards would find.
func asked(t require.TestingT, shell, dir, line string) ([]string, error) {
	args := []string{"-c", "set -- " + line + "\nfor word; do printf '%s\\0' \"$word\"; done"}
	if strings.HasSuffix(shell, "busybox") {
		args = append([]string{"sh"}, args...)
	}
	cmd := exec.Command(shell, args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=/home/someone", "PATH=/nowhere", "x=value", "LC_ALL=C.UTF-8"}
	out, err := cmd.Output()
	words := strings.Split(string(out), "\x00")
	require.Empty(t, words[len(words)-1])
	return words[:len(words)-1], err
}

func litter(t *testing.T) string {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "ab", "x"} {
		write(t, dir+"/"+name, nil, 0o644)
	}
	return dir
}

func TestSplitTakesWhatNeedsNoShell(t *testing.T) {
	dir := litter(t)
	for _, c := range taken {
		t.Run(c.name, func(t *testing.T) {
			words, err := command.SplitFor(c.line, false)
			require.NoError(t, err)
			require.Equal(t, c.want, words)
			for _, shell := range shells(t) {
				words, err := asked(t, shell, dir, strings.TrimLeft(c.line, " \t\n"))
				require.NoError(t, err, shell)
				require.Equal(t, c.want, words, shell)
			}
		})
	}
}

// refused are lines that Split takes for a fault. Where diff is set, shlex alone would have made other words
// of the line than sh does, or words where sh sees an error.
var refused = []struct {
	name, line string
	column     int
	found      string
	diff       bool
}{
	{"a variable", `h $x`, 3, "$", true},
	{"a variable in double quotes", `h "a $x"`, 6, "$", true},
	{"a variable in command position", `$PROJECT_DIR/h.sh`, 1, "$", true}, // E02
	{"a command in backticks", "h `echo y`", 3, "`", true},
	{"a command in backticks in double quotes", "h \"`echo y`\"", 4, "`", true},
	{"two commands", `h; rm x`, 2, ";", true},
	{"two commands at once", `h & x`, 3, "&", true},
	{"a pipe", `h | x`, 3, "|", true},
	{"a redirection", `h > /dev/null`, 3, ">", true},
	{"an input", `h < /dev/null`, 3, "<", true},
	{"a group", `h (x)`, 3, "(", true},
	{"the end of a group", `h x)`, 4, ")", true},
	{"a wildcard", `h *`, 3, "*", true},
	{"a wildcard for one character", `h ?`, 3, "?", true},
	{"a set of characters", `h [ab]`, 3, "[", true},
	{"a set of words", `h {a,b}`, 3, "{", false}, // bash alone
	{"a home directory", `h ~`, 3, "~", true},
	{"a home directory behind an equals sign", `h A=~/x`, 5, "~", false}, // bash alone
	{"a home directory behind a colon", `h A=x:~/x`, 7, "~", false},
	{"a comment", `h #x`, 3, "#", false},
	{"a comment alone", `# x`, 1, "#", false},
	{"a quote left open", `h 'unclosed`, 3, "'", true},
	{"a double quote left open", `h "unclosed`, 3, `"`, true},
	{"a double quote left open behind a backslash", `h "unclosed\`, 3, `"`, true},
	{"a backslash at the end", `h trailing\`, 11, `\`, true},
	{"another line", "h a\nb", 4, "\n", true},
	{"a carriage return", "h a\r b", 4, "\r", true},
	{"a carriage return in quotes", "h 'a\r\nb'", 5, "\r", false},
	{"a carriage return behind a backslash", "h \\\r\n", 4, "\r", false},
	{"a NUL", "h a\x00b", 4, "\x00", true},
	{"bytes that are no UTF-8", "h \xff\xfe", 3, "\xff", true},
	{"an assignment", `A=b h`, 1, "A=", false},
	{"an assignment with quotes", `A_1="b c" h`, 1, "A_1=", false},
	{"an assignment behind a newline", "\n A+=b h", 3, "A+=", false},
	{"an assignment on a continued line", "A\\\nB=c h", 1, "AB=", false},
	{"a keyword", `if x`, 1, "if", false},
	{"a negation", `! x`, 1, "!", false},
	{"a builtin that is no program", `cd x`, 1, "cd", false},
	{"a builtin alone", `exit`, 1, "exit", false},
	{"nothing", ``, 1, "", false},
	{"blanks", " \t\n", 1, "", false},
	{"an empty program", `'' x`, 1, "", false},
}

func TestSplitRefusesWhatAShellWouldInterpret(t *testing.T) {
	dir := litter(t)
	for _, c := range refused {
		t.Run(c.name, func(t *testing.T) {
			words, err := command.SplitFor(c.line, false)
			require.Nil(t, words)
			var fault *command.LineError
			require.ErrorAs(t, err, &fault)
			require.Equal(t, c.line, fault.Line)
			require.Equal(t, c.column, fault.Column, err)
			require.Equal(t, c.found, fault.Found)
			require.NotEmpty(t, fault.Message)
			require.NotEmpty(t, fault.Hint)
			if !c.diff || strings.Contains(c.line, "\x00") { // which no argument of sh can hold either
				return
			}
			lone, loneErr := shlex.Split(c.line)
			words, err = asked(t, shells(t)[0], dir, c.line)
			require.False(t, loneErr == nil && err == nil && equal(lone, words), "shlex and sh agree on %q: why refuse it?", words)
		})
	}
}

func equal(a, b []string) bool { return strings.Join(a, "\x00") == strings.Join(b, "\x00") }

func TestEveryFaultOfALineIsTold(t *testing.T) {
	_, err := command.SplitFor(`a $b | c > 'd`, false)
	var joined interface{ Unwrap() []error }
	require.ErrorAs(t, err, &joined)
	var columns []int
	for _, err := range joined.Unwrap() {
		var fault *command.LineError
		require.True(t, errors.As(err, &fault))
		columns = append(columns, fault.Column)
	}
	require.Equal(t, []int{3, 6, 10, 12}, columns)
	require.ErrorContains(t, err, `column 6: "|": a shell would begin a pipe here; put it in single quotes`)
}

// E04: six weeks of dead guards.
func TestOnWindowsABackslashIsPartOfAPath(t *testing.T) {
	for line, want := range map[string][]string{
		`C:\hooks\guard.exe --x`:      {`C:\hooks\guard.exe`, "--x"},
		`"C:\My Hooks\guard.exe" --x`: {`C:\My Hooks\guard.exe`, "--x"},
		`'C:\My Hooks\guard.exe'`:     {`C:\My Hooks\guard.exe`},
		`C:/hooks/guard.exe`:          {`C:/hooks/guard.exe`},
		`\\server\share\x.exe a`:      {`\\server\share\x.exe`, "a"},
		`"\\server\share\x.exe"`:      {`\\server\share\x.exe`},
		`h "say \"x\""`:               {"h", `say "x"`},
		`h C:\x\1.2_3 .\a ..\b`:       {"h", `C:\x\1.2_3`, `.\a`, `..\b`},
		`h C:\dir\`:                   nil,
		`h C:\My\ Hooks`:              nil,
		`h "C:\dir\"`:                 nil,
		`h \"x`:                       nil,
	} {
		t.Run(line, func(t *testing.T) {
			words, err := command.SplitFor(line, true)
			require.Equal(t, want, words)
			require.Equal(t, want == nil, err != nil, "%v", err)
		})
	}
}

func TestTheWindowsShell(t *testing.T) {
	require.Equal(t, []string{`C:\cmd.exe`, "/C", "x"}, command.ShellFor("windows", `C:\cmd.exe`, "x"))
	require.Equal(t, []string{"cmd.exe", "/C", "x"}, command.ShellFor("windows", "", "x"))
	require.Equal(t, []string{"/bin/sh", "-c", "x"}, command.ShellFor("linux", `C:\cmd.exe`, "x"))
}

// leading is what may stand before a command, but not behind the words that asked puts before it.
var leading = regexp.MustCompile(`^([ \t\n]|\\\n|#[^\n]*\n)+`)

// Whatever Split or Direct takes, every shell at hand takes for the same words.
func TestSplitAndDirectAgreeWithTheShell(t *testing.T) {
	dir := litter(t)
	found := shells(t)
	piece := rapid.SampledFrom([]string{
		"a", "b", "x", "é", "\u00a0", " ", "  ", "\t", "\n", `\`, `\\`, `\n`, "\\\n", `"`, `'`, `""`, `''`, `"a b"`, `'a b'`,
		"$", "`", ";", "&", "|", "<", ">", "(", ")", "*", "?", "[", "]", "{", "}", "~", "#", "!", "=", ":", ",", "%", "-", "\v",
	})
	accepted := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(piece, 1, 7).Draw(t, "pieces"), "")
		split, _ := command.SplitFor(line, false)
		for name, words := range map[string][]string{"Split": split, "Direct": command.Direct(line)} {
			if words == nil {
				continue
			}
			accepted[name]++
			for _, shell := range found {
				said, err := asked(t, shell, dir, leading.ReplaceAllString(line, ""))
				require.NoError(t, err, "%s: %s %q", name, shell, line)
				require.Equal(t, words, said, "%s: %s %q", name, shell, line)
			}
		}
	})
	require.Positive(t, accepted["Split"], "no line was taken: nothing was compared")
	require.Positive(t, accepted["Direct"], "no line was taken: nothing was compared")
}

func FuzzSplit(f *testing.F) {
	for _, c := range taken {
		f.Add(c.line)
	}
	for _, c := range refused {
		f.Add(c.line)
	}
	sh := shells(f)[0]
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, line string) {
		words, err := command.SplitFor(line, false)
		if err != nil {
			require.Nil(t, words)
			var fault *command.LineError
			require.ErrorAs(t, err, &fault)
			require.Positive(t, fault.Column)
			require.LessOrEqual(t, fault.Column, len(line)+1)
			return
		}
		require.NotContains(t, words[0], "\x00")
		said, err := asked(t, sh, dir, leading.ReplaceAllString(line, ""))
		require.NoError(t, err)
		require.True(t, bytes.Equal([]byte(strings.Join(words, "\x00")), []byte(strings.Join(said, "\x00"))), "%q: %q, sh: %q", line, words, said)
	})
}
