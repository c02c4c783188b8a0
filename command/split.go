package command

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/google/shlex"
)

// A LineError is one fault of a command line given to [Split].
type LineError struct {
	Line    string // the whole line
	Column  int    // of the fault, from 1, in bytes
	Found   string // what stands there; empty at the line's end
	Message string // what is wrong with it
	Hint    string // what to write instead
}

func (e *LineError) Error() string {
	found := ""
	if e.Found != "" {
		found = fmt.Sprintf("%q: ", e.Found)
	}
	return fmt.Sprintf("column %d: %s%s; %s", e.Column, found, e.Message, e.Hint)
}

// Split turns a command line into words as sh would, if no shell is needed for it: plain and quoted
// literals. What a shell would have to interpret (a variable, a pipe, a wildcard, a builtin) and what cannot
// be read (a quote left open) is refused: every fault at once as a [LineError], and no words.
//
// A backslash is an escape, as in sh. On Windows it is part of a path instead, except before a double quote
// within double quotes.
func Split(line string) ([]string, error) { return split(line, runtime.GOOS == "windows") }

func split(line string, windows bool) ([]string, error) {
	g := &guard{line: line, windows: windows, fresh: true}
	g.scan()
	if err := errors.Join(g.faults...); err != nil {
		return nil, err
	}
	words, err := shlex.Split(g.plain.String())
	switch {
	case err != nil: // the guard lets nothing through that shlex cannot read
		return nil, &LineError{Line: line, Column: 1, Found: line, Message: err.Error(), Hint: useShell}
	case len(words) == 0 || words[0] == "":
		return nil, &LineError{Line: line, Column: 1, Message: "names no program", Hint: "begin with the program to run"}
	}
	return words, nil
}

const (
	quoteIt  = "put it in single quotes to mean the character itself"
	useShell = "ask for a shell by name to have it interpreted: sh -c '…'"
)

// interpreted are the characters that a shell acts on outside quotes.
var interpreted = map[byte]string{
	'$': "a shell would put a variable's value here",
	'`': "a shell would run a command here",
	';': "a shell would begin another command here",
	'&': "a shell would begin another command here",
	'|': "a shell would begin a pipe here",
	'<': "a shell would redirect here",
	'>': "a shell would redirect here",
	'(': "a shell would begin a group here",
	')': "a shell would end a group here",
	'*': "a shell would look for file names here",
	'?': "a shell would look for file names here",
	'[': "a shell would look for file names here",
	'{': "a shell may write several words here",
	'}': "a shell may write several words here",
}

// guard reads a line by sh's rules, notes what Split refuses, and rewrites the little that shlex would
// otherwise read differently.
type guard struct {
	line    string
	windows bool
	faults  []error

	plain  strings.Builder // the line as shlex is given it
	pos    int             // the byte being read
	quote  byte            // the quote that is open: ', " or 0
	opened int             // where it was opened
	fresh  bool            // at the beginning of a word
	first  string          // the first word, with its quotes
	began  bool            // the first word has begun
}

func (g *guard) scan() {
	g.unreadable()
	for g.pos < len(g.line) {
		switch g.quote {
		case '\'':
			g.inSingle()
		case '"':
			g.inDouble()
		default:
			g.inPlain()
		}
	}
	if g.quote != 0 {
		g.fault(g.opened, string(g.quote), "this quote is never closed", "close it")
	}
	g.command()
}

