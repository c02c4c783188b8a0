package main

import (
	"runtime/debug"
	"strings"
)

// version is what the build knows of itself: the module's version, else the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "pawl (no build information)"
	}
	words := []string{"pawl"}
	if v := info.Main.Version; v != "" {
		words = append(words, v)
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if rev := settings["vcs.revision"]; rev != "" {
		words = append(words, "commit "+rev[:min(12, len(rev))])
	}
	if settings["vcs.modified"] == "true" {
		words = append(words, "(modified)")
	}
	return strings.Join(append(words, info.GoVersion), " ")
}
