package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// hearPipes makes a write to a pipe that nobody reads any more fail like any other, and not end the process: by then
// the hooks may have run, and whoever waits for the exit code is told of it by one of ours. The signal is not ignored,
// which hooks' programs would inherit.
func hearPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// untilSignal returns a context that ends with a TERM, an INT, a QUIT or a hangup. A hangup that is ignored already
// stays so: whoever started this with nohup means it to outlive the terminal.
func untilSignal() (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(context.Background(), signals...)
}
