package wire

import (
	"slices"

	"github.com/pawl-hooks/pawl"
)

// A row is all there is to know of one event in one flavour.
type row struct {
	event   string // hook_event_name
	label   string // as trust keys spell it
	trigger pawl.Trigger
	effects pawl.Effect
	matches string // what a matcher is compared with: tool, source, agent, or nothing

	input []key // of the object, in order

	// What an answer may say. Keys of the host that pawl cannot carry are lost: known, and warned of.
	top      []string // keys at the top beyond the universal ones
	specific []string // keys of hookSpecificOutput beyond hookEventName; nil: there is no such object
	lost     []string // of either
	rewrites []string // those of hookSpecificOutput that put something else in place of the event's input or result
	refused  []string // keys the host knows and does not support: saying them fails the answer

	stop  action // continue:false
	block action // decision:block, a deny
	exit2 action // exit code 2
	plain action // text that is no object, with exit code 0

	deaf      bool // nothing that is printed is an answer
	keepSpace bool // a reason is told with the white space around it
	spills    bool // Claude's: a reason is bounded by the default limit here, elsewhere by its characters
}

// An action is what an answer comes to at an event.
type action uint8

const (
	nothing  action = iota
	fails           // it is no answer here
	refuses         // the subject does not happen
	halts           // nor does the run go on
	notes           // the model is told
	replaces        // the result is replaced by what was said
)

// universal are the keys that every answer may have at the top.
var universal = map[Flavour][]string{
	ZeroCode: {"continue", "stopReason", "systemMessage", "suppressOutput", "hookSpecificOutput"},
	Claude: {"continue", "stopReason", "systemMessage", "suppressOutput", "hookSpecificOutput",
		"terminalSequence"},
}

// row finds the row of a trigger.
func (f Flavour) row(t pawl.Trigger) (*row, bool) {
	for i := range f.rows() {
		if r := &f.rows()[i]; r.trigger == t {
			return r, true
		}
	}
	return nil, false
}

func (f Flavour) rows() []row {
	switch f {
	case ZeroCode:
		return zerocodeRows
	case Claude:
		return claudeRows
	}
	return nil
}

// An Event is what a reader of a host's files needs to know of one of its events.
type Event struct {
	Name    string // PreToolUse
	Label   string // pre_tool_use
	Trigger pawl.Trigger
	Effects pawl.Effect // what its answers can come to
	Matches string      // what a matcher is compared with: tool, source or agent; empty: nothing
	Context bool        // an answer may add context for the model
}

// Events lists f's events in the order its host visits them.
func (f Flavour) Events() []Event {
	var list []Event
	for _, r := range f.rows() {
		list = append(list, r.public())
	}
	return list
}

// Event finds the event of a name, which is exact in case.
func (f Flavour) Event(name string) (Event, bool) {
	if r := f.named(name); r != nil {
		return r.public(), true
	}
	return Event{}, false
}

func (f Flavour) named(name string) *row {
	for i := range f.rows() {
		if r := &f.rows()[i]; r.event == name {
			return r
		}
	}
	return nil
}

func (r row) public() Event {
	return Event{r.event, r.label, r.trigger, r.effects, r.matches, slices.Contains(r.specific, "additionalContext")}
}

// gates reports whether an answer could forbid something.
func (r *row) gates() bool {
	return r.effects&(pawl.MayRefuse|pawl.MayHalt) != 0
}

const (
	may      = pawl.MayRefuse
	mayHalt  = pawl.MayRefuse | pawl.MayHalt
	mayGuide = pawl.MayRefuse | pawl.MayHalt | pawl.MayNote
	mayAll   = mayGuide | pawl.MayAsk | pawl.MayRewrite
)

var (
	context    = []string{"additionalContext"}
	permission = []string{"permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"}
	decision   = []string{"decision", "reason"}
)

