package config_test

import (
	"testing"

	"github.com/pawl-hooks/pawl/config"
	"github.com/stretchr/testify/require"
)

func TestDialectIsSeenFromNameAndShape(t *testing.T) {
	for _, c := range []struct{ file, content, want string }{
		{"/r/.pawl/hooks.json", `{"hooks":{}}`, "native"},
		{"/r/hooks.zon", `.{}`, "native"},
		{"/r/hooks.toml", "[[hooks]]\nname = \"x\"", "native"},
		{"/r/hooks.toml", "max_hooks = 9", "native"},
		{"/r/hooks.json", `{"hooks":[]}`, "native"},
		{"/r/hooks.toml", "[[hooks.Stop]]", "zerocode"},
		{"/r/config.toml", "[[hooks]]\nevent = \"Stop\"", "zerocode"},
		{"/r/.codex/other.json", `{}`, "zerocode"},
		{"/r/.zerotwo/hooks.json", `[]`, "zerocode"},
		{"/r/requirements.toml", ``, "zerocode"},
		{"/r/hooks.json", `{"description":"d","hooks":{"Stop":[]}}`, "zerocode"},
		{"/r/hooks.json", `{`, "zerocode"},
		{"/r/.claude/hooks.json", `{"hooks":{"Stop":[]}}`, "claude"},
		{"/r/settings.json", `{"hooks":{"Stop":[]}}`, "claude"},
		{"/r/settings.local.json", `{`, "claude"},
		{"/r/my.json", `{"model":"x","hooks":{"Stop":[]}}`, "claude"},
		{"/r/hooks.json", `{"hooks":{"Notification":[]}}`, "claude"},
		{"/r/hooks.json", `{"hooks":{"Stop":[{"hooks":[{"type":"http","url":"u"}]}]}}`, "claude"},
		{"/r/hooks.json", `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"x","if":"Bash(git *)"}]}]}}`, "claude"},
		{"/r/hooks.json", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"\"$CLAUDE_PROJECT_DIR\"/x"}]}]}}`, "claude"},
		{"/r/hooks.json", `{"hooks":{"Stop":"text","PreToolUse":[7,{"hooks":[null]}]}}`, "zerocode"},
		{"/r/hooks.json", `null`, "native"},
		{"/r/notes.txt", `hello`, "native"},
	} {
		t.Run(c.file+" "+c.content, func(t *testing.T) {
			require.Equal(t, c.want, config.DialectOf(c.file, []byte(c.content)))
		})
	}
}
