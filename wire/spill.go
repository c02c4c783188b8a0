package wire

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-hooks/pawl/internal/cut"
)

// A Spill keeps text that is too long for the model in a file, and shortens it to its head and tail. The
// zero Spill writes below os.TempDir() and redacts nothing. It may be used concurrently.
type Spill struct {
	Dir    string                   // in which hook_outputs stands; empty: os.TempDir()
	Redact func(text []byte) []byte // before anything is written or cut; nil: as it is
}

// shorten returns text as the model gets it: whole if it has at most limit tokens or the limit is zero,
// else a preview that names the file holding all of it. What cannot be written is still shortened.
func (s Spill) shorten(session, text string, limit int) string {
	if s.Redact != nil {
		text = string(s.Redact([]byte(text)))
	}
	if limit <= 0 || tokens(len(text)) <= limit {
		return text
	}
	path, err := s.write(session, text)
	if err != nil {
		return preview(text, limit, "")
	}
	return preview(text, limit, "\n\nFull hook output saved to: "+path)
}

// tokens counts four bytes as one.
func tokens(size int) int { return (size + 3) / 4 }

// preview is a header, the head and tail that fit limit tokens beside the footer, and the footer.
func preview(text string, limit int, footer string) string {
	lines := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		lines++
	}
	budget := 4 * max(0, limit-tokens(len(footer)))
	return fmt.Sprintf("Warning: truncated output (original token count: %d)\nTotal output lines: %d\n\n%s%s",
		tokens(len(text)), lines, headAndTail(text, budget), footer)
}

// headAndTail keeps half of the budget's bytes at each end, in whole characters.
func headAndTail(text string, budget int) string {
	if budget >= len(text) {
		return text
	}
	head, tail := cut.Head(text, budget/2), cut.Tail(text, budget-budget/2)
	return fmt.Sprintf("%s…%d tokens truncated…%s", head, tokens(len(text)-budget), tail)
}

// write saves text in a file of its own, which nobody else can read. A directory that somebody else could
// have put there, or a link, is not written to.
func (s Spill) write(session, text string) (string, error) {
	dir := s.Dir
	if dir == "" {
		dir = os.TempDir()
	}
	dir = filepath.Join(dir, "hook_outputs")
	for _, d := range []string{dir, filepath.Join(dir, element(session))} {
		if err := private(d); err != nil {
			return "", err
		}
		dir = d
	}
	path := filepath.Join(dir, uuid()+".txt")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	return path, errors.Join(err, f.Close())
}

// private makes a directory that is the user's alone, or checks that it is one.
func private(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !owned(info) {
		return fmt.Errorf("%s is not a directory of this user", dir)
	}
	return nil
}

// element is a session's id as one element of a path: itself, or its hash where it is not plainly one.
func element(session string) string {
	odd := strings.ContainsFunc(session, func(c rune) bool { return c < ' ' || c == 0x7f || strings.ContainsRune(`/\:`, c) })
	if session != "" && session != "." && session != ".." && len(session) <= 128 && !odd {
		return session
	}
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:])
}

// uuid returns a random (version 4) UUID.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
