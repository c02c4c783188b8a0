package pawl

import (
	"encoding/json"
)

// A Trigger names a kind of moment in an agent's session.
type Trigger string

// The triggers of [DefaultTriggers].
const (
	SessionStart     Trigger = "session.start"
	SessionEnd       Trigger = "session.end"
	PromptSubmit     Trigger = "prompt.submit"
	ToolBefore       Trigger = "tool.before"
	ToolApproval     Trigger = "tool.approval"
	ToolAfter        Trigger = "tool.after"
	ToolStarted      Trigger = "tool.started"
	ToolFailed       Trigger = "tool.failed"
	ToolUnknown      Trigger = "tool.unknown"
	ToolDispatched   Trigger = "tool.dispatched"
	ToolCancelled    Trigger = "tool.cancelled"
	CompactBefore    Trigger = "compact.before"
	CompactAfter     Trigger = "compact.after"
	AgentStart       Trigger = "agent.start"
	AgentStop        Trigger = "agent.stop"
	AgentAbort       Trigger = "agent.abort"
	AgentDone        Trigger = "agent.done"
	TurnBefore       Trigger = "turn.before"
	TurnAfter        Trigger = "turn.after"
	TurnStop         Trigger = "turn.stop"
	ContextTransform Trigger = "context.transform"
	SystemTransform  Trigger = "system.transform"
	ValidationReject Trigger = "validation.reject"
	StreamText       Trigger = "stream.text"
	StreamThinking   Trigger = "stream.thinking"
	StreamEnd        Trigger = "stream.end"
	StreamError      Trigger = "stream.error"
	StreamRetry      Trigger = "stream.retry"
	StreamServerTool Trigger = "stream.server_tool"
	SpawnQueued      Trigger = "spawn.queued"
	SpawnBefore      Trigger = "spawn.before"
	SpawnComplete    Trigger = "spawn.complete"
	SpawnError       Trigger = "spawn.error"
	SteerInject      Trigger = "steer.inject"
	ArtifactRecorded Trigger = "artifact.recorded"
	Background       Trigger = "background.*" // any name below it
	RepeatExceeded   Trigger = "repeat-guard.exceeded"
	CacheBreak       Trigger = "cache.break"
	CacheDrift       Trigger = "cache.drift"
	ReplayDone       Trigger = "replay.done"
)

// A Subject says what an event is about, and so what matchers see by name.
type Subject uint8

// The subjects.
const (
	AboutNothing Subject = iota
	AboutTool            // the tool's name and aliases; an event without a tool is refused
	AboutSource          // Event.Source
	AboutAgent           // the agent's type; an event without an agent is refused
)

// A Contract is what a trigger can carry: its row in the trigger table.
type Contract struct {
	Can              Effect  // what a decision may do here
	Subject          Subject // what must be present and what matchers see
	Bubbles          bool    // a sub-agent's event also reaches observers of "child." + trigger
	Quiet            bool    // an observer that succeeds leaves no record; only where Can is zero
	RefusalContinues bool    // refusing makes the agent go on: turn.stop, agent.stop
}

// An Agent says whose event it is. The zero Agent is the main one.
type Agent struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	Depth      int    `json:"depth"`      // 1 for a child of the main agent
	Transcript string `json:"transcript"` // path
}

// An Event is one moment of an agent's session, reported by the runtime. Only Trigger, and what the
// trigger's Subject names, must be set. Dispatch never changes the caller's Event.
type Event struct {
	Trigger        Trigger
	Session        string // the root session's, also inside a sub-agent
	Turn           string
	Call           string   // the tool call's id
	Step           int      // the turn's number, from 1
	Agent          Agent    // zero for the main agent
	Tool           string   // canonical name
	Aliases        []string // other names the tool answers to
	Source         string   // why another trigger fired: startup, manual, other
	Action         string   // the action the call is gated under: call.write_file
	Paths          []string // files the call touches, if the runtime knows
	Dir            string   // the session's working directory
	Input          json.RawMessage
	Output         json.RawMessage
	Failed         bool // the call ran and failed, or the output is an error
	OutputBytes    int  // size of Output before any hook
	Payload        any  // the runtime's own value, for Go handlers; shared memory
	Prompt         string
	Model          string
	PermissionMode string
	Transcript     string // path
	LastMessage    string
	StopActive     bool                       // this stop was already continued by a hook
	Verdict        Verdict                    // what hooks have decided so far; a runtime passes it on from tool.before to tool.approval
	Recheck        bool                       // this hook is asked again about a changed event: do not count it twice
	Extra          map[string]json.RawMessage // a host's further keys, handed on as they came

	shared *shared
}

// A Matcher decides whether a hook is about an event. It may be called concurrently, must be quick, and
// String shows it as configured. A panic matches, and fails the hook.
type Matcher interface {
	Match(*Event) bool
	String() string
}

// A NameMatcher sees names alone, so that it can be indexed: a tool's name or one of its aliases, a source,
// an agent's type, as the trigger's Subject says. It matches an event if it matches any of its names.
type NameMatcher interface {
	Matcher
	MatchName(string) bool
}
