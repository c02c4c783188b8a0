package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/gate"
	"github.com/pawl-hooks/pawl/journal"
	"github.com/pawl-hooks/pawl/wire"
)

//go:embed csrc
var csrc embed.FS

// A bench is what the goals measure with.
type bench struct {
	dir    string // for what is built and written; gone at the end
	quick  bool
	native bool   // the helper programs are C, as the floors were measured; else Go
	hook   string // a program that reads its input and prints a decision
	echo   string // a worker
	floor  string // the spawn loop in C; empty without a compiler
}

// rounds is how often the ways of a slow goal are rotated.
func (b *bench) rounds(full int) int {
	if b.quick {
		return max(full/8, 20)
	}
	return full
}

// newBench builds the helper programs: in C where there is a compiler, else in Go. A bare hook has no C library.
func newBench(quick, bare bool) (*bench, error) {
	dir, err := os.MkdirTemp("", "pawl-bench")
	if err != nil {
		return nil, err
	}
	b := &bench{dir: dir, quick: quick}
	b.hook, b.echo = filepath.Join(dir, "hook"), filepath.Join(dir, "echo")
	if cc := compiler(); cc != "" {
		b.native, b.floor = true, filepath.Join(dir, "floor")
		hook := compile(cc, "hook", b.hook)
		if bare {
			hook = compile(cc, "bare", b.hook, "-nostdlib")
		}
		return b, errors.Join(hook, compile(cc, "echo", b.echo), compile(cc, "floor", b.floor))
	}
	if bare {
		return b, errors.New("a bare hook needs a C compiler")
	}
	return b, b.fallBack()
}

// compile builds one of csrc's programs.
func compile(cc, name, path string, flags ...string) error {
	src, err := csrc.ReadFile("csrc/" + name + ".c")
	if err != nil {
		return err
	}
	cmd := exec.Command(cc, append(flags, "-O2", "-static", "-x", "c", "-o", path, "-")...)
	cmd.Stdin = bytes.NewReader(src)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s.c: %w: %s", name, err, out)
	}
	return nil
}

func compiler() string {
	for _, cc := range []string{"cc", "gcc", "clang"} {
		if path, err := exec.LookPath(cc); err == nil {
			return path
		}
	}
	return ""
}

// fallBack copies this program under the names of the helpers: it plays them by its name.
func (b *bench) fallBack() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, path := range []string{b.hook, b.echo} {
		if err := os.Link(self, path); err != nil {
			if err := copyFile(self, path); err != nil {
				return err
			}
		}
	}
	return nil
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}

func (b *bench) close() { os.RemoveAll(b.dir) }

// toolCall is a tool call of about 1 KiB.
func toolCall() *pawl.Event {
	in, _ := json.Marshal(map[string]string{"command": "go test ./...", "description": strings.Repeat("x", 900)})
	return &pawl.Event{Trigger: pawl.ToolBefore, Session: "s1", Turn: "t1", Call: "c1", Tool: "Bash", Dir: os.TempDir(),
		Input: in, Model: "m", PermissionMode: "default"}
}

// told is what a program is told of event.
func told() []byte {
	msg, err := (&wire.Codec{}).Encode(toolCall())
	must(err)
	return msg.Stdin
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (b *bench) log(name string, opts journal.Options) *journal.Log {
	log, err := journal.Open(filepath.Join(b.dir, name), opts)
	must(err)
	return log
}

// programs are n hooks that run words.
func programs(n int, words ...string) []pawl.Hook {
	hooks := make([]pawl.Hook, n)
	for i := range hooks {
		name := fmt.Sprintf("h%d", i)
		hooks[i] = pawl.Hook{Name: name, On: pawl.ToolBefore, Effects: pawl.MayRefuse, Match: pawl.Names("Bash"),
			Handler: command.Program{Name: name, Args: words, Codec: &wire.Codec{}}}
	}
	return hooks
}

func registry(opts pawl.Options, hooks ...pawl.Hook) *pawl.Registry {
	r, err := pawl.New(opts, hooks...)
	must(err)
	return r
}

// dispatching returns a way that dispatches event to a registry of hooks.
func dispatching(r *pawl.Registry) func() {
	ev, ctx := toolCall(), context.Background()
	return func() {
		out, err := r.Dispatch(ctx, ev)
		if err != nil || out.Verdict != pawl.Pass {
			panic(fmt.Sprint(out.Decision(), err))
		}
	}
}

// bareExec runs words by os/exec with three buffers, the way most hosts do.
func bareExec(stdin []byte, words ...string) func() {
	return func() {
		cmd := exec.Command(words[0], words[1:]...)
		var out, errs bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &errs
		must(cmd.Run())
	}
}

func (b *bench) runner(portable bool) gate.Exec { return gate.Exec{Portable: portable} }
