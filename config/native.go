package config

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/dialect"
	nativefile "github.com/pawl-hooks/pawl/dialect/native"
	"github.com/pawl-hooks/pawl/internal/doc"
)

// readNative reads pawl's own file. A hook's key ends in its name, which a file gives to one hook alone: it
// may be moved within the file and keeps its trust.
func (l *loader) readNative(src dialect.Source) ([]dialect.Entry, []dialect.Issue) {
	opts := nativefile.Options{Layer: src.Layer, Format: src.Format, Triggers: l.opts.Triggers}
	bare, _ := nativefile.Load(src.File, src.Data, opts)
	opts.Root = src.Root
	file, issues := nativefile.Load(src.File, src.Data, opts)
	var entries []dialect.Entry
	for i, h := range file.Hooks {
		e := dialect.Entry{
			Hook: h, Dialect: native, Event: string(h.On), Handler: i,
			Key:  fmt.Sprintf("%s:%s:0:%s", src.KeySource, h.On, h.Name),
			Hash: definition(bare.Hooks[i]), Managed: src.Managed,
			Build: func(name string) pawl.Hook { return named(h, name) },
		}
		if h.Match != nil {
			e.Matcher = h.Match.String()
		}
		if argv := nativeArgv(h); len(argv) > 0 {
			e.Command, e.Args = argv[0], argv[1:]
		}
		entries = append(entries, e)
	}
	return entries, issues
}

func nativeArgv(h pawl.Hook) []string {
	if p, ok := h.Handler.(pawl.Program); ok {
		return p.Argv()
	}
	return nil
}

// named gives a native hook, and the program that speaks for it, another name.
func named(h pawl.Hook, name string) pawl.Hook {
	h.Name = name
	if p, ok := h.Handler.(command.Program); ok {
		p.Name = name
		h.Handler = p
	}
	return h
}

// definition returns the digest of all that a native hook says, its name and its project's path aside.
func definition(h pawl.Hook) string {
	sum := sha256.New()
	match, program := "", ""
	if h.Match != nil {
		match = h.Match.String()
	}
	if p, ok := h.Handler.(pawl.Program); ok {
		program = p.Digest()
	}
	fmt.Fprintf(sum, "on %q\nmatch %q\neffects %q\ntimeout %d\nfail_open %t\nshadow %t\nconcurrent %t\nprogram %q\n",
		h.On, match, h.Effects, h.Timeout.Milliseconds(), h.FailOpen, h.Shadow, h.Concurrent, program)
	return finish(sum)
}

// visitNative reads a folder's one hooks file.
func (l *loader) visitNative(p place) {
	managed := isManaged(p.layer)
	names, err := l.disk.list(p.dir)
	if err != nil {
		l.told(managed, unread(p.dir, err))
		return
	}
	file, issues := chooseNative(names, func(name string) bool { return l.disk.isFile(filepath.Join(p.dir, name)) })
	for _, i := range issues {
		i.File = filepath.Join(p.dir, i.File)
		if i.Severity == dialect.Warning && file == "" { // a name that is almost one; beside one it is a copy
			i.Severity = l.notRead()
		}
		l.told(managed, i)
	}
	if file != "" {
		l.add(p, filepath.Join(p.dir, file), "")
	}
}

// nativeNames are what a native file is called in its folder.
func nativeNames() []string { return []string{"hooks.toml", "hooks.json", "hooks.zon"} }

// chooseNative returns the native file among the names of a folder, or "" where there is none. Two of them are an
// error: which one was meant is not for pawl to guess. A file that is called almost like one is a warning.
func chooseNative(names []string, isFile func(name string) bool) (file string, issues []dialect.Issue) {
	var found []string
	for _, name := range names {
		switch near := doc.Nearest(name, nativeNames()...); {
		case near == name:
			found = append(found, name)
		case near != "" && isFile(name):
			issues = append(issues, about(name, dialect.Warning, "this file is not read", "a native file is called "+near))
		}
	}
	if len(found) == 1 {
		return found[0], issues
	}
	for i := 1; i < len(found); i++ {
		issues = append(issues, about(found[i], dialect.Error, "there is "+found[0]+" beside it: one folder has one hooks file",
			"move the hooks into one of them; neither loads"))
	}
	return "", issues
}
