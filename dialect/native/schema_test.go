package native_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/dialect/native"
	"github.com/pawl-hooks/pawl/internal/doc"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(native.Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("native.json", v))
	s, err := c.Compile("native.json")
	require.NoError(t, err)
	return s
}

// asJSON writes a tree of any format as JSON; the empty literal of ZON as a list, which is what keys want.
func asJSON(n *doc.Node) string {
	var parts []string
	switch {
	case n.Is(doc.List):
		for _, i := range n.Items {
			parts = append(parts, asJSON(i))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case n.Kind == doc.Table:
		for _, f := range n.Fields {
			parts = append(parts, quoted(f.Name)+":"+asJSON(f.Value))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case n.Kind == doc.String, n.Kind == doc.Word, n.Kind == doc.Date:
		return quoted(n.Text)
	}
	return strings.ReplaceAll(n.Text, "_", "")
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// judged reports whether the schema takes a file, and whether the file could be parsed at all.
func judged(t *testing.T, s *jsonschema.Schema, path string) (err error, parsed bool) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	d, faults := doc.Parse(path, data, doc.FormatOf(path))
	if len(faults) > 0 {
		return nil, false
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(asJSON(d.Root)))
	require.NoError(t, err)
	return s.Validate(v), true
}

func TestTheSchemaTakesWhatLoads(t *testing.T) {
	s := compiled(t)
	for _, path := range files(t, "valid") {
		if strings.Contains(path, "beside-another-block") {
			continue // a ZON file of chock has blocks that are not about hooks
		}
		err, parsed := judged(t, s, path)
		require.True(t, parsed, path)
		require.NoError(t, err, path)
	}
}

func TestTheSchemaRefusesWhatItCanSay(t *testing.T) {
	beyond := []string{ // what no schema can say
		"name/twice.toml", "match/lookahead.toml", "match/a-permission-rule.toml", "match/a-permission-rule-among-words.toml", "match/bad-globs-and-rules.toml",
	}
	s, refused := compiled(t), 0
	for _, path := range files(t, "invalid") {
		rel, err := filepath.Rel(filepath.Join(corpus, "invalid/native"), path)
		require.NoError(t, err)
		err, parsed := judged(t, s, path)
		switch {
		case !parsed:
		case slices.Contains(beyond, filepath.ToSlash(rel)):
			require.NoError(t, err, "%s: the schema can say it after all", rel)
		default:
			require.Error(t, err, rel)
			refused++
		}
	}
	require.Greater(t, refused, 30)
}

func TestTheSchemaListsEveryKey(t *testing.T) {
	var s struct {
		Properties struct {
			Hooks struct {
				Items struct {
					Properties map[string]struct{ Description string }
					Required   []string
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(native.Schema(), &s))
	hook := s.Properties.Hooks.Items
	require.Equal(t, []string{"name", "on", "run"}, hook.Required)
	require.Len(t, hook.Properties, 18)
	for name, p := range hook.Properties {
		require.NotEmpty(t, p.Description, name)
	}
}
