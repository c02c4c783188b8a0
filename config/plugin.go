package config

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/internal/docissue"
)

// A manifest is where a plugin's author says what is in it.
type manifest struct{ file, dialect string }

// manifests are looked for in this order; the first that is there counts.
var manifests = []manifest{
	{".codex-plugin/plugin.json", zerocode},
	{".zerotwo-plugin/plugin.json", zerocode},
	{".claude-plugin/plugin.json", claude},
	{".cursor-plugin/plugin.json", zerocode},
}

// defaultHooks is read where the manifest names no hooks.
const defaultHooks = "hooks/hooks.json"

// plugin makes sources of a plugin's hooks.
func (l *loader) plugin(p Plugin) {
	if !l.disk.isDir(p.Dir) {
		l.told(false, about(p.Dir, dialect.Error, "plugin "+p.Name+" has no such directory", ""))
		return
	}
	p.Dir = l.disk.real(p.Dir)
	if _, met := l.plugins[p.Dir]; met {
		l.told(false, about(p.Dir, dialect.Warning, "plugin "+p.Name+" is in the folder of one before it: its hooks load once", ""))
		return
	}
	if p.Data == "" {
		p.Data = filepath.Join(l.home, ".local", "state", "pawl", "plugins", p.Name)
	}
	r := pluginReader{loader: l, plugin: p, met: map[string]bool{}}
	declared, ok := r.manifest()
	l.plugins[p.Dir] = ok
	if ok && !declared {
		r.path("./"+defaultHooks, nil)
	}
}

// pluginReader collects the sources of one plugin.
type pluginReader struct {
	*loader
	plugin  Plugin
	dialect string // of the manifest; empty: there is none
	doc     *doc.Document
	file    string
	met     map[string]bool // files by real path
}

// manifest reads the manifest and reports whether it declared hooks: then the default file is not looked
// for. Of a plugin whose manifest cannot be read (not ok) nothing loads: which hooks it means is not known.
func (r *pluginReader) manifest() (declared, ok bool) {
	for _, m := range manifests {
		file := filepath.Join(r.plugin.Dir, filepath.FromSlash(m.file))
		if !r.disk.exists(file) {
			continue
		}
		r.file, r.dialect = file, m.dialect
		data, err := r.disk.read(file)
		if err != nil {
			r.told(false, unread(file, err))
			return false, false
		}
		d, faults := doc.Parse(file, data, doc.JSON)
		if faults != nil {
			r.told(false, docissue.Errors(faults)...)
			return false, false
		}
		if r.doc = d; !d.Root.Is(doc.Table) {
			fault := d.FaultAt(d.Root.Pos, "expected a plugin manifest, an object; found "+d.Root.Describe(), `write {"name": "…"}`)
			r.told(false, docissue.Of(fault, dialect.Error))
			return false, false
		}
		r.almostHooks(d.Root)
		return r.declared(d.Root.Get("hooks"), data), true
	}
	return false, true
}

// declared reads the manifest's hooks entry: a path, a list of paths, an inline object, or a list of those.
// What is none of these counts as absent.
func (r *pluginReader) declared(n *doc.Node, data []byte) bool {
	switch {
	case n == nil:
		return false
	case n.Is(doc.String):
		return r.path(n.Text, n)
	case n.Is(doc.Table):
		r.inline(data, n, 0, "hooks")
		return true
	case n.Is(doc.List) && all(n.Items, doc.String):
		found := false
		for _, item := range n.Items {
			found = r.path(item.Text, item) || found
		}
		return found
	case n.Is(doc.List) && all(n.Items, doc.Table):
		for i, item := range n.Items {
			r.inline(data, item, i, "hooks", strconv.Itoa(i))
		}
		return len(n.Items) > 0
	}
	r.notice(n, r.notRead(), "ignoring hooks: expected a string, string array, object, or object array; found "+n.Describe(),
		"the default "+defaultHooks+" is looked for instead")
	return false
}

// almostHooks tells of a key that is hooks but for a slip: what it declares is not read.
func (r *pluginReader) almostHooks(root *doc.Node) {
	for _, field := range root.Fields {
		if field.Name != "hooks" && doc.Nearest(field.Name, "hooks") != "" {
			fault := r.doc.FaultAt(field.Pos, quote(field.Name)+" is not hooks: what it names does not run", doc.DidYouMean(field.Name, "hooks"))
			r.told(false, docissue.Of(fault, r.notRead()))
		}
	}
}

