// Package dialect is what the readers of hook files have in common: the file they are given, what they
// find in it, and what they have to say about it. Each host's reader is a package below this one with one
// func of one shape:
//
//	func Load(src dialect.Source) ([]dialect.Entry, []dialect.Issue)
//
// Load opens no file and starts no program. Where one of its issues is an error, it returns no entry: a
// file loads whole or not at all. Every handler in a file is an entry, one of an entry's Also, or named by
// an issue.
package dialect

import (
	"sync/atomic"

	"github.com/pawl-hooks/pawl"
)

// The formats of a Source.
const (
	JSON  = "json"
	JSONC = "jsonc" // JSON with comments and trailing commas
	TOML  = "toml"
)

// A Source is one file, or one part of a file, to load hooks from. Only File and Data must be set.
type Source struct {
	Layer     string // managed, system, user, project, session, plugin or config; empty: config
	File      string // the path, as origins and issues show it
	KeySource string // what trust keys begin with; empty: File
	Data      []byte // the bytes of the whole file, not kept
	Format    string // JSON, JSONC or TOML; empty: seen from File's ending, else JSON

	// Under leads from the top of the document to the hooks document: names, and indices in decimal. A
	// plugin manifest's inline hooks are under {"hooks"} or {"hooks", "0"}. Empty: the document itself.
	Under []string

	Strict  bool   // the hooks fail closed, and what is a warning in a host's file is an error
	Managed bool   // the hooks cannot be disabled and need no trust; copied to the entries
	Plugin  string // the plugin's id, of a plugin's file; copied to the entries

	// Switched says that the caller applies the switch by which a file turns all hooks off, which holds for
	// other files too. False: the reader applies it to this file.
	Switched bool

	// Env is added to what the hooks' programs inherit: KEY=value, the plugin variables say.
	Env []string

	Root    string                   // the project's directory, as hooks are told it; empty: the event's Dir
	OS      string                   // the GOOS to choose command overrides and the shell for; empty: this one
	TempDir string                   // where large output is spilled; empty: os.TempDir()
	Redact  func(text []byte) []byte // over output before it is spilled or cut; nil: as it is

	// Warned is shared by the sources of one load, so that what is said once per load is said once. Nil:
	// this source alone.
	Warned *atomic.Bool
}

// An Entry is one hook found in a file, with what trust and listings need. Its Hook is ready for
// pawl.New; whether it may run is for the caller to decide.
type Entry struct {
	Hook    pawl.Hook
	Dialect string // zerocode, claude or native

	Event   string // as the host spells it: PreToolUse
	Group   int    // position of the matcher group in the event, from 0, counting every one written
	Handler int    // position in the group, from 0, counting every one written

	Key  string // KEYSOURCE:event_label:GROUP:HANDLER
	Hash string // of the definition: "sha256:" and 64 hexadecimal digits

	Command string   // the command line, or the program of the exec form, as it will run
	Args    []string // arguments of the exec form; nil for a command line
	Matcher string   // as written; empty where there is none or the event ignores it
	Timeout int      // seconds, after default and clamp
	Limit   *int     // additionalContextLimit as written; nil: none
	Managed bool
	Plugin  string

	// Also says where else the same handler is written, in a dialect that runs duplicates once.
	Also []pawl.Origin

	// Build makes the hook under another name. A codec's words name the hook, so a changed Hook.Name
	// alone would not do. See Rename.
	Build func(name string) pawl.Hook
}

// Rename gives e's hook another name: where two files of one layer hold a handler at the same position,
// the second is named with a number behind it.
func (e *Entry) Rename(name string) { e.Hook = e.Build(name) }
