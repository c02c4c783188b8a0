// Package journal keeps records in a file that an auditor can trust: appended to only, one write a record,
// shared by several processes, and chained by hashes so that a later change shows.
//
// [Open] gives a [pawl.Log]; [Verify] checks a file; [Show], [Read] and [ReadFile] read one.
//
// # Limits
//
// The chain shows what was changed, removed or moved. It does not stop anyone who may write the file, and
// two things it cannot show by itself: that lines are missing at the end, and that the whole file was
// written anew with hashes of its own. Both show against a [Head] that is kept where the writer of the log
// cannot reach it: see [Options.Checkpoints] and [Log.Head]. Locks are advisory and hold on one machine; a
// network file system that does not keep them is no place for a log.
package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/pawl-hooks/pawl"
)

// Sync says when a record is safe from a crash of the machine. From a crash of the process it is safe once
// Append returns, whatever the policy.
type Sync uint8

// The policies.
const (
	SyncNone  Sync = iota // when the operating system sees fit
	SyncEach              // before Append returns, by a sync of its own
	SyncGroup             // before Append returns, by a sync shared with the Appends that wait at the time
)

// Options are the ways of a Log. The zero Options sync nothing, never rotate and keep no checkpoints.
type Options struct {
	Sync     Sync
	MaxBytes int64       // rotate a file that has grown to this; zero: never; not on Windows
	Mode     os.FileMode // of files made; zero: 0600

	// Alone says that no other process writes the file: its lock is taken once, at Open, and kept. Open fails
	// where another process has the log open alone, or is writing to it; other processes that open it later
	// wait in vain. It saves three system calls a record.
	Alone bool

	// Checkpoints is a file to append a Head to after every CheckpointEvery records of this Log and when it
	// is closed. Keep it where whoever can change the log cannot change it. Empty: none.
	Checkpoints     string
	CheckpointEvery int // zero: 1000

	// LockWait bounds the wait for other processes where the context of an Append has no deadline. Zero: 10 s.
	LockWait time.Duration

	Now func() time.Time // for the records that the Log writes itself; nil: time.Now
}

// ErrClosed is returned by the methods of a Log after Close.
var ErrClosed = errors.New("the log is closed")

// A Log is a [pawl.Log] over a file. It may be used concurrently, and several processes may have one open on
// the same file.
type Log struct {
	path string
	opts Options

	turn chan struct{} // held by whoever uses what follows
	file *os.File
	size int64 // of the file when it was last looked at under its lock; below zero: not known
	last hash  // of the file's last line
	buf  []byte
	seen time.Time // when the path was last seen to name the file
	due  int       // records until the next checkpoint
	done bool

	group group
}

// Open opens a log, and makes it where there is none. A file that ends in the middle of a line, as a crash
// leaves it, is repaired: the broken line goes and a record of kind log.repaired says how much that was. A
// file that holds lines without a chain, or anything else, is an error, as is one that cannot be written.
func Open(path string, opts Options) (*Log, error) {
	if opts.MaxBytes > 0 && runtime.GOOS == "windows" {
		return nil, fmt.Errorf("log %s: a file that is open cannot be rotated on Windows", path)
	}
	if opts.Mode == 0 {
		opts.Mode = 0o600
	}
	if opts.CheckpointEvery <= 0 {
		opts.CheckpointEvery = 1000
	}
	if opts.LockWait <= 0 {
		opts.LockWait = 10 * time.Second
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	l := &Log{path: path, opts: opts, turn: make(chan struct{}, 1), due: opts.CheckpointEvery}
	err := l.exclusive(context.Background(), func() error { return nil })
	if err != nil {
		if l.file != nil {
			l.file.Close()
		}
		return nil, err
	}
	return l, nil
}

// Append writes the records, each by one write. Where it fails, those before the one that failed are kept;
// nothing of that one is.
func (l *Log) Append(ctx context.Context, recs ...pawl.Record) error {
	var ticket uint64
	err := l.exclusive(ctx, func() error {
		for _, rec := range recs {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("log %s: %w", l.path, err)
			}
			if err := l.write(ctx, rec); err != nil {
				return err
			}
		}
		if l.opts.Sync == SyncEach {
			return l.group.syncNow(l.file)
		}
		ticket = l.group.ticket(l.file)
		return nil
	})
	if err != nil || l.opts.Sync != SyncGroup {
		return err
	}
	if err := l.group.wait(ctx, ticket); err != nil {
		return fmt.Errorf("log %s: %w", l.path, err)
	}
	return nil
}

// exclusive runs f while no one else writes to the file, in this process or another, with the file open and
// whole, and its size and last hash known.
func (l *Log) exclusive(ctx context.Context, f func() error) error {
	select {
	case l.turn <- struct{}{}:
	default:
		select {
		case l.turn <- struct{}{}:
		case <-ctx.Done():
			return fmt.Errorf("log %s: waiting for its turn: %w", l.path, ctx.Err())
		}
	}
	defer func() { <-l.turn }()
	if l.done {
		return fmt.Errorf("log %s: %w", l.path, ErrClosed)
	}
	if err := l.group.broken(); err != nil {
		return fmt.Errorf("log %s: an earlier sync failed: %w", l.path, err)
	}
	if err := l.acquire(ctx); err != nil {
		return err
	}
	defer l.release()
	return f()
}

// acquire locks the file that the path names and learns where it ends.
func (l *Log) acquire(ctx context.Context) error {
	if l.opts.Alone && l.file != nil && l.size >= 0 {
		return nil
	}
	for range 100 { // each round found that another process had just rotated
		if err := l.open(); err != nil {
			return err
		}
		if err := l.lock(ctx); err != nil {
			return err
		}
		current, err := l.catchUp()
		if err != nil {
			l.release()
			return err
		}
		if current {
			return nil
		}
		if err := l.drop(); err != nil {
			return err
		}
	}
	return fmt.Errorf("log %s: it is rotated faster than it can be written", l.path)
}

