package gate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

// FuzzParsePolicy asks that no policy loads in half, that one that loads decides about every command, and that
// a ceiling over it only narrows.
func FuzzParsePolicy(f *testing.F) {
	f.Add(uint8(0), []byte("[[rules]]\naction = \"exec.path.*\"\ndecision = \"deny\"\n[[agents]]\nkind=\"sub\"\nparent=\"main\"\n[[agents]]\nkind=\"main\"\n"), "jq\x00.a")
	f.Add(uint8(1), []byte(`{"rules":[{"tool":"hook","model":"m","decision":"ask"}]}`), "/bin/sh\x00-c\x00x")
	f.Add(uint8(2), []byte(`.{ .policy = .{ .rules = .{ .{ .action = "exec.*", .decision = .allow } } } }`), "nix\x00develop\x00-c\x00zig")
	f.Add(uint8(0), []byte("[[rules]]\ndecision = \"\"\naction = \"*\""), "env\x00-S\x00a b")
	f.Add(uint8(1), []byte(`{"agents":[{"kind":"a","parent":"b"},{"kind":"b","parent":"a"}]}`), "")
	f.Fuzz(func(t *testing.T, format uint8, data []byte, words string) {
		p, err := gate.ParsePolicy([]string{"p.toml", "p.json", "p.zon"}[format%3], data)
		if err != nil {
			require.Nil(t, p)
			require.Regexp(t, `^p\.(toml|json|zon):\d+:\d+: `, err.Error())
			return
		}
		cmd := pawl.Command{Args: strings.Split(words, "\x00")}
		for _, ev := range []*pawl.Event{nil, {Model: "m", Agent: pawl.Agent{ID: "1", Type: "sub", Depth: 1}}} {
			was := p.Decide(ev, cmd)
			narrower := *p
			narrower.Ceilings = [][]gate.Rule{{{Action: "exec.*", Decision: gate.Deny}}}
			if is := narrower.Decide(ev, cmd); is.Action != "" {
				require.Equal(t, gate.Deny, is.Ruling, "%s", is)
			} else {
				require.NotEqual(t, gate.Allow, was.Ruling, "what has no name is not allowed: %s", was)
			}
		}
	})
}
