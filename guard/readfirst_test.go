package guard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/guard"
	"github.com/stretchr/testify/require"
)

// project is a folder with a file, a link to the folder and a link to the file.
func project(t *testing.T) (dir string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	dir = filepath.Join(top, "p")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "src"), 0o755))
	write(t, dir, "src/x", "one")
	require.NoError(t, os.Symlink(dir, filepath.Join(top, "link")))
	require.NoError(t, os.Symlink("x", filepath.Join(dir, "src", "alias")))
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

func file(dir, tool, path string) pawl.Event {
	return with(call(tool, fmt.Sprintf(`{"path":%q}`, path)), func(ev *pawl.Event) { ev.Dir = dir })
}

func require1(r *guard.ReadFirst) *guard.ReadFirst { r.Require = true; return r }

func TestEditOfAFileThatWasNotReadIsRefused(t *testing.T) {
	dir := project(t)
	b := newBench(t, one(require1(&guard.ReadFirst{})))
	out := b.fire(file(dir, "edit", "src/x"))
	require.Equal(t, pawl.Refuse, out.Verdict)
	require.Equal(t, "Blocked: read "+dir+"/src/x before you edit it.", out.Decision().Reason)
}

func TestEditAfterARead(t *testing.T) {
	for name, c := range map[string]struct {
		read, edit string
		between    func(t *testing.T, dir string, b *bench)
		want       pawl.Verdict
	}{
		"of the same path":           {"src/x", "src/x", nil, pawl.Pass},
		"spelt with a dot":           {"src/x", "./src/x", nil, pawl.Pass},
		"spelt from the root":        {"src/x", "DIR/src/x", nil, pawl.Pass},
		"through a linked folder":    {"DIR/../link/src/x", "src/x", nil, pawl.Pass},
		"through a linked file":      {"src/alias", "src/x", nil, pawl.Pass},
		"around two dots":            {"src/x", "src/../src/x", nil, pawl.Pass},
		"of another file":            {"src/x", "src/y", func(t *testing.T, dir string, _ *bench) { write(t, dir, "src/y", "y") }, pawl.Refuse},
		"of a new file":              {"src/x", "src/new/deep", nil, pawl.Pass},
		"that somebody changed":      {"src/x", "src/x", func(t *testing.T, dir string, _ *bench) { write(t, dir, "src/x", "two") }, pawl.Refuse},
		"that was written unchanged": {"src/x", "src/x", func(t *testing.T, dir string, _ *bench) { write(t, dir, "src/x", "one") }, pawl.Pass},
		"of an earlier run": {"src/x", "src/x", func(t *testing.T, dir string, b *bench) {
			b.fire(pawl.Event{Trigger: pawl.AgentDone, Session: "s"})
		}, pawl.Pass},
		"of an ended session": {"src/x", "src/x", func(t *testing.T, dir string, b *bench) {
			b.fire(pawl.Event{Trigger: pawl.SessionEnd, Session: "s"})
		}, pawl.Refuse},
	} {
		t.Run(name, func(t *testing.T) {
			dir := project(t)
			at := func(p string) string {
				if len(p) > 3 && p[:3] == "DIR" {
					return dir + p[3:]
				}
				return p
			}
			b := newBench(t, one(require1(&guard.ReadFirst{})))
			_, ran := b.run(file(dir, "read_file", at(c.read)), `"text"`)
			require.True(t, ran)
			if c.between != nil {
				c.between(t, dir, b)
			}
			require.Equal(t, c.want, b.fire(file(dir, "edit", at(c.edit))).Verdict)
		})
	}
}

func TestAnEditCountsAsReadingWhatItLeft(t *testing.T) {
	dir := project(t)
	b := newBench(t, one(require1(&guard.ReadFirst{})))
	b.run(file(dir, "read_file", "src/x"), `"one"`)
	for _, text := range []string{"two", "three"} {
		ev := file(dir, "edit", "src/x")
		require.Equal(t, pawl.Pass, b.fire(ev).Verdict)
		write(t, dir, "src/x", text)
		ev.Trigger = pawl.ToolAfter
		b.fire(ev)
	}
	ev := file(dir, "write_file", "src/fresh")
	require.Equal(t, pawl.Pass, b.fire(ev).Verdict)
	write(t, dir, "src/fresh", "f")
	ev.Trigger = pawl.ToolAfter
	b.fire(ev)
	require.Equal(t, pawl.Pass, b.fire(file(dir, "edit", "src/fresh")).Verdict)
}

