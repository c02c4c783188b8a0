package guard_test

import (
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
	"github.com/stretchr/testify/require"
)

// FuzzLoad asks that no file of guards loads in half, and that what loads registers.
func FuzzLoad(f *testing.F) {
	f.Add(uint8(0), []byte(whole))
	for _, s := range []string{"[repeat]\ntools = 3", "[tool_budgets]\nx = { max = 0 }", "[dedup]\nwait_ms = 1e99", "[redact]\npatterns = ['(']", "[[once]]\non = 'x'", "[repeat]\n[repeat]"} {
		f.Add(uint8(0), []byte(s))
	}
	f.Add(uint8(1), []byte(`{"truncate":[{"max":10,"keep":"both"}],"output_budget":{"max":1}}`))
	f.Add(uint8(2), []byte(`.{ .once = .{ .{ .on = "prompt.submit", .note = "x" } } }`))
	f.Fuzz(func(t *testing.T, format uint8, data []byte) {
		hooks, err := guard.Load([]string{"f.toml", "f.json", "f.zon"}[format%3], data)
		if err != nil {
			require.Nil(t, hooks)
			require.Regexp(t, `^f\.(toml|json|zon):\d+:\d+: `, err.Error())
			return
		}
		_, err = pawl.New(pawl.Options{}, hooks...)
		require.NoError(t, err)
	})
}
