package config

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-hooks/pawl/internal/shline"
)

// known returns what a shell would make of a word, or "" where that cannot be told from here.
func (f *finder) known(w *syntax.Word) string {
	var b strings.Builder
	for i, part := range w.Parts {
		lit, _ := part.(*syntax.Lit)
		if i == 0 && lit != nil && !f.set["HOME"] && (lit.Value == "~" || strings.HasPrefix(lit.Value, "~/")) {
			b.WriteString(f.vars["HOME"] + shline.Unescape(lit.Value[1:], ""))
			continue
		}
		s, ok := f.part(part, "")
		if !ok || lit != nil && expands(lit.Value, i == 0) && w.Lit() != "[" || lit == nil && splits(part, s) {
			return ""
		}
		b.WriteString(s)
	}
	return b.String()
}

// expands reports whether a literal outside of quotes stands for other words than itself: a glob, a list in braces or
// somebody's home.
func expands(lit string, first bool) bool {
	if first && strings.HasPrefix(lit, "~") {
		return true
	}
	lit = escaped.ReplaceAllString(lit, "")
	return strings.ContainsAny(lit, "*?[") || strings.Contains(lit, "{") && (strings.Contains(lit, ",") || strings.Contains(lit, ".."))
}

// escaped is a character behind a backslash.
var escaped = regexp.MustCompile(`(?s)\\.`)

// splits reports whether what stands for a part outside of quotes is more than a word, or a glob.
func splits(part syntax.WordPart, value string) bool {
	switch part.(type) {
	case *syntax.ParamExp, *syntax.CmdSubst:
		return strings.ContainsAny(value, " \t\n*?[")
	}
	return false
}

// part evaluates one part of a word. Within double quotes a backslash is special before few characters.
func (f *finder) part(part syntax.WordPart, special string) (string, bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		return shline.Unescape(p.Value, special), true
	case *syntax.SglQuoted:
		return p.Value, !p.Dollar
	case *syntax.DblQuoted:
		var b strings.Builder
		for _, inner := range p.Parts {
			s, ok := f.part(inner, shline.InQuotes)
			if !ok {
				return "", false
			}
			b.WriteString(s)
		}
		return b.String(), !p.Dollar
	case *syntax.ParamExp:
		return f.param(p)
	case *syntax.CmdSubst:
		switch {
		case calls(p, "pwd"):
			return f.base(), len(f.at.bases) > 0
		case calls(p, "git", "rev-parse", "--show-toplevel"):
			top := f.tree()
			return top, top != ""
		}
	}
	return "", false
}

// tree is what $(git rev-parse --show-toplevel) prints where the shell stands.
func (f *finder) tree() string {
	switch {
	case f.at.lost != "":
		return ""
	case f.base() != f.start:
		return f.disk.checkout(f.disk.real(f.base())).top
	}
	return f.top
}

// param evaluates $NAME, ${NAME} and ${NAME:-word}.
func (f *finder) param(p *syntax.ParamExp) (string, bool) {
	if p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Param == nil {
		return "", false
	}
	value, set := f.vars[p.Param.Value]
	switch name := p.Param.Value; {
	case name == "OLDPWD" || name == "_" || name == "PWD" && f.at.lost != "" || f.set[name]:
		return "", false
	case name == "PWD" && len(f.at.bases) > 0:
		value, set = f.base(), true // the shell's own, not that of whoever asks
	}
	if !set && f.getenv != nil {
		value = f.getenv(p.Param.Value)
		set = value != ""
	}
	switch {
	case p.Exp == nil:
		return value, set
	case p.Exp.Op != syntax.DefaultUnset && p.Exp.Op != syntax.DefaultUnsetOrNull:
		return "", false
	case set && value != "":
		return value, true
	case p.Exp.Word == nil:
		return "", true
	}
	value = f.known(p.Exp.Word)
	return value, value != ""
}

// calls recognises a substitution of these very words: those that hosts' pages recommend.
func calls(p *syntax.CmdSubst, words ...string) bool {
	if len(p.Stmts) != 1 {
		return false
	}
	call, ok := p.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 {
		return false
	}
	return slices.EqualFunc(call.Args, words, func(w *syntax.Word, word string) bool { return w.Lit() == word })
}
