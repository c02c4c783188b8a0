package hostfile

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/internal/match"
	"github.com/pawl-hooks/pawl/wire"
)

// A Style is how a host reads its matchers.
type Style struct {
	Exact    func(rune) bool // a matcher of these characters alone is a list of exact names
	Between  string          // the characters that separate the names
	Engine   string          // whose regular expressions the others are
	Foreign  *regexp.Regexp  // what those have and Go's have not, or read otherwise
	Sources  map[string][]string
	Trimming bool // white space around a name of a list does not count
}

// sources are what an event's source can be; a name that is none of them never fires. A host's own list
// adds to them.
var sources = map[string][]string{
	"SessionStart": {"startup", "resume", "clear", "compact"},
	"SessionEnd":   {"other"},
	"PreCompact":   {"manual", "auto"},
	"PostCompact":  {"manual", "auto"},
}

// compile reads the group's matcher, once for all of its handlers.
func (g Group) compile(style Style) (m pawl.Matcher, text string, absent bool) {
	if g.Matcher == nil || g.Matcher.Kind != doc.String {
		return nil, "", true
	}
	text = g.Matcher.Text
	if g.Event.Matches == "" {
		if text != "" && text != "*" {
			g.report(dialect.Warning, g.Matcher.Pos, "remove it", "%s has nothing to match: the matcher %s has no effect", g.Event.Name, doc.Quote(text))
		}
		return nil, "", true
	}
	switch {
	case text == "" || text == "*":
		return nil, text, false
	case strings.IndexFunc(text, func(c rune) bool { return !style.Exact(c) }) < 0:
		return g.exact(style), text, false
	}
	return g.pattern(style), text, false
}

// exact reads a list of whole names.
func (g Group) exact(style Style) pawl.Matcher {
	var names []string
	for _, n := range strings.FieldsFunc(g.Matcher.Text, func(c rune) bool { return strings.ContainsRune(style.Between, c) }) {
		if style.Trimming {
			n = strings.TrimSpace(n)
		}
		if n != "" {
			names = append(names, n)
		}
	}
	possible := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !g.canBe(style, n) })
	if len(possible) == 0 {
		g.Doubt(g.Matcher.Pos, g.hint(style), "matcher %s can never match %s", doc.Quote(g.Matcher.Text), g.subject())
		return never(g.Matcher.Text)
	}
	for _, n := range names {
		if server, ok := strings.CutPrefix(n, "mcp__"); ok && g.Event.Matches == "tool" && !strings.Contains(server, "__") {
			g.report(dialect.Warning, g.Matcher.Pos, "write "+n+"__.* for every tool of the server",
				"matcher %s is one exact name, and no tool of a server is called by the server alone", doc.Quote(n))
		}
	}
	if g.Event.Matches == "tool" {
		names = withAliased(possible)
	}
	return pawl.Names(names...)
}

// withAliased adds the tools that answer to one of names, for runtimes that do not say so themselves.
func withAliased(names []string) []string {
	for _, tool := range wire.Aliased() {
		if !slices.Contains(names, tool) && slices.ContainsFunc(wire.Aliases(tool), func(a string) bool { return slices.Contains(names, a) }) {
			names = append(names, tool)
		}
	}
	return names
}

