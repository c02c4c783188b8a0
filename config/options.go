package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pawl-hooks/pawl"
)

// A Trust says which hooks may run without being a managed one.
type Trust string

// The choices. The zero Trust is TrustStore.
const (
	TrustStore Trust = "store" // those that were accepted, by pawl's own trust store or a host's
	TrustAll   Trust = "all"   // every one that is not disabled, in project folders too; a Warning says so
	TrustNone  Trust = "none"  // none
)

// Options say where hooks are looked for. Every path is absolute. The zero Options look in the places of
// the current user and machine, and in no project.
type Options struct {
	Root string // the project, see [FindRoot]; empty: no project layers
	Dir  string // the session's working directory, which every layer from Root down to it belongs to; empty: Root

	Home         string   // the user's home directory; empty: the current user's, and the hosts' own variables may move theirs
	System       string   // stands for /etc, and is itself a folder of the system layer; empty: the platform's
	Requirements []string // files of managed requirements, the highest first; nil: those of the system folders
	Profile      string   // a profile of the user's: NAME.config.toml beside config.toml; empty: none
	Session      []string // overrides for this session, each one line of TOML: features.hooks=false
	Plugins      []Plugin // enabled plugins, in order
	Files        []string // files to load instead of looking in the places of user, system and project; trusted as given
	Dialect      string   // of Files: native, zerocode or claude; empty: seen from name and shape

	Trust          Trust
	DefinitionOnly bool // as hosts do: a hook whose script changed since it was accepted is still trusted
	Strict         bool // every dialect's Strict; and a hook that waits for review, or was accepted and is gone, refuses where it could have

	Triggers map[pawl.Trigger]pawl.Contract // what the runtime can carry; nil: pawl.DefaultTriggers()

	FS      fs.FS                    // where files are read, its root standing for "/"; nil: the operating system's
	Getenv  func(name string) string // the environment; nil: os.Getenv
	OS      string                   // the GOOS to choose commands and managed directories for; empty: this one
	TempDir string                   // where large output is spilled; empty: os.TempDir()
	Redact  func(text []byte) []byte // over output before it is spilled or cut; nil: as it is
}

// A Plugin is an installed plugin that is enabled.
type Plugin struct {
	Name string // what trust keys begin with; name@marketplace where there is one
	Dir  string // its root
	Data string // its writable directory; empty: <home>/.local/state/pawl/plugins/NAME
}

// An OptionError says which of the Options cannot be used.
type OptionError struct {
	Field string
	Value string
	Err   error
}

func (e *OptionError) Error() string {
	return "config option " + e.Field + " " + quote(e.Value) + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *OptionError) Unwrap() error { return e.Err }

var (
	errNotAbsolute = errors.New("is not an absolute path")
	errNoFolder    = errors.New("is not a folder")
)

// check finds every fault in the options themselves.
func (o Options) check() error {
	var errs []error
	fail := func(field, value string, err error) {
		errs = append(errs, &OptionError{field, value, err})
	}
	absolute := func(field, value string) {
		if value != "" && !filepath.IsAbs(value) {
			fail(field, value, errNotAbsolute)
		}
	}
	absolute("Root", o.Root)
	absolute("Dir", o.Dir)
	absolute("Home", o.Home)
	absolute("System", o.System)
	folder := func(field, value string) {
		if filepath.IsAbs(value) && !(disk{o.FS}).isDir(value) {
			fail(field, value, errNoFolder)
		}
	}
	folder("Root", o.Root) // one that is misspelt has no hooks, and nobody would notice
	folder("System", o.System)
	for _, file := range o.Requirements {
		absolute("Requirements", file)
	}
	for _, file := range o.Files {
		absolute("Files", file)
	}
	o.checkWords(fail)
	o.checkPlugins(absolute, fail)
	return errors.Join(errs...)
}

func (o Options) checkWords(fail func(field, value string, err error)) {
	switch o.Trust {
	case "", TrustStore, TrustAll, TrustNone:
	default:
		fail("Trust", string(o.Trust), errors.New("is none of store, all, none"))
	}
	switch o.Dialect {
	case "", native, zerocode, claude:
	default:
		fail("Dialect", o.Dialect, errors.New("is none of native, zerocode, claude"))
	}
	if o.Profile != "" && !plainName(o.Profile) {
		fail("Profile", o.Profile, errors.New("is not a plain file name"))
	}
}

func (o Options) checkPlugins(absolute func(field, value string), fail func(field, value string, err error)) {
	names := map[string]bool{}
	for _, p := range o.Plugins {
		absolute("Plugins", p.Dir)
		absolute("Plugins", p.Data)
		switch {
		case !plainName(p.Name):
			fail("Plugins", p.Name, errors.New("is not a plugin's name"))
		case p.Dir == "":
			fail("Plugins", p.Name, errors.New("has no directory"))
		case names[p.Name]:
			fail("Plugins", p.Name, errors.New("is named twice: trust could not tell the two apart"))
		}
		names[p.Name] = true
	}
}

// plainName reports whether name is one element of a path that cannot lead anywhere else.
func plainName(name string) bool {
	for _, r := range name {
		if r < ' ' || r == '/' || r == '\\' || r == ':' || r == 0x7f {
			return false
		}
	}
	return name != "." && name != ".." && name != ""
}

func (o Options) getenv(name string) string {
	if o.Getenv == nil {
		return os.Getenv(name)
	}
	return o.Getenv(name)
}

func (o Options) goos() string {
	if o.OS == "" {
		return runtime.GOOS
	}
	return o.OS
}

// moved returns the folder that an environment variable names, if it may speak: not where the caller said
// outright which home to use.
func (o Options) moved(name, otherwise string) string {
	if dir := o.getenv(name); o.Home == "" && filepath.IsAbs(dir) {
		return dir
	}
	return otherwise
}