func (l *Log) release() {
	if l.file != nil && !l.opts.Alone {
		_ = unlock(l.file) // closing would do as much
	}
}

// drop closes a file that is not the log any more.
func (l *Log) drop() error {
	f := l.file
	l.file = nil
	defer f.Close() // which unlocks it
	if l.opts.Sync == SyncNone {
		return nil
	}
	return l.group.syncNow(f) // for those who still wait for it
}

// open opens the path where it is not open.
func (l *Log) open() error {
	if l.file != nil {
		return nil
	}
	if info, err := os.Stat(l.path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("log %s: not a regular file", l.path)
	}
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, l.opts.Mode)
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	l.file, l.size, l.last, l.seen = f, -1, hash{}, time.Time{}
	return nil
}

// lock takes the file's lock, waiting for other processes as long as ctx allows.
func (l *Log) lock(ctx context.Context) error {
	if ok, err := tryLock(l.file); ok || err != nil {
		return l.lockError(err)
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.opts.LockWait)
		defer cancel()
	}
	const longest = 2 * time.Millisecond
	for pause := 20 * time.Microsecond; ; pause = min(2*pause, longest) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("log %s: another process holds its lock: %w", l.path, ctx.Err())
		case <-time.After(pause):
		}
		if ok, err := tryLock(l.file); ok || err != nil {
			return l.lockError(err)
		}
	}
}

func (l *Log) lockError(err error) error {
	if err != nil {
		return fmt.Errorf("log %s: lock: %w", l.path, err)
	}
	return nil
}

// lookEvery is how often the path is looked up, in case something else than a Log has moved the file away.
const lookEvery = time.Second

// catchUp learns of what others wrote. It reports false where the path names another file by now.
func (l *Log) catchUp() (current bool, err error) {
	size, err := l.file.Seek(0, io.SeekEnd)
	if err != nil {
		return false, fmt.Errorf("log: %w", err)
	}
	if now := time.Now(); now.Sub(l.seen) >= lookEvery {
		if moved, err := l.moved(); moved || err != nil {
			return false, err
		}
		l.seen = now
	}
	if size == l.size {
		return true, nil
	}
	t, err := readTail(l.file, size)
	if err != nil {
		return false, fmt.Errorf("log %s: %w", l.path, err)
	}
	if t.whole > 0 && t.rotated() {
		return false, l.finishRotation(t)
	}
	l.size, l.last = t.whole, t.hash
	if t.whole == 0 {
		if l.last, err = l.before(); err != nil {
			return false, err
		}
	}
	if t.whole < size {
		return true, l.repair(size - t.whole)
	}
	return true, nil
}

// moved reports whether the path names another file, or none, by now.
func (l *Log) moved() (bool, error) {
	mine, err := l.file.Stat()
	if err != nil {
		return false, fmt.Errorf("log: %w", err)
	}
	named, err := os.Stat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("log: %w", err)
	}
	return !os.SameFile(mine, named), nil
}

// repair takes a broken line off the end of the file and says so in a record.
func (l *Log) repair(broken int64) error {
	if err := l.file.Truncate(l.size); err != nil {
		return fmt.Errorf("log %s: repair: %w", l.path, err)
	}
	return l.append(&note{kind: "log.repaired", bytes: broken, at: l.opts.Now()})
}

// write appends one record and what follows from it: a rotation, a checkpoint.
func (l *Log) write(ctx context.Context, rec pawl.Record) error {
	if l.file == nil { // it was just rotated
		if err := l.acquire(ctx); err != nil {
			return err
		}
	}
	if err := l.append(rec); err != nil {
		return err
	}
	if l.due--; l.due <= 0 {
		l.due = l.opts.CheckpointEvery
		if err := l.checkpoint(); err != nil {
			return err
		}
	}
	if l.opts.MaxBytes > 0 && l.size >= l.opts.MaxBytes {
		return l.rotate()
	}
	return nil
}

func (l *Log) append(rec pawl.Record) error {
	line, err := pawl.AppendRecord(l.buf[:0], rec)
	if err != nil {
		return fmt.Errorf("log %s: %w", l.path, err)
	}
	line, h := seal(line, l.last)
	l.buf = line
	if cap(l.buf) > keptBuffer {
		l.buf = nil
	}
	n, err := l.file.Write(line)
	if err == nil {
		l.size, l.last = l.size+int64(n), h
		return nil
	}
	if n > 0 {
		// The next to write repairs what this cannot take back.
		if cut := l.file.Truncate(l.size); cut != nil {
			l.size = -1
		}
	}
	return fmt.Errorf("log: record %s is not kept: %w", rec.Kind(), err)
}

// keptBuffer bounds what is kept for the next record.
const keptBuffer = 1 << 20

// Close writes a last checkpoint, syncs what the policy says and closes the file. A second Close is ErrClosed.
func (l *Log) Close() error {
	err := l.exclusive(context.Background(), func() error {
		if l.opts.Sync != SyncNone {
			if err := l.group.syncNow(l.file); err != nil {
				return err
			}
		}
		return l.checkpoint()
	})
	if errors.Is(err, ErrClosed) {
		return err
	}
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	if l.done {
		return fmt.Errorf("log %s: %w", l.path, ErrClosed)
	}
	l.done = true
	if l.file == nil {
		return err
	}
	return errors.Join(err, l.file.Close())
}
