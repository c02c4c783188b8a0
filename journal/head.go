package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// A Head is where a log ended at some time. Kept apart from the log, it shows whether what was there then is
// there still.
type Head struct {
	Time time.Time `json:"time,omitzero"`
	Size int64     `json:"size"` // bytes of the file
	Hash string    `json:"hash"` // of its last line; Genesis where it had none
}

// Head returns where the log ends now.
func (l *Log) Head() (Head, error) {
	var h Head
	err := l.exclusive(context.Background(), func() error { h = l.head(); return nil })
	return h, err
}

func (l *Log) head() Head { return Head{Time: l.opts.Now().UTC(), Size: l.size, Hash: l.last.String()} }

// checkpoint appends the head to the file of checkpoints. One that cannot be kept is a failure of the log.
func (l *Log) checkpoint() error {
	if l.opts.Checkpoints == "" {
		return nil
	}
	line, err := json.Marshal(l.head())
	if err != nil {
		return fmt.Errorf("log: checkpoint: %w", err)
	}
	f, err := os.OpenFile(l.opts.Checkpoints, os.O_WRONLY|os.O_APPEND|os.O_CREATE, l.opts.Mode)
	if err != nil {
		return fmt.Errorf("log: checkpoint: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if err == nil && l.opts.Sync != SyncNone {
		err = syncData(f)
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("log: checkpoint: %w", err)
	}
	return nil
}
