package gate

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/pawl-hooks/pawl/internal/doc"
)

// blankFault says why a pattern that was written in a file matches nothing: what its author does not see is no part of
// a name.
func blankFault(p string) (why, hint string) {
	clean := strings.TrimSpace(p)
	switch {
	case clean != p && clean != "":
		return "a blank beside the name", "write " + doc.Quote(clean)
	case strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsGraphic(r) }):
		return "a character that is not seen", "write the name anew"
	}
	return "", ""
}

// execClasses are what [ExecNamer] puts before a program's name.
var execClasses = []string{"exec.path", "exec.workspace", "exec.devshell", "exec.nix.store"}

// actionFault says why no program has an action that a pattern speaks of, and what to write. What does not begin with
// exec is a runtime's own and not known here.
func actionFault(p string) (why, hint string) {
	stem, below := strings.CutSuffix(p, ".*")
	first, _, _ := strings.Cut(stem, ".")
	if !strings.EqualFold(first, "exec") {
		return "", ""
	}
	lower := strings.ToLower(stem)
	for _, class := range execClasses {
		if name, ok := strings.CutPrefix(lower, class+"."); ok && strings.HasPrefix(stem, class) {
			return programFault(class, stem[len(stem)-len(name):], below)
		}
	}
	return classFault(stem, lower, below)
}

// classFault is [actionFault] for what names no program.
func classFault(stem, lower string, below bool) (why, hint string) {
	const none = "no action is called so"
	for _, group := range append([]string{"exec", "exec.nix"}, execClasses...) {
		switch {
		case stem == group && below:
			return "", ""
		case stem == group:
			return "it is the beginning of actions, and none by itself", fmt.Sprintf("write %q", group+".*")
		}
	}
	switch {
	case stem == Unparsed && !below:
		return "", ""
	case stem == Unparsed:
		return "there is nothing below it", fmt.Sprintf("write %q", Unparsed)
	}
	for _, class := range append([]string{Unparsed, "exec.nix"}, execClasses...) {
		if lower == class || strings.HasPrefix(lower, class+".") {
			return none, "write " + class + " in lowercase letters"
		}
	}
	words := strings.SplitN(lower, ".", 3)
	if hint := doc.DidYouMean(strings.Join(words[:min(2, len(words))], "."), append([]string{Unparsed}, execClasses...)...); hint != "" {
		return none, hint
	}
	return none, "programs are exec.path.NAME, exec.workspace.PATH, exec.devshell.PATH and exec.nix.store.PATH; exec.* is every one"
}

// programFault is [actionFault] for a program of a class. The parts of its name are escaped as [ExecNamer] does it.
func programFault(class, name string, below bool) (why, hint string) {
	parts := strings.Split(name, ".")
	bare := class == "exec.path"
	for _, part := range parts {
		switch {
		case part == "":
			return "nothing between two dots", "write " + class + ".NAME, or " + class + ".*"
		case strings.Contains(part, "/"):
			return "a slash in a name", "dots stand between the parts of a path: exec.workspace.scripts.check"
		case strings.Contains(strings.NewReplacer("%2E", "", "%25", "").Replace(part), "%"):
			return "a percent sign that escapes nothing", "a dot within a name is written %2E, and a percent sign %25"
		case bare && strings.ContainsFunc(part, unicode.IsSpace):
			return "a blank in a program's name", "the action is the program's alone, whatever its arguments: exec.path." + strings.Fields(part)[0]
		}
	}
	switch {
	case bare && len(parts) > 1:
		return "a program of the path is one name", "a dot within it is written %2E: exec.path." + strings.Join(parts, "%2E")
	case bare && below:
		return "there is nothing below a program of the path", fmt.Sprintf("write %q", class+"."+name)
	}
	return "", ""
}
