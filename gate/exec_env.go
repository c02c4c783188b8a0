package gate

import (
	"os"
	"runtime"
	"strings"

	"github.com/pawl-hooks/pawl"
)

func defaultGrant() []string {
	grant := []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TERM", "TMPDIR", "TZ"}
	if runtime.GOOS == "windows" {
		grant = append(grant, "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP",
			"USERPROFILE", "USERNAME", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES*")
	}
	return grant
}

// environment returns what a program that works in dir gets: the granted part of the host's, then the command's own. Of
// two entries with one name the later stands, and alone: getenv would return the first.
func (e Exec) environment(cmd pawl.Command, dir string) []string {
	host := e.Host
	var env []string
	if host == nil {
		host = os.Environ() // a copy: what is granted moves up in it
		env = host[:0]
	}
	grant := e.Grant
	if grant == nil {
		grant = defaultGrant()
	}
	for _, kv := range host {
		name := envName(kv)
		switch {
		case name == "" && runtime.GOOS != "windows": // "=C:" and the like belong to Windows
		case cmd.Inherit && name == "PWD" && dir != "":
			env = append(env, "PWD="+dir) // the host's would be a lie
		case cmd.Inherit || granted(grant, name):
			env = append(env, kv)
		}
	}
	return lastOfEach(append(env, cmd.Env...))
}

// envName returns the name of a KEY=value entry; empty where there is none.
func envName(kv string) string {
	name, _, ok := strings.Cut(kv, "=")
	if !ok {
		return ""
	}
	return name
}

func granted(grant []string, name string) bool {
	for _, g := range grant {
		prefix, open := strings.CutSuffix(g, "*")
		if sameEnvName(name, g) || open && len(name) >= len(prefix) && sameEnvName(name[:len(prefix)], prefix) {
			return true
		}
	}
	return false
}

func sameEnvName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

// lastOfEach keeps, of the entries with one name, the last, in place. The lists are short: no map.
func lastOfEach(env []string) []string {
	out := env[:0]
next:
	for i, kv := range env {
		name := envName(kv)
		for _, later := range env[i+1:] {
			if sameEnvName(envName(later), name) {
				continue next
			}
		}
		out = append(out, kv)
	}
	return out
}

// getenv returns the value of name in env.
func getenv(env []string, name string) string {
	for _, kv := range env {
		if sameEnvName(envName(kv), name) {
			return kv[len(name)+1:]
		}
	}
	return ""
}
