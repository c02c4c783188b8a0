package doc

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// A slip is one usual way of writing what is not the format, and what to write instead. A field that is empty fits
// everything. In message and hint $0 is what was found and $1 its first group.
type slip struct {
	said   string // by the parser: a part of it
	behind string // an expression for what stands before the place
	finds  string // an expression for what stands at the place

	message, hint string
	from          string // the fault is at the last one of this before the place: where it began

	before, at *regexp.Regexp // behind and finds
}

// first returns slips that are made ready when the first file has a fault.
func first(slips []slip) func() []slip {
	return sync.OnceValue(func() []slip {
		for i, s := range slips {
			slips[i].before = regexp.MustCompile(`(?:` + s.behind + `)\z`)
			slips[i].at = regexp.MustCompile(`\A(?:` + s.finds + `)`)
		}
		return slips
	})
}

// near is how far around a fault one looks, in bytes.
const near = 256

// slipped returns the fault of the first slip that fits what the parser said about an offset.
func (d *Document) slipped(slips []slip, said string, at int) *Fault {
	at = d.wordStart(min(max(at, 0), len(d.plain)))
	before, rest := string(d.plain[max(at-near, 0):at]), string(d.plain[at:min(at+near, len(d.plain))])
	if at > near && len(bytes.TrimSpace(d.plain[:at-near])) > 0 {
		before = "…" + before // which is not the beginning
	}
	for _, s := range slips {
		m := s.at.FindStringSubmatchIndex(rest)
		if m == nil || !strings.Contains(said, s.said) || !s.before.MatchString(before) {
			continue
		}
		fill := func(text string) string { return string(s.at.ExpandString(nil, text, rest, m)) }
		return d.FaultAt(d.pos(d.start(at, s.from)), fill(s.message), fill(s.hint))
	}
	return d.FaultAt(d.pos(at), d.readable(said, at), map[Format]string{TOML: tomlLines}[d.Format])
}

// wordStart returns where the word begins that offset at is inside of: a parser stops where a word is no longer what
// it took it for.
func (d *Document) wordStart(at int) int {
	inWord := func(i int) bool { return i < len(d.plain) && wordly.Match(d.plain[i:i+1]) }
	for inWord(at) && at > 0 && inWord(at-1) {
		at--
	}
	return at
}

