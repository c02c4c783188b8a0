package main

import (
	"encoding/json"
	"go/format"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/gate"
	"github.com/pawl-hooks/pawl/guard"
)

// reader is who follows a page: somebody with Go, its caches, and the repository cloned into $WORK/pawl.
func reader(env *testscript.Env) error {
	names := []string{"GOCACHE", "GOMODCACHE", "GOPROXY"}
	values, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return err
	}
	for i, value := range strings.Split(strings.TrimSpace(string(values)), "\n") {
		env.Setenv(names[i], value)
	}
	env.Setenv("HOME", os.Getenv("HOME"))
	env.Setenv("GOBIN", env.WorkDir+"/bin")
	env.Values[printed{}] = new(strings.Builder)
	clone, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	return os.Symlink(clone, env.WorkDir+"/pawl")
}

// fenced is a block of a page. The words behind its fence say how it is followed:
//
//	sh                   each line is run; "# exit 3" behind one is the exit code that it must have
//	go                   it is vetted, and run where it is a program
//	FORMAT KIND FILE     it is written to FILE, and read as what it is
//	json record FILE     each line of it is in this log, where it has more fields
//	text output          a command before it printed this
//	FORMAT shape         for the eye alone; these are counted
type fenced struct {
	page, heading string
	words         []string
	text          string
	followed      bool
}

func (b *fenced) where() string { return b.page + ": " + b.heading }

// kind is the word that says how the block is followed.
func (b *fenced) kind() string {
	if len(b.words) > 1 {
		return b.words[1]
	}
	return b.words[0]
}

// book has the blocks of each page, under its name without .md.
type book map[string][]*fenced

func pages(t *testing.T) book {
	t.Helper()
	all := book{}
	for _, dir := range []string{"../..", "../../docs"} {
		paths, err := filepath.Glob(dir + "/*.md")
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			name := strings.TrimSuffix(filepath.Base(path), ".md")
			require.NotContains(t, all, name)
			all[name] = blocksOf(t, strings.TrimPrefix(filepath.ToSlash(path), "../../"), string(text))
		}
	}
	return all
}

// blocksOf finds the blocks of a page. Code without a fence, of which nobody could tell what it is, fails.
func blocksOf(t *testing.T, page, text string) (all []*fenced) {
	t.Helper()
	var open *fenced
	heading, blank := "", true
	for line := range strings.Lines(text) {
		words, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && open == nil:
			open = &fenced{page: page, heading: heading, words: strings.Fields(words)}
			require.NotEmpty(t, open.words, "%s: a fence that does not say what it holds", open.where())
		case fence:
			all, open = append(all, open), nil
		case open != nil:
			open.text += line
		case strings.HasPrefix(line, "#"):
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
		default:
			code := blank && regexp.MustCompile(`^(    |\t|~~~|<pre)`).MatchString(line)
			require.False(t, code, "%s: %s: code needs a fence that says what it holds:\n%s", page, heading, line)
		}
		blank = strings.TrimSpace(line) == ""
	}
	require.Nil(t, open, "%s: a fence is left open", page)
	return all
}

// follow [HEADING]: the blocks of the page that the script is named after, or those below one heading.
func (all book) follow(ts *testscript.TestScript, neg bool, args []string) {
	heading, found := strings.Join(args, " "), false
	for _, b := range all[ts.Name()] {
		if heading != "" && b.heading != heading || b.kind() == "shape" {
			continue
		}
		how := followers[b.kind()]
		if how == nil {
			ts.Fatalf("%s: nothing here knows how to follow a block of %q", b.where(), b.words)
		}
		ts.Logf("# %s", b.where())
		how(ts, b)
		found, b.followed = true, true
	}
	if neg || !found {
		ts.Fatalf("usage: follow [heading with blocks below it]")
	}
}

