package config

import (
	"fmt"
	"strings"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
)

func quote(s string) string { return doc.Quote(s) }

func position(file string, at doc.Pos) string { return fmt.Sprintf("%s:%d", file, at.Line) }

// about makes an issue of a whole file.
func about(file string, severity dialect.Severity, message, hint string) dialect.Issue {
	return dialect.Issue{Severity: severity, File: file, Message: message, Hint: hint}
}

// unread says why a file could not be read, without naming it twice.
func unread(file string, err error) dialect.Issue {
	text := err.Error()
	if i := strings.Index(text, file+": "); i >= 0 {
		text = text[i+len(file)+2:]
	}
	return about(file, dialect.Error, "cannot read the file: "+text, "")
}
