package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl"
)

// A ReadFirst knows which files an agent has read in its session, and what was in them. Files are known by one
// name each, however a call spells it and whatever links lead there; they are compared by content, never by
// time. Reading is tracked whichever of Require and Dedup is set. A sub-agent's reads are its own.
type ReadFirst struct {
	Name string // of its hooks; empty: "read-first"

	// Require refuses to edit a file that exists and was not read, or that changed since. An edit counts as
	// having read what it left. A call that names no file is refused.
	Require bool
	// Dedup answers a read with a line saying that nothing changed, where the same read was already answered
	// since the last compaction and the file is as it was.
	Dedup bool

	Read   []string // tools that read a file; empty: read_file, Read
	Edit   []string // tools that change one; empty: edit, edit_file, multi_edit, write_file, Edit, MultiEdit, Write
	Fields []string // members of the input that name the file where Event.Paths is nil; empty: file_path, path, notebook_path
	Files  Files    // nil: LocalFiles{}

	runs runs[reading]
}

type reading struct {
	known   map[string]string            // digest of each file as the agent knows it
	answers map[string]map[string]string // of each read, the digests it was answered from
	order   []string                     // of known, oldest first
	begun   ledger[map[string]string]    // digests when the call was let through
}

// maxFiles bounds the files known of one agent. Of more, the oldest must be read again.
const maxFiles = 4096

// Hooks returns the hooks of the guard, or every fault in its settings.
func (r *ReadFirst) Hooks() ([]pawl.Hook, error) {
	name := cmp.Or(r.Name, "read-first")
	if !r.Require && !r.Dedup {
		return nil, fmt.Errorf("guard %s: neither require nor dedup is set: it would do nothing", name)
	}
	r.Read = listOr(r.Read, "read_file", "Read")
	r.Edit = listOr(r.Edit, "edit", "edit_file", "multi_edit", "write_file", "Edit", "MultiEdit", "Write")
	r.Fields = listOr(r.Fields, pathFields()...)
	if r.Files == nil {
		r.Files = LocalFiles{}
	}
	read, edit := pawl.Names(r.Read...), pawl.Names(r.Edit...)
	hooks := []pawl.Hook{
		matching(read, observer(name+"-reading", pawl.ToolBefore, r.begin)),
		matching(read, observer(name+"-read", pawl.ToolAfter, r.wasRead)),
		matching(edit, observer(name+"-edited", pawl.ToolAfter, r.wasEdited)),
		observer(name+"-compacted", pawl.CompactAfter, r.compacted),
	}
	if r.Require {
		hooks = append(hooks, pawl.Hook{Name: name, On: pawl.ToolBefore, Match: edit, Effects: pawl.MayRefuse, Handler: pawl.HandlerFunc(r.check)})
	}
	if r.Dedup {
		hooks = append(hooks, pawl.Hook{Name: name + "-dedup", On: pawl.ToolBefore, Match: read, Effects: pawl.MayReplace, Handler: pawl.HandlerFunc(r.replay)})
	}
	return append(hooks, r.runs.sessionEnding(name)...), nil
}

func matching(m pawl.Matcher, h pawl.Hook) pawl.Hook {
	h.Match = m
	return h
}

func listOr(list []string, other ...string) []string {
	if len(list) == 0 {
		return other
	}
	return list
}

// check judges an edit by what is on disk now.
func (r *ReadFirst) check(_ context.Context, ev *pawl.Event, _ pawl.Gate) (d pawl.Decision, _ error) {
	paths, _, err := pathsOf(r.Files, r.Fields, ev)
	if err != nil {
		return d, err
	}
	var why []string
	for _, p := range paths {
		now, err := r.Files.Digest(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a new file: there is nothing to read
		}
		if err != nil {
			return d, err
		}
		known, ok := "", false
		r.runs.peek(ev, func(s *reading) { known, ok = s.known[p] })
		switch {
		case !ok:
			why = append(why, fmt.Sprintf("read %s before you edit it", p))
		case known != now:
			why = append(why, fmt.Sprintf("%s changed since you read it; read it again before you edit it", p))
		}
	}
	if why != nil {
		d = pawl.Decision{Verdict: pawl.Refuse, Reason: Blocked + strings.Join(why, "; ") + "."}
	}
	return d, nil
}

