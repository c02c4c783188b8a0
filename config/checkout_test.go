package config_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/pawl-hooks/pawl/config"
	"github.com/stretchr/testify/require"
)

// write makes a file with its folders and returns its path.
func write(t *testing.T, content string, elements ...string) string {
	t.Helper()
	name := filepath.Join(elements...)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(content), 0o644))
	return name
}

// tempDir is a real path: the system's own may be behind a link.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

// git runs git without the configuration of whoever runs the test.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
}

// worktrees makes a repository with one commit of all that is in main, and a linked worktree beside it.
func worktrees(t *testing.T, main string) (linked string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(main, 0o755))
	git(t, main, "init", "-q")
	git(t, main, "add", "-A")
	git(t, main, "commit", "-q", "--allow-empty", "-m", "first")
	linked = filepath.Join(filepath.Dir(main), "linked")
	git(t, main, "worktree", "add", "-q", linked)
	return linked
}

func TestRootIsTheNearestFolderWithGit(t *testing.T) {
	fsys := fstest.MapFS{
		"w/repo/.git/HEAD":       {Data: []byte("ref")},
		"w/repo/sub/deep/x":      {},
		"w/repo/module/.git":     {Data: []byte("gitdir: ../.git/modules/module\n")},
		"w/plain/sub/x":          {},
		"w/repo/sub/.git-backup": {},
	}
	for _, c := range []struct{ name, dir, want string }{
		{"the root itself", "/w/repo", "/w/repo"},
		{"a folder below it", "/w/repo/sub/deep", "/w/repo"},
		{"a path with dots", "/w/repo/sub/../sub/deep/", "/w/repo"},
		{"a submodule is its own root", "/w/repo/module", "/w/repo/module"},
		{"no repository", "/w/plain/sub", "/w/plain/sub"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, config.FindRoot(fsys, c.dir))
		})
	}
}

func TestLinkedWorktreeLeadsToItsRootCheckout(t *testing.T) {
	main := filepath.Join(tempDir(t), "main")
	linked := worktrees(t, main)
	deep := filepath.Join(linked, "a", "b")
	require.NoError(t, os.MkdirAll(deep, 0o755))

	for _, dir := range []string{linked, deep} {
		top, root := config.MainCheckout(nil, dir)
		require.Equal(t, linked, top)
		require.Equal(t, main, root)
	}
	top, root := config.MainCheckout(nil, main)
	require.Equal(t, []string{main, main}, []string{top, root})
}

func TestWorktreeThatTheRepositoryDoesNotKnowIsItsOwnRoot(t *testing.T) {
	base := tempDir(t)
	main := filepath.Join(base, "main")
	linked := worktrees(t, main)

	// Somebody's download claims to be a worktree of a repository that is trusted.
	forged := filepath.Join(base, "forged")
	require.NoError(t, os.MkdirAll(forged, 0o755))
	claim, err := os.ReadFile(filepath.Join(linked, ".git"))
	require.NoError(t, err)
	write(t, string(claim), forged, ".git")

	top, root := config.MainCheckout(nil, forged)
	require.Equal(t, forged, top)
	require.Equal(t, forged, root, "the hooks and the trust of another checkout were taken over")
}

