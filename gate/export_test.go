package gate

import (
	"context"

	"github.com/pawl-hooks/pawl"
)

// A Printer is what is seen of a kept program whose pipes it stands in for.
type Printer interface {
	Read(buf []byte) (n int, err error)
	Pending(buf []byte) (n int, err error)
	Write(text []byte) error
	Interrupt()
}

// What a Printer's Read says at the end.
var (
	ErrEnded       = errEnded
	ErrInterrupted = errInterrupted
)

type printed struct{ Printer }

func (p printed) read(buf []byte) (int, error)    { return p.Read(buf) }
func (p printed) pending(buf []byte) (int, error) { return p.Pending(buf) }
func (p printed) write(text []byte) error         { return p.Write(text) }
func (p printed) interrupt()                      { p.Interrupt() }
func (p printed) close()                          {}

// A Conversation is what is said to a kept program and heard from it, without the program.
type Conversation struct{ k *worker }

// Converse begins one with p, whose answers have at most limit bytes.
func Converse(p Printer, limit int) Conversation {
	l := &launch{args: []string{"p"}, limit: limit}
	return Conversation{&worker{portable: &portable{launch: l, stdout: l.capture()}, line: printed{p}, buf: make([]byte, 0, 16)}}
}

// Greet waits for the greeting.
func (c Conversation) Greet(ctx context.Context) error {
	return c.k.greet(ctx, positive(0, defaultGreeting))
}

// Ask puts a question, after a look at what was printed unasked.
func (c Conversation) Ask(ctx context.Context, question string) (answer []byte, err error) {
	if c.k.lost() {
		return nil, errEnded
	}
	return c.k.ask(ctx, []byte(question))
}

// Kept is what stays of a line that was no answer.
func (c Conversation) Kept(said []byte) (pawl.Result, error) {
	c.k.stdout.write(said)
	return gather(pawl.Result{}, c.k.stdout, c.k.capture())
}

// Holds is how many bytes the conversation holds on to.
func (c Conversation) Holds() int { return cap(c.k.buf) + len(c.k.unasked) }
