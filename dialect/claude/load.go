// Package claude reads Claude Code's hook files: the hooks of settings.json and settings.local.json, and a
// plugin's hooks/hooks.json.
//
// A file loads faithful: its hooks fail open, as their host's do, which the records show. Under
// [dialect.Source.Strict] they fail closed. In either mode a restriction that a hook spoke is kept where the
// host would lose it; package wire says how. Events that have no trigger here are reported as lost.
//
// # Differences from the host
//
//   - Handlers of the kinds http, mcp_tool, prompt and agent, and async ones, are not run; each is reported.
//   - A fault keeps the whole file from loading and is shown at its place.
//   - Matchers and `if` rules that Go cannot express are reported, never read as something else. A hook whose
//     `if` is not understood does not run for everything instead.
//   - Text that begins like an object and is none is an answer that cannot be read, not plain text.
//   - Exit code 2 refuses a permission request too, and a continue:false stops a compaction.
//   - A "defer" asks. An allow of a permission request that rewrites its input is no answer; permission
//     updates beside one are not carried.
//   - Rewrites apply in the file's order, and hooks that judged another input are asked again.
//   - ${CLAUDE_PROJECT_DIR} and its like are variables of the environment in a shell's line. In the exec form
//     each argument is replaced for itself, without a shell.
//   - Handlers alike in everything but their group are one hook with all of their matchers; its hash covers
//     them all.
package claude

import (
	"regexp"
	"strings"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/internal/hostfile"
	"github.com/pawl-hooks/pawl/wire"
)

var (
	lost       = hostfile.Severity{Faithful: dialect.Lost, Strict: dialect.Lost}
	lostChecks = hostfile.Severity{Faithful: dialect.Lost, Strict: dialect.Error} // it could have forbidden something
)

var host = hostfile.Host{
	Name:  "Claude Code",
	Style: style,
	Lost: map[string]hostfile.Severity{
		"Setup": lost, "InstructionsLoaded": lost, "UserPromptExpansion": lostChecks, "MessageDisplay": lost,
		"PermissionDenied": lost, "PostToolBatch": lostChecks, "Notification": lost, "TaskCreated": lostChecks,
		"TaskCompleted": lostChecks, "StopFailure": lost, "TeammateIdle": lostChecks, "ConfigChange": lostChecks,
		"CwdChanged": lost, "DirectoryAdded": lost, "FileChanged": lost, "WorktreeCreate": lostChecks,
		"WorktreeRemove": lost, "Elicitation": lostChecks, "ElicitationResult": lostChecks,
	},
}

var style = hostfile.Style{
	Exact: func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_- ,|", c)
	},
	Between:  "|,",
	Trimming: true,
	Engine:   "JavaScript",
	// What Go quotes, anchors or names a class by, and JavaScript takes for the letters.
	Foreign: regexp.MustCompile(`\\[QECAzp]|\[\[:`),
	Sources: map[string][]string{
		"SessionStart": {"fork"},
		"SessionEnd":   {"clear", "resume", "logout", "prompt_input_exit"},
	},
}

// Load reads the hooks of a settings file, or of a plugin's. An error among the issues means that nothing
// loads. Handlers that are alike in everything but their group are one entry, whose Also has the others. It
// keeps nothing of src.Data.
func Load(src dialect.Source) ([]dialect.Entry, []dialect.Issue) {
	f, root := hostfile.Open(src, wire.Claude)
	if root == nil {
		return f.Done(nil)
	}
	if !root.Is(doc.Table) {
		f.NoObject(root)
		return f.Done(nil)
	}
	f.Strays(root, host)
	off := switchedOff(f, root)
	var list merger
	f.Walk(root.Get("hooks"), host, func(h hostfile.Handler) {
		e, ok := entry(h)
		switch {
		case ok && off:
			h.Warn(h.Node.Pos, "", "disableAllHooks is true: the hook is off")
		case ok:
			list.add(h, e)
		}
	})
	return f.Done(list.entries)
}

// switchedOff reads disableAllHooks, unless the caller does so for all files together.
func switchedOff(f *hostfile.File, root *doc.Node) bool {
	n := root.Get("disableAllHooks")
	switch {
	case n == nil:
	case n.Kind != doc.Bool:
		f.Error(n.Pos, "write true or false, without quotes", "`disableAllHooks`: expected true or false, found %s", n.Describe())
	default:
		return n.Bool() && !f.Switched
	}
	return false
}
