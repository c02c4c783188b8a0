package command

import (
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-hooks/pawl/internal/shline"
)

// Direct returns the words of a shell line that needs no shell: one simple command on one line, all of it
// literal and without a #, whose first word no shell takes for itself. It returns nil where anything is in
// doubt. The line is parsed by a shell's grammar, once, at load; whether the program exists is found out when it
// is started, and what cannot start is left to the shell to explain.
func Direct(line string) []string {
	if runtime.GOOS == "windows" || strings.ContainsAny(line, "\n\r\x00#") {
		return nil // the parser takes lines that go on, a CR and a NUL otherwise than shells do, and keeps no comment
	}
	file, err := shline.Parse(line, false)
	if err != nil || len(file.Stmts) != 1 {
		return nil
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || len(s.Redirs) > 0 || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return nil
	}
	words := make([]string, len(call.Args))
	for i, w := range call.Args {
		if words[i], ok = literal(w.Parts); !ok {
			return nil
		}
	}
	if shellsOwn(words[0]) {
		return nil
	}
	return words
}

// literal returns a word without its quotes; ok is false where a shell would fill something in.
func literal(parts []syntax.WordPart) (text string, ok bool) {
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			plain, ok := unquoted(p.Value)
			if !ok || i == 0 && strings.HasPrefix(p.Value, "~") {
				return "", false
			}
			text += plain
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			text += p.Value
		case *syntax.DblQuoted:
			if p.Dollar {
				return "", false
			}
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", false
				}
				text += shline.Unescape(lit.Value, shline.InQuotes)
			}
		default:
			return "", false
		}
	}
	return text, true
}

// unquoted takes the backslashes out of a literal that stands without quotes. What a shell would expand, in
// any of the shells that stand behind /bin/sh, is not literal.
func unquoted(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case strings.IndexByte("*?[]{}~^$\\", c) >= 0:
			return "", false
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// shellsOwn reports words that dash, bash, ksh93, mksh, zsh or busybox may take for a keyword or do themselves, but
// for what is said to be the program of that name over again (cat).
func shellsOwn(word string) bool {
	if word == "" || strings.ContainsAny(word, "=%") {
		return true
	}
	return slices.Contains(strings.Fields(`! - . : [ [[ alias autoload bg bind bindkey break builtin bye caller case cd
		chdir command compadd comparguments compcall compctl compdescribe compfiles compgen compgroups complete compopt
		compound compquote compset comptags comptry compvalues continue coproc declare dirs disable disown do done echo
		echotc echoti elif else emulate enable end enum esac eval exec exit export false fc fg fi float for foreach
		function functions getln getopts global hash help hist history if in integer jobs kill let limit local log login
		logout mapfile nameref newgrp nocorrect noglob popd print printf private pushd pushln pwd r read readarray
		readonly realpath redirect rehash rename repeat return sched select set setopt shift shopt sleep source stat stop
		suspend test then time times trap true ttyctl type typeset ulimit umask unalias unfunction unhash unlimit unset
		unsetopt until vared wait whence where which while zcompile zformat zle zmodload zparseopts zregexparse zstyle`), word)
}
