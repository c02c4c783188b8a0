package hostfile

import (
	"slices"

	"github.com/pawl-hooks/pawl/internal/doc"
)

// foreign names the host whose hooks file this is, by its shape, where no dialect reads it: Cursor, Gemini
// CLI or Copilot CLI; empty where it is none of theirs. It is for files that would otherwise be misread:
// those hosts' events have names of their own, and their answers other keys.
func foreign(root *doc.Node) string {
	hooks := root.Get("hooks")
	if hooks == nil || !hooks.Is(doc.Table) {
		return ""
	}
	has := func(events ...string) bool {
		return slices.ContainsFunc(events, func(e string) bool { return hooks.Field(e) != nil })
	}
	lower := has("preToolUse", "postToolUse", "sessionStart", "sessionEnd", "stop", "subagentStop", "preCompact")
	switch {
	case has("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "PermissionRequest"):
		return ""
	case has("BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel",
		"BeforeToolSelection", "PreCompress"):
		return "Gemini CLI"
	case has("userPromptSubmitted", "errorOccurred", "agentStop"), lower && holds(hooks, "bash", "powershell", "timeoutSec"):
		return "Copilot CLI"
	case lower, has("beforeShellExecution", "afterShellExecution", "beforeMCPExecution", "afterMCPExecution",
		"beforeReadFile", "afterFileEdit", "beforeSubmitPrompt", "afterAgentResponse", "afterAgentThought",
		"beforeTabFileRead", "afterTabFileEdit"):
		return "Cursor"
	}
	return ""
}

// holds reports whether a handler, which these hosts write flat, has one of the keys.
func holds(hooks *doc.Node, keys ...string) bool {
	return slices.ContainsFunc(hooks.Fields, func(f doc.Field) bool {
		return slices.ContainsFunc(f.Value.Items, func(handler *doc.Node) bool {
			return slices.ContainsFunc(keys, func(k string) bool { return handler.Get(k) != nil })
		})
	})
}
