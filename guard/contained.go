package guard

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/on"
)

// await runs f in a goroutine of its own, which it may end, and waits for that.
func await(f func()) {
	var done sync.WaitGroup
	done.Go(f)
	done.Wait()
}

// contained runs one of the runtime's callbacks. The error says that it panicked or ended its goroutine.
func contained(what string, f func()) error {
	err := errors.New(what + " ended its goroutine")
	await(func() {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("%s panicked: %v", what, v)
			}
		}()
		f()
		err = nil
	})
	return err
}

// say is err's text; the Error of a runtime's own error is a callback like any other.
func say(err error) (text string) {
	if broken := contained("the text of an error", func() { text = err.Error() }); broken != nil {
		return broken.Error()
	}
	return text
}

// ask dispatches ev. No outcome is no permission: a dispatcher that panics, or has nothing beside its error,
// refuses.
func ask(ctx context.Context, hooks on.Dispatcher, ev *pawl.Event) (out pawl.Outcome, d pawl.Decision) {
	var failed error
	broken := contained("the dispatcher", func() {
		out, failed = hooks.Dispatch(ctx, ev)
		d = out.Decision()
	})
	switch {
	case broken != nil:
		failed = broken
	case failed == nil || out != (pawl.Outcome{}):
		return out, d // safe to obey beside an error, whose text it holds
	}
	d = pawl.Decision{Verdict: pawl.Refuse, Reason: "the hooks could not be asked: " + say(failed)}
	return pawl.Outcome{Verdict: pawl.Refuse}, d
}