// unreadable notes bytes that no argument can carry, or that would not survive the reading.
func (g *guard) unreadable() {
	for i := 0; i < len(g.line); {
		r, size := utf8.DecodeRuneInString(g.line[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			g.fault(i, g.line[i:i+1], "this is no UTF-8", "save the file as UTF-8")
		case r == 0:
			g.fault(i, "\x00", "no argument can hold a NUL", "leave it out")
		case r == '\r':
			g.fault(i, "\r", "a carriage return would become part of the word", "end lines with a newline alone")
		}
		i += size
	}
}

func (g *guard) fault(pos int, found, msg, hint string) {
	g.faults = append(g.faults, &LineError{Line: g.line, Column: pos + 1, Found: found, Message: msg, Hint: hint})
}

// take hands n bytes on as they are.
func (g *guard) take(n int) {
	g.plain.WriteString(g.line[g.pos : g.pos+n])
	g.pos += n
}

// literalBackslash hands on a backslash that stands for itself, which shlex takes only when escaped.
func (g *guard) literalBackslash() {
	g.plain.WriteString(`\\`)
	g.pos++
}

func (g *guard) inSingle() {
	if g.line[g.pos] == '\'' {
		g.quote = 0
	}
	g.take(1)
}

func (g *guard) inDouble() {
	switch c := g.line[g.pos]; c {
	case '"':
		g.quote = 0
	case '$', '`':
		g.fault(g.pos, string(c), interpreted[c], "escape it with a backslash, or "+useShell)
	case '\\':
		g.backslashInDouble()
		return
	}
	g.take(1)
}

// backslashInDouble: within double quotes sh takes a backslash for an escape only before these; shlex drops
// every one.
func (g *guard) backslashInDouble() {
	next := g.peek(1)
	switch {
	case next == "":
		g.pos++ // the open quote is the fault
	case next == `"`, !g.windows && strings.Contains("$`\\", next):
		g.take(2)
	case next == "\n" && !g.windows:
		g.pos += 2 // the line goes on
	default:
		g.literalBackslash()
	}
}

func (g *guard) inPlain() {
	c := g.line[g.pos]
	switch c {
	case ' ', '\t':
		g.endWord()
		g.take(1)
		return
	case '\n':
		g.newline()
		return
	case '\\':
		g.backslash()
		return
	case '\'', '"':
		g.quote, g.opened = c, g.pos
	case '#':
		if g.fresh {
			g.fault(g.pos, "#", "a shell would take the rest for a comment", quoteIt)
		}
	case '~':
		if g.fresh || strings.ContainsAny(g.before(), "=:") {
			g.fault(g.pos, "~", "a shell would put a home directory here", "write the path out, or "+quoteIt)
		}
	default:
		if msg, ok := interpreted[c]; ok {
			g.fault(g.pos, string(c), msg, quoteIt+", or "+useShell)
		}
	}
	g.inWord()
	g.take(1)
}

// before is the byte before the one being read.
func (g *guard) before() string { return g.line[max(g.pos-1, 0):g.pos] }

// peek is the byte n behind the one being read, or "" at the end.
func (g *guard) peek(n int) string {
	if g.pos+n >= len(g.line) {
		return ""
	}
	return g.line[g.pos+n : g.pos+n+1]
}

// newline ends the command for a shell: nothing may follow it.
func (g *guard) newline() {
	g.endWord()
	if g.began && strings.Trim(g.line[g.pos:], " \t\n") != "" {
		g.fault(g.pos, "\n", "a shell would begin another command on the next line", "write one command")
	}
	g.take(1)
}

func (g *guard) backslash() {
	next := g.peek(1)
	switch {
	case g.windows && (next == "" || strings.Contains(" \t\n'\"", next)):
		g.fault(g.pos, `\`, "a backslash is part of a path on Windows, and here it is not clear which", "put the path in double quotes")
		g.pos++
	case g.windows:
		g.inWord()
		g.literalBackslash()
	case next == "":
		g.fault(g.pos, `\`, "a backslash at the end escapes nothing", "leave it out")
		g.pos++
	case next == "\n":
		g.pos += 2 // the line goes on, within a word too
	default:
		g.inWord()
		g.take(1)
		_, size := utf8.DecodeRuneInString(g.line[g.pos:])
		g.take(size)
	}
}

func (g *guard) inWord() {
	g.fresh = false
	g.began = true
}

// endWord keeps the first word as it was written.
func (g *guard) endWord() {
	if g.began && g.first == "" {
		g.first = strings.TrimLeft(g.plain.String(), " \t\n")
	}
	g.fresh = true
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\[.*\])?\+?=`)

// shellOnly are words that mean something to a shell at the start of a command and are no program to run.
var shellOnly = strings.Fields(`! { } [[ ]] if then else elif fi for while until do done case esac in
	function select time coproc . : break continue eval exec exit export local readonly return set shift
	source times trap unset alias unalias bg cd declare typeset disown fg hash jobs let popd pushd
	shopt suspend type ulimit umask wait`)

// command looks at the first word, which a shell may take for something else than a program.
func (g *guard) command() {
	g.endWord()
	column := strings.Index(g.line, g.first)
	if column < 0 { // the line was continued within the word
		column = 0
	}
	if m := assignment.FindString(g.first); m != "" {
		g.fault(column, m, "a shell would set a variable here", "set it in the hook's environment, or begin with the program env")
		return
	}
	for _, word := range shellOnly {
		if g.first == word {
			g.fault(column, word, "this is the shell's own and no program", useShell)
		}
	}
}
