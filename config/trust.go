package config

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/pawl-hooks/pawl"
)

// A court decides what may run: by the trust stores, and by what the caller asked for.
type court struct {
	mode           Trust
	definitionOnly bool
	disk           disk
	dir            string               // the working directory, real
	ledger         *ledger              // nil: it cannot be believed, and neither can anybody be trusted
	state          map[string]hostState // the hosts' stores, by key
	projects       map[string]string    // the hosts' folders: trust_level by path as written
}

// folder reports whether a project's hooks may be looked at, and if not, which folder is not trusted and why. The
// nearest candidate that anybody decided about decides.
func (c *court) folder(g *gated) (ok bool, dir, why string) {
	if g == nil || c.mode == TrustAll && c.ledger != nil {
		return true, "", ""
	}
	if c.ledger == nil {
		return false, "", "the trust store cannot be read"
	}
	for _, dir := range g.candidates {
		if trusted, ok := c.decided(dir); ok {
			return trusted, dir, "the folder " + dir + " is marked as untrusted"
		}
	}
	return false, g.shown, "the folder " + g.shown + " is not trusted"
}

// decided looks one real path up: pawl's own store first, then the user's projects tables. A path that is
// written there with a link in it stands for nothing, or a changed link would carry the trust elsewhere.
func (c *court) decided(dir string) (trusted, ok bool) {
	for key, f := range c.ledger.Projects {
		if c.sameDir(key, dir) {
			return f.Trusted, true
		}
	}
	for key, level := range c.projects {
		if c.sameDir(key, dir) {
			return level == "trusted", true
		}
	}
	return false, false
}

// sameDir compares a path that was written down with a real one. Spellings that differ in case alone are
// one where the file system says so.
func (c *court) sameDir(written, dir string) bool {
	if written == dir {
		return true
	}
	if !strings.EqualFold(written, dir) || c.disk.fsys != nil || c.disk.real(written) != written {
		return false
	}
	a, errA := os.Lstat(written)
	b, errB := os.Lstat(dir)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// judge fills in what e's trust is and whether it waits. It reports whether the hook may run.
func (c *court) judge(e *Entry, s *source) bool {
	if e.Managed {
		e.Status, e.By, e.Enabled = Managed, ByPolicy, true
		return true
	}
	t, host := c.opinions(e, s)
	why := c.weigh(e, s, t, host)
	e.Enabled = enabled(t, host)
	if !e.Enabled {
		return false
	}
	folderOK, folder, folderWhy := c.folder(s.place.gate)
	switch {
	case s.given:
		return true
	case c.ledger == nil:
		e.Reason = "the trust store cannot be read"
	case c.mode == TrustNone:
		e.Reason = "nothing is trusted in this run"
	case folderOK && (e.Status == Trusted || c.mode == TrustAll):
		return true
	default:
		e.unread, e.Reason = e.Status != Trusted, why
		if !folderOK {
			e.folder = folder
			e.Reason = folderWhy + ": " + e.Remedy()
		}
		if !folderOK && e.unread {
			e.Reason = why + ", and " + e.Reason
		}
	}
	return false
}

// opinions returns what pawl's store and the hosts' stores say about e.
func (c *court) opinions(e *Entry, s *source) (ticket, hostState) {
	var t ticket
	if c.ledger != nil {
		t = c.ledger.Hooks[e.Key]
	}
	host := c.state[e.Key]
	if s.hostKey != "" {
		host = c.state[s.hostKey+strings.TrimPrefix(e.Key, s.KeySource)].merge(host)
	}
	return t, host
}

// weigh sets e's status and returns, where it is not trusted, why. Once pawl's own store says something of
// a hook's trust, the hosts' are not asked: they know less.
func (c *court) weigh(e *Entry, s *source, t ticket, host hostState) string {
	e.Status = Untrusted
	scripts := scriptDigests(e.Scripts)
	switch {
	case s.given:
		e.Status, e.By = Trusted, ByCaller
	case c.ledger == nil:
	case t.Revoked:
		return "its trust was revoked"
	case t.accepts(e.Hash, scripts, c.definitionOnly):
		e.Status, e.By = Trusted, ByStore
	case t.Definition != "":
		e.Status = Modified
		return t.changed(e.Hash, scripts, c.dir)
	case host.hash == e.Hash && host.hash != "":
		e.Status, e.By = Trusted, ByHost
	case host.hash != "":
		e.Status = Modified
		return "its definition changed since it was accepted"
	}
	return "it was not reviewed yet"
}

func enabled(t ticket, host hostState) bool {
	switch {
	case t.Enabled != nil:
		return *t.Enabled
	case host.enabled != nil:
		return *host.enabled
	}
	return true
}

func scriptDigests(scripts []Script) map[string]string {
	if len(scripts) == 0 {
		return nil
	}
	m := make(map[string]string, len(scripts))
	for _, s := range scripts {
		m[s.Word] = s.Digest
	}
	return m
}

// refusing returns the stand-in of a hook that waits: under Strict, a check that did not happen is not a
// check that passed. The second result is false where the hook could not have refused.
func (l *loader) refusing(e Entry) (pawl.Hook, bool) {
	h, table := e.Hook, l.opts.Triggers
	if table == nil {
		table = pawl.DefaultTriggers()
	}
	if !hasSay(h) || table[h.On].Can&pawl.MayRefuse == 0 {
		return pawl.Hook{}, false
	}
	err := &pawl.Failure{Cause: pawl.CauseUntrusted, Err: fmt.Errorf("hook %s may not run: %s", h.Name, e.Reason)}
	h.Handler = pawl.HandlerFunc(func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
		return pawl.Decision{}, err
	})
	h.FailOpen, h.Timeout = false, 0
	return h, true
}

// hasSay reports whether a hook's failure could refuse.
func hasSay(h pawl.Hook) bool { return !h.Shadow && h.Effects&^pawl.MayNote != 0 }