func TestFolderThatBringsItsOwnWorktreeRecordIsItsOwnRoot(t *testing.T) {
	for name, forge := range map[string]func(t *testing.T, main, linked, forged string){
		"a record of its own": func(t *testing.T, main, _, forged string) {
			write(t, "gitdir: g\n", forged, ".git")
			write(t, "../../main/.git\n", forged, "g", "commondir")
			write(t, "../.git\n", forged, "g", "gitdir")
			write(t, "ref: refs/heads/main\n", forged, "g", "HEAD")
		},
		"a record in a folder called worktrees": func(t *testing.T, main, _, forged string) {
			write(t, "gitdir: .git-dir/worktrees/g\n", forged, ".git")
			write(t, main+"/.git\n", forged, ".git-dir", "worktrees", "g", "commondir")
			write(t, forged+"/.git\n", forged, ".git-dir", "worktrees", "g", "gitdir")
		},
		"another worktree's record by a link": func(t *testing.T, main, linked, forged string) {
			require.NoError(t, os.Symlink(filepath.Join(main, ".git", "worktrees", "linked"), filepath.Join(forged, "g")))
			write(t, "gitdir: g\n", forged, ".git")
		},
		"another worktree's .git by a link": func(t *testing.T, main, linked, forged string) {
			require.NoError(t, os.Symlink(filepath.Join(linked, ".git"), filepath.Join(forged, ".git")))
		},
		"a record below another worktree's": func(t *testing.T, main, _, forged string) {
			deep := filepath.Join(main, ".git", "worktrees", "linked", "deep")
			write(t, "gitdir: "+deep+"\n", forged, ".git")
			write(t, "../../..\n", deep, "commondir")
			write(t, forged+"/.git\n", deep, "gitdir")
		},
		"a record that names another file of the folder": func(t *testing.T, main, linked, forged string) {
			record := filepath.Join(main, ".git", "worktrees", "linked")
			write(t, "gitdir: "+record+"\n", forged, ".git")
			write(t, "x\n", forged, "other")
			write(t, forged+"/other\n", record, "gitdir")
		},
		"a whole repository of its own inside": func(t *testing.T, _, _, forged string) {
			inner := filepath.Join(forged, "inner", ".git")
			write(t, "gitdir: inner/.git/worktrees/x\n", forged, ".git")
			write(t, "../..\n", inner, "worktrees", "x", "commondir")
			write(t, forged+"/.git\n", inner, "worktrees", "x", "gitdir")
			write(t, "ref: refs/heads/main\n", inner, "HEAD")
		},
	} {
		t.Run(name, func(t *testing.T) {
			base := tempDir(t)
			main, forged := filepath.Join(base, "main"), filepath.Join(base, "forged")
			linked := worktrees(t, main)
			require.NoError(t, os.MkdirAll(forged, 0o755))
			forge(t, main, linked, forged)

			top, root := config.MainCheckout(nil, forged)
			require.Equal(t, []string{forged, forged}, []string{top, root}, "the trust of another checkout was taken over")
		})
	}
}

func TestWorktreeOfABareRepositoryHasNoRootCheckout(t *testing.T) {
	base := tempDir(t)
	main := filepath.Join(base, "main")
	worktrees(t, main)
	git(t, base, "clone", "-q", "--bare", main, "bare.git")
	tree := filepath.Join(base, "tree")
	git(t, filepath.Join(base, "bare.git"), "worktree", "add", "-q", tree, "main")

	top, root := config.MainCheckout(nil, tree)
	require.Equal(t, []string{tree, tree}, []string{top, root})
}

func TestDirectoriesFromRootToWorkingDirectory(t *testing.T) {
	require.Equal(t, []string{"/w"}, config.Between("/w", "/w"))
	require.Equal(t, []string{"/w", "/w/a", "/w/a/b"}, config.Between("/w", "/w/a/b"))
	require.Equal(t, []string{"/w"}, config.Between("/w", "/elsewhere/a"), "a directory outside adds nothing")
	require.Equal(t, []string{"/w"}, config.Between("/w", "/wide"), "a common beginning is not a parent")
}

func TestRealPathIsOneForAllSpellings(t *testing.T) {
	base := tempDir(t)
	require.NoError(t, os.MkdirAll(filepath.Join(base, "a", "sub"), 0o755))
	require.NoError(t, os.Symlink("a", filepath.Join(base, "b")))
	want := filepath.Join(base, "a")
	for _, spelled := range []string{"a", "a/", "a/sub/..", "b", "b/", "b/sub/.."} {
		require.Equal(t, want, config.Real(nil, base+"/"+spelled), spelled)
		require.Equal(t, "/a", config.Real(os.DirFS(base), "/"+spelled), "%s in an fs.FS", spelled)
	}
	require.Equal(t, filepath.Join(want, "new", "x"), config.Real(nil, filepath.Join(base, "b", "new", "x")), "what is not there yet")
}
