package pawltest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Programs returns the words that run one of the helper programs, each of which does one thing that hooks
// do, well or badly. [Reexec] and [Shell] are two.
//
//	exit CODE            exits
//	print OUT ERR CODE   prints OUT and ERR, and exits
//	garbage              prints bytes that are no text
//	args WORD…           prints every word, a NUL behind each
//	env NAME             prints the variable's value
//	pwd                  prints the working directory
//	cat                  copies its input to its output
//	noread               exits with 0 and has not read its input
//	flood N              prints N bytes of "x" on each stream
//	die                  kills itself by a signal
//	hang FIFO            runs until it is killed
//	polite FIFO          runs until it is told to end, then exits with 0
//	deaf FIFO            runs until it is killed, and ignores being told to end
//	leave FIFO           prints "left" and exits with 0, and leaves a descendant that has its streams
//	away FIFO            the same, and the descendant has left the process group
//
// FIFO is a named pipe, opened for writing and written to as long as the program or its descendant lives:
// the first byte says that it runs, the end of file that it is gone. Without a reader it ends.
type Programs func(name string, args ...string) []string

const helperWord = "pawltest-helper"

// Main makes the test binary a helper program where [Reexec] says so; else it returns at once. It is to be
// called first in TestMain.
func Main() {
	if len(os.Args) < 3 || os.Args[1] != helperWord {
		return
	}
	help, ok := helpers[os.Args[2]]
	if !ok {
		fmt.Fprintf(os.Stderr, "pawltest: there is no helper %q\n", os.Args[2])
		syscall.Exit(70)
	}
	help(os.Args[3:])
	syscall.Exit(0)
}

// Reexec runs the helpers by the test binary itself, whose TestMain calls [Main].
func Reexec(name string, args ...string) []string {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return append([]string{self, helperWord, name}, args...)
}

// The helpers leave by syscall.Exit: under the race detector os.Exit waits a second.
var helpers = map[string]func(args []string){
	"exit":    func(args []string) { syscall.Exit(number(args[0])) },
	"print":   helpPrint,
	"garbage": func([]string) { fmt.Print(garbage) },
	"args":    func(args []string) { fmt.Print(strings.Join(append(args, ""), "\x00")) },
	"env":     func(args []string) { fmt.Print(os.Getenv(args[0])) },
	"pwd":     helpPwd,
	"cat":     func([]string) { _, _ = io.Copy(os.Stdout, os.Stdin) },
	"noread":  func([]string) {},
	"flood":   helpFlood,
	"die":     func([]string) { killSelf() },
	"hang":    func(args []string) { stay(openFIFO(args[0])) },
	"polite":  helpPolite,
	"deaf":    helpDeaf,
	"leave":   func(args []string) { helpLeave(args[0], false) },
	"away":    func(args []string) { helpLeave(args[0], true) },
	"stay":    func([]string) { stay(os.NewFile(3, "fifo")) }, // the descendant of the two above
}

// garbage looks like an answer and is none.
const garbage = "{\"verdict\":\"allow\",\xff\xfe\x00\x1b[2J\r\n"

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		fmt.Fprintln(os.Stderr, "pawltest:", err)
		syscall.Exit(70)
	}
	return n
}

func helpPrint(args []string) {
	fmt.Print(args[0])
	fmt.Fprint(os.Stderr, args[1])
	syscall.Exit(number(args[2]))
}

func helpPwd([]string) {
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pawltest:", err)
		syscall.Exit(70)
	}
	fmt.Print(dir)
}

func helpFlood(args []string) {
	block := bytes.Repeat([]byte("x"), 4096)
	for n := number(args[0]); n > 0; n -= len(block) {
		block = block[:min(n, len(block))]
		_, _ = os.Stdout.Write(block)
		_, _ = os.Stderr.Write(block)
	}
}

func helpPolite(args []string) {
	told := make(chan os.Signal, 1)
	signal.Notify(told, terminate)
	go stay(openFIFO(args[0]))
	<-told
}

func helpDeaf(args []string) {
	signal.Ignore(terminate)
	stay(openFIFO(args[0]))
}

func helpLeave(fifo string, session bool) {
	f := openFIFO(fifo)
	words := Reexec("stay")
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{f}
	if session {
		ownSession(cmd)
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "pawltest:", err)
		syscall.Exit(70)
	}
	fmt.Print("left")
}

func openFIFO(name string) *os.File {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, "pawltest:", err)
		syscall.Exit(70)
	}
	return f
}

// stay writes to f until nobody reads it any more: what a broken gate leaves behind ends with its test.
func stay(f *os.File) {
	for {
		if _, err := f.Write([]byte("x")); err != nil {
			syscall.Exit(71)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Shell runs the helpers by /bin/sh, for tests that have no TestMain.
func Shell(name string, args ...string) []string {
	line, ok := shellHelpers[name]
	if !ok {
		line = "echo there is no such helper >&2; exit 70"
	}
	return append([]string{"/bin/sh", "-c", line, name}, args...)
}

const shellStay = `while printf x >&3; do sleep 1; done`

var shellHelpers = map[string]string{
	"exit":    `exit "$1"`,
	"print":   `printf %s "$1"; printf %s "$2" >&2; exit "$3"`,
	"garbage": `printf '{"verdict":"allow",\377\376\000\033[2J\r\n'`,
	"args":    `for word; do printf '%s\0' "$word"; done`,
	"env":     `eval "printf %s \"\$$1\""`,
	"pwd":     `printf %s "$(pwd -P)"`,
	"cat":     `exec cat`,
	"noread":  `exit 0`,
	"flood":   `head -c "$1" /dev/zero | tr '\0' x; head -c "$1" /dev/zero | tr '\0' x >&2`,
	"die":     `kill -9 $$`,
	"hang":    `exec 3>"$1"; ` + shellStay,
	"polite":  `trap 'exit 0' TERM; exec 3>"$1"; ` + shellStay,
	"deaf":    `trap '' TERM; exec 3>"$1"; ` + shellStay,
	"leave":   `exec 3>"$1"; printf x >&3; ` + shellStay + ` & printf left`,
	"away":    `exec 3>"$1"; printf x >&3; setsid sh -c '` + shellStay + `' & printf left`,
}
