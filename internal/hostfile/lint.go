package hostfile

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-hooks/pawl/internal/shline"
)

// Lint warns of a command line that a shell will not read as its author means it.
func (h Handler) Lint(key, line string) {
	if h.File.OS == "windows" {
		return
	}
	at := h.At(key)
	file, err := shline.Parse(line, true)
	if err != nil {
		h.Warn(at, "a shell that cannot read its line may exit with 2, which refuses", "the command line does not parse: %v", err)
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 && splits(n.Args[0]) {
				h.Warn(at, "quote it: \"$DIR\"/hook.sh", "an unquoted variable in the program's path: a space in it ends the path")
			}
		case *syntax.SglQuoted:
			if strings.Contains(n.Value, "${CLAUDE_") || strings.Contains(n.Value, "${PLUGIN_") {
				h.Warn(at, "use double quotes", "placeholders are variables, which single quotes keep from being read")
			}
		}
		return true
	})
}

// splits reports whether a variable begins the path that w is, without quotes around it.
func splits(w *syntax.Word) bool {
	for i, part := range w.Parts {
		if _, ok := part.(*syntax.ParamExp); !ok || i+1 == len(w.Parts) {
			continue
		}
		if lit, ok := w.Parts[i+1].(*syntax.Lit); ok && strings.HasPrefix(lit.Value, "/") {
			return true
		}
	}
	return false
}
