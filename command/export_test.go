package command

// SplitFor is Split as it would be on the other systems too.
func SplitFor(line string, windows bool) ([]string, error) { return split(line, windows) }

// ShellFor is Shell as it would be on the other systems too.
func ShellFor(goos, comspec, line string) []string { return shell(goos, comspec, line) }
