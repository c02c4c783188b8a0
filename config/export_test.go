package config

import (
	"io/fs"

	"github.com/go-json-experiment/json"
)

// What the tests of this package look at from outside.
var (
	PluginPath = pluginPath
	Between    = between
	TrueCase   = trueCase
	DialectOf  = dialectOf
)

func Real(fsys fs.FS, name string) string { return disk{fsys}.real(name) }

func MainCheckout(fsys fs.FS, dir string) (top, main string) {
	c := disk{fsys}.checkout(dir)
	return c.top, c.main
}

func ScriptsOfLine(fsys fs.FS, line, top string, vars map[string]string, bases ...string) map[string]string {
	found, _ := MissedByLine(fsys, line, top, vars, bases...)
	return found
}

// MissedByLine also returns why a file that the line names is not among them.
func MissedByLine(fsys fs.FS, line, top string, vars map[string]string, bases ...string) (map[string]string, string) {
	f := finder{disk: disk{fsys}, top: top, vars: vars, at: spot{bases: bases}}
	f.line(line)
	return f.found, f.missed
}

func ScriptsOfArgv(fsys fs.FS, args []string, bases ...string) map[string]string {
	f := finder{disk: disk{fsys}, at: spot{bases: bases}}
	f.argv(args, false)
	return f.found
}

func Combine(definition string, scripts map[string]string) string {
	return combine(definition, scripts)
}

// Reread decodes a trust store and writes it again.
func Reread(data []byte) ([]byte, error) {
	l, err := decodeLedger("store", data)
	if err != nil {
		return nil, err
	}
	return json.Marshal(l, json.Deterministic(true))
}
