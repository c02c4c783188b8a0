package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/dialect/claude"
	"github.com/pawl-hooks/pawl/dialect/native"
	"github.com/pawl-hooks/pawl/dialect/zerocode"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/internal/docissue"
)

// importCmd makes a native file of a host's.
type importCmd struct {
	From string `required:"" enum:"zerocode,claude" placeholder:"HOST" help:"What the file is: zerocode or claude."`
	File string `arg:"" help:"The host's hooks file."`
}

// Help is shown by pawl import --help.
func (*importCmd) Help() string {
	return `Prints a native hooks file, and on stderr everything of the host's file that it could not carry over. You need
it to move; to run a host's file as it stands, give it to --config.

  pawl import --from claude .claude/settings.json > .pawl/hooks.toml`
}

// An imported is what import prints as JSON.
type imported struct {
	File   string          `json:"file"`
	Issues []dialect.Issue `json:"issues"`
}

// Run prints the file and what was lost.
func (c *importCmd) Run(a *app) error {
	text, issues, err := c.convert()
	if err != nil {
		return err
	}
	if a.json {
		if err := a.printJSON(imported{text, list(issues)}); err != nil {
			return err
		}
	} else {
		a.printIssues(a.err, a.errLook, summed(issues))
		if _, err := fmt.Fprint(a.out, text); err != nil {
			return fault(err)
		}
	}
	if dialect.HasErrors(issues) {
		return silently(exitUsage)
	}
	return nil
}

// convert reads the host's file and writes a native one. Where the file does not load the text is empty.
func (c *importCmd) convert() (string, []dialect.Issue, error) {
	data, f := doc.ReadFile(os.DirFS(filepath.Dir(c.File)), filepath.Base(c.File), c.File)
	if f != nil {
		return "", docissue.Errors(doc.Faults{f}), nil
	}
	load := zerocode.Load
	if c.From == "claude" {
		load = claude.Load
	}
	entries, issues := load(dialect.Source{File: c.File, Data: data})
	if dialect.HasErrors(issues) {
		return "", issues, nil
	}
	hooks, lost := native.Import(entries)
	issues = append(issues, lost...)
	if c.From == "zerocode" {
		issues = append(issues, passedOver(c.File, data)...)
	}
	dialect.SortIssues(issues)
	if len(hooks) == 0 {
		if len(issues) == 0 {
			issues = []dialect.Issue{{Severity: dialect.Warning, File: c.File, Message: "there are no hooks in it"}}
		}
		return "", issues, nil
	}
	text, err := native.Encode(hooks...)
	return string(text), issues, err
}
