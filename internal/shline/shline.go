// Package shline parses shell lines of bounded size, so that no text, a model's or a file's, can exhaust the
// stack or the time of its reader.
package shline

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Longest is the longest line that is parsed, in bytes. The parser recurses once a nested construct, and
// takes time by the square of their number; at this length both are small.
const Longest = 16 << 10

// ErrTooLong is returned for a line longer than Longest.
var ErrTooLong = errors.New("the line is too long to be read as shell")

// ErrUnsure is returned for a line that shells are known to read otherwise than the parser.
var ErrUnsure = errors.New("shells do not read the line alike")

// Parse parses a line by the grammar of a POSIX shell or, where bash is set, of bash. What stands before a fault
// is returned beside the error.
func Parse(line string, bash bool) (*syntax.File, error) {
	if len(line) > Longest {
		return nil, ErrTooLong
	}
	variant := syntax.LangPOSIX
	if bash {
		variant = syntax.LangBash
	}
	file, err := syntax.NewParser(syntax.Variant(variant), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
	if err == nil && unsure(line, file) {
		return nil, ErrUnsure
	}
	return file, err
}

// unsure reports what the parser is known to take otherwise than bash or dash do. A CR is no blank to them, a NUL
// cannot be in a line, and a $ goes on behind a line that goes on.
func unsure(line string, file *syntax.File) bool {
	found := strings.ContainsAny(line, "\r\x00") || slices.ContainsFunc(unseen, func(s string) bool { return strings.Contains(line, s) })
	syntax.Walk(file, func(n syntax.Node) bool {
		found = found || unsureNode(line, n)
		return !found
	})
	return found
}

// unseen are texts by which a line makes commands that the parser does not see: a $ behind a line that goes on, names
// for other commands, and text that becomes a prompt.
var unseen = []string{"$\\\n", "expand_aliases", "BASH_ALIASES", "PS4", "@P}"}

func unsureNode(line string, n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Comment: // which ends with its line, whatever stands there
		return strings.HasSuffix(n.Text, "\\\n")
	case *syntax.SglQuoted: // dash knows no quote that a backslash leaves open
		return n.Dollar && strings.Contains(n.Value, "'")
	case *syntax.LetClause, *syntax.CoprocClause: // let ends where words do, and a name is one before a { alone
		return true
	case *syntax.ParamExp: // its words may hold <(x)
		return strings.Contains(text(line, n), "<(") || strings.Contains(text(line, n), ">(")
	case *syntax.ExtGlob: // what stands in it is not parsed
		return strings.ContainsAny(n.Pattern.Value, "$`<>")
	case *syntax.CmdSubst, *syntax.ProcSubst:
		return beginsDocument(text(line, n))
	case *syntax.TimeClause: // its options end with --
		return n.Stmt != nil && strings.HasPrefix(firstWord(n.Stmt), "-")
	case *syntax.Redirect:
		return unsureRedirect(line, n)
	case *syntax.Stmt: // a &>b c is a & and >b c
		return n.Cmd != nil && slices.ContainsFunc(n.Redirs, func(r *syntax.Redirect) bool {
			return (r.Op == syntax.RdrAll || r.Op == syntax.AppAll) && n.Cmd.End().After(r.OpPos)
		})
	}
	return false
}

// plainEnd is a here-document's end that all take alike.
var plainEnd = regexp.MustCompile(`^(\\?[\w.-]+|'[\w.-]+'|"[\w.-]+")$`)

// unsureRedirect is about >&-x, which is >&- and x, about {x}>y, which is {x} and >y, and about the end of a
// here-document that goes on from the line before.
func unsureRedirect(line string, r *syntax.Redirect) bool {
	word := text(line, r.Word)
	switch {
	case r.N != nil && r.N.Value[0] == '{':
		return true
	case r.Op == syntax.DplIn || r.Op == syntax.DplOut:
		return len(word) > 1 && word[0] == '-'
	case r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc:
		return false
	case !plainEnd.MatchString(word):
		return true
	case strings.ContainsAny(word, `\'"`):
		return false // nothing goes on in a text that is taken as it is
	}
	before := ""
	for _, l := range strings.Split(line[r.Word.End().Offset():], "\n")[1:] {
		l = strings.TrimLeft(l, "\t")
		if strings.HasSuffix(before, `\`) && strings.HasSuffix(word, l) {
			return true
		}
		before = l
	}
	return r.Hdoc != nil && unsureDocument(line, word, r.Hdoc)
}

// unsureDocument is about a here-document's text, whose lines are put together, and whose end is looked for, before
// what stands in a substitution is read, quotes and further documents too.
func unsureDocument(line, end string, doc *syntax.Word) bool {
	body := strings.Split(text(line, doc), "\n")
	return slices.ContainsFunc(body[:len(body)-1], func(l string) bool { return strings.TrimLeft(l, "\t") == end }) ||
		slices.ContainsFunc(doc.Parts, func(part syntax.WordPart) bool {
			_, plain := part.(*syntax.Lit)
			return !plain && strings.Contains(text(line, part), "\\\n")
		})
}

// beginsDocument reports a here-document on a substitution's last line, whose text shells do not look for behind it.
func beginsDocument(text string) bool {
	last := text[strings.LastIndexByte(text, '\n')+1:]
	return strings.Contains(strings.ReplaceAll(last, "<<<", ""), "<<")
}

func text(line string, n syntax.Node) string { return line[n.Pos().Offset():n.End().Offset()] }

func firstWord(s *syntax.Stmt) string {
	if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
		return call.Args[0].Lit()
	}
	return ""
}

// InQuotes are the characters before which a backslash is special between double quotes. See POSIX.1-2024, Shell
// Command Language, 2.2.3.
const InQuotes = "$`\"\\\n"

// Unescape takes the backslashes off a literal: before any character or, where special is not empty, before those.
// A line that goes on behind one is one line.
func Unescape(s, special string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (special == "" || strings.IndexByte(special, s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
