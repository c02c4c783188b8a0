package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-hooks/pawl/config"
	"github.com/pawl-hooks/pawl/dialect"
)

// trustCmd is the trust store.
type trustCmd struct {
	List    trustListCmd    `cmd:"" help:"Show each hook's trust, and the folders that are trusted."`
	Accept  trustAcceptCmd  `cmd:"" help:"Write down that hooks were reviewed, as they are now."`
	Revoke  trustRevokeCmd  `cmd:"" help:"Take trust away again."`
	Enable  trustEnableCmd  `cmd:"" help:"Let hooks run that were disabled."`
	Disable trustDisableCmd `cmd:"" help:"Keep hooks from running, whatever their trust."`
}

// Help is shown by pawl trust --help.
func (*trustCmd) Help() string {
	return `A hook that was found, and not named by --config, runs once a person has accepted it: its definition and the
content of the scripts that it names. A project's hooks also need their folder to be trusted.

  pawl trust list
  pawl trust accept --project .
  pawl trust accept NAME
  pawl trust accept --all --project .
  pawl trust accept NAME@DIGEST     only if it is still what was reviewed

One that was accepted and is gone is warned of until it is back, or revoke has forgotten it.`
}

// trustListCmd shows what is trusted.
type trustListCmd struct {
	sources
}

// Run prints a row for each hook and each folder.
func (c *trustListCmd) Run(a *app) error {
	set, err := c.find(a)
	if err != nil {
		return err
	}
	issues := list(set.Issues)
	projects, err := set.Projects()
	if err != nil {
		return fault(err)
	}
	if a.json {
		err = a.printJSON(map[string]any{
			"store": set.StorePath(), "hooks": listings(set.Entries), "gone": listings(set.Gone), "projects": projects, "issues": issues,
		})
	} else {
		err = a.printTrusted(set, projects)
	}
	if err == nil && dialect.HasErrors(issues) {
		return silently(exitUsage)
	}
	return err
}

func (a *app) printTrusted(set *hookSet, projects map[string]bool) error {
	set.say(a)
	fmt.Fprintln(a.out, "store", exact(set.StorePath()))
	if err := a.printTrust(slices.Concat(set.Entries, set.Gone)); err != nil {
		return err
	}
	for _, dir := range slices.Sorted(maps.Keys(projects)) {
		fmt.Fprintf(a.out, "project %s: %s\n", exact(dir), map[bool]string{true: "trusted", false: "untrusted"}[projects[dir]])
	}
	return nil
}

func (a *app) printTrust(entries []config.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	t := newTable(a.out)
	t.row("HOOK", "TRUST", "BY", "WHY NOT", "WHERE", "DIGEST")
	for _, row := range listings(entries) {
		t.row(row.Name, trust(row), row.TrustedBy, row.Reason, where(row), row.Digest)
	}
	return t.flush()
}

// where is the place a listing's hook was written at; of one that is gone, the file.
func where(row config.Listing) string {
	if row.Line == 0 {
		return row.File
	}
	return fmt.Sprintf("%s:%d", row.File, row.Line)
}

// chosen says which hooks, or which folder, a change is about.
type chosen struct {
	sources
	Names   []string `arg:"" optional:"" name:"name" help:"A hook's name, as list shows it; NAME@DIGEST holds it to that digest."`
	All     bool     `help:"Every hook that it can be done to."`
	Project string   `placeholder:"DIR" help:"A project's folder: alone, or beside names or --all."`
}

// check is an error unless it is said what to change.
func (c *chosen) check() error {
	named := len(c.Names) > 0
	if named == c.All && (named || c.Project == "") {
		return errors.New("say which: either names or --all, or --project DIR, or both\npawl list shows the names")
	}
	return nil
}

// trustAcceptCmd accepts hooks, or a folder.
type trustAcceptCmd struct {
	chosen
}

// Run shows each hook that it accepts: the command, matcher, source and digest.
func (c *trustAcceptCmd) Run(a *app) error {
	return c.change(a, "accepted", (*config.Set).Accept, (*config.Set).AcceptAll, (*config.Set).AcceptProject)
}

// trustRevokeCmd takes trust away from hooks, or a folder.
type trustRevokeCmd struct {
	chosen
}

// Run shows each hook that it revokes.
func (c *trustRevokeCmd) Run(a *app) error {
	return c.change(a, "revoked", (*config.Set).Revoke, (*config.Set).RevokeAll, (*config.Set).RevokeProject)
}

// change makes one change to the trust store and shows what it was about.
func (c *chosen) change(a *app, done string, some func(*config.Set, ...string) ([]config.Entry, error),
	all func(*config.Set) ([]config.Entry, error), project func(*config.Set, string) (string, error)) error {
	if err := c.check(); err != nil {
		return err
	}
	set, err := c.reviewed(a)
	if err != nil {
		return err
	}
	folder, err := c.folder()
	if err != nil {
		return err
	}
	if c.All {
		some = func(set *config.Set, _ ...string) ([]config.Entry, error) { return all(set) }
	}
	var entries []config.Entry
	if hooks := c.All || len(c.Names) > 0; hooks {
		if entries, err = some(&set.Set, c.Names...); err != nil || folder == "" {
			return c.printChanged(a, entries, done, err)
		}
	}
	written, err := project(&set.Set, folder)
	if err != nil {
		return storeFault(err)
	}
	return c.printProject(a, written, entries, done)
}