// replay answers a read that would show nothing new.
func (r *ReadFirst) replay(_ context.Context, ev *pawl.Event, _ pawl.Gate) (d pawl.Decision, _ error) {
	if ev.Output != nil || ev.Recheck {
		return d, nil
	}
	paths, rest, err := pathsOf(r.Files, r.Fields, ev)
	if err != nil {
		return d, nil // for the tool to say
	}
	now, whole := r.digests(paths)
	r.runs.peek(ev, func(s *reading) {
		if before, ok := s.answers[readKey(ev, paths, rest)]; ok && whole && maps.Equal(before, now) {
			d.Output = quote(strings.Join(paths, ", ") + " has not changed since you read it: see the earlier result.")
		}
	})
	return d, nil
}

// digests returns those of the files, and whether all of them have one.
func (r *ReadFirst) digests(paths []string) (sums map[string]string, whole bool) {
	sums = map[string]string{}
	for _, p := range paths {
		if sum, err := r.Files.Digest(p); err == nil {
			sums[p] = sum
		}
	}
	return sums, len(sums) == len(paths)
}

func readKey(ev *pawl.Event, paths []string, rest string) string {
	return ev.Tool + "\x00" + strings.Join(paths, "\x00") + "\x00" + rest
}

// begin remembers what a file holds when it is about to be read: one that changes meanwhile was not read.
func (r *ReadFirst) begin(ev *pawl.Event) {
	if ev.Verdict >= pawl.Refuse || ev.Output != nil {
		return
	}
	paths, _, err := pathsOf(r.Files, r.Fields, ev)
	if err != nil {
		return
	}
	sums, _ := r.digests(paths)
	r.runs.do(ev, func(s *reading) { s.begun.add(ev.Call, sums) })
}

func (r *ReadFirst) wasRead(ev *pawl.Event) {
	paths, rest, err := pathsOf(r.Files, r.Fields, ev)
	if err != nil {
		return
	}
	now, whole := r.digests(paths)
	r.runs.do(ev, func(s *reading) {
		begun := now
		if i := s.begun.latest(ev.Call, false); i >= 0 {
			begun = s.begun.take(i)
		}
		if ev.Failed || ev.Verdict >= pawl.Refuse {
			return
		}
		for p, sum := range now {
			if begun[p] == sum {
				s.know(p, sum)
			}
		}
		if whole && maps.Equal(begun, now) {
			if len(s.answers) >= maxFiles {
				clear(s.answers)
			}
			s.answers[readKey(ev, paths, rest)] = now
		}
	})
}

// wasEdited takes the file as the agent's edit left it for read.
func (r *ReadFirst) wasEdited(ev *pawl.Event) {
	paths, _, err := pathsOf(r.Files, r.Fields, ev)
	if err != nil || ev.Failed {
		return
	}
	now, _ := r.digests(paths)
	r.runs.do(ev, func(s *reading) {
		for p, sum := range now {
			s.know(p, sum)
		}
	})
}

func (r *ReadFirst) compacted(ev *pawl.Event) {
	r.runs.peek(ev, func(s *reading) { clear(s.answers) })
}

func (s *reading) know(path, sum string) {
	if s.known == nil {
		s.known, s.answers = map[string]string{}, map[string]map[string]string{}
	}
	if _, ok := s.known[path]; ok {
		s.order = slices.DeleteFunc(s.order, func(p string) bool { return p == path })
	}
	s.known[path] = sum
	s.order = append(s.order, path)
	if len(s.order) > maxFiles {
		delete(s.known, s.order[0])
		s.order = s.order[1:]
		clear(s.answers)
	}
}
