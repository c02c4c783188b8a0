package gate

import (
	"errors"
	"os"
)

// canKeep: a pipe of Windows cannot be waited on so that the wait can be ended.
const canKeep = false

type line struct{}

func newLine(_, _ *os.File) (l line, err error) { return l, errors.ErrUnsupported }

func (*line) close()                      {}
func (*line) interrupt()                  {}
func (*line) read([]byte) (int, error)    { return 0, errEnded }
func (*line) pending([]byte) (int, error) { return 0, errEnded }
func (*line) write([]byte) error          { return errEnded }
