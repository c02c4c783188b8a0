package config_test

import (
	"bytes"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/config"
	"github.com/pawl-hooks/pawl/dialect"
)

// FuzzStore asks that a trust store is read whole or not at all: what was read is written and read as the same.
func FuzzStore(f *testing.F) {
	for _, s := range []string{
		`{"version":1,"hooks":{"k":{"definition":"d","scripts":{"./a":"1"},"revoked":true,"enabled":false,"name":"n","command":"c"}},"projects":{"/w":{"trusted":true}}}`,
		`{"version":2}`, `{"version":1,"hooks":null}`, `{"version":1,"Hooks":{}}`, `{"version":1,"hooks":{"a":{},"a":{}}}`, `{"version":1,"extra":1}`, `[]`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := config.Reread(data)
		if err != nil {
			require.Nil(t, once)
			return
		}
		twice, err := config.Reread(once)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
		for _, no := range []string{`"revoked":true`, `"enabled":false`, `"trusted":false`} {
			require.GreaterOrEqual(t, bytes.Count(once, []byte(no)), bytes.Count(data, []byte(no+",")), "a no was lost")
		}
	})
}

// FuzzRequirements asks of what an organisation requires that it loads whole or not at all,
// and that what it brings registers.
func FuzzRequirements(f *testing.F) {
	for _, s := range []string{
		"allow_managed_hooks_only = true\n" + inline("x"), "[features]\nhooks = false\n", "[hooks]\nmanaged_dir = \"/m\"\n", "hooks = 3", "[[hooks]]", lint, "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := config.Load(config.Options{
			FS:   fstest.MapFS{"w/.git/HEAD": {}, "r.toml": {Data: data}, "h/.zerotwo/hooks.json": {Data: []byte(hooks("x"))}},
			Home: "/h", Root: "/w", Requirements: []string{"/r.toml"}, Getenv: func(string) string { return "" },
		})
		if err != nil {
			require.Empty(t, set.Hooks)
			require.True(t, dialect.HasErrors(set.Issues))
			return
		}
		for _, h := range set.Hooks {
			require.Equal(t, "managed", h.Origin.Layer)
		}
		_, err = pawl.New(pawl.Options{}, set.Hooks...)
		require.NoError(t, err)
	})
}
