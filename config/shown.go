package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/internal/docissue"
	"github.com/pawl-hooks/pawl/internal/legible"
)

func quote(s string) string { return doc.Quote(s) }

func position(file string, at doc.Pos) string { return fmt.Sprintf("%s:%d", file, at.Line) }

// about makes an issue of a whole file.
func about(file string, severity dialect.Severity, message, hint string) dialect.Issue {
	return dialect.Issue{Severity: severity, File: file, Message: message, Hint: hint}
}

// unread says why a file could not be read, and what to do about it.
func unread(file string, err error) dialect.Issue {
	return docissue.Of(doc.Unreadable(file, err), dialect.Error)
}

// shellSpecial are the characters for which a word is quoted.
const shellSpecial = " \t\n\"'\\$`;|&<>()*?[]#~"

// shellWord quotes a path where a shell would need it.
func shellWord(path string) string {
	if strings.ContainsAny(path, shellSpecial) && filepath.Separator == '/' {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// hidden warns of characters that do not show where a person has to read what e runs, and when.
func (e *Entry) hidden() []dialect.Issue {
	var issues []dialect.Issue
	tell := func(what, text string) {
		i := strings.IndexFunc(text, func(r rune) bool { return legible.Hidden(r) && r != '\n' && r != '\t' })
		if i >= 0 {
			r, _ := utf8.DecodeRuneInString(text[i:])
			issues = append(issues, e.warning("the "+what+" holds a character that does not show: "+legible.Escape(r),
				"take it out, unless it is meant"))
		}
	}
	tell("command", strings.Join(append([]string{e.Command}, e.Args...), " "))
	tell("matcher", e.Listing().Matcher)
	tell("path of the file", e.Hook.Origin.File)
	return issues
}
