package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/config"
	"github.com/pawl-hooks/pawl/dialect"
)

// sources says where hooks are found; the same flags for every command that loads them.
type sources struct {
	Config       []string `name:"config" placeholder:"FILE" sep:"none" help:"A hooks file, trusted as given; may be repeated. Without it hooks are looked for where they belong: system, user, project."`
	Dialect      string   `placeholder:"NAME" enum:"native,zerocode,claude," default:"" help:"What the files of --config are: native, zerocode or claude. Seen from name and shape unless given."`
	Root         string   `placeholder:"DIR" help:"The project. The nearest folder above that holds .git, else this one, unless given."`
	Home         string   `placeholder:"DIR" help:"The user's home folder."`
	System       string   `placeholder:"DIR" help:"Stands for /etc."`
	Requirements []string `placeholder:"FILE" sep:"none" help:"A file of managed requirements, the highest first; may be repeated."`
	Plugin       []string `placeholder:"NAME=DIR" sep:"none" help:"An enabled plugin; may be repeated."`
	Trust        string   `placeholder:"WHICH" enum:"store,all,none" default:"store" help:"Which hooks that were found may run: those accepted (store), all, or none."`
	Strict       bool     `help:"Fail closed: warnings about a host's file, and hooks that are not read, are errors; a check that waits for review, or was accepted and is gone, refuses."`
}

// A hookSet is what the sources came to.
type hookSet struct {
	config.Set
}

// load finds the hooks. A file that does not load is an error of the whole: nothing is half loaded.
func (s *sources) load(a *app) (*hookSet, error) {
	set, err := s.find(a)
	if err == nil {
		err = set.Err()
	}
	var issues *dialect.IssueError
	if errors.As(err, &issues) {
		return nil, a.refuse(set.Issues)
	}
	return set, err
}

// find finds the hooks and keeps what there is to say about each file.
func (s *sources) find(a *app) (*hookSet, error) {
	opts, names, err := s.places(a)
	if err != nil {
		return nil, err
	}
	found, err := config.Load(opts)
	set := &hookSet{Set: found}
	set.call(names)
	return set, err
}

// places are the flags as config wants them, and what the person calls each file that was named.
func (s *sources) places(a *app) (config.Options, map[string]string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return config.Options{}, nil, fault(err)
	}
	full := func(name string) string {
		if name == "" || filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(dir, name)
	}
	opts := config.Options{
		Root: full(s.Root), Home: full(s.Home), System: full(s.System), Dialect: s.Dialect,
		Trust: config.Trust(s.Trust), Strict: s.Strict, Getenv: a.getenv,
	}
	if opts.Root == "" {
		opts.Root = config.FindRoot(nil, dir)
	}
	if rel, err := filepath.Rel(opts.Root, dir); err == nil && filepath.IsLocal(rel) {
		opts.Dir = dir
	}
	names := map[string]string{}
	for _, file := range s.Config {
		opts.Files = append(opts.Files, full(file))
		names[full(file)] = file
	}
	for _, file := range s.Requirements {
		opts.Requirements = append(opts.Requirements, full(file))
	}
	for _, plugin := range s.Plugin {
		name, folder, ok := strings.Cut(plugin, "=")
		if !ok || name == "" || folder == "" {
			return opts, nil, fmt.Errorf("--plugin %q is not NAME=DIR", plugin)
		}
		opts.Plugins = append(opts.Plugins, config.Plugin{Name: name, Dir: full(folder)})
	}
	return opts, names, nil
}

// nothing says where hooks could have been.
func (s *sources) nothing() string {
	if len(s.Config) > 0 {
		return "no hooks found"
	}
	return "no hooks found: write .pawl/hooks.toml at the top of the project, or name a file with --config"
}

// call shows files by the names that the person gave them.
func (set *hookSet) call(names map[string]string) {
	name := func(file *string) { *file = cmp.Or(names[*file], *file) }
	for i := range set.Issues {
		issue := &set.Issues[i]
		name(&issue.File)
		for full, given := range names {
			issue.Message = strings.ReplaceAll(issue.Message, full+":", given+":")
		}
	}
	for i := range set.Hooks {
		name(&set.Hooks[i].Origin.File)
	}
	for i := range set.Entries {
		name(&set.Entries[i].Hook.Origin.File)
	}
	for i := range set.Pending {
		name(&set.Pending[i].Hook.Origin.File)
	}
}

// warnings are all of it as one line each, with a line for each hook that waits.
func (set *hookSet) warnings() []string {
	var warnings []string
	for _, issue := range set.Issues {
		if issue.Severity != dialect.Error {
			warnings = append(warnings, issue.String())
		}
	}
	return append(append(warnings, set.Warnings...), set.pending()...)
}

// pending says of each hook that waits why it does not run.
func (set *hookSet) pending() []string {
	var warnings []string
	for _, e := range set.Pending {
		warnings = append(warnings, fmt.Sprintf("hook %s is pending: %s", e.Hook.Name, e.Reason))
	}
	return warnings
}

// registry makes the registry of the set's hooks.
func (set *hookSet) registry(a *app, opts pawl.Options) (*pawl.Registry, error) {
	r, err := pawl.New(opts, set.Hooks...)
	if err != nil {
		return nil, a.refuse(newIssues(err))
	}
	return r, nil
}

// say tells a person what the load has to say: on stderr, so that stdout holds the answer alone.
func (set *hookSet) say(a *app) {
	a.printIssues(a.err, a.errLook, set.Issues)
	a.printWarnings(set.Warnings)
}

func (a *app) printWarnings(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(a.err, a.errLook.warn("warning:"), plain(w))
	}
}
