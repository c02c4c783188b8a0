package wire

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-hooks/pawl"
)

// unreadable fails an answer that is none.
func unreadable(format string, args ...any) error {
	return &pawl.Failure{Cause: pawl.CauseOutput, Err: fmt.Errorf(format, args...)}
}

// cutAnswer reports whether it was standard output that did not fit. Of two streams under one limit, one of
// which overran it, the longer did.
func cutAnswer(res pawl.Result) bool { return res.Cut > 0 && len(res.Stdout) >= len(res.Stderr) }

// explained adds the first line of standard error to a failure, for people.
func explained(err error, stderr []byte) error {
	var f *pawl.Failure
	line, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(string(stderr), "\uFFFD")), "\n")
	if line == "" || !errors.As(err, &f) {
		return err
	}
	const most = 200 // characters
	if r := []rune(line); len(r) > most {
		line = string(r[:most]) + "…"
	}
	return &pawl.Failure{Cause: f.Cause, Err: fmt.Errorf("%w: %s", f.Err, line)}
}