func all(items []*doc.Node, kind doc.Kind) bool {
	for _, n := range items {
		if !n.Is(kind) {
			return false
		}
	}
	return true
}

func (r *pluginReader) notice(n *doc.Node, severity dialect.Severity, message, hint string) {
	r.told(false, docissue.Of(r.doc.FaultAt(n.Pos, message, hint), severity))
}

// path adds a hooks file by its path in the plugin and reports whether the path is a valid one. With a nil
// node it is the default, which need not be there.
func (r *pluginReader) path(written string, n *doc.Node) bool {
	rel, err := pluginPath(written, r.opts.goos() == "windows")
	if err != nil {
		r.notice(n, r.notRead(), "plugin hooks path "+quote(written)+" "+err.Error(), "it is left out; the others remain")
		return false
	}
	file := filepath.Join(r.plugin.Dir, filepath.FromSlash(rel))
	if n == nil && !r.disk.exists(file) {
		return true
	}
	real := r.disk.real(file)
	switch {
	case !within(r.plugin.Dir, real):
		r.told(false, about(file, dialect.Error, "leads out of the plugin, to "+real, "a plugin's hooks stay inside its root"))
		return true
	case r.met[real]:
		r.notice(n, dialect.Warning, "plugin hooks path "+quote(written)+" is listed twice; its hooks load once", "")
		return true
	}
	r.met[real] = true
	data, err := r.disk.read(file)
	if err != nil {
		r.told(false, unread(file, err))
		return true
	}
	name := r.dialect
	if name == "" {
		name = hostDialectOf(file, data)
	}
	r.source(name, file, rel, data)
	return true
}

// inline adds the i-th hooks object of the manifest, which stands under the given keys.
func (r *pluginReader) inline(data []byte, n *doc.Node, i int, under ...string) {
	if r.dialect == claude && n.Get("hooks") == nil && len(under) == 1 {
		under = nil // {"hooks": {EVENT: …}}: the manifest reads like a settings file
	}
	s := r.source(r.dialect, r.file, fmt.Sprintf("plugin.json#hooks[%d]", i), data)
	s.Under = under
}

// source makes a source of the plugin's. Rel is its name in trust keys.
func (r *pluginReader) source(name, file, rel string, data []byte) *source {
	vars := map[string]string{
		"PLUGIN_ROOT": r.plugin.Dir, "CLAUDE_PLUGIN_ROOT": r.plugin.Dir,
		"PLUGIN_DATA": r.plugin.Data, "CLAUDE_PLUGIN_DATA": r.plugin.Data,
	}
	s := &source{dialect: name, found: file, vars: vars, place: place{layer: layerPlugin, dialect: name, dir: r.plugin.Dir}}
	s.Source = dialect.Source{
		Layer: layerPlugin, File: file, KeySource: r.plugin.Name + ":" + rel, Data: data, Format: dialect.JSON,
		Plugin: r.plugin.Name,
	}
	for _, key := range sortedKeys(vars) {
		s.Env = append(s.Env, key+"="+vars[key])
	}
	r.sources = append(r.sources, s)
	return s
}

// pluginPath checks a path of a manifest and returns it relative to the plugin's root, with slashes. The
// check is of the text alone; where links lead is looked at when the file is read.
func pluginPath(written string, windows bool) (string, error) {
	rest, ok := strings.CutPrefix(written, "./")
	if !ok {
		return "", errors.New(`does not begin with "./"`)
	}
	if windows {
		if len(rest) > 1 && rest[1] == ':' {
			return "", errors.New("names a drive")
		}
		rest = strings.ReplaceAll(rest, `\`, "/")
	}
	switch {
	case rest == "":
		return "", errors.New("names no file")
	case strings.HasPrefix(rest, "/"):
		return "", errors.New("is not relative to the plugin's root")
	}
	for _, element := range strings.Split(rest, "/") {
		if element == ".." {
			return "", errors.New(`holds ".."`)
		}
	}
	return path.Clean(rest), nil
}
