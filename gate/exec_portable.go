package gate

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/pawl-hooks/pawl"
)

// A portable is a program run through os/exec: the way that works on every system.
type portable struct {
	*launch
	cmd            *exec.Cmd
	group          *group
	in, out, errs  *os.File // our ends of the pipes; in is nil where there is nothing to write
	stdout, stderr *capture
	ends           ending
	exited         chan bool     // whether it was killed by a signal, once it has ended
	closed         chan struct{} // one value for each output stream at its end
	work           sync.WaitGroup
}

func (l *launch) runPortable(ctx context.Context) (pawl.Result, error) {
	p, err := l.startPortable(ctx)
	if err != nil {
		return pawl.Result{}, err
	}
	p.watch()
	open := p.follow(ctx)
	return p.finish(open)
}

// startPortable starts the program, again for a while if its file is still open for writing somewhere.
func (l *launch) startPortable(ctx context.Context) (*portable, error) {
	p, err := l.tryPortable()
	for delay := time.Millisecond; errors.Is(err, syscall.ETXTBSY) && delay <= maxBusyDelay; delay *= 2 {
		if err := sleep(ctx, delay); err != nil {
			return nil, err
		}
		p, err = l.tryPortable()
	}
	if err != nil {
		return nil, l.explain(err)
	}
	return p, nil
}

// tryPortable starts the program with fresh pipes: os/exec leaves those of a failed start unusable.
func (l *launch) tryPortable() (*portable, error) {
	p := &portable{
		launch: l, stdout: l.capture(), stderr: l.capture(), ends: ending{grace: l.grace},
		exited: make(chan bool, 1), closed: make(chan struct{}, 2),
	}
	p.cmd = &exec.Cmd{Path: l.executable(), Args: l.args, Env: l.env, Dir: l.dir}
	if p.cmd.Env == nil {
		p.cmd.Env = []string{} // nil would be the whole of ours
	}
	p.group = newGroup(p.cmd)
	theirs, err := p.pipes()
	if n := len(p.stdin); err == nil && n > 0 && n <= pipeTakes { // which spares a goroutine
		_, err = p.in.Write(p.stdin)
		p.in.Close()
		p.in = nil
	}
	if err == nil {
		err = l.cage.startPortable(p.cmd, p.group)
	}
	for _, f := range theirs {
		f.Close()
	}
	if err != nil {
		p.closePipes()
		return nil, err
	}
	return p, nil
}

// pipes makes the pipes and returns the ends that are the program's; nil files among ours are none.
func (p *portable) pipes() (theirs []*os.File, err error) {
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	keep := func(f *os.File) *os.File {
		if f != nil {
			theirs = append(theirs, f)
		}
		return f
	}
	var in, out, errs *os.File
	if len(p.stdin) > 0 || p.launch.open {
		in, p.in = pipe()
		p.cmd.Stdin = keep(in)
	}
	p.out, out = pipe()
	p.errs, errs = pipe()
	p.cmd.Stdout, p.cmd.Stderr = keep(out), keep(errs)
	return theirs, err
}

func (p *portable) closePipes() {
	for _, f := range []*os.File{p.in, p.out, p.errs} {
		if f != nil {
			f.Close()
		}
	}
}

// watch starts what serves the program beside us: a reader for each stream, a writer, and a waiter.
func (p *portable) watch() {
	p.work.Add(2)
	go p.read(p.out, p.stdout.write)
	go p.read(p.errs, p.stderr.write)
	if p.in != nil {
		p.work.Add(1)
		go func() {
			defer p.work.Done()
			_, _ = p.in.Write(p.stdin) // a program need not read it
			p.in.Close()
		}()
	}
	go p.await()
}

// await tells of the end of the program. It does not reap it: until that is done the kernel keeps its process
// group's number for us.
func (p *portable) await() { p.exited <- awaitExit(p.cmd) }

// reap says only what the state of the process says better.
func (p *portable) reap() { _ = p.cmd.Wait() }

func (p *portable) read(f *os.File, take func([]byte)) {
	defer p.work.Done()
	defer func() { p.closed <- struct{}{} }()
	buf := make([]byte, 32<<10)
	for {
		n, err := f.Read(buf)
		take(buf[:n])
		if err != nil {
			return
		}
	}
}

// follow returns when the program and its streams have ended or it is time to leave them, and says how
// many streams are still open.
func (p *portable) follow(ctx context.Context) (open int) {
	open = 2
	done := ctx.Done()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for open > 0 || !p.ends.exited {
		if at, ok := p.ends.next(); ok {
			timer.Reset(time.Until(at))
		}
		select {
		case <-done:
			done = nil
			if p.ends.cancel(time.Now()) {
				p.group.terminate()
			}
		case killed := <-p.exited:
			p.ends.exit(time.Now())
			p.linger = p.linger && !killed // that is not ended well
		case <-p.closed:
			open--
		case <-timer.C:
		}
		kill, leave := p.ends.due(time.Now())
		if kill {
			p.kill()
		}
		if leave {
			break
		}
	}
	return open
}

func (p *portable) kill() {
	p.group.kill()
	p.cage.kill()
}

// finish kills what is left, reaps the program and gathers what it said.
func (p *portable) finish(open int) (pawl.Result, error) {
	gone := p.ends.exited
	var res pawl.Result
	linger := p.linger && gone && !p.ends.cancelled && !p.ends.killed && open == 0
	if !linger {
		p.kill()
	}
	if gone {
		p.reap()
		res.Code, res.Signal = exitOf(p.cmd.ProcessState)
	} else {
		res.Code = -1
		go func() { // whenever the kernel lets go of it
			<-p.exited
			p.reap()
		}()
	}
	res.Orphans = open > 0 || !gone || linger && p.group.alive()
	p.group.close()
	p.closePipes()
	p.work.Wait()
	return gather(res, p.stdout, p.stderr)
}

// gather puts what two streams kept into res.
func gather(res pawl.Result, stdout, stderr *capture) (pawl.Result, error) {
	out, cutOut, err := stdout.take()
	errs, cutErrs, err2 := stderr.take()
	res.Stdout, res.Stderr, res.Cut = out, errs, cutOut+cutErrs
	return res, errors.Join(err, err2)
}

const maxBusyDelay = 256 * time.Millisecond // half a second of tries in all

// sleep waits for d, or until ctx ends, which is an error: nothing was started.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return notStarted(ctx)
	}
}