// pattern reads a regular expression, which is not anchored.
func (g Group) pattern(style Style) pawl.Matcher {
	text := g.Matcher.Text
	re, err := regexp.Compile(text)
	if err != nil {
		hint := "matchers are regular expressions; those of Go have no look-around and no back-references"
		if look.MatchString(text) {
			hint = "lookaround is not supported here: list the names, or match more and let the hook decide"
		}
		g.report(dialect.Error, g.Matcher.Pos, hint, "matcher %s does not compile: %s", doc.Quote(text),
			strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return never(text)
	}
	if style.Foreign.MatchString(text) {
		g.report(dialect.Error, g.Matcher.Pos, "write it otherwise", "matcher %s means something else in %s than here", doc.Quote(text), style.Engine)
		return never(text)
	}
	if g.Event.Matches == "tool" {
		if rule.MatchString(text) || !match.CanMatch(text, func(c rune) bool { return !notInName(c) }) {
			g.Doubt(g.Matcher.Pos, g.hint(style), "matcher %s can never match a tool's name", doc.Quote(text))
			return never(text)
		}
		return indexed(text, re)
	}
	if known := g.sources(style); known != nil && !slices.ContainsFunc(known, re.MatchString) {
		g.Doubt(g.Matcher.Pos, g.hint(style), "matcher %s can never match %s", doc.Quote(text), g.subject())
		return never(text)
	}
	return compiled(text)
}

var (
	// look is look-around in any of its spellings.
	look = regexp.MustCompile(`\(\?<?[=!]`)
	// rule is a permission rule written where a name belongs: Bash(git push*).
	rule = regexp.MustCompile(`^\w+\([^|()]*([ :/][^|()]*|\w\*)\)$`)
	// ruleLike is what pawl.Regexp takes for such a rule.
	ruleLike = regexp.MustCompile(`^\w+\([^|()]*\*\)$`)
)

// indexed is the expression, and the tools that answer to a name it matches.
func indexed(text string, re *regexp.Regexp) pawl.Matcher {
	expr := text
	if ruleLike.MatchString(text) {
		expr = "(?:" + text + ")"
	}
	for _, tool := range wire.Aliased() {
		if !re.MatchString(tool) && slices.ContainsFunc(wire.Aliases(tool), re.MatchString) {
			expr = "(?:" + expr + ")|^" + tool + "$"
		}
	}
	return compiled(expr)
}

func compiled(expr string) pawl.Matcher {
	m, err := pawl.Regexp(expr)
	if err != nil {
		return never(expr) // it compiled a moment ago
	}
	return m
}

// Meets reports whether the group can be about a tool of a name, or about one that is known to answer to it. What can
// never match has been told of already, and counts as being about it.
func (g Group) Meets(tool string) bool {
	if _, told := g.Match.(never); told || g.Match == nil {
		return true
	}
	meets := func(name string) bool { return g.Match.Match(&pawl.Event{Trigger: g.Event.Trigger, Tool: name}) }
	return meets(tool) || slices.ContainsFunc(wire.Aliased(), func(other string) bool {
		return slices.Contains(wire.Aliases(other), tool) && meets(other)
	})
}

// canBe reports whether the event could ever have the name.
func (g Group) canBe(style Style, name string) bool {
	if known := g.sources(style); known != nil {
		return slices.Contains(known, name)
	}
	return g.Event.Matches != "tool" || !strings.ContainsFunc(name, notInName)
}

func (g Group) sources(style Style) []string {
	if g.Event.Matches != "source" {
		return nil
	}
	return slices.Concat(sources[g.Event.Name], style.Sources[g.Event.Name])
}

func (g Group) subject() string {
	switch g.Event.Matches {
	case "tool":
		return "a tool's name"
	case "agent":
		return "an agent's type"
	}
	return "what " + g.Event.Name + " can be about"
}

func (g Group) hint(style Style) string {
	if known := g.sources(style); known != nil {
		return "it is one of " + strings.Join(known, ", ")
	}
	if rule.MatchString(g.Matcher.Text) || ruleLike.MatchString(g.Matcher.Text) {
		return "a rule about arguments is no matcher: match the tool's name and read the arguments in the hook"
	}
	return ""
}

// notInName reports what no tool's name holds.
func notInName(c rune) bool {
	return unicode.IsSpace(c) || unicode.IsControl(c) || strings.ContainsRune("()[]{}<>\"'`*?|&;$\\", c)
}

// never is a matcher that an issue was reported about: its hook is listed, and fires for nothing.
type never string

func (m never) String() string         { return string(m) }
func (m never) Match(*pawl.Event) bool { return false }
func (m never) MatchName(string) bool  { return false }

// Either matches where one of ms does; a nil one accepts everything.
func Either(ms ...pawl.Matcher) pawl.Matcher {
	if slices.Contains(ms, nil) {
		return nil
	}
	return either(ms)
}

type either []pawl.Matcher

func (m either) String() string {
	var parts []string
	for _, one := range m {
		parts = append(parts, one.String())
	}
	return strings.Join(parts, " or ")
}

func (m either) Match(ev *pawl.Event) bool {
	return slices.ContainsFunc(m, func(one pawl.Matcher) bool { return one.Match(ev) })
}
