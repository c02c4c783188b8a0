package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/pawl-hooks/pawl"
)

// A ToolPanic is the panic of a tool.
type ToolPanic struct {
	Tool  string
	Value any // nil where the tool ended its goroutine
	Stack []byte
}

func (e *ToolPanic) Error() string {
	if e.Value == nil {
		return fmt.Sprintf("tool %s ended its goroutine", e.Tool)
	}
	return fmt.Sprintf("tool %s panicked: %v", e.Tool, e.Value)
}

// scheduled is one call on its way.
type scheduled struct {
	t      *schedule
	ev     *pawl.Event // as the hooks left it last
	result Result
}

// dispatch reports the call's event under a trigger and takes over what hooks made of it. A trigger that the
// runtime took out of its table and that only observers hear is passed over.
func (c *scheduled) dispatch(ctx context.Context, on pawl.Trigger) pawl.Decision {
	c.ev.Trigger = on
	if c.t.s.Hooks == nil {
		return pawl.Decision{}
	}
	out, d := ask(ctx, c.t.s.Hooks, c.ev)
	if after := *out.Event(); out.Verdict < pawl.Refuse && after.Trigger == on {
		c.ev = &after
	}
	c.result.Notes = append(c.result.Notes, d.Notes...)
	c.result.Warnings = append(c.result.Warnings, d.Warnings...)
	if out.Verdict == pawl.Halt {
		c.result.Halt = true
		c.t.halt(d.Reason)
	}
	return d
}

// tell dispatches an event that only observers hear.
func (c *scheduled) tell(on pawl.Trigger) {
	told := *c.ev
	told.Trigger = on
	if c.t.s.Hooks != nil {
		_, _ = ask(context.WithoutCancel(c.t.ctx), c.t.s.Hooks, &told)
	}
}

// finish sets what the model gets.
func (c *scheduled) finish(state State, text string) {
	c.result.State, c.result.Output, c.result.Failed = state, quote(text), true
	c.result.Payload = nil
}

// admit asks everybody with a say, and reports whether the call is to run.
func (c *scheduled) admit() bool {
	c.finish(Refused, Blocked+"a hook of this call did not come back")
	out := c.dispatch(c.t.ctx, pawl.ToolBefore)
	if c.t.ctx.Err() != nil {
		c.cancel(c.t.over())
		return false
	}
	if out.Verdict >= pawl.Refuse {
		c.refuse(out.Reason)
		return false
	}
	answered := c.ev.Output != nil
	if !answered && !c.exists() {
		return false
	}
	reason, ok := c.permitted(out)
	if over := c.t.over(); c.t.ctx.Err() != nil || ok && over != "" {
		c.cancel(over)
		return false
	}
	if !ok {
		c.refuse(reason)
		c.forget()
		return false
	}
	if answered {
		c.standIn()
		return false
	}
	c.tell(pawl.ToolDispatched)
	return true
}

// refuse tells the model why, as a page of zidane's words it: Blocked, and the reason.
func (c *scheduled) refuse(reason string) {
	reason = strings.TrimPrefix(cmp.Or(reason, "the call was refused"), Blocked)
	c.finish(Refused, Blocked+reason)
}

// exists answers a call that has no tool, or no input that one takes.
func (c *scheduled) exists() bool {
	s := c.t.s
	known := true
	if s.Known != nil {
		if broken := contained("Known", func() { known = s.Known(c.ev.Tool) }); broken != nil {
			c.forget()
			c.refuse(broken.Error())
			return false
		}
	}
	if !known {
		c.forget()
		c.ev.Failed, c.ev.Output = true, quote("Tool error: Unknown tool: "+c.ev.Tool)
		c.dispatch(c.t.ctx, pawl.ToolUnknown)
		c.deliver(Unknown)
		return false
	}
	if s.Validate == nil {
		return true
	}
	err := c.valid()
	if err == nil {
		return true
	}
	c.forget()
	c.finish(Invalid, "Validation error: "+say(err))
	c.ev.Failed, c.ev.Output = true, c.result.Output
	c.result.Err = err
	c.tell(pawl.ValidationReject)
	return false
}

func (c *scheduled) valid() (err error) {
	if broken := contained("validation", func() { err = c.t.s.Validate(c.ev) }); broken != nil {
		return broken
	}
	return err
}

