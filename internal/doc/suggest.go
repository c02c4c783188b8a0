package doc

import "strings"

// DidYouMean returns "did you mean `x`?" for the candidate nearest to word, else "".
func DidYouMean(word string, candidates ...string) string {
	if c := Nearest(word, candidates...); c != "" {
		return "did you mean `" + c + "`?"
	}
	return ""
}

// Nearest returns the candidate that word is most likely a slip of: the same but for case and separators,
// or a third of its letters away at most; the first of equals. It returns "" where none is near.
func Nearest(word string, candidates ...string) string {
	best, bound := "", max(len(word)/3, 1)+1
	word = fold(word)
	for _, c := range candidates {
		folded := fold(c)
		if d := len(word) - len(folded); d >= bound || -d >= bound {
			continue
		}
		if d := distance(word, folded); d < bound {
			best, bound = c, d
		}
	}
	return best
}

var separators = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

func fold(s string) string {
	if len(s) > 64 {
		s = s[:64]
	}
	return separators.Replace(strings.ToLower(s))
}

// distance counts the insertions, deletions, replacements and swaps of neighbours between a and b.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
