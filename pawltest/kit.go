package pawltest

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Violation is one rule of a contract that an implementation broke.
type Violation struct {
	Rule string // in words
	Err  error  // what was seen
}

func (v *Violation) Error() string { return v.Rule + ": " + v.Err.Error() }

// Unwrap returns Err.
func (v *Violation) Unwrap() error { return v.Err }

const defaultBound = 5 * time.Second

func orDefault(bound time.Duration) time.Duration {
	if bound > 0 {
		return bound
	}
	return defaultBound
}

// A rule is one sentence of a contract, and how to see whether an implementation of kind T keeps it.
type rule[T any] struct {
	name  string
	check func(T) error
}

// judge holds what fresh makes to each rule, and returns every violation.
func judge[T any](rules []rule[T], fresh func() (T, func(), error)) error {
	var broken []error
	for _, r := range rules {
		subject, done, err := fresh()
		if err == nil {
			err = r.check(subject)
		}
		if done != nil {
			done()
		}
		if err != nil && !errors.Is(err, errLeftOut) {
			broken = append(broken, &Violation{Rule: r.name, Err: err})
		}
	}
	return errors.Join(broken...)
}

// errLeftOut is a rule that cannot be seen here.
var errLeftOut = errors.New("left out")

// bounded calls f and returns what goes wrong with the call itself: a panic, an ended goroutine, or a
// return later than bound after ctx is done. What does not return is left behind.
func bounded(ctx context.Context, bound time.Duration, f func(context.Context)) error {
	ended := errors.New("ended its goroutine")
	returned := make(chan error, 1)
	go func() {
		result := ended
		defer func() {
			if v := recover(); v != nil {
				result = fmt.Errorf("panicked: %v", v)
			}
			returned <- result
		}()
		f(ctx)
		result = nil
	}()
	select {
	case err := <-returned:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-returned:
		return err
	case <-time.After(bound):
		return fmt.Errorf("had not returned %v after its context ended", bound)
	}
}

// first returns the first error there is.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// want returns an error where two values differ.
func want[T comparable](what string, want, got T) error {
	if want == got {
		return nil
	}
	return fmt.Errorf("%s is %s, not %s", what, brief(got), brief(want))
}

func brief(v any) string {
	s := fmt.Sprintf("%#v", v)
	if len(s) > 120 {
		return fmt.Sprintf("%s… (%d bytes)", s[:120], len(s))
	}
	return s
}
