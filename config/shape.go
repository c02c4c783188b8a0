package config

import (
	"path/filepath"
	"strings"

	"github.com/pawl-hooks/pawl/internal/doc"
)

// dialectOf tells the dialect of a hooks file from its name and shape: native, zerocode or claude. What
// tells nothing counts as native, whose reader then says what is wrong.
func dialectOf(file string, data []byte) string {
	base, parent := filepath.Base(file), filepath.Base(filepath.Dir(file))
	switch {
	case parent == ".pawl" || strings.HasSuffix(base, ".zon"):
		return native
	case parent == ".claude" || base == "settings.json" || base == "settings.local.json" || base == "managed-settings.json":
		return claude
	case parent == ".codex" || parent == ".zerotwo" || base == configTOML || base == requirements:
		return zerocode
	}
	d, faults := doc.Parse(file, data, orFormat(doc.FormatOf(file)))
	if faults != nil {
		if base == hooksJSON {
			return zerocode
		}
		return native
	}
	hooks := d.Root.Get("hooks")
	switch {
	case hooks == nil || hooks.Is(doc.List) || !d.Root.Is(doc.Table):
		return native
	case hooks.Get("name") != nil || hooks.Get("on") != nil || hooks.Get("run") != nil:
		return native // one hook where a list belongs: its reader says how to write it
	case d.Format == doc.TOML:
		return zerocode
	case isClaude(d.Root):
		return claude
	}
	return zerocode
}

func orFormat(f doc.Format) doc.Format {
	if f == "" {
		return doc.JSON
	}
	return f
}

// hostDialectOf tells the two hosts apart where the file is known to be one's.
func hostDialectOf(file string, data []byte) string {
	d, faults := doc.Parse(file, data, doc.JSON)
	if faults == nil && isClaude(d.Root) {
		return claude
	}
	return zerocode
}

// isClaude looks for what a settings file has and a hooks.json has not: further settings beside the hooks,
// Claude Code's own events and kinds of handler.
func isClaude(root *doc.Node) bool {
	for _, f := range root.Fields {
		if f.Name != "hooks" && f.Name != "description" {
			return true
		}
	}
	hooks := root.Get("hooks")
	if hooks == nil {
		return false
	}
	for _, event := range hooks.Fields {
		if claudeEvents[event.Name] {
			return true
		}
		for _, group := range event.Value.Items {
			for _, h := range group.Get("hooks").Elements() {
				if isClaudeHandler(h) {
					return true
				}
			}
		}
	}
	return false
}

func isClaudeHandler(h *doc.Node) bool {
	if t := h.Get("type"); t != nil && (t.Text == "http" || t.Text == "mcp_tool") {
		return true
	}
	for _, key := range []string{"if", "args", "shell", "asyncRewake", "once"} {
		if h.Get(key) != nil {
			return true
		}
	}
	if c := h.Get("command"); c != nil && c.Is(doc.String) {
		return strings.Contains(c.Text, "CLAUDE_PROJECT_DIR")
	}
	return false
}

// claudeEvents are those that ZeroCode lacks.
var claudeEvents = words(`Setup InstructionsLoaded UserPromptExpansion MessageDisplay PermissionDenied
	PostToolUseFailure PostToolBatch Notification TaskCreated TaskCompleted StopFailure TeammateIdle ConfigChange
	CwdChanged DirectoryAdded FileChanged WorktreeCreate WorktreeRemove Elicitation ElicitationResult`)
