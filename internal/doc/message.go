package doc

import (
	"fmt"
	"strconv"

	"github.com/pawl-hooks/pawl/internal/cut"
)

// Quote shows a value from a file in a message: quoted, with control characters escaped, cut when long.
func Quote(s string) string { return strconv.Quote(short(s)) }

const shown = 80

func short(s string) string {
	if len(s) <= shown {
		return s
	}
	return cut.Head(s, shown) + "…"
}

// Plural counts things in a message: 1 hook, 2 hooks.
func Plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
