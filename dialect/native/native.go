// Package native reads pawl's own hooks file, in TOML, JSON or ZON:
//
//	[[hooks]]
//	name = "tests-pass"
//	on = "tool.before"
//	tool = "request_action"
//	run = ["go", "test", "./..."]
//	timeout_ms = 120000
//	output = "refuse"
//
// The file is chock's, with chock's limits: four triggers, three outputs, at most eight hooks of at most
// sixteen words, ten minutes. What it adds is off unless written; [Schema] lists every key. It is strict:
// a key it does not know, an output that the trigger cannot carry, a matcher that can never match is an
// error at its line and column, every error is told at once, and a file with an error gives no hook at all.
// A file may hold no hooks; an empty one is an error in JSON and ZON and a document without hooks in TOML, as those
// formats have it.
package native

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/internal/docissue"
)

// The bounds of a file.
const (
	maxHooks       = 8      // unless the file itself raises them by max_hooks
	maxMaxHooks    = 1000   // that max_hooks may say
	maxWords       = 16     // of a run, without the inputs
	maxTimeout     = 600000 // milliseconds
	maxName        = 64     // bytes
	defaultTimeout = 30000  // milliseconds
)

// Options are what a caller knows about a file. The zero Options read it by its name's ending.
type Options struct {
	Layer    string                         // copied to the hooks' origins; empty: config
	Format   string                         // dialect.TOML, JSON, JSONC or ZON; empty: seen from the name's ending
	Root     string                         // what a hook's relative dir is below; empty: left as written
	Triggers map[pawl.Trigger]pawl.Contract // what the runtime can carry; nil: pawl.DefaultTriggers()
}

// A File is a hooks file that was read. The zero File has no hooks.
type File struct {
	Hooks []pawl.Hook // in file order
	Specs []Spec      // what each of them was made from
}

// Load reads a hooks file. Name is how origins and issues show it. Where an issue is an error the File is
// empty: a file loads whole or not at all. Load opens no file and may be called concurrently.
func Load(name string, data []byte, opts Options) (File, []dialect.Issue) {
	format, known := doc.FormatOf(name), true
	if opts.Format != "" {
		format, known = formats[strings.ToLower(opts.Format)]
	}
	if !known {
		return File{}, []dialect.Issue{{Severity: dialect.Error, File: name,
			Message: fmt.Sprintf("unknown format %q", opts.Format), Hint: "a native file is toml, json or zon"}}
	}
	d, faults := doc.Parse(name, data, format)
	if len(faults) > 0 {
		return File{}, docissue.Errors(faults)
	}
	l := &loader{Reader: doc.NewReader(d), doc: d, opts: opts, first: map[string]doc.Pos{}}
	if len(bytes.TrimSpace(data)) == 0 { // a TOML file may be, and it may have been cut to nothing
		l.warn(d.Root.Pos, "write [[hooks]] above each hook, or remove the file", "the file is empty")
	}
	file := l.file()
	issues := l.issues()
	if dialect.HasErrors(issues) {
		file = File{}
	}
	return file, issues
}

var formats = map[string]doc.Format{
	dialect.JSON: doc.JSON, dialect.JSONC: doc.JSONC, dialect.TOML: doc.TOML, "zon": doc.ZON,
}

// LoadFile reads the file called name in fsys and loads it, shown as shown; empty: as name. A file that
// cannot be read is an error.
func LoadFile(fsys fs.FS, name, shown string, opts Options) (File, []dialect.Issue) {
	if shown == "" {
		shown = name
	}
	data, fault := doc.ReadFile(fsys, name, shown)
	if fault != nil {
		return File{}, []dialect.Issue{docissue.Of(fault, dialect.Error)}
	}
	return Load(shown, data, opts)
}
