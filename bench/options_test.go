package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatCannotBeDoneIsSaidBeforeMeasuring(t *testing.T) {
	for name, c := range map[string]struct {
		opts options
		args []string
		want string // of the error; empty for none
	}{
		"nothing asked for":        {},
		"a goal":                   {opts: options{only: "P14"}},
		"no such goal":             {opts: options{only: "P99"}, want: `no goal "P99": there are P1, P2, P3,`},
		"flags behind an argument": {args: []string{"extra", "-quick"}, want: `"extra"`},
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
}

func TestAGoalMayBeNamedInLowerCase(t *testing.T) {
	opts := options{only: "p5"}
	require.NoError(t, opts.check(nil))
	require.Equal(t, "P5", opts.only)
}
