package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/gate"
	"github.com/pawl-hooks/pawl/wire"
)

// workers compares a kept worker, asked by a whole dispatch with its chained record, with the same program
// asked by bare reads and writes.
func workers(b *bench) []figure {
	w := new(gate.Workers)
	defer w.Close()
	hook := programs(1)[0]
	hook.Handler = command.Program{Name: hook.Name, Args: []string{b.echo}, Keep: true, Codec: wire.JSON{}}
	r := registry(pawl.Options{Gate: w}, hook)
	raw, done := b.rawEcho()
	defer done()
	msg, err := wire.JSON{}.Encode(toolCall())
	must(err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := pawl.Command{Args: []string{b.echo}, Keep: true, Stdin: msg.Stdin}
	t := rotate(b.rounds(2000), raw, func() {
		res, err := w.Run(ctx, cmd)
		if err != nil || string(res.Stdout) != "{}" {
			panic(fmt.Sprint(res, err))
		}
	}, dispatching(r))
	return []figure{
		atMost("a kept worker's round trip, of raw descriptors", ratio(t[1], t[0]), 3, "x"),
		besides("the same by a whole dispatch, with what P2 measures", ratio(t[2], t[0]), "x"),
	}
}

// rawEcho starts the worker and returns a way that writes a question to it and reads the answer, by system
// calls on blocking descriptors.
func (b *bench) rawEcho() (ask, done func()) {
	msg, err := wire.JSON{}.Encode(toolCall())
	must(err)
	cmd := exec.Command(b.echo)
	in, ours := blockingPipe()
	theirs, out := blockingPipe()
	cmd.Stdin, cmd.Stdout = in, out
	must(cmd.Start())
	in.Close()
	out.Close()
	buf := make([]byte, 4096)
	question, answer := int(ours.Fd()), int(theirs.Fd())
	line := func() {
		n, err := syscall.Read(answer, buf)
		must(err)
		if n == 0 || !bytes.HasSuffix(buf[:n], []byte("\n")) {
			panic(io.ErrUnexpectedEOF)
		}
	}
	line()
	ask = func() {
		_, err := syscall.Write(question, msg.Stdin)
		must(err)
		line()
	}
	return ask, func() {
		ours.Close()
		must(cmd.Wait())
		theirs.Close()
	}
}

// blockingPipe is a pipe whose ends the Go runtime does not wait on: Fd makes them block.
func blockingPipe() (r, w *os.File) {
	r, w, err := os.Pipe()
	must(err)
	r.Fd()
	w.Fd()
	return r, w
}
