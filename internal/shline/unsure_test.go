package shline_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/internal/shline"
)

// Lines that bash or dash reads otherwise than the parser are not read; those beside them, which look much the
// same, are.
func TestWhatShellsReadOtherwiseIsNotRead(t *testing.T) {
	for line, read := range map[string]bool{
		"ls #\\\ngit push": false, "ls # x\\\ngit push": false, "ls # x\ngit push": true, "ls 'a # b' \\\n x": true, "ls \"fix #12\" \\\n x": true, "# x \\ \nls": true,
		"if a; then # x\\\nb; fi": false, "a | # x\\\nb": false, "a=(x # y\\\n)": false, "$(# x\\\nls)": false, "case x in # y\\\nx) ls;; esac": false,
		"ls\r": false, "ls\r\nls": false, "cat <<'a\rb'\na\rb": false, "ls\x00": false, "ls \u00a0\u0085\f\v\x01é": true,
		"$\\\n@git push": false, "g\\\nit push": true, "ls \\\n -l": true, "ls \"a\\\nb\"": true, "$x\\\ny": true,
		`ls $'a\'b'`: false, `ls $'a\tb' $"x" 'a\'`: true,
		"let x=1": false, "((x = 1))": true, "coproc x=1 ls": false, "time -- ls": false, "time -p ls": true, "time ls": true,
		"ls &>x ls": false, "ls &>>x ls": false, "&>x ls": false, "ls -l &>x": true, "ls &>x; ls": true, "{ ls; } &>x": true, "ls >x 2>&1 ls": true,
		"ls <&-f": false, "ls >&-f": false, "ls <&- f": true, "ls >&2 2>&-": true, "ls {x}>y": false, "ls 3>y": true,
		": ${x:-<(ls)}": false, ": ${x:->(ls)}": false, ": ${x:-$(ls)}": true, "ls <(ls) >(ls)": true,
		"[[ x == @(a|$(ls)) ]]": false, "ls !(`ls`)": false, "ls !(<(ls))": false, "[[ x == @(a|b) ]]; ls !(*.go)": true,
		"cat <<E\n`a'\\\n'b`\nE": false, "cat <<E\n$('\\\na')\nE": false, "cat <<E\n$x \\\n$(ls)\nE": true, "`a \\`b\\``": true, "$(a \\\n b)": true,
		"cat <<E\nx\nE": true, "cat <<'E'\nx\nE": true, "cat <<\"E\"\nx\nE": true, "cat <<\\E\nx\nE": true, "cat <<-E\n\tx\n\tE": true, "cat <<END.1_2-3\nx\nEND.1_2-3": true,
		"cat <<$'E'\nx\nE": false, "cat <<E'F'\nx\nEF": false, "cat <<'E F'\nx\nE F": false, "cat <<''\nx\n\n": false,
		"cat <<E\n\\\nE\nx\nE": false, "cat <<EF\nE\\\nF\nx\nEF": false, "cat <<E\nE\\\n\nx\nE": false, "cat <<E\nRUN a && \\\n  b\nE": true, "cat <<-E\nE\\\n\t\nE": false,
		"$(cat <<E)\nx\nE": false, "`cat <<E`\nx\nE": false, "ls <(cat <<E)\nx\nE": false, "$(cat <<E\nx\nE\n)": true, "$(cat <<<x)": true, "(cat <<E)\nx\nE": true,
		"cat <<E\n$(cat <<F\nE\nF\n)\nE": false, "cat <<E\n$(cat <<F\nx\nF\n)\nE": true, "cat <<'E'\n# x\\\nls\nE": true,
	} {
		_, err := shline.Parse(line, true)
		if read {
			require.NoError(t, err, "%q", line)
		} else {
			require.ErrorIs(t, err, shline.ErrUnsure, "%q", line)
		}
	}
}
