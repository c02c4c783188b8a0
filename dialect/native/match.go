package native

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/internal/doc"
)

// matcher joins what the hook is about; nil is every event of its trigger.
func (h *hook) matcher(c carrier) pawl.Matcher {
	var all []pawl.Matcher
	if h.good("tool") {
		all = append(all, pawl.Names(h.Tool))
	}
	if h.good("match") {
		if m := h.pattern(c); m != nil {
			all = append(all, m)
		}
	}
	if h.good("paths") {
		h.globs(c)
		all = append(all, pawl.Paths(h.Paths...))
	}
	if h.good("if") {
		m, err := pawl.Args(h.If)
		if err = errors.Join(err, h.dead(c, m)); err != nil {
			h.Fault(h.at("if"), `write it as TOOL(ARGUMENT), with * for anything: Bash(git push *)`, "`if` %s: %s", doc.Quote(h.If), problem(err))
		} else {
			h.apart()
		}
		all = append(all, m)
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return pawl.All(all...)
}

// pattern makes the matcher of match, or nil where it is no good.
func (h *hook) pattern(c carrier) pawl.Matcher {
	re, err := regexp.Compile(h.Match)
	if err != nil {
		h.Fault(h.at("match"), patternHint(h.Match), "`match` %s does not compile: %s", doc.Quote(h.Match), problem(err))
		return nil
	}
	m, err := pawl.Regexp(h.Match)
	if err != nil || h.dead(c, m) != nil {
		hint := "a tool's name has no spaces, and ^ and $ stand at its ends: ^(read|write)_file$"
		if strings.ContainsRune(h.Match, '(') && strings.HasSuffix(h.Match, ")") {
			hint = "a rule over arguments stands in `if`: if = " + doc.Quote(h.Match)
		}
		h.Fault(h.at("match"), hint, "`match` %s can never match a tool's name", doc.Quote(h.Match))
		return nil
	}
	if h.good("tool") && !re.MatchString(h.Tool) {
		h.warn(h.at("match"), "leave one of them out, or write what one name fits both", "`match` %s does not match the tool %s: the hook runs only where an alias of the tool does", doc.Quote(h.Match), doc.Quote(h.Tool))
	}
	return m
}

// apart warns of an `if` about another tool than `tool` or `match` is. It is no error, as what can never match is: what
// tools are called is the runtime's to say, and an alias may bring any two names together.
func (h *hook) apart() {
	about, _, _ := strings.Cut(h.If, "(")
	if h.good("tool") && about != h.Tool {
		h.warn(h.at("if"), "write one name in both, or leave `tool` out", "`if` %s is not about the tool %s: the hook runs only where one tool has both names", doc.Quote(h.If), doc.Quote(h.Tool))
		return
	}
	re, err := regexp.Compile(h.Match)
	if h.good("match") && !h.good("tool") && err == nil && !re.MatchString(about) {
		h.warn(h.at("if"), "`if` names its tool: leave `match` out", "`match` %s does not match the tool of `if` %s: the hook runs only where one tool has names for both", doc.Quote(h.Match), doc.Quote(h.If))
	}
}

func patternHint(expr string) string {
	switch {
	case expr == "*":
		return "leave `match` out for every tool"
	case strings.Contains(expr, "(?=") || strings.Contains(expr, "(?!") || strings.Contains(expr, "(?<=") || strings.Contains(expr, "(?<!"):
		return "lookaround is not supported; list the names, or match more and let the hook decide"
	case strings.HasPrefix(expr, "*"):
		return "this is a regular expression, not a glob: * repeats what stands before it; write .*"
	}
	return "regular expressions are Go's (RE2)"
}

// globs checks each of the paths at its own place.
func (h *hook) globs(c carrier) {
	for i, glob := range h.Paths {
		if err := h.dead(c, pawl.Paths(glob)); err != nil {
			h.Fault(h.node.Get("paths").Items[i].Pos, "globs are those of Go's path.Match, and **", "`paths[%d]`: %s", i, problem(err))
		}
	}
}

// dead asks the registry whether m can match anything at the trigger.
func (h *hook) dead(c carrier, m pawl.Matcher) error {
	if m == nil {
		return nil
	}
	_, err := pawl.New(pawl.Options{Triggers: map[pawl.Trigger]pawl.Contract{c.trigger: h.contract(c.trigger)}},
		pawl.Hook{Name: "x", On: c.trigger, Match: m, Handler: pawl.Observer(func(context.Context, *pawl.Event) {})})
	return err
}

// problem is an error without what the place already says.
func problem(err error) string {
	var h *pawl.HookError
	var s *syntax.Error
	switch {
	case errors.As(err, &h):
		return h.Problem
	case errors.As(err, &s):
		return fmt.Sprintf("%s: %s", s.Code, doc.Quote(s.Expr))
	}
	return err.Error()
}
