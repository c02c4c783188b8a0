package native

import (
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/internal/doc"
)

// advice is what the field says of a string it cannot be.
func (l *loader) advice(n *doc.Node, f field) string {
	if f.advise == nil || n.Kind != doc.String && n.Kind != doc.Word {
		return ""
	}
	return f.advise(n.Text)
}

// adviseOn knows the other systems' names of the triggers, and those of pawl that no file can hook.
func adviseOn(value string) string {
	if _, ok := carrierOf(value); ok {
		return ""
	}
	for _, row := range pawl.TriggerRows() {
		_, here := carrierOf(string(row.Trigger))
		switch {
		case here && value != "" && (value == row.ZeroCode || slices.Contains(strings.Split(row.Zidane, ", "), value)):
			return "here it is called " + string(row.Trigger)
		case value == string(row.Trigger):
			return "a native file has " + strings.Join(triggerWords(), ", ") + "; the others are for Go hooks and for the hosts' files"
		}
	}
	return ""
}

func adviseTool(value string) string {
	switch {
	case value == "*" || value == ".*":
		return "leave `tool` out for every tool"
	case value == "" || toolGrammar.MatchString(value):
		return ""
	case strings.ContainsRune(value, '('):
		return "a rule over arguments stands in `if`: if = " + doc.Quote(value)
	}
	return "`tool` is one name; a regular expression over names stands in `match`"
}

func adviseOutput(value string) string {
	switch value {
	case "deny", "block", "reject", "fail":
		return `write "refuse"`
	case "allow", "permit", "approve":
		return "no output permits: a hook may narrow what the policy decided and never widen it"
	}
	return ""
}
