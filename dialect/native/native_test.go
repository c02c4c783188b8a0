package native_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/dialect/native"
)

var update = flag.Bool("update", false, "write what the loader says over the golden files")

const corpus = "../../testdata/config"

// files lists the hook files of one part of the corpus; none is a failure of the test, not a pass.
func files(t testing.TB, part string) []string {
	var list []string
	err := filepath.WalkDir(filepath.Join(corpus, part, "native"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && filepath.Ext(path) != ".want" {
			list = append(list, path)
		}
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, list)
	return list
}

// golden compares what was said of a file with the .want beside it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	want := path + ".want"
	if *update {
		require.NoError(t, os.WriteFile(want, []byte(got), 0o644))
	}
	b, err := os.ReadFile(want)
	require.NoError(t, err, "run with -update, then read what it wrote")
	require.Equal(t, string(b), got)
}

func TestValidFilesLoadAsTheyStand(t *testing.T) {
	for _, path := range files(t, "valid") {
		t.Run(strings.TrimPrefix(path, corpus+"/"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			file, issues := native.Load(filepath.Base(path), data, native.Options{Layer: "project", Root: "/w"})
			require.False(t, dialect.HasErrors(issues), "%v", issues)
			_, err = pawl.New(pawl.Options{}, file.Hooks...)
			require.NoError(t, err, "what loads registers")
			golden(t, path, shown(file, issues))
		})
	}
}

func TestInvalidFilesGiveEveryFaultAtItsPlaceAndNoHook(t *testing.T) {
	for _, path := range files(t, "invalid") {
		t.Run(strings.TrimPrefix(path, corpus+"/"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			file, issues := native.Load(filepath.Base(path), data, native.Options{})
			require.Empty(t, file.Hooks)
			require.True(t, dialect.HasErrors(issues))
			golden(t, path, shown(file, issues))
		})
	}
}

func shown(file native.File, issues []dialect.Issue) string {
	var b strings.Builder
	for _, h := range file.Hooks {
		p := h.Handler.(command.Program)
		fmt.Fprintf(&b, "%s on %s\n", h.Name, h.On)
		for _, row := range [][2]any{
			{"match", h.Match}, {"effects", h.Effects}, {"timeout", h.Timeout}, {"open", h.FailOpen}, {"shadow", h.Shadow},
			{"origin", h.Origin}, {"run", fmt.Sprintf("%q", p.Args)}, {"dir", p.Dir}, {"env", fmt.Sprintf("%q", p.Env)}, {"codec", p.Codec}, {"limit", p.Limit}, {"keep", p.Keep},
		} {
			if s := fmt.Sprint(row[1]); s != "" && s != "<nil>" && s != "false" && s != "[]" && s != "0" {
				fmt.Fprintf(&b, "  %-8s%s\n", row[0], s)
			}
		}
	}
	for _, i := range issues {
		b.WriteString(i.Caret())
	}
	return b.String()
}
