package native_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/dialect/native"
)

func TestEncodedFilesLoadAsWhatTheyWere(t *testing.T) {
	for _, path := range files(t, "valid") {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		file, _ := native.Load(path, data, native.Options{})
		written, err := native.Encode(file.Specs...)
		require.NoError(t, err, path)
		again, issues := native.Load("f.toml", written, native.Options{})
		require.False(t, dialect.HasErrors(issues))
		require.Equal(t, file.Specs, again.Specs, path)
	}
}

func TestAnyTextSurvivesEncoding(t *testing.T) {
	text := rapid.StringMatching(`[^\x00]*`)
	rapid.Check(t, func(t *rapid.T) {
		var specs []native.Spec
		for i := range rapid.IntRange(1, 20).Draw(t, "hooks") {
			s := native.Spec{Name: fmt.Sprint("h", i), On: "tool.before", Output: "refuse", TimeoutMS: rapid.Int64Range(1, 600_000).Draw(t, "timeout")}
			s.Run = append([]string{"x"}, rapid.SliceOfN(text, 0, 15).Draw(t, "words")...)
			s.Env = native.Environment{"A=" + text.Draw(t, "env")}
			s.FailOpen = rapid.Bool().Draw(t, "open")
			specs = append(specs, s)
		}
		data, err := native.Encode(specs...)
		require.NoError(t, err)
		file, issues := native.Load("f.toml", data, native.Options{})
		require.False(t, dialect.HasErrors(issues), "%v", issues)
		require.Equal(t, specs, file.Specs)
	})
}

func TestEncodeRefusesWhatWouldNotLoad(t *testing.T) {
	for name, s := range map[string]native.Spec{
		"no program":    {Name: "a", On: "tool.after"},
		"bad name":      {Name: "A", On: "tool.after", Run: []string{"x"}},
		"invalid UTF-8": {Name: "a", On: "tool.after", Run: []string{"\xff"}},
		"a NUL":         {Name: "a", On: "tool.after", Run: []string{"x", "\x00"}},
		"bad variable":  {Name: "a", On: "tool.after", Run: []string{"x"}, Env: native.Environment{"A B=1"}},
		"another event": {Name: "a", On: "turn.stop", Run: []string{"x"}},
	} {
		data, err := native.Encode(s)
		require.Nil(t, data, name)
		var issues *dialect.IssueError
		require.ErrorAs(t, err, &issues, name)
	}
	data, err := native.Encode()
	require.NoError(t, err)
	require.Empty(t, data)
}
