package command_test

import (
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/command"
)

// O05: no profile speaks before the hook does. E02, E08, T08: a value is an environment variable, so that
// neither a space nor a quote in it is shell code, and another variable's name is not half replaced.
func TestTheShellRunsTheLineAsItIs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the lines are for /bin/sh")
	}
	home := t.TempDir()
	profile := []byte("echo PROFILE\n")
	for _, name := range []string{".profile", ".bashrc", ".bash_profile"} {
		write(t, home+"/"+name, profile, 0o644)
	}
	project := t.TempDir() + `/x$(touch PWNED)"; touch PWNED2; "'
 (1)`
	write(t, project+"/h.sh", []byte("#!/bin/sh\necho ran\n"), 0o755)
	for line, want := range map[string]string{
		`"$PROJECT_DIR"/h.sh`:           "ran\n",
		`"$PROJECT_DIR/h.sh"`:           "ran\n",
		`echo "[$PROJECT_DIRX]"`:        "[]\n",
		`printf '%s\n' "a  b" 'c"d' \$`: "a  b\nc\"d\n$\n",
	} {
		words := command.Shell(line)
		require.Equal(t, []string{"/bin/sh", "-c", line}, words)
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Env = []string{"HOME=" + home, "ENV=", "PATH=/usr/bin:/bin", "PROJECT_DIR=" + project}
		cmd.Dir = t.TempDir()
		out, err := cmd.Output()
		require.NoError(t, err, line)
		require.Equal(t, want, string(out), line)
		require.NoFileExists(t, cmd.Dir+"/PWNED")
		require.NoFileExists(t, cmd.Dir+"/PWNED2")
	}
}
