// Package config finds the hooks that apply to a project on a machine and decides which of them may run.
//
// [Load] looks in every place that pawl, ZeroCode and Claude Code keep hooks in, from the lowest layer to the
// highest, and merges what it finds:
//
//	managed   requirements.toml; Claude Code's managed-settings.json and managed-settings.d
//	system    the folders pawl, zerotwo and codex below /etc
//	user      <config>/.pawl, <config>/pawl, ~/.pawl, ~/.zerotwo, ~/.codex, ~/.claude; then the profile
//	project   .pawl at the root; .zerotwo, .codex and .claude in each directory from the root to the working one
//	session   overrides given for this session
//	plugin    each enabled plugin, in order
//
// A folder that has several names is read once. In a linked git worktree the hooks are those of the root
// checkout. Within one layer pawl's own files come first, then ZeroCode's, then Claude Code's.
//
// # Trust
//
// Managed hooks are trusted by policy, and a file that the caller names outright is trusted as given. Every
// other hook waits until a person accepted it, by its definition and by the content of the scripts that its
// command names; one in a project waits for its folder as well. What waits is in [Set.Pending], with the
// reason, and never runs; under [Options.Strict] a check that waits refuses. One that was accepted and is not found any
// more is in [Set.Gone], with a warning among the issues, and refuses under Strict as well. Decisions are kept in a private
// file that the operations of a [Set] write, and nothing else: [Set.Accept], [Set.Revoke], [Set.Enable],
// [Set.Disable], [Set.AcceptProject]. A host's own store is read and believed for what it covers, the
// definition. A store that cannot be read, or that others may change, trusts nothing, and is an error among the
// issues.
//
// A project can grant itself nothing: trust is read from the user's files and the session's overrides alone.
// A folder is what its real path names, so a link that is made to lead elsewhere takes no trust along.
//
// # Limits
//
// The scripts that trust covers are those whose paths stand in the command: what a script itself calls, a
// module named by python -m, a program found in PATH, a path that is put together at run time are not seen.
// Programs of the system's own folders are not looked into. A user's hook that names a path relative to the
// working directory names another file in every project, and waits again in each. An accepted hook is held to
// its scripts as long as the registry lives, in whatever folder it runs; but one may be changed between the last
// look, just before it starts, and its start. Policies that an operating system keeps
// elsewhere than in files (a registry, a device profile, a cloud) are not read: write them to a file and name it
// in [Options.Requirements].
package config
