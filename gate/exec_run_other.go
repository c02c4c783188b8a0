//go:build !linux

package gate

import (
	"context"

	"github.com/pawl-hooks/pawl"
)

func (l *launch) run(ctx context.Context, _ bool) (pawl.Result, error) { return l.runPortable(ctx) }