// permitted asks the policy and, where anyone asked, hooks at tool.approval and then a person.
func (c *scheduled) permitted(out pawl.Decision) (reason string, ok bool) {
	verdict, reason := c.policy()
	if verdict >= pawl.Refuse {
		if verdict == pawl.Halt {
			c.result.Halt = true
			c.t.halt(reason)
		}
		return reason, false
	}
	if out.Verdict == pawl.Ask {
		verdict, reason = pawl.Ask, cmp.Or(out.Reason, reason)
	}
	if verdict != pawl.Ask {
		return "", true
	}
	asked := *c.ev
	asked.Trigger, asked.Verdict = pawl.ToolApproval, out.Verdict
	question := &scheduled{t: c.t, ev: &asked, result: c.result}
	answer := question.dispatch(c.t.ctx, pawl.ToolApproval)
	c.result = question.result
	switch {
	case answer.Verdict == pawl.Allow:
		return "", true
	case answer.Verdict >= pawl.Refuse:
		return answer.Reason, false
	}
	return c.approved(reason)
}

func (c *scheduled) policy() (verdict pawl.Verdict, reason string) {
	if c.t.s.Permit == nil {
		return pawl.Pass, ""
	}
	if broken := contained("the policy", func() { verdict, reason = c.t.s.Permit(c.t.ctx, c.ev) }); broken != nil {
		return pawl.Refuse, broken.Error()
	}
	return verdict, reason
}

func (c *scheduled) approved(why string) (reason string, ok bool) {
	if c.t.s.Approve == nil {
		return cmp.Or(why, "this needs approval") + " (there is nobody to ask)", false
	}
	var err error
	broken := contained("asking for approval", func() { ok, err = c.t.s.Approve(c.t.ctx, c.ev, why) })
	switch {
	case broken != nil:
		return broken.Error(), false
	case err != nil:
		return "asking for approval: " + say(err), false
	case !ok:
		return cmp.Or(why, "not approved"), false
	}
	return "", true
}

// forget takes the call back from guards that counted it.
func (c *scheduled) forget() {
	for _, g := range c.t.s.Guards {
		if f, ok := g.(interface{ Forget(*pawl.Event) }); ok {
			_ = contained("Forget", func() { f.Forget(c.ev) }) // the call does not run, whatever the guard counts
		}
	}
}

func (c *scheduled) cancel(reason string) {
	c.finish(Cancelled, "Skipped: "+reason)
	c.ev.Source = reason
	c.tell(pawl.ToolCancelled)
}

// standIn takes a hook's answer through the replacers that a result of the tool would pass.
func (c *scheduled) standIn() {
	c.finish(Answered, "the result was withheld")
	c.ev.StandIn, c.ev.OutputBytes = true, len(c.ev.Output)
	c.after(Answered)
}

// run calls the tool and takes its result through the hooks.
func (c *scheduled) run() {
	c.finish(Ran, "the result was withheld: a hook of this call did not come back")
	c.tell(pawl.ToolStarted)
	ctx := context.WithoutCancel(c.t.ctx) // it ran: its hooks are asked, whatever became of the turn
	output, err := c.call()
	c.result.Err = err
	if c.ev.Output = output; err != nil && output == nil {
		c.ev.Output = quote("Tool error: " + say(err))
	}
	c.ev.OutputBytes = len(c.ev.Output)
	if err != nil {
		c.ev.Failed = true
		if out := c.dispatch(ctx, pawl.ToolFailed); out.Verdict >= pawl.Refuse {
			c.ev.Output, c.ev.Payload = quote(out.Reason), nil
		}
	}
	c.after(Ran)
}

// call runs the tool on a goroutine that it may end.
func (c *scheduled) call() (output []byte, err error) {
	err = &ToolPanic{Tool: c.ev.Tool}
	await(func() {
		defer func() {
			if v := recover(); v != nil {
				err = &ToolPanic{c.ev.Tool, v, debug.Stack()}
			}
		}()
		ev := *c.ev
		if c.t.s.Run == nil {
			err = errors.New("the scheduler has no Run")
			return
		}
		output, err = c.t.s.Run(c.t.ctx, &ev)
	})
	return output, err
}

// after asks tool.after and delivers.
func (c *scheduled) after(state State) {
	out := c.dispatch(context.WithoutCancel(c.t.ctx), pawl.ToolAfter)
	if out.Verdict >= pawl.Refuse {
		c.finish(state, cmp.Or(out.Reason, "the result was withheld"))
		return
	}
	c.deliver(state)
}

func (c *scheduled) deliver(state State) {
	c.result.State, c.result.Output, c.result.Failed, c.result.Payload = state, c.ev.Output, c.ev.Failed, c.ev.Payload
}
