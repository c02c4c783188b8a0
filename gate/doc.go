// Package gate has the parts of a [pawl.Gate]: [Exec] runs programs, [Workers] keeps some of them alive between
// events, and what stands in front of either records, decides, asks and confines: [Record], [Policy], [Approve]
// and [Sandbox]. [Chain] puts them together, outermost first:
//
//	gate.Chain(
//		record.Wrap,  // first, so that what is refused is recorded too
//		policy.Wrap,  // decides, by the name of the program
//		approve.Wrap, // right behind the policy: answers what it leaves open
//		sandbox.Wrap, // last: it must know how programs are started
//	)(gate.Exec{})
//
// Any of the four may be left out. A [Redactor] hides secrets in what each of them records and shows.
//
// # Limits
//
// A policy judges a program by the first word of its command, and looks nothing up. What a shell or another
// program starts in turn is held by the sandbox alone, and that is for Linux.
package gate
