package config

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/internal/docissue"
)

// settings are what a config.toml or requirements.toml says about hooks beside the hooks themselves.
type settings struct {
	features *toggle
	only     bool // allow_managed_hooks_only
	bypass   bool
	inline   bool // there is a hooks table
	dir      string
	dirAt    doc.Pos
	projects map[string]string    // trust_level by path
	state    map[string]hostState // by hook key
	document *doc.Document
}

// hostState is what a host's own store says about one hook.
type hostState struct {
	hash    string
	enabled *bool
}

// featureNames are the spellings of the feature switch, the canonical one first.
var featureNames = []string{"hooks", "zerocode_hooks", "codex_hooks"}

// removedFeature is a switch that hosts had once. It says nothing, and is no slip.
const removedFeature = "plugin_hooks"

// readSettings reads the parts that concern hooks. A part of the wrong shape is an issue of the given
// severity and is left out; the others stand. A file that does not parse is an error.
func readSettings(file string, data []byte, goos string, severity dialect.Severity) (settings, []dialect.Issue) {
	d, faults := doc.Parse(file, data, doc.TOML)
	if faults != nil {
		return settings{}, docissue.Errors(faults)
	}
	r := settingsReader{severity: severity, settings: settings{document: d}}
	if severity == dialect.Error {
		r.near(d.Root, "allow_managed_hooks_only", "features", "hooks")
	}
	r.features(d.Root.Get("features"))
	r.only = r.boolean(d.Root.Get("allow_managed_hooks_only"), "allow_managed_hooks_only")
	r.bypass = r.boolean(d.Root.Get("bypass_hook_trust"), "bypass_hook_trust")
	r.readProjects(d.Root.Get("projects"))
	r.hooks(d.Root.Get("hooks"), goos)
	return r.settings, r.issues
}

type settingsReader struct {
	settings
	severity dialect.Severity
	issues   []dialect.Issue
}

func (r *settingsReader) want(n *doc.Node, what, kind string) {
	fault := r.settings.document.FaultAt(n.Pos, "expected "+what+" to be "+kind+", found "+n.Describe(), "")
	r.issues = append(r.issues, docissue.Of(fault, r.severity))
}

// near reports keys that one of the names was meant by, most likely: beside the host's other keys a slip would
// be lost, and with it what a policy forbids.
func (r *settingsReader) near(table *doc.Node, names ...string) {
	for _, f := range table.Fields {
		if f.Name == removedFeature || slices.Contains(names, f.Name) {
			continue
		}
		if hint := doc.DidYouMean(f.Name, names...); hint != "" {
			fault := r.settings.document.FaultAt(f.Pos, "unknown key "+doc.Quote(f.Name), hint)
			r.issues = append(r.issues, docissue.Of(fault, r.severity))
		}
	}
}

func (r *settingsReader) boolean(n *doc.Node, what string) bool {
	if n != nil && !n.Is(doc.Bool) {
		r.want(n, what, "true or false")
		return false
	}
	return n != nil && n.Bool()
}

func (r *settingsReader) features(table *doc.Node) {
	if table == nil {
		return
	}
	if !table.Is(doc.Table) {
		r.want(table, "features", "a table")
		return
	}
	r.near(table, featureNames...)
	for _, name := range featureNames {
		n := table.Get(name)
		if n == nil || r.settings.features != nil {
			continue
		}
		if on := r.boolean(n, "features."+name); n.Is(doc.Bool) {
			r.settings.features = &toggle{on: on, at: position(r.settings.document.File, n.Pos)}
		}
	}
}

func (r *settingsReader) readProjects(table *doc.Node) {
	if table == nil || !table.Is(doc.Table) {
		return
	}
	r.projects = map[string]string{}
	for _, f := range table.Fields {
		level := f.Value.Get("trust_level")
		switch {
		case level == nil:
		case !level.Is(doc.String):
			r.want(level, "trust_level", `"trusted" or "untrusted"`)
		default:
			r.projects[filepath.Clean(f.Name)] = level.Text
		}
	}
}

// hooks reads what stands in the hooks table beside the events.
func (r *settingsReader) hooks(table *doc.Node, goos string) {
	if table == nil {
		return
	}
	r.inline = true
	if !table.Is(doc.Table) {
		return // the dialect says what is wrong with it
	}
	name := "managed_dir"
	if goos == "windows" {
		name = "windows_managed_dir"
	}
	if n := table.Get(name); n != nil && !n.Is(doc.String) {
		r.want(n, name, "a path")
	} else if n != nil {
		r.dir, r.dirAt = n.Text, n.Pos
	}
	r.states(table.Get("state"))
}

// states reads a host's store. A wrong entry is left out whole; it says nothing about the others.
func (r *settingsReader) states(table *doc.Node) {
	if table == nil || !table.Is(doc.Table) {
		return
	}
	r.state = map[string]hostState{}
	for _, f := range table.Fields {
		key := strings.TrimSpace(f.Name)
		enabled, hash := f.Value.Get("enabled"), f.Value.Get("trusted_hash")
		switch {
		case key == "":
		case enabled != nil && !enabled.Is(doc.Bool):
			r.want(enabled, "enabled", "true or false")
		case hash != nil && !hash.Is(doc.String):
			r.want(hash, "trusted_hash", "a string")
		default:
			r.state[key] = stateOf(enabled, hash)
		}
	}
}

func stateOf(enabled, hash *doc.Node) hostState {
	var s hostState
	if enabled != nil {
		on := enabled.Bool()
		s.enabled = &on
	}
	if hash != nil {
		s.hash = hash.Text
	}
	return s
}

// merge lays a later layer's entry over an earlier one, field by field.
func (s hostState) merge(later hostState) hostState {
	if later.hash != "" {
		s.hash = later.hash
	}
	if later.enabled != nil {
		s.enabled = later.enabled
	}
	return s
}

// claudeSettings reads the switches of a settings file that hold for all hooks: disableAllHooks and, of a managed
// file, allowManagedHooksOnly, which must not be lost by a slip. What else is wrong with the file its dialect
// says.
func claudeSettings(src dialect.Source) (switched *toggle, only string, issues []dialect.Issue) {
	d, faults := doc.Parse(src.File, src.Data, doc.JSON)
	if faults != nil || !d.Root.Is(doc.Table) {
		return nil, "", nil
	}
	if n := d.Root.Get("disableAllHooks"); n != nil && n.Is(doc.Bool) {
		switched = &toggle{on: !n.Bool(), at: position(src.File, n.Pos)}
	}
	if !src.Managed {
		return switched, "", nil
	}
	r := doc.NewReader(d)
	if on, _ := r.Bool(d.Root.Get("allowManagedHooksOnly"), "allowManagedHooksOnly"); on {
		only = src.File
	}
	return switched, only, docissue.Errors(r.Faults())
}
