// Package zerocode reads ZeroCode's hook files, which are Codex's too: hooks.json, and the hooks table of a
// config.toml or requirements.toml.
//
// A file loads faithful: its hooks fail open, as their host's do, which the records show. Under
// [dialect.Source.Strict] they fail closed. In either mode a restriction that a hook spoke is kept where the
// host would lose it; package wire says how.
//
// # Differences from the host
//
//   - A matcher that does not compile, and any other fault of a handler, keeps the whole file from loading
//     and is shown at its place; the host leaves out the group, or all hooks of the file, in silence.
//   - Matchers are Go's regular expressions. Where those of the host mean something else, and where look-around
//     is asked for, the file does not load.
//   - A line runs under /bin/sh -c, never a login shell. One that needs no shell runs without.
//   - ${PLUGIN_ROOT} and its like are variables of the environment, not text that is replaced: in single
//     quotes they stay as they are, which is warned of.
//   - A program that does not read its input, or reads it slowly, is no failure and is timed all the same; on
//     a timeout its whole process group ends.
//   - Rewrites apply in the file's order, and hooks that judged another input are asked again.
//   - permissionDecision "ask" asks, and continue:false at PreToolUse ends the turn. The host reports both as
//     unsupported and goes on.
//   - Where the runtime does not say that apply_patch answers to Write and Edit, and spawn_agent to Agent,
//     matchers for those names match all the same.
//
// Session hooks do not hear a sub-agent's events, as in the host.
package zerocode

import (
	"regexp"
	"runtime"
	"unicode"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/internal/hostfile"
	"github.com/pawl-hooks/pawl/wire"
)

var host = hostfile.Host{
	Name:    "ZeroCode",
	Ignored: []string{"state", "managed_dir", "windows_managed_dir"},
	Style:   style,
}

// style is how ZeroCode reads matchers: its code, not its page, which calls lists of names expressions.
var style = hostfile.Style{
	Exact: func(c rune) bool {
		return c < unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c)) || c == '_' || c == '|'
	},
	Between: "|",
	Engine:  "ZeroCode",
	// Set operations in a class, and what only Go quotes or counts in bytes.
	Foreign: regexp.MustCompile(`\[[^\]]*(&&|--|~~)|\\[QEC]`),
}

// Load reads a hooks document, or in TOML the hooks table of a config file. An error among the issues
// means that nothing loads. It keeps nothing of src.Data.
func Load(src dialect.Source) ([]dialect.Entry, []dialect.Issue) {
	f, root := hostfile.Open(src, wire.ZeroCode)
	if root == nil {
		return f.Done(nil)
	}
	if f.OS == "" {
		f.OS = runtime.GOOS
	}
	var entries []dialect.Entry
	f.Walk(events(f, root), host, func(h hostfile.Handler) {
		if e, ok := entry(h); ok {
			entries = append(entries, e)
		}
	})
	return f.Done(entries)
}

// events finds the table of events and checks what stands beside it.
func events(f *hostfile.File, root *doc.Node) *doc.Node {
	if !root.Is(doc.Table) {
		f.NoObject(root)
		return nil
	}
	if f.IsTOML() && len(f.Under) == 0 {
		f.Strays(root, host)
		return root.Get("hooks") // the rest is the host's configuration
	}
	for _, k := range root.Fields {
		switch {
		case k.Name == "hooks":
		case k.Name == "description":
			if k.Value.Kind != doc.String && k.Value.Kind != doc.Null {
				f.Error(k.Value.Pos, "write one text, in quotes", "`description`: expected a string, found %s", k.Value.Describe())
			}
		default:
			f.Error(k.Pos, misplaced(k), "unknown key %s", doc.Quote(k.Name))
		}
	}
	return root.Get("hooks")
}

// misplaced is the hint for a key that does not belong at the top.
func misplaced(k doc.Field) string {
	if _, ok := wire.ZeroCode.Event(k.Name); ok {
		return "events stand inside hooks: {\"hooks\": {" + doc.Quote(k.Name) + ": […]}}"
	}
	return "a hooks file has description and hooks alone"
}
