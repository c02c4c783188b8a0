package gate

import (
	"errors"
	"os"
)

// canKeep: a pipe of Windows cannot be waited on so that the wait can be ended.
const canKeep = false

func newLine(_, _ *os.File) (line, error) { return nil, errors.ErrUnsupported }
