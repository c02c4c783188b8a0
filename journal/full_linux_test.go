package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/journal"
)

// mountOver mounts a small file system over dir, or, without options, dir over itself for reading alone.
func mountOver(t *testing.T, dir, options string) {
	t.Helper()
	var err error
	if options != "" {
		err = syscall.Mount("tmpfs", dir, "tmpfs", 0, options)
	} else if err = syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err == nil {
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
		err = syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, "")
	}
	if err != nil {
		t.Skipf("mounting needs rights: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}

func TestAFullDiskIsAFailedLogAndLosesNothingThatWasKept(t *testing.T) {
	for name, policy := range map[string]journal.Sync{"unsynced": journal.SyncNone, "group": journal.SyncGroup} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			mountOver(t, dir, "size=64k")
			path := filepath.Join(dir, "pawl.log")
			l := open(t, path, journal.Options{Sync: policy})
			kept := 0
			var err error
			for ; kept < 1000; kept++ {
				if err = l.Append(t.Context(), &custom{"x", strings.Repeat("y", 700)}); err != nil {
					break
				}
			}
			require.ErrorIs(t, err, syscall.ENOSPC)
			require.Greater(t, kept, 50)
			require.ErrorIs(t, l.Append(t.Context(), &custom{"x", strings.Repeat("y", 7000)}), syscall.ENOSPC, "it fails as long as the disk is full")
			r := verified(t, path, journal.Against{})
			require.True(t, r.OK(), r.Faults)
			require.Equal(t, kept, r.Lines)

			require.NoError(t, os.WriteFile(filepath.Join(dir, "more"), nil, 0o600))
			require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=128k"))
			require.NoError(t, l.Append(t.Context(), run(1)), "it goes on once there is room")
			r = verified(t, path, journal.Against{})
			require.True(t, r.OK(), r.Faults)
			require.Equal(t, kept+1, r.Lines)
		})
	}
}

func TestAFileThatMayNotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.log")
	written(t, path, 1, journal.Options{})
	if os.Geteuid() == 0 {
		mountOver(t, filepath.Dir(path), "") // root is not held by modes: a read-only mount
	} else {
		require.NoError(t, os.Chmod(path, 0o400))
	}
	_, err := journal.Open(path, journal.Options{})
	require.ErrorContains(t, err, path)
	require.True(t, errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS), err)
}