var followers = map[string]func(*testscript.TestScript, *fenced){
	"sh":     runLines,
	"go":     runGo,
	"output": wasPrinted,
	"record": isInLog,
	"answer": func(ts *testscript.TestScript, b *fenced) { writeFile(ts, b) }, // its script lets a hook give it
	"hooks": func(ts *testscript.TestScript, b *fenced) {
		ts.Check(ts.Exec("pawl", "check", "--strict", writeFile(ts, b)))
	},
	"manifest": func(ts *testscript.TestScript, b *fenced) {
		plugin := filepath.Dir(filepath.Dir(writeFile(ts, b)))
		ts.Check(ts.Exec("pawl", "list", "--plugin", "demo="+plugin))
	},
	"policy": func(ts *testscript.TestScript, b *fenced) {
		_, err := gate.ParsePolicy(writeFile(ts, b), []byte(b.text))
		ts.Check(err)
	},
	"guards": func(ts *testscript.TestScript, b *fenced) {
		_, err := guard.Load(writeFile(ts, b), []byte(b.text))
		ts.Check(err)
	},
	"event": func(ts *testscript.TestScript, b *fenced) {
		_, err := (&eventFlag{Event: ts.MkAbs(writeFile(ts, b))}).event(&app{})
		ts.Check(err)
	},
}

// writeFile puts the block where the page says, and returns the name.
func writeFile(ts *testscript.TestScript, b *fenced) string {
	if len(b.words) != 3 {
		ts.Fatalf("%s: behind its fence belong format, kind and file, not %q", b.where(), b.words)
	}
	path := ts.MkAbs(b.words[2])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	ts.Check(os.WriteFile(path, []byte(b.text), 0o644))
	return b.words[2]
}

// wholeSuite is not run by a test of it: .ci/run does that.
const wholeSuite = "go test ./..."

var wantedExit = regexp.MustCompile(`# exit (\d+)`)

func runLines(ts *testscript.TestScript, b *fenced) {
	for line := range strings.Lines(b.text) {
		line, want := strings.TrimSpace(line), "0"
		if line == wholeSuite {
			continue
		}
		if m := wantedExit.FindStringSubmatch(line); m != nil {
			want = m[1]
		}
		code(ts, false, []string{want, "sh", "-c", line})
		keepPrinted(ts)
	}
}

// printed is the key of what the commands and programs of a page have printed so far.
type printed struct{}

func keepPrinted(ts *testscript.TestScript) {
	ts.Value(printed{}).(*strings.Builder).WriteString(ts.ReadFile("stdout"))
}

// tookTime is what differs in what go test prints from one run to the next.
var tookTime = regexp.MustCompile(`\d+\.\d+s|\(cached\)`)

func wasPrinted(ts *testscript.TestScript, b *fenced) {
	all := tookTime.ReplaceAllString(ts.Value(printed{}).(*strings.Builder).String(), "0.00s")
	if !strings.Contains(all, b.text) {
		ts.Fatalf("%s: no command before it printed this:\n%s", b.where(), b.text)
	}
}

// runGo vets a file within this module, so that it may use whatever a page does, and runs a program.
func runGo(ts *testscript.TestScript, b *fenced) {
	neat, err := format.Source([]byte(b.text))
	ts.Check(err)
	if string(neat) != b.text {
		ts.Fatalf("%s: gofmt writes this as\n%s", b.where(), neat)
	}
	file, program := ts.Getenv("WORK")+"/page.go", ts.Getenv("WORK")+"/page.exe"
	ts.Check(os.WriteFile(file, neat, 0o644))
	here := func(words ...string) {
		cmd := exec.Command("go", words...)
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			ts.Fatalf("%s: %v\n%s", b.where(), err, out)
		}
	}
	here("vet", file)
	if strings.Contains(b.text, "\nfunc main() {") {
		here("build", "-o", program, file)
		ts.Check(ts.Exec(program))
		keepPrinted(ts)
	}
}

// isInLog holds each record of the block against the log: there it has these fields, with these values.
func isInLog(ts *testscript.TestScript, b *fenced) {
	object := func(line string) (fields map[string]any) {
		ts.Check(json.Unmarshal([]byte(line), &fields))
		return fields
	}
	log := ts.ReadFile(b.words[2])
	for line := range strings.Lines(b.text) {
		shown, found := object(line), false
		for kept := range strings.Lines(log) {
			all := object(kept)
			maps.DeleteFunc(all, func(field string, _ any) bool { _, is := shown[field]; return !is })
			found = found || reflect.DeepEqual(shown, all)
		}
		if !found {
			ts.Fatalf("%s: the log has no such record:\n%s\n%s", b.where(), line, log)
		}
	}
}