// The tables are constant: nothing writes to them.
var zerocodeRows = []row{
	{
		event: "PreToolUse", label: "pre_tool_use", trigger: pawl.ToolBefore, matches: "tool",
		effects: mayAll,
		input:   keys(common, turn, model, agent, tool, callID),
		top:     decision, specific: permission, rewrites: []string{"updatedInput"}, refused: []string{"stopReason", "suppressOutput"},
		stop: halts, block: refuses, exit2: refuses,
	}, {
		event: "PermissionRequest", label: "permission_request", trigger: pawl.ToolApproval, matches: "tool",
		effects:  may | pawl.MayAllow,
		input:    keys(common, turn, model, agent, tool),
		specific: []string{"decision"}, refused: []string{"continue", "stopReason", "suppressOutput"},
		stop: refuses, block: refuses, exit2: refuses,
	}, {
		event: "PostToolUse", label: "post_tool_use", trigger: pawl.ToolAfter, matches: "tool",
		effects: may | pawl.MayNote | pawl.MayReplace,
		input:   keys(common, turn, model, agent, tool, callID, response),
		top:     decision, specific: []string{"additionalContext", "updatedMCPToolOutput"},
		refused: []string{"suppressOutput", "updatedMCPToolOutput"},
		stop:    replaces, block: refuses, exit2: refuses,
	}, {
		event: "PreCompact", label: "pre_compact", trigger: pawl.CompactBefore, matches: "source",
		effects: may, input: keys(where, turn, model, agent, compaction),
		stop: refuses, block: refuses, exit2: fails,
	}, {
		event: "PostCompact", label: "post_compact", trigger: pawl.CompactAfter, matches: "source",
		effects: pawl.MayHalt, input: keys(where, turn, model, agent, compaction),
		stop: halts, block: fails, exit2: fails,
	}, {
		event: "SessionStart", label: "session_start", trigger: pawl.SessionStart, matches: "source",
		effects: pawl.MayHalt | pawl.MayNote, input: keys(common, model, source),
		specific: context, stop: halts, block: fails, exit2: fails, plain: notes,
	}, {
		event: "SessionEnd", label: "session_end", trigger: pawl.SessionEnd, matches: "source",
		input: keys(where, ending), deaf: true, exit2: fails,
	}, {
		event: "UserPromptSubmit", label: "user_prompt_submit", trigger: pawl.PromptSubmit,
		effects: mayGuide, input: keys(common, turn, model, agent, prompt),
		top: decision, specific: context, keepSpace: true,
		stop: halts, block: refuses, exit2: refuses, plain: notes,
	}, {
		event: "SubagentStart", label: "subagent_start", trigger: pawl.AgentStart, matches: "agent",
		effects: pawl.MayNote, input: keys(common, turn, model, agentAlways),
		specific: context, block: fails, exit2: fails, plain: notes,
	}, {
		event: "SubagentStop", label: "subagent_stop", trigger: pawl.AgentStop, matches: "agent",
		effects: mayHalt, input: keys(common, turn, model, stopping, agentAlways, agentTranscript),
		top:  decision,
		stop: halts, block: refuses, exit2: refuses, plain: fails,
	}, {
		event: "Stop", label: "stop", trigger: pawl.TurnStop,
		effects: mayHalt, input: keys(common, turn, model, stopping),
		top:  decision,
		stop: halts, block: refuses, exit2: refuses, plain: fails,
	},
}

var claudeRows = []row{
	{
		event: "PreToolUse", label: "pre_tool_use", trigger: pawl.ToolBefore, matches: "tool",
		effects: mayAll, input: keys(common, agent, tool, callID),
		top: decision, specific: permission, rewrites: []string{"updatedInput"},
		stop: halts, block: refuses, exit2: refuses,
	}, {
		event: "PermissionRequest", label: "permission_request", trigger: pawl.ToolApproval, matches: "tool",
		effects: may | pawl.MayAllow, input: keys(common, agent, tool),
		specific: []string{"decision"},
		stop:     refuses, block: refuses, exit2: refuses,
	}, {
		event: "PostToolUse", label: "post_tool_use", trigger: pawl.ToolAfter, matches: "tool",
		effects: mayGuide | pawl.MayReplace, // it refuses only where a replacement cannot be applied
		input:   keys(common, agent, tool, callID, response),
		top:     decision, specific: []string{"additionalContext", "updatedToolOutput", "updatedMCPToolOutput"},
		rewrites: []string{"updatedToolOutput", "updatedMCPToolOutput"},
		lost:     []string{"classifierContext"},
		stop:     halts, block: notes, exit2: notes,
	}, {
		event: "PostToolUseFailure", label: "post_tool_use_failure", trigger: pawl.ToolFailed, matches: "tool",
		effects: may | pawl.MayNote, input: keys(common, agent, tool, callID, failure),
		top: decision, specific: context,
		stop: refuses, block: notes, exit2: notes,
	}, {
		event: "PreCompact", label: "pre_compact", trigger: pawl.CompactBefore, matches: "source",
		effects: may, input: keys(common, compaction, instructions),
		top: decision, stop: refuses, block: refuses, exit2: refuses,
	}, {
		event: "PostCompact", label: "post_compact", trigger: pawl.CompactAfter, matches: "source",
		effects: pawl.MayHalt, input: keys(common, compaction, summary),
		stop: halts, block: fails, exit2: fails,
	}, {
		event: "SessionStart", label: "session_start", trigger: pawl.SessionStart, matches: "source",
		effects: pawl.MayHalt | pawl.MayNote, input: keys(common, source, modelIfAny),
		specific: context, lost: []string{"initialUserMessage", "sessionTitle", "watchPaths", "reloadSkills"},
		stop: halts, block: fails, exit2: fails, plain: notes,
	}, {
		event: "SessionEnd", label: "session_end", trigger: pawl.SessionEnd, matches: "source",
		input: keys(where, ending), deaf: true, exit2: fails,
	}, {
		event: "UserPromptSubmit", label: "user_prompt_submit", trigger: pawl.PromptSubmit,
		effects: mayGuide, input: keys(common, agent, prompt),
		top: decision, specific: context, lost: []string{"sessionTitle", "suppressOriginalPrompt"}, keepSpace: true,
		stop: halts, block: refuses, exit2: refuses, plain: notes,
	}, {
		event: "SubagentStart", label: "subagent_start", trigger: pawl.AgentStart, matches: "agent",
		effects: pawl.MayNote, input: keys(where, agentAlways),
		specific: context, block: fails, exit2: fails,
	}, {
		event: "SubagentStop", label: "subagent_stop", trigger: pawl.AgentStop, matches: "agent",
		effects: mayHalt, input: keys(common, stopping, agentAlways, agentTranscript, pending),
		top: decision, specific: context, spills: true,
		stop: halts, block: refuses, exit2: refuses,
	}, {
		event: "Stop", label: "stop", trigger: pawl.TurnStop,
		effects: mayHalt, input: keys(common, stopping, pending),
		top: decision, specific: context, spills: true,
		stop: halts, block: refuses, exit2: refuses,
	},
}
