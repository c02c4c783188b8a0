package config

import (
	"cmp"
	"fmt"
	"path/filepath"
)

// The dialects.
const (
	native   = "native"
	zerocode = "zerocode"
	claude   = "claude"
)

// The layers, as origins spell them.
const (
	layerManaged = "managed"
	layerSystem  = "system"
	layerUser    = "user"
	layerProject = "project"
	layerSession = "session"
	layerPlugin  = "plugin"
	layerConfig  = "config"
)

// Names inside the folders that hooks are found in.
const (
	hooksJSON    = "hooks.json"
	configTOML   = "config.toml"
	requirements = "requirements.toml"
	sessionFile  = "/<session-flags>/config.toml"
)

// zerocodeFolders are the folders of ZeroCode and of the host it came from; both are read.
var zerocodeFolders = []string{".zerotwo", ".codex"}

// A place is a folder that a dialect keeps its files in.
type place struct {
	layer   string
	dialect string
	dir     string // real
	spelled string // as it was come by
	gate    *gated // of a project: what must be trusted first
	config  string // where other settings are read: a linked worktree's own folder, else dir
}

// gated is a project directory. Its hooks wait until one of its candidates is trusted.
type gated struct {
	candidates []string // real paths: the directory, the project's root, the root checkout
	shown      string   // what to name when asking for trust
}

// home returns the user's home directory. Where files are named outright nobody needs one.
func (o Options) home() (string, error) {
	if o.Home != "" {
		return o.Home, nil
	}
	name := "HOME"
	if o.goos() == "windows" {
		name = "USERPROFILE"
	}
	home := o.getenv(name)
	if !filepath.IsAbs(home) && o.Files == nil {
		return "", &OptionError{"Home", home, fmt.Errorf("$%s is not an absolute path", name)}
	}
	return home, nil
}

// storePath returns where pawl's own trust store is: $XDG_STATE_HOME/pawl/trust.json, by default below
// <home>/.local/state. It is empty where there is no home and none is needed.
func (o Options) storePath() (string, error) {
	state := o.getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := o.home()
		if err != nil || home == "" {
			return "", err
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "pawl", "trust.json"), nil
}

// systemPlaces lists the folders of the system layer.
func (o Options) systemPlaces() []place {
	base, own := o.System, o.System != ""
	if !own {
		base = "/etc"
		if o.goos() == "windows" {
			base = filepath.Join(cmp.Or(o.getenv("ProgramData"), `C:\ProgramData`))
		}
	}
	claudeDir := filepath.Join(base, "claude-code")
	if !own && o.goos() == "darwin" {
		claudeDir = "/Library/Application Support/ClaudeCode"
	}
	if !own && o.goos() == "windows" {
		claudeDir = filepath.Join(cmp.Or(o.getenv("ProgramFiles"), `C:\Program Files`), "ClaudeCode")
	}
	places := []place{
		{layer: layerSystem, dialect: native, dir: filepath.Join(base, "pawl")},
		{layer: layerSystem, dialect: native, dir: filepath.Join(base, ".pawl")},
		{layer: layerSystem, dialect: zerocode, dir: filepath.Join(base, "zerotwo")},
		{layer: layerSystem, dialect: zerocode, dir: filepath.Join(base, "codex")},
		{layer: layerSystem, dialect: claude, dir: claudeDir},
	}
	if own {
		places = append(places, place{layer: layerSystem, dialect: zerocode, dir: base},
			place{layer: layerSystem, dialect: claude, dir: base})
	}
	return places
}

// userPlaces lists the folders of the user layer.
func (o Options) userPlaces(home string) []place {
	settings := o.moved("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	return []place{
		{layer: layerUser, dialect: native, dir: filepath.Join(settings, ".pawl")},
		{layer: layerUser, dialect: native, dir: filepath.Join(settings, "pawl")},
		{layer: layerUser, dialect: native, dir: filepath.Join(home, ".pawl")},
		{layer: layerUser, dialect: zerocode, dir: filepath.Join(home, ".zerotwo")},
		{layer: layerUser, dialect: zerocode, dir: o.moved("CODEX_HOME", filepath.Join(home, ".codex"))},
		{layer: layerUser, dialect: claude, dir: o.moved("CLAUDE_CONFIG_DIR", filepath.Join(home, ".claude"))},
	}
}

// projectPlaces lists the folders of the project layers, from the root down to the working directory. In a
// linked worktree hooks are those of the root checkout: what is trusted there holds here, and a branch
// cannot bring its own.
func (o Options) projectPlaces(d disk) []place {
	if o.Root == "" {
		return nil
	}
	root := d.real(o.Root)
	tree := d.checkout(root)
	var places []place
	for i, dir := range between(root, d.real(cmp.Or(o.Dir, root))) {
		hooks, gate := dir, &gated{candidates: distinct(dir, root), shown: root}
		if tree.main != tree.top {
			rel, _ := filepath.Rel(tree.top, dir)
			hooks = filepath.Join(tree.main, rel)
			gate.candidates, gate.shown = distinct(dir, hooks, root, tree.main), tree.main
		}
		add := func(dialect, name string) {
			places = append(places, place{
				layer: layerProject, dialect: dialect, gate: gate,
				dir: filepath.Join(hooks, name), config: filepath.Join(dir, name),
			})
		}
		if i == 0 {
			add(native, ".pawl")
		}
		for _, name := range zerocodeFolders {
			add(zerocode, name)
		}
		add(claude, ".claude")
	}
	return places
}

func distinct(names ...string) []string {
	var out []string
	met := map[string]bool{}
	for _, name := range names {
		if !met[name] {
			met[name] = true
			out = append(out, name)
		}
	}
	return out
}
