package native

import (
	"slices"

	"github.com/pawl-hooks/pawl"
)

// A carrier is a trigger of the file and what it can carry: chock's table.
type carrier struct {
	trigger pawl.Trigger
	outputs []string
	tool    bool        // it is about a tool call
	changes pawl.Effect // what rewrite and replace may ask for
}

var carriers = []carrier{
	{pawl.SessionStart, []string{"ignore", "refuse"}, false, 0},
	{pawl.SessionEnd, []string{"ignore"}, false, 0},
	{pawl.ToolBefore, []string{"ignore", "refuse", "note"}, true, pawl.MayRewrite | pawl.MayReplace},
	{pawl.ToolAfter, []string{"ignore", "note"}, true, pawl.MayReplace},
}

func triggerWords() []string {
	var words []string
	for _, c := range carriers {
		words = append(words, string(c.trigger))
	}
	return words
}

func carrierOf(trigger string) (carrier, bool) {
	i := slices.IndexFunc(carriers, func(c carrier) bool { return string(c.trigger) == trigger })
	if i < 0 {
		return carrier{}, false
	}
	return carriers[i], true
}
