package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd prints a script that teaches a shell pawl's commands and flags.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is shown by pawl completion --help.
func (*completionCmd) Help() string {
	return `bash:  source <(pawl completion bash)
zsh:   source <(pawl completion zsh)
fish:  pawl completion fish | source`
}

// Run prints the script.
func (c *completionCmd) Run(a *app) error {
	root := a.parser.Model.Node
	switch c.Shell {
	case "fish":
		fishCompletion(a.out, root, nil)
	case "zsh":
		fmt.Fprintln(a.out, "autoload -U +X bashcompinit && bashcompinit")
		bashCompletion(a.out, root)
	default:
		bashCompletion(a.out, root)
	}
	return nil
}

func bashCompletion(w io.Writer, root *kong.Node) {
	fmt.Fprint(w, `_pawl() {
	local cur=${COMP_WORDS[COMP_CWORD]} path= next word words=
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		next="${path:+$path }$word"
		case "$next" in
`)
	walk(root, nil, func(path []string, _ *kong.Node) {
		if len(path) > 0 {
			fmt.Fprintf(w, "\t\t%q) path=$next ;;\n", strings.Join(path, " "))
		}
	})
	fmt.Fprint(w, "\t\tesac\n\tdone\n\tcase \"$path\" in\n")
	walk(root, nil, func(path []string, n *kong.Node) {
		fmt.Fprintf(w, "\t%q) words=%q ;;\n", strings.Join(path, " "), strings.Join(choices(n), " "))
	})
	fmt.Fprint(w, `	esac
	COMPREPLY=($(compgen -W "$words" -- "$cur") $(compgen -f -- "$cur"))
}
complete -o filenames -F _pawl pawl
`)
}

func fishCompletion(w io.Writer, n *kong.Node, path []string) {
	when := "__fish_use_subcommand"
	if len(path) > 0 {
		when = "__fish_seen_subcommand_from " + path[len(path)-1]
	}
	for _, child := range n.Children {
		if !child.Hidden {
			fmt.Fprintf(w, "complete -c pawl -n '%s' -a %s -d %s\n", when, child.Name, fishQuote(child.Help))
		}
	}
	for _, flag := range n.Flags {
		if len(path) == 0 {
			fmt.Fprintf(w, "complete -c pawl -l %s -d %s\n", flag.Name, fishQuote(flag.Help))
		} else {
			fmt.Fprintf(w, "complete -c pawl -n '%s' -l %s -d %s\n", when, flag.Name, fishQuote(flag.Help))
		}
	}
	for _, child := range n.Children {
		fishCompletion(w, child, append(path, child.Name))
	}
}

func fishQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `\'`) + "'" }

// walk visits n and every command below it, each with the words that lead there.
func walk(n *kong.Node, path []string, visit func([]string, *kong.Node)) {
	visit(path, n)
	for _, child := range n.Children {
		walk(child, append(path[:len(path):len(path)], child.Name), visit)
	}
}

// choices are the words that may come next: commands, then flags, those of the commands above included.
func choices(n *kong.Node) []string {
	var words []string
	for _, child := range n.Children {
		if !child.Hidden {
			words = append(words, child.Name)
		}
	}
	for _, group := range n.AllFlags(true) {
		for _, flag := range group {
			words = append(words, "--"+flag.Name)
		}
	}
	return words
}
