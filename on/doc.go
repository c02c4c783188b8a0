// Package on makes pawl hooks from Go funcs, one helper for each common shape, and has what a runtime in
// process wants beside them: hooks that run once, generated names, one undo for many, spies, and a slot by
// which a handler asks the runtime's decision provider.
//
// The shape of the func is what the hook may do: one given to [Observe] has no way to decide, one given to
// [Check] no way to rewrite. The hook declares just that, and what its trigger cannot carry is an error of
// pawl.New.
//
//	reg, err := pawl.New(pawl.Options{},
//		on.Tools(on.Check("no-rm-rf", pawl.ToolBefore, noRemove), "shell"),
//		on.TransformText("mask", maskSecrets),
//		on.Messages("trim", keepRecent),
//		on.Observe("progress", pawl.StreamText, show),
//	)
//
// A name is what records, listings and refusals show; with an empty one, [Named] and [Add] make one up.
//
// # Dispatch order
//
// Handlers run in the order they were registered, and see what those before them changed. In full: first those
// that may rewrite or replace, one after another; then those with a say over the event as it then is; then
// those that only note or observe, who are told of refused events too. No handler is skipped because an
// earlier one refused, failed or panicked.
//
// Block beats result: where one handler refuses a call and another answers it with a stand-in, whichever came
// first, the call is refused and the stand-in is dropped. Runtimes obey in the order halt, refuse, ask,
// stand-in.
//
// A refusal is sticky: no later handler can lift an earlier one's refusal. In hookable, which zidane dispatches
// with, all handlers write to one object and the last write wins, so that a handler registered later can set
// block back to false. Here each answer is its own value, and they are joined by the strictest.
//
// Registration is by snapshot: a handler added or removed while an event is being dispatched counts from the
// next event on (pawl.Live).
//
// # Payload
//
// The helpers whose names end in As, and those with a type parameter for what they change, hand the func the
// runtime's own Payload as its type. An event whose Payload is of another type is an error of the hook, a
// [TypeError]: where it could have refused, that refuses.
package on
