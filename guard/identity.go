package guard

import (
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pawl-hooks/pawl"
)

// canonical returns the value with its members in order, without white space and with numbers as they were
// written. A value that is not JSON, or repeats a name and so reads differently to each reader, stands for
// itself alone.
func canonical(v json.RawMessage) string {
	c := jsontext.Value(slices.Clone(v))
	if err := c.Format(jsontext.ReorderRawObjects(true)); err != nil {
		return "raw:" + string(v)
	}
	return string(c)
}

// lookup finds the entry for the event's tool, by its name or an alias, and the name it stands under.
func lookup[T any](table map[string]T, ev *pawl.Event) (name string, found T, ok bool) {
	if found, ok = table[ev.Tool]; ok {
		return ev.Tool, found, true
	}
	for _, alias := range ev.Aliases {
		if found, ok = table[alias]; ok {
			return alias, found, true
		}
	}
	return "", found, false
}
