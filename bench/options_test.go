package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatCannotBeDoneIsSaidBeforeMeasuring(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("figures"), 0o600))
	for name, c := range map[string]struct {
		opts options
		args []string
		want string // of the error; empty for none
	}{
		"nothing asked for":           {},
		"a goal":                      {opts: options{only: "P14"}},
		"no such goal":                {opts: options{only: "P99"}, want: `no goal "P99": there are P1, P2, P3,`},
		"flags behind an argument":    {args: []string{"extra", "-quick"}, want: `"extra"`},
		"files to be":                 {opts: options{out: filepath.Join(dir, "new.json"), profile: filepath.Join(dir, "new.prof")}},
		"figures over those of old":   {opts: options{out: file}},
		"figures in no folder":        {opts: options{out: filepath.Join(dir, "missing", "x.json")}, want: "missing"},
		"figures that are a folder":   {opts: options{out: dir}, want: "directory"},
		"a profile in no folder":      {opts: options{profile: filepath.Join(dir, "missing", "x.prof")}, want: "missing"},
		"a folder of plots to be":     {opts: options{plots: filepath.Join(dir, "a", "b")}},
		"figures among plots to be":   {opts: options{plots: filepath.Join(dir, "c"), out: filepath.Join(dir, "c", "x.json")}},
		"a folder of plots no folder": {opts: options{plots: file}, want: "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.opts.check(c.args)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
			}
		})
	}
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "figures", string(kept), "what is only checked is not written")
	require.NoFileExists(t, filepath.Join(dir, "new.json"))
	require.DirExists(t, filepath.Join(dir, "a", "b"))
}

func TestAGoalMayBeNamedInLowerCase(t *testing.T) {
	opts := options{only: "p5"}
	require.NoError(t, opts.check(nil))
	require.Equal(t, "P5", opts.only)
}
