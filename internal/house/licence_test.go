package house_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// licences are told by words that stand in their text and in no other's.
var licences = map[string]string{
	"MIT":          "Permission is hereby granted, free of charge",
	"BSD-3-Clause": "Neither the name of",
	"Apache-2.0":   "Apache License Version 2.0",
	"MPL-2.0":      "Mozilla Public License Version 2.0",
}

// Every module that is depended on directly has a row, with its reason and the licence that it comes with.
func TestDependenciesHaveAReasonAndTheirLicence(t *testing.T) {
	page, err := os.ReadFile(root + "/CONTRIBUTING.md")
	require.NoError(t, err)
	rows := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+/[^`]+)` \\| (\\S+) \\| .*\\w.* \\| .*\\w.* \\|$").FindAllStringSubmatch(string(page), -1) {
		rows[m[1]] = m[2]
	}
	for _, path := range direct(t) {
		said, found := rows[path]
		delete(rows, path)
		if !found {
			t.Errorf("go.mod requires %s, and CONTRIBUTING.md has no row for it: add one with its licence, what it is for and why it is not our own", path)
		} else if is := licence(t, path); is != said {
			t.Errorf("CONTRIBUTING.md says that %s is under %s, its own file says %s", path, said, is)
		}
	}
	for path := range rows {
		t.Errorf("CONTRIBUTING.md has a row for %s, which go.mod does not require directly", path)
	}
}

// direct are the modules that go.mod requires for this module's own packages.
func direct(t *testing.T) (paths []string) {
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	goJSON(t, &mod, "mod", "edit", "-json")
	for _, r := range mod.Require {
		if !r.Indirect {
			paths = append(paths, r.Path)
		}
	}
	require.NotEmpty(t, paths)
	return paths
}

// licence is what a module's own file in the module cache says that it is under.
func licence(t *testing.T, path string) string {
	var module struct{ Dir string }
	goJSON(t, &module, "mod", "download", "-json", path)
	for _, name := range []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING"} {
		text, err := os.ReadFile(filepath.Join(module.Dir, name))
		if err != nil {
			continue
		}
		words := strings.Join(strings.Fields(string(text)), " ")
		for licence, mark := range licences {
			if strings.Contains(words, mark) {
				return licence
			}
		}
		return "none that this test knows: " + filepath.Join(module.Dir, name)
	}
	return "nothing: there is no such file in " + module.Dir
}

// goJSON reads what the go command prints about this module.
func goJSON(t *testing.T, into any, words ...string) {
	cmd := exec.Command("go", words...)
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err, "go %s: %s", strings.Join(words, " "), out)
	require.NoError(t, json.Unmarshal(out, into))
}
