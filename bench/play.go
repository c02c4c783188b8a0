package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
)

// play acts as a helper program where there is no C compiler to build one.
func play() (played bool) {
	switch filepath.Base(os.Args[0]) {
	case "hook":
		_, _ = io.Copy(io.Discard, os.Stdin)
		_, _ = os.Stdout.WriteString("{}")
		return true
	case "echo":
		_, _ = os.Stdout.WriteString(`{"pawl":"worker","version":1}` + "\n")
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			_, _ = os.Stdout.WriteString("{}\n")
		}
		return true
	}
	return false
}