func TestAReadDoesNotCount(t *testing.T) {
	for name, read := range map[string]func(t *testing.T, dir string, b *bench){
		"that failed": func(t *testing.T, dir string, b *bench) {
			b.fire(file(dir, "read_file", "src/x"))
			b.fire(with(file(dir, "read_file", "src/x"), func(ev *pawl.Event) { ev.Trigger, ev.Failed = pawl.ToolAfter, true }))
		},
		"that a hook refused": func(t *testing.T, dir string, b *bench) {
			b.run(with(file(dir, "read_file", "src/x"), func(ev *pawl.Event) { ev.Aliases = []string{"bad"} }), `"one"`)
		},
		"of a sub-agent": func(t *testing.T, dir string, b *bench) {
			b.run(with(file(dir, "read_file", "src/x"), func(ev *pawl.Event) { ev.Agent.ID = "kid" }), `"one"`)
		},
		"during which the file changed": func(t *testing.T, dir string, b *bench) {
			b.fire(file(dir, "read_file", "src/x"))
			write(t, dir, "src/x", "two")
			b.fire(with(file(dir, "read_file", "src/x"), func(ev *pawl.Event) { ev.Trigger = pawl.ToolAfter }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := project(t)
			b := newBench(t, one(require1(&guard.ReadFirst{})), refuse("gate", "bad"))
			read(t, dir, b)
			require.Equal(t, pawl.Refuse, b.fire(file(dir, "edit", "src/x")).Verdict)
		})
	}
}

func TestReadFirstJudgesEveryPathTheRuntimeNames(t *testing.T) {
	dir := project(t)
	write(t, dir, "src/y", "y")
	b := newBench(t, one(require1(&guard.ReadFirst{Edit: []string{"apply_patch"}})))
	b.run(file(dir, "read_file", "src/x"), `"one"`)
	out := b.fire(with(call("apply_patch", `"patch"`), func(ev *pawl.Event) { ev.Dir, ev.Paths = dir, []string{"src/x", "src/y"} }))
	require.Equal(t, "Blocked: read "+dir+"/src/y before you edit it.", out.Decision().Reason)
}

// A check that did not happen is not a check that passed.
func TestReadFirstRefusesAnEditItCannotJudge(t *testing.T) {
	dir := project(t)
	for name, input := range map[string]string{
		"no path": `{}`, "a path that is no text": `{"path":1}`, "no object": `[]`, "a folder": `{"path":"src"}`,
		"an empty path": `{"path":""}`, "a member twice": `{"path":"src/new","path":"src/x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, one(require1(&guard.ReadFirst{})))
			out := b.fire(with(call("edit", input), func(ev *pawl.Event) { ev.Dir = dir }))
			require.Equal(t, pawl.Refuse, out.Verdict)
			require.Equal(t, pawl.CauseError, out.Runs()[0].Cause)
		})
	}
}

func TestReadDedupAnswersAReadThatShowsNothingNew(t *testing.T) {
	dir := project(t)
	b := newBench(t, one(&guard.ReadFirst{Dedup: true}))
	_, ran := b.run(file(dir, "read_file", "src/x"), `"one"`)
	require.True(t, ran)
	out, ran := b.run(file(dir, "read_file", "./src/alias"), `"one"`)
	require.False(t, ran)
	require.Equal(t, `"`+dir+`/src/x has not changed since you read it: see the earlier result."`, string(out.Event().Output))
	require.Equal(t, pawl.Pass, b.fire(file(dir, "edit", "src/never-read")).Verdict, "dedup alone asks nothing of edits")
}

func TestReadDedupLetsARead(t *testing.T) {
	for name, c := range map[string]struct {
		between func(t *testing.T, dir string, b *bench)
		input   string
	}{
		"of a changed file":       {func(t *testing.T, dir string, _ *bench) { write(t, dir, "src/x", "two") }, `{"path":"src/x"}`},
		"of another part":         {nil, `{"path":"src/x","offset":9}`},
		"after a compaction":      {func(_ *testing.T, _ string, b *bench) { b.fire(pawl.Event{Trigger: pawl.CompactAfter, Session: "s"}) }, `{"path":"src/x"}`},
		"of a file that is gone":  {func(t *testing.T, dir string, _ *bench) { require.NoError(t, os.Remove(filepath.Join(dir, "src/x"))) }, `{"path":"src/x"}`},
		"of another tool by name": {nil, `{"path":"src/x","tool":"Read"}`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := project(t)
			b := newBench(t, one(&guard.ReadFirst{Dedup: true}))
			b.run(file(dir, "read_file", "src/x"), `"one"`)
			if c.between != nil {
				c.between(t, dir, b)
			}
			_, ran := b.run(with(call("read_file", c.input), func(ev *pawl.Event) { ev.Dir = dir }), `"x"`)
			require.True(t, ran)
		})
	}
}

func TestReadTrackingServesEditsWithDedupOnToo(t *testing.T) {
	dir := project(t)
	b := newBench(t, one(&guard.ReadFirst{Require: true, Dedup: true}))
	b.run(file(dir, "read_file", "src/x"), `"one"`)
	b.run(file(dir, "read_file", "src/x"), `"one"`)
	require.Equal(t, pawl.Pass, b.fire(file(dir, "edit", "src/x")).Verdict)
}

func TestLocalFilesResolve(t *testing.T) {
	dir := project(t)
	top := filepath.Dir(dir)
	require.NoError(t, os.Symlink(filepath.Join(dir, "later"), filepath.Join(dir, "dangling")))
	require.NoError(t, os.Symlink(filepath.Join(dir, "src"), filepath.Join(top, "srclink")))
	for _, c := range []struct{ name, want string }{
		{"src/x", "p/src/x"},
		{"src/alias", "p/src/x"},
		{top + "/link/src/alias", "p/src/x"},
		{"../srclink/../src/x", "p/src/x"}, // the folder above src, not above srclink
		{"new/deep/file", "p/new/deep/file"},
		{top + "/link/new", "p/new"},
		{"dangling", "p/later"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := guard.LocalFiles{}.Resolve(dir, c.name)
			require.NoError(t, err)
			require.Equal(t, filepath.Join(top, c.want), got)
		})
	}
}

func TestReadFirstFaults(t *testing.T) {
	_, err := guard.Hooks(&guard.ReadFirst{})
	require.EqualError(t, err, "guard read-first: neither require nor dedup is set: it would do nothing")
}
