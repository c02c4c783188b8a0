package command

import (
	"os"
	"runtime"
)

// Shell returns the words that run line under the system's shell: /bin/sh -c, or %COMSPEC% /C on Windows.
// It is never a login or an interactive shell, so no profile prints into the program's answer, and the line
// goes in as it is: values belong in the environment or in arguments, never in its text.
func Shell(line string) []string {
	return shell(runtime.GOOS, os.Getenv("COMSPEC"), line)
}

func shell(goos, comspec, line string) []string {
	if goos != "windows" {
		return []string{"/bin/sh", "-c", line}
	}
	if comspec == "" {
		comspec = "cmd.exe"
	}
	return []string{comspec, "/C", line}
}
