package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
		return &hookSet{}, err
	}
	found, err := config.Load(opts)
	set := &hookSet{Set: found}
	set.call(names)
	return set, flagged(err)
}

// places are the flags as config wants them, and what the person calls each file that was named.
func (s *sources) places(a *app) (config.Options, map[string]string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return config.Options{}, nil, fault(err)
	}
	if info, err := os.Stat(s.Home); s.Home != "" && (err != nil || !info.IsDir()) {
		return config.Options{}, nil, fmt.Errorf("--home %s is not a folder", s.Home)
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
		names[full(file)] = file
	}
	opts.Plugins, err = s.plugins(full, names)
	return opts, names, err
}

func (s *sources) plugins(full func(string) string, names map[string]string) ([]config.Plugin, error) {
	var plugins []config.Plugin
	for _, plugin := range s.Plugin {
		name, folder, ok := strings.Cut(plugin, "=")
		if !ok || name == "" || folder == "" {
			return nil, fmt.Errorf("--plugin %q is not NAME=DIR", plugin)
		}
		plugins = append(plugins, config.Plugin{Name: name, Dir: full(folder)})
		names[full(folder)] = folder
	}
	return plugins, nil
}

// nothing says where hooks could have been.
func (s *sources) nothing() string {
	if len(s.Config) > 0 {
		return "no hooks found"
	}
	return "no hooks found: write .pawl/hooks.toml at the top of the project, or name a file with --config"
}