// folder is the project's full path, of a folder that is there: a slip in it must not leave half a change. Empty: none
// was named.
func (c *chosen) folder() (string, error) {
	if c.Project == "" {
		return "", nil
	}
	full, err := filepath.Abs(c.Project)
	if err != nil {
		return "", fault(err)
	}
	if info, err := os.Stat(full); err != nil || !info.IsDir() {
		return "", fmt.Errorf("--project %s is not a folder", full)
	}
	return full, nil
}

// reviewed finds the hooks that a change may be about, and tells of files that do not load: one may be of them.
func (s *sources) reviewed(a *app) (*hookSet, error) {
	set, err := s.find(a)
	for _, issue := range set.Issues {
		if issue.Severity == dialect.Error && issue.File != set.StorePath() { // which the change itself will tell
			a.printIssues(a.err, a.errLook, []dialect.Issue{issue})
		}
	}
	return set, err
}

// printProject shows a folder that was changed, and the hooks that were with it.
func (c *chosen) printProject(a *app, written string, entries []config.Entry, done string) error {
	hooks := c.All || len(c.Names) > 0
	if !a.json {
		if _, err := fmt.Fprintf(a.out, "%s project %s\n", done, exact(written)); err != nil || !hooks {
			return err
		}
		return c.printChanged(a, entries, done, nil)
	}
	answer := map[string]any{"project": written, "change": done}
	if hooks {
		_, now, err := c.standing(a, entries)
		if err != nil {
			return err
		}
		answer["hooks"] = listings(now)
	}
	return a.printJSON(answer)
}

// storeFault is a fault where the store could not be written, and the caller's matter otherwise.
func storeFault(err error) error {
	var store *config.StoreError
	switch {
	case errors.As(err, &store), errors.Is(err, os.ErrPermission):
		return fault(err)
	case errors.Is(err, config.ErrUnknown):
		return fmt.Errorf("%w\npawl list shows the names", err)
	}
	return flagged(err)
}

// printChanged shows hooks as they stand after a change, and where there was none to change, those that wait
// for something else.
func (s *sources) printChanged(a *app, changed []config.Entry, done string, err error) error {
	if err != nil {
		return storeFault(err)
	}
	set, entries, err := s.standing(a, changed)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(listings(entries))
	}
	if len(entries) == 0 {
		fmt.Fprintln(a.out, "no hook to change")
		a.printWarnings(set.pending())
	}
	for _, row := range listings(entries) {
		a.printReviewed(row, done)
	}
	return nil
}

// standing finds hooks anew after a change, since a folder or another layer may still keep them from running.
func (s *sources) standing(a *app, changed []config.Entry) (*hookSet, []config.Entry, error) {
	set, err := s.find(a)
	if err != nil {
		return nil, nil, err
	}
	var entries []config.Entry
	for _, e := range changed {
		now, ok := set.Entry(e.Hook.Name)
		switch {
		case e.Status == config.Gone:
			entries = append(entries, e)
		case ok:
			entries = append(entries, now)
		}
	}
	return set, entries, nil
}

func (a *app) printReviewed(row config.Listing, done string) {
	fmt.Fprintf(a.out, "%s %s\n", done, exact(row.Name))
	fmt.Fprintf(a.out, "  command  %s\n", exact(row.Command))
	if row.Trust != config.Gone { // which is not known any more
		fmt.Fprintf(a.out, "  matcher  %s %s\n", row.Trigger, exact(cmp.Or(row.Matcher, "every event")))
	}
	fmt.Fprintf(a.out, "  source   %s:%s\n", row.Layer, exact(where(row)))
	fmt.Fprintf(a.out, "  digest   %s\n", row.Digest)
	for _, script := range row.Scripts {
		fmt.Fprintf(a.out, "  script   %s %s\n", exact(script.File), script.Digest)
	}
	if done == "accepted" {
		a.printMissed(row)
	}
	if row.Reason != "" && row.Trust != config.Gone {
		fmt.Fprintf(a.out, "  it waits: %s\n", plain(row.Reason))
	}
}

// printMissed says what acceptance does not cover, as far as that can be told.
func (a *app) printMissed(row config.Listing) {
	switch {
	case len(row.Scripts) == 0:
		fmt.Fprintln(a.out, "  no script is covered:", plain(cmp.Or(row.Missed, "the command names no file that can be told without running it")))
	case row.Missed != "":
		fmt.Fprintln(a.out, "  not every script is covered:", plain(row.Missed))
	}
}

// switched says which hooks are turned on or off.
type switched struct {
	sources
	Names []string `arg:"" name:"name" help:"A hook's name, as list shows it."`
}

// trustEnableCmd turns hooks on.
type trustEnableCmd struct {
	switched
}

// Run shows each hook that it enables.
func (c *trustEnableCmd) Run(a *app) error { return c.turn(a, "enabled", (*config.Set).Enable) }

// trustDisableCmd turns hooks off.
type trustDisableCmd struct {
	switched
}

// Run shows each hook that it disables.
func (c *trustDisableCmd) Run(a *app) error { return c.turn(a, "disabled", (*config.Set).Disable) }

func (c *switched) turn(a *app, done string, some func(*config.Set, ...string) ([]config.Entry, error)) error {
	set, err := c.reviewed(a)
	if err != nil {
		return err
	}
	entries, err := some(&set.Set, c.Names...)
	return c.printChanged(a, entries, done, err)
}
