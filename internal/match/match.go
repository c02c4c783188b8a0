// Package match finds, among many patterns over names, the few that a name could satisfy.
package match

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Key is a condition that a name must meet to match a pattern. The zero Key is met by every name.
type Key struct {
	Exact    []string // the name is one of these
	Prefix   string   // else the name begins with this
	Contains string   // else the name holds this
}

// An Index maps names to the patterns whose Key they meet. It is built by Add and then only read, by any
// number of goroutines. The zero Index is empty.
type Index struct {
	exact    map[string][]int32
	prefix   literals
	contains literals
	rest     []int32
}

// literals are texts that some pattern requires, with the lengths they come in, ascending.
type literals struct {
	ids     map[string][]int32
	lengths []int
}

// Add puts pattern id under its key. Ids must be added in ascending order.
func (x *Index) Add(id int32, k Key) {
	switch {
	case k.Exact != nil:
		for _, name := range k.Exact {
			x.exact = put(x.exact, name, id)
		}
	case k.Prefix != "":
		x.prefix.add(k.Prefix, id)
	case k.Contains != "":
		x.contains.add(k.Contains, id)
	default:
		x.rest = append(x.rest, id)
	}
}

func put(m map[string][]int32, key string, id int32) map[string][]int32 {
	if m == nil {
		m = map[string][]int32{}
	}
	m[key] = append(m[key], id)
	return m
}

func (l *literals) add(text string, id int32) {
	l.ids = put(l.ids, text, id)
	if i, found := slices.BinarySearch(l.lengths, len(text)); !found {
		l.lengths = slices.Insert(l.lengths, i, len(text))
	}
}

// Candidates appends to ids every pattern whose key name meets, in no order, some perhaps twice.
func (x *Index) Candidates(ids []int32, name string) []int32 {
	ids = append(ids, x.exact[name]...)
	for _, n := range x.prefix.lengths {
		if n > len(name) {
			break
		}
		ids = append(ids, x.prefix.ids[name[:n]]...)
	}
	return append(x.contains.within(ids, name), x.rest...)
}

// within looks up every piece of name that is as long as some literal, or, where that is more work, looks
// for each literal.
func (l *literals) within(ids []int32, name string) []int32 {
	if len(l.lengths)*len(name) > len(l.ids) {
		for text, found := range l.ids {
			if strings.Contains(name, text) {
				ids = append(ids, found...)
			}
		}
		return ids
	}
	for _, n := range l.lengths {
		for at := 0; at+n <= len(name); at++ {
			ids = append(ids, l.ids[name[at:at+n]]...)
		}
	}
	return ids
}

// KeyOf returns the condition that every name matching the regular expression meets.
func KeyOf(expr string) Key {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return Key{}
	}
	re = re.Simplify()
	if re.Op == syntax.OpConcat && len(re.Sub) > 1 && re.Sub[0].Op == syntax.OpBeginText && plain(re.Sub[1]) {
		return Key{Prefix: string(re.Sub[1].Rune)}
	}
	return Key{Contains: required(re)}
}

// plain reports a literal that is found as it is written. U+FFFD is matched by any byte that is no UTF-8, too.
func plain(re *syntax.Regexp) bool {
	return re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0 && !slices.Contains(re.Rune, utf8.RuneError)
}

// required returns the longest literal that every match of re contains.
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if plain(re) {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		best := ""
		for _, sub := range re.Sub {
			if lit := required(sub); len(lit) > len(best) {
				best = lit
			}
		}
		return best
	}
	return ""
}

// CanMatch reports whether some text made of the allowed runes alone could match the regular expression.
// It never says no to an expression that could.
func CanMatch(expr string, allowed func(rune) bool) bool {
	re, err := syntax.Parse(expr, syntax.Perl)
	return err != nil || possible(re, allowed)
}

func possible(re *syntax.Regexp, allowed func(rune) bool) bool {
	ok := func(sub *syntax.Regexp) bool { return possible(sub, allowed) }
	switch re.Op {
	case syntax.OpNoMatch:
		return false
	case syntax.OpLiteral:
		return !slices.ContainsFunc(re.Rune, func(r rune) bool { return !allowedFold(r, re.Flags, allowed) })
	case syntax.OpCharClass:
		return classMeets(re.Rune, allowed)
	case syntax.OpCapture, syntax.OpPlus:
		return ok(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min == 0 || ok(re.Sub[0])
	case syntax.OpConcat:
		return anchorsFit(re.Sub) && !slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return !ok(s) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, ok)
	}
	return true
}

func allowedFold(r rune, flags syntax.Flags, allowed func(rune) bool) bool {
	if allowed(r) {
		return true
	}
	if flags&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if allowed(f) {
				return true
			}
		}
	}
	return false
}

// classMeets looks at the low runes one by one, where names live; a class that reaches beyond them is
// taken to fit.
func classMeets(ranges []rune, allowed func(rune) bool) bool {
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if r >= utf8.RuneSelf || allowed(r) {
				return true
			}
		}
	}
	return false
}

// anchorsFit reports false where text must stand before ^ or after $.
func anchorsFit(subs []*syntax.Regexp) bool {
	before, end := false, false
	for _, s := range subs {
		switch {
		case s.Op == syntax.OpBeginText && before, end && consumes(s):
			return false
		case s.Op == syntax.OpEndText:
			end = true
		}
		before = before || consumes(s)
	}
	return true
}

// consumes reports whether every match of re is at least one rune long.
func consumes(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpCapture, syntax.OpPlus:
		return consumes(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min > 0 && consumes(re.Sub[0])
	case syntax.OpConcat:
		return slices.ContainsFunc(re.Sub, consumes)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return !consumes(s) })
	}
	return false
}
