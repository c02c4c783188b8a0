package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/dialect"
)

// A Status says whether a hook's definition was reviewed.
type Status string

// The statuses.
const (
	Managed   Status = "managed"   // trusted by policy
	Trusted   Status = "trusted"   // as it was accepted, or given by the caller
	Modified  Status = "modified"  // accepted once, and not as it is now
	Untrusted Status = "untrusted" // never accepted
	Gone      Status = "gone"      // accepted once, and not found any more
)

// What made a hook trusted.
const (
	ByPolicy = "policy" // it is managed
	ByCaller = "caller" // its file was named outright
	ByStore  = "store"  // pawl's own trust store, scripts included
	ByHost   = "host"   // a host's store: by definition only
)

// A Set is what a load found. The zero Set is empty. Its slices are the caller's to read. The operations on
// trust change the store and not the Set: load again to see what follows.
type Set struct {
	Hooks    []pawl.Hook     // ready for pawl.New, in configuration order
	Pending  []Entry         // hooks that wait for review and do not run
	Entries  []Entry         // every hook found, in configuration order: those that run, wait or are disabled
	Gone     []Entry         // hooks that were accepted and are not found any more: what trust knows of them
	Issues   []dialect.Issue // everything that files had to be told off for; an error among them means a file that did not load
	Warnings []string        // for the person who started this: hooks that wait, trust that is bypassed

	store trustStore
	disk  disk
	dir   string // the working directory, real
}

// An Entry is one hook that was found, and what became of it.
type Entry struct {
	dialect.Entry
	Status  Status
	By      string   // what made it trusted; empty: nothing
	Enabled bool     // false: a person turned it off
	Digest  string   // of all that acceptance covers
	Scripts []Script // the files its command names
	Missed  string   // why acceptance does not cover a file that its command names by a relative path; empty: none is missed
	Reason  string   // why it does not run, though it is enabled; empty: it does

	found  string // the path its file was found by
	unread bool   // it waits for a review
	folder string // the folder that it waits for; empty: none
}

// Remedy returns the command by which a person lets e run, once it has been read, or forgets it where it is gone. It is
// empty where nothing is missing, or nothing that a command gives.
func (e Entry) Remedy() string {
	switch {
	case e.Status == Gone:
		return "pawl trust revoke " + e.Hook.Name
	case !e.Enabled:
		return "pawl trust enable " + e.Hook.Name
	case e.unread:
		return e.remedy(e.Hook.Name)
	}
	return e.remedy("")
}

// remedy is what gives e and others that miss the same what they miss.
func (e Entry) remedy(names string) string {
	command := "pawl trust accept"
	if names != "" {
		command += " " + names
	}
	if e.folder != "" {
		return command + " --project " + shellWord(e.folder)
	}
	if names == "" {
		return ""
	}
	return command
}

// warning is a warning at the place where e was written.
func (e *Entry) warning(message, hint string) dialect.Issue {
	index := fmt.Sprintf("%d.%d", e.Group, e.Handler)
	if e.Dialect == native {
		index = strconv.Itoa(e.Handler)
	}
	at := e.Hook.Origin
	return dialect.Issue{
		Severity: dialect.Warning, File: at.File, Line: at.Line, Column: at.Column,
		Event: e.Event, Index: index, Message: message, Hint: hint,
	}
}

// A Script is a file that a hook's command names. Acceptance covers its content.
type Script struct {
	Word   string `json:"word"`   // as the command names it
	File   string `json:"file"`   // what that stands for here
	Digest string `json:"digest"` // of its content; "unreadable" where it cannot be read
}

// A Listing is an Entry as `pawl list --json` prints it.
type Listing struct {
	Name      string   `json:"name"`
	Trigger   string   `json:"trigger"`
	Matcher   string   `json:"matcher"`
	Layer     string   `json:"layer"`
	File      string   `json:"file"`
	Line      int      `json:"line"`
	Trust     Status   `json:"trust"`
	TrustedBy string   `json:"trusted_by,omitempty"`
	Enabled   bool     `json:"enabled"`
	Command   string   `json:"command"`
	Direct    bool     `json:"direct,omitempty"` // a shell line that goes without its shell
	Keep      bool     `json:"keep,omitempty"`   // the program is kept alive between events
	TimeoutMS int64    `json:"timeout_ms"`
	Digest    string   `json:"digest"`
	Scripts   []Script `json:"scripts,omitempty"`
	Missed    string   `json:"missed,omitempty"` // why a file that the command names is not among the scripts
	Reason    string   `json:"reason,omitempty"`
}

// Listing returns e as a listing shows it.
func (e Entry) Listing() Listing {
	l := Listing{
		Name: e.Hook.Name, Trigger: string(e.Hook.On), Matcher: e.Matcher,
		Layer: e.Hook.Origin.Layer, File: e.Hook.Origin.File, Line: e.Hook.Origin.Line,
		Trust: e.Status, TrustedBy: e.By, Enabled: e.Enabled, Command: e.shown(),
		TimeoutMS: e.Hook.Timeout.Milliseconds(), Digest: e.Digest, Scripts: e.Scripts, Missed: e.Missed, Reason: e.Reason,
	}
	if p, ok := e.Hook.Handler.(command.Program); ok {
		l.Direct, l.Keep = p.Direct != nil, p.Keep
	}
	if l.Matcher == "" && e.Hook.Match != nil {
		l.Matcher = e.Hook.Match.String()
	}
	return l
}

// shown returns the command for people: the line, or the words with those quoted that need it.
func (e Entry) shown() string {
	if e.Args == nil && e.Dialect != native {
		return e.Command
	}
	args := append([]string{e.Command}, e.Args...)
	for i, a := range args {
		if a == "" || strings.ContainsAny(a, shellSpecial) {
			args[i] = fmt.Sprintf("%q", a)
		}
	}
	return strings.Join(args, " ")
}

// Err returns the errors among s.Issues as one [dialect.IssueError], or nil: for a caller who does not go on
// when a file did not load.
func (s Set) Err() error {
	var errs []dialect.Issue
	for _, i := range s.Issues {
		if i.Severity == dialect.Error {
			errs = append(errs, i)
		}
	}
	if errs == nil {
		return nil
	}
	return &dialect.IssueError{Issues: errs}
}

// Entry returns the hook of that name.
func (s Set) Entry(name string) (Entry, bool) {
	return entryOf(s.Entries, name)
}

func entryOf(entries []Entry, name string) (Entry, bool) {
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Hook.Name == name })
	if i < 0 {
		return Entry{}, false
	}
	return entries[i], true
}
