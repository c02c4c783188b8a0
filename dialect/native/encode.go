package native

import (
	"fmt"
	"strings"

	"github.com/pawl-hooks/pawl/dialect"
)

// Encode writes a hooks file in TOML. What it returns loads: where a hook could not be written so that it
// does, the error is a [dialect.IssueError] about the text that was tried.
func Encode(hooks ...Spec) ([]byte, error) {
	var b strings.Builder
	if len(hooks) > maxHooks {
		fmt.Fprintf(&b, "max_hooks = %d\n\n", len(hooks))
	}
	for i := range hooks {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("[[hooks]]\n")
		for _, f := range hookFields(&hooks[i]) {
			if text := f.toml(); text != "" {
				fmt.Fprintf(&b, "%s = %s\n", f.name, text)
			}
		}
	}
	data := []byte(b.String())
	if _, issues := Load("hooks.toml", data, Options{}); dialect.HasErrors(issues) {
		return nil, &dialect.IssueError{Issues: issues}
	}
	return data, nil
}

// toml is what the field holds, "" where that is nothing.
func (f field) toml() string {
	switch to := f.to.(type) {
	case *string:
		if *to != "" {
			return tomlString(*to)
		}
	case *int64:
		if *to != 0 {
			return fmt.Sprint(*to)
		}
	case *bool:
		if *to {
			return "true"
		}
	case *[]string:
		if len(*to) > 0 {
			return tomlList(*to, "[", "]", tomlString)
		}
	case *Environment:
		if len(*to) > 0 {
			return tomlList(*to, "{ ", " }", tomlVariable)
		}
	}
	return ""
}

func tomlList(list []string, open, end string, each func(string) string) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = each(s)
	}
	return open + strings.Join(parts, ", ") + end
}

func tomlVariable(s string) string {
	name, value, _ := strings.Cut(s, "=")
	if envGrammar.MatchString(name) {
		return name + " = " + tomlString(value)
	}
	return tomlString(name) + " = " + tomlString(value)
}

// tomlString writes a basic string: on one line, with the escapes of TOML 1.0.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"', c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ', c == 0x7F:
			fmt.Fprintf(&b, `\u%04X`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
