// Package guard has ready-made Go handlers for the loop of an agent runtime, and a [Scheduler] that runs a
// turn's tool calls with the hooks around them.
//
// Each guard is a plain struct whose Hooks method gives the pawl hooks that make it up; [Hooks] puts several
// in order, and [FromConfig] makes them from a configuration file. They use the public API of pawl alone, so
// a guard of your own can be written the same way.
//
// # Order
//
// Register your own gates first, then what [Hooks] returns: [Counter], [Repeat], [Budget], [ReadFirst],
// [Dedup], and at tool.after [Redact], [Truncate], [OutputBudget]. The reason the model is told is that of the
// first hook that refused, so a gate speaks before a guard, and a guard before a budget. What counts does not
// hang on the order, because pawl has no short circuit:
//
//   - A call that any hook refused is not counted by Counter and Budget, wherever that hook stands. For
//     Repeat it lengthens the streak, else its abort could never be reached.
//   - A call answered by a stand-in counts for Counter and Repeat, and not for Budget and Dedup. A replay
//     can therefore not hide a loop.
//   - A hook that is asked again about a changed event (Event.Recheck) answers as before and counts nothing.
//   - A stand-in never lifts a refusal: block beats result, and a refusal is sticky.
//
// # State
//
// State belongs to a run: the session, the agent (each sub-agent has its own), and the stretch up to
// agent.done or to the next prompt.submit that no hook refused. [ReadFirst] keeps what was read for the whole
// session, as the conversation does. All of it is released at session.end, and it is bounded: of more than
// 1024 runs in flight the one that was idle longest is forgotten, and starts over.
//
// # Limits
//
// Calls are counted when their tool.before passes. A runtime whose own policy then refuses a call, and one
// that cancels it, dispatches tool.cancelled or calls the guard's Forget, else the call stays counted: the
// strict side. Calls that are judged at the same instant see each other's reservations, so a budget may
// refuse a call whose rival is refused a moment later.
package guard
