// Package examples_test holds that the programs of this folder do what the README says they do.
package examples_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the quoted sections of the README and the expected outputs")

const top = ".."

// Every example has an output.txt beside it with what it prints.
func TestEveryExamplePrintsWhatIsExpected(t *testing.T) {
	mains, err := filepath.Glob("*/main.go")
	require.NoError(t, err)
	require.NotEmpty(t, mains)
	for _, main := range mains {
		dir := filepath.Dir(main)
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			got := output(t, dir)
			golden := filepath.Join(dir, "output.txt")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

func TestTheReadmeQuotesTheQuickstartAndTheProgram(t *testing.T) {
	program, err := os.ReadFile("refuse/main.go")
	require.NoError(t, err)
	printed, err := os.ReadFile("quickstart/output.txt")
	require.NoError(t, err)
	readme, err := os.ReadFile(filepath.Join(top, "README.md"))
	require.NoError(t, err)
	want := string(readme)
	want = section(t, want, "program", "```go\n"+string(program)+"```\n")
	want = section(t, want, "quickstart", "```text output\n"+string(printed)+"```\n")
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(top, "README.md"), []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(readme), "go test ./examples -update")
}

// Only the first example may take more room than fits on two screens.
func TestExamplesStaySmall(t *testing.T) {
	mains, err := filepath.Glob("*/main.go")
	require.NoError(t, err)
	for _, main := range mains {
		text, err := os.ReadFile(main)
		require.NoError(t, err)
		if lines := bytes.Count(text, []byte("\n")); filepath.Dir(main) != "quickstart" {
			require.LessOrEqual(t, lines, 80, main)
		}
	}
}

// section replaces what stands between a pair of markers.
func section(t *testing.T, text, name, with string) string {
	t.Helper()
	begin, end := "<!-- "+name+":begin -->\n", "<!-- "+name+":end -->\n"
	head, rest, found := strings.Cut(text, begin)
	require.True(t, found, begin)
	_, tail, found := strings.Cut(rest, end)
	require.True(t, found, end)
	return head + begin + with + end + tail
}

// output is what an example prints, from the top of the repository, without what differs between runs.
func output(t *testing.T, dir string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "example")
	build := exec.Command("go", "build", "-o", program, "./"+dir)
	built, err := build.CombinedOutput()
	require.NoError(t, err, string(built))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.Dir = top
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), errs.String())
	return seconds.ReplaceAllString(out.String(), "0.00s")
}

// seconds are how long a test took, as go test prints it.
var seconds = regexp.MustCompile(`\d+\.\d+s|\(cached\)`)
