package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/dialect/native"
)

// sources says where hooks are found; the same flags for every command that loads them.
type sources struct {
	Config []string `name:"config" placeholder:"FILE" sep:"none" help:"A hooks file; may be given several times."`
	Strict bool     `help:"Take warnings for errors."`
}

// A hookSet is what the sources came to.
type hookSet struct {
	hooks    []pawl.Hook
	issues   []dialect.Issue
	warnings []string // of the issues, one line each
}

// load reads all sources. An error in any of them is an error of the whole: nothing is half loaded.
func (s *sources) load(a *app) (*hookSet, error) {
	if len(s.Config) == 0 {
		return nil, errNoFile
	}
	set := s.readAll(s.Config)
	if dialect.HasErrors(set.issues) {
		a.printIssues(a.err, a.errLook, set.issues)
		return nil, silently(exitUsage)
	}
	return set, nil
}

var errNoFile = errors.New("no hooks file is named\nsay which with --config FILE")

// readAll reads files and keeps what there is to say about each.
func (s *sources) readAll(files []string) *hookSet {
	set := &hookSet{}
	for _, file := range files {
		hooks, issues := s.readFile(file)
		set.hooks = append(set.hooks, hooks...)
		set.issues = append(set.issues, issues...)
	}
	for _, issue := range set.issues {
		if issue.Severity != dialect.Error {
			set.warnings = append(set.warnings, issue.String())
		}
	}
	return set
}

func (s *sources) readFile(file string) ([]pawl.Hook, []dialect.Issue) {
	read, issues := native.LoadFile(os.DirFS(filepath.Dir(file)), filepath.Base(file), file, native.Options{})
	return read.Hooks, issues
}

// registry makes the registry of the set's hooks.
func (set *hookSet) registry(a *app, opts pawl.Options) (*pawl.Registry, error) {
	r, err := pawl.New(opts, set.hooks...)
	if err != nil {
		a.printIssues(a.err, a.errLook, newIssues(err))
		return nil, silently(exitUsage)
	}
	return r, nil
}

// printWarnings says them on stderr, so that stdout holds the answer alone.
func (a *app) printWarnings(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(a.err, a.errLook.warn("warning:"), plain(w))
	}
}