// start returns the last place of mark before at, of a quote one that is not escaped; at, where there is none.
func (d *Document) start(at int, mark string) int {
	for end := at; mark != "" && end > 0; {
		end = bytes.LastIndex(d.plain[:end], []byte(mark))
		slashes := end - len(bytes.TrimRight(d.plain[:max(end, 0)], `\`))
		if end >= 0 && (mark != `"` || slashes%2 == 0) {
			return end
		}
	}
	return at
}

// readable puts the character that stands at an offset into what a parser said of its first byte.
func (d *Document) readable(said string, at int) string {
	r, _ := utf8.DecodeRune(d.plain[at:])
	return byteWords.ReplaceAllString(said, fmt.Sprintf("%q", r))
}

var (
	wordly    = regexp.MustCompile(`[\w.+-]`)
	byteWords = regexp.MustCompile(`U\+[0-9A-F]+( '.+')?`)
)

// What both formats' slips are made of.
const (
	quotes    = "['`‘’‚‛“”„«»]"
	blanks    = `[\x{a0}\x{1680}\x{2000}-\x{200f}\x{2028}\x{2029}\x{202f}\x{205f}\x{2060}\x{3000}\x{feff}]`
	bareWord  = `([A-Za-z_$~./][\w.$~/-]*)`
	someValue = `["{\[]|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?:[\s,\]}]|\z)|(?:true|false|null)\b`
)

var jsonSlips = first([]slip{
	{behind: `\A\s*\[\[?`, finds: `[\w.-]+\s*\]`, message: "this is TOML, and no JSON", hint: "name the file .toml"},
	{behind: `\A\s*`, finds: `[^\s{\["]`, message: "this is no JSON", hint: `JSON begins with {; keys and texts stand in double quotes`},
	{behind: `,\s*`, finds: `,`, message: "two commas", hint: "remove one"},
	{behind: `,\s*`, finds: `[}\]]`, message: "a comma before the closing bracket", hint: "remove the comma; JSON has no trailing comma", from: ","},
	{finds: `[,\s]*,[,\s]*[}\]]`, behind: `[^:{\[\s]\s*`, message: "a comma before the closing bracket", hint: "remove the comma; JSON has no trailing comma"},
	{finds: quotes, message: "the quote $0", hint: "write keys and texts in double quotes"},
	{finds: blanks, message: "a blank that is no plain space", hint: "write a space in its place"},

	{said: "after object name", finds: `=>?`, message: "`$0` behind a key", hint: "write a colon"},
	{said: "after object name", finds: `[}\]]`, message: "the key has no value", hint: "write a colon and a value behind it, or leave the key out"},
	{said: "after object name", message: "there is no colon behind the key", hint: "write a colon between a key and its value"},
	{behind: `:\s*`, finds: `[,}\]]`, message: "the key has no value", hint: "write a value behind the colon, or leave the key out"},
	{behind: `[{\[]\s*`, finds: `,`, message: "a comma with nothing before it", hint: "remove it"},

	{said: "after array element", finds: `}`, message: "a list that ends with }", hint: "close it with ]"},
	{said: "after object value", finds: `]`, message: "a table that ends with ]", hint: "close it with }"},
	{said: "after", finds: `[;:]`, message: "`$0` where a comma belongs", hint: "write a comma"},
	{said: "after", finds: someValue, message: "there is no comma before this", hint: "write a comma between the two"},
	{finds: `[+.]?\d[\w.+-]*`, message: "the number `$0`", hint: "write it in decimal, without a plus sign, leading zeros and separators"},
	{said: "after", finds: `[A-Za-z_]`, message: "there is no comma before this", hint: "write a comma between the two"},

	{finds: `True\b|TRUE\b`, message: "the word `$0`", hint: "write true"},
	{finds: `False\b|FALSE\b`, message: "the word `$0`", hint: "write false"},
	{finds: `(?:None|nil|NULL|Null|undefined|NaN|Infinity)\b`, message: "the word `$0`", hint: "leave the key out"},
	{finds: bareWord + `\s*[:=]`, message: "the key `$1` is not in quotes", hint: `write "$1"`},
	{finds: bareWord, message: "the text `$1` is not in quotes", hint: `write "$1"`},

	{said: "escape sequence", finds: `\\u`, message: "an escape without its four digits", hint: `write \u and four hexadecimal digits`},
	{said: "escape sequence", finds: `\\[[:graph:]]`, message: "`$0` in a string", hint: `a backslash is written \\`},
	{said: "in string", finds: `[\r\n]`, message: "the string is not closed on its line", hint: `close it with "; a line break in it is written \n`, from: `"`},
	{said: "in string", finds: `\t`, message: "a tab in a string", hint: `write \t`},
	{said: "in string", finds: `[\x00-\x1f]`, message: "a control character in a string", hint: `write \u and its four hexadecimal digits`},
	{said: "surrogate", message: "half of a character in a string", hint: `write the character itself, or both halves: \ud83d\ude00`},
})

var tomlSlips = first([]slip{
	{said: "nested more than", message: tooDeep, hint: flatter},
	{behind: `\A\s*`, finds: `{`, message: "this is JSON, and no TOML", hint: "name the file .json"},
	{said: "at start of key", finds: `//|/\*|;|<!--`, message: "a comment that begins with `$0`", hint: "a comment begins with #"},
	{said: "expected newline", finds: `//|/\*|;`, message: "a comment that begins with `$0`", hint: "a comment begins with #"},
	{said: "after key", behind: `(?m:^\s*--\s*)`, message: "a comment that begins with `--`", hint: "a comment begins with #", from: "--"},
	{said: "at start of", finds: "[`‘’‚‛“”„«»]", message: "the quote $0", hint: `write texts in plain quotes: "…"`},
	{finds: blanks, message: "a blank that is no plain space", hint: "write a space in its place"},

	{said: "after key", finds: `:`, message: "a colon behind a key", hint: "write ="},
	{said: "after key", finds: `[\w-]+\s*=`, message: "a key with a blank in it", hint: "write it as one word, or in quotes"},
	{said: "after key", message: "there is no = behind the key", hint: "a line is key = value; a comment begins with #"},
	{said: "at start of key", finds: `=`, message: "a value without a key", hint: "a line is key = value"},
	{said: "at start of key", behind: `\[`, finds: `\[`, message: "a bracket too many", hint: "write [[hooks]], with two brackets on either side"},
	{said: "at start of key", behind: `\[\s*`, finds: `\[`, message: "a blank between two brackets", hint: "write [[hooks]] without blanks"},
	{said: "to close array table name", message: "the two brackets are not closed", hint: "write [[hooks]], with two brackets on either side"},
	{said: "to close table name", message: "the bracket is not closed", hint: "write [table], with one bracket on either side"},
	{said: "expected newline", finds: `\]`, message: "a bracket too many", hint: "write [[hooks]], with two brackets on either side"},
	{said: "expected newline", finds: `,`, message: "a comma behind a value", hint: "each key = value stands on a line of its own, without a comma"},
	{said: "expected newline", message: "something follows on the line", hint: "each key = value stands on a line of its own, and texts stand in quotes"},

	{said: "at start of value", behind: `=`, finds: `>`, message: "`=>` behind a key", hint: "write =", from: "="},
	{said: "at start of value", finds: `=`, message: "two equals signs", hint: "write one"},
	{said: "value", behind: `=[ \t]*`, finds: `[\r\n#]|\z`, message: "the key has no value", hint: "write one behind the =, or leave the key out"},
	{said: "but got", finds: `,`, behind: `,\s*`, message: "two commas", hint: "remove one"},
	{said: "but got", finds: `,`, message: "a comma with nothing before it", hint: "remove it"},
	{said: "leading zero", message: "a number with a zero before it", hint: "write it without"},
	{finds: `(?:True|TRUE)\b`, said: "value", message: "the word `$0`", hint: "write true"},
	{finds: `(?:False|FALSE)\b`, said: "value", message: "the word `$0`", hint: "write false"},
	{finds: `(?:None|nil|NULL|Null|null|undefined)\b`, message: "the word `$0`: TOML has no such value", hint: "leave the key out"},
	{said: "at start of value", finds: bareWord, message: "the text `$1` is not in quotes", hint: `write "$1"`},
	{said: "expected keyword", finds: bareWord, message: "the text `$1` is not in quotes", hint: `write "$1"`},
	{said: "must be quoted", finds: `[\w.+-]+`, message: "`$0` is neither a number nor a text", hint: "write a number without a unit, or a text in quotes"},

	{said: "cannot have new lines", behind: `"[^\n]*`, message: "the string is not closed on its line", hint: `close it with "; a text of several lines stands between """ and """`, from: `"`},
	{said: "cannot have new lines", message: "the string is not closed on its line", hint: "close it with '; a text of several lines stands between ''' and '''", from: "'"},
	{said: `not terminated by """`, message: "the string is not closed", hint: `close it with """`, from: `"""`},
	{said: `not terminated by '''`, message: "the string is not closed", hint: "close it with '''", from: "'''"},
	{said: "unterminated basic", message: "the string is not closed", hint: `close it with "`, from: `"`},
	{said: "unterminated literal", message: "the string is not closed", hint: "close it with '", from: "'"},
	{said: "escape", behind: `\\`, finds: `[[:graph:]]`, message: "`\\$0` in a string", hint: `a backslash is written \\, or the text stands in single quotes: 'C:\dir'`, from: `\`},
	{said: "escape", finds: `\\[[:graph:]]`, message: "`$0` in a string", hint: `a backslash is written \\, or the text stands in single quotes: 'C:\dir'`},
	{said: "control characters", message: "a control character in a string", hint: `write \u and its four hexadecimal digits, between double quotes`},
	{said: "after array value", finds: someValue + `|'`, message: "there is no comma before this", hint: "write a comma between the two"},
	{said: "after array value", message: "the list is not closed before this", hint: "close it with ], or write a comma before this"},
	{said: "array is incomplete", message: "the list is not closed", hint: "close it with ]"},
	{said: "inline table", finds: `,`, message: "two commas", hint: "remove one"},
	{said: "inline table", message: "the table is not closed before this", hint: "close it with }"},
})
