package config

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl/internal/shline"
)

// A finder finds the scripts that a command names, so that trust covers what they hold. It reads a command
// without running anything: what a variable or a substitution stands for is known only where vars or top
// say so, and a word that cannot be read is no script.
type finder struct {
	disk  disk
	top   string            // what $(git rev-parse --show-toplevel) prints at the start
	start string            // the working directory at the start
	at    spot              // the working directory
	vars  map[string]string // HOME, PLUGIN_ROOT and the like

	getenv func(string) string // what else the environment holds; nil: nothing

	found     map[string]string      // word as written -> path
	missed    string                 // why a file that is named by a relative path was not found; empty: none was missed
	set       map[string]bool        // variables that the line sets
	functions map[string][]*function // that the shell knows
	calls     int                    // of functions, so far
}

// nested bounds sh -c inside sh -c.
const nested = 4

// interpreters are programs whose first operand is a script.
var interpreters = words(`sh bash dash zsh ksh mksh ash busybox fish pwsh powershell cmd env exec source . eval
	python python2 python3 py pypy pypy3 node nodejs deno bun tsx ts-node ruby perl php lua luajit tclsh Rscript
	uv uvx npx pipx poetry java go nice nohup time timeout sudo doas command xargs`)

// scriptSuffixes are names by which an operand is code rather than data.
var scriptSuffixes = words(`.sh .bash .zsh .fish .py .pyz .js .mjs .cjs .ts .mts .rb .pl .php .lua .awk .sed .jq
	.ps1 .psm1 .bat .cmd .exe .jar .wasm .zig .r .tcl`)

// systemDirs hold programs that belong to the machine: they change with every upgrade, and whoever can
// change them needs no hook. The last three hold no files of anybody's, and reading one may never end.
var systemDirs = []string{
	"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/nix/store", "/opt/homebrew/bin", "/opt/homebrew/Cellar",
	"/dev", "/proc", "/sys",
}

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// argv finds the scripts of a command that no shell reads, by the word that names each. Placeholders are
// replaced where its dialect does so.
func (f *finder) argv(args []string, placeholders bool) {
	f.found, f.set, f.start = map[string]string{}, map[string]bool{}, f.base()
	values := slices.Clone(args)
	for i := range values {
		if placeholders {
			values[i] = f.replace(values[i])
		}
	}
	f.call(args, values, nested)
}

// line finds the scripts of a command line.
func (f *finder) line(command string) {
	f.found, f.set, f.start = map[string]string{}, map[string]bool{}, f.base()
	f.child(command, nested)
}

// shell looks at every command in a piece of shell text, and returns where the shell then stands.
func (f *finder) shell(text string, depth int) spot {
	if depth == 0 {
		return spot{lost: "shells stand in shells too deep"}
	}
	file, err := shline.Parse(text, true)
	if err != nil || runtime.GOOS == "windows" {
		f.plain(text, depth)
		return spot{lost: "the line is not read as a shell's"}
	}
	return f.follow(text, file, depth)
}

// plain reads a line that is no POSIX shell's: words divided by blanks, quotes around them taken off.
func (f *finder) plain(text string, depth int) {
	written := strings.Fields(text)
	args := make([]string, len(written))
	for i, w := range written {
		args[i] = f.replace(strings.Trim(w, `"'`))
	}
	moves := slices.IndexFunc(args, func(word string) bool { return cds[word] })
	if moves < 0 {
		f.call(written, args, depth)
		return
	}
	at := f.at
	f.call(written[:moves], args[:moves], depth)
	f.at = spot{lost: "where " + written[moves] + " leads cannot be told"}
	f.call(written[moves:], args[moves:], depth)
	f.at = at
}

// replace puts the known variables into a word: ${NAME}, $NAME at its start, and %NAME%.
func (f *finder) replace(word string) string {
	for name, value := range f.vars {
		word = strings.ReplaceAll(word, "${"+name+"}", value)
		word = strings.ReplaceAll(word, "%"+name+"%", value)
	}
	if rest, ok := strings.CutPrefix(word, "~/"); ok {
		return filepath.Join(f.vars["HOME"], rest)
	}
	return word
}

// lineFollows are the options behind which a shell's line stands: -c, also among others as in -lc, and what
// the shells of Windows have in its place.
var lineFollows = regexp.MustCompile(`(?i)^(-[a-z]*c[a-z]*|/c)$`)

// call looks at one command: its program, and its operands. An unknown word is empty.
func (f *finder) call(written, args []string, depth int) {
	if len(args) == 0 {
		return
	}
	at := f.at
	if strings.ContainsAny(args[0], `/\`) {
		f.operand(written[0], args[0], true)
	}
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	script := interpreters[name]
	for i := 1; i < len(args); i++ {
		if took := f.chdir(name, written[i:], args[i:]); took > 0 {
			i += took - 1
			continue
		}
		if script && lineFollows.MatchString(args[i-1]) {
			before := len(f.found)
			if f.child(args[i], depth-1); len(f.found) == before {
				f.operand(written[i], args[i], script) // an option of another program, perhaps
			}
			continue
		}
		if script && interpreters[args[i]] {
			name = args[i] // env python3 x.py: looked up in PATH
			continue
		}
		f.operand(written[i], args[i], script && !strings.HasPrefix(args[i], "-"))
		if script && f.found[written[i]] != "" {
			name, script = "", false // what follows is the script's own affair
		}
	}
	f.at = at
}

func (f *finder) base() string {
	if len(f.at.bases) == 0 {
		return string(filepath.Separator)
	}
	return f.at.bases[0]
}

// operand notes a word that names a file which is code: by its place, its name, its mode or its first bytes.
func (f *finder) operand(written, value string, code bool) {
	if value == "" {
		return
	}
	f.note(written, value, code)
	if _, after, ok := strings.Cut(value, "="); ok && strings.HasPrefix(value, "-") && after != "" {
		f.note(written, after, code)
	}
}

func (f *finder) note(written, value string, code bool) {
	bases := f.at.bases
	if filepath.IsAbs(value) {
		bases = []string{string(filepath.Separator)}
	} else if f.at.lost != "" {
		if code || strings.Contains(value, "/") || scriptSuffixes[strings.ToLower(filepath.Ext(value))] {
			f.missed = cmp.Or(f.missed, f.at.lost)
		}
		return
	}
	for _, base := range bases {
		file := f.path(base, value)
		if !f.disk.isFile(file) {
			continue
		}
		if !isSystem(file) && (code || f.isScript(file)) {
			f.keep(written, file)
		}
		return
	}
}

// keep notes a script. A word that stands for two files, behind a cd, is two words.
func (f *finder) keep(written, file string) {
	word := written
	for n := 2; f.found[word] != "" && f.found[word] != file; n++ {
		word = fmt.Sprintf("%s (%d)", written, n)
	}
	f.found[word] = file
}

func isSystem(file string) bool {
	for _, dir := range systemDirs {
		if within(dir, file) {
			return true
		}
	}
	return false
}

func (f *finder) isScript(file string) bool {
	if scriptSuffixes[strings.ToLower(filepath.Ext(file))] {
		return true
	}
	if info, err := f.disk.stat(file); err == nil && info.Mode()&0o111 != 0 && runtime.GOOS != "windows" {
		return true
	}
	r, err := f.disk.open(file)
	if err != nil {
		return false
	}
	defer r.Close()
	var start [2]byte
	n, _ := r.Read(start[:])
	return string(start[:n]) == "#!"
}
