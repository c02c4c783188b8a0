//go:build !linux

package gate

import (
	"errors"
	"os/exec"
	"runtime"

	"github.com/pawl-hooks/pawl"
)

// Check reports what of s this system cannot hold: all of it.
func (s Sandbox) Check() error { return errors.New("no sandbox on " + runtime.GOOS) }

// A cage is what a sandbox comes to for one program.
type cage struct{}

func newCage(_ *launch, cmd pawl.Command, _ *Sandbox) (*cage, error) {
	return nil, cannotConfine(cmd, "there is no sandbox on "+runtime.GOOS, nil)
}

func (c *cage) startPortable(cmd *exec.Cmd, g *group) error { return g.start(cmd) }
func (c *cage) kill()                                       {}
func (c *cage) close() (left bool)                          { return false }
