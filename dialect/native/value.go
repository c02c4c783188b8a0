package native

import (
	"fmt"
	"slices"

	"github.com/pawl-hooks/pawl/internal/doc"
)

// read reads one key's value and reports whether it may be used.
func (l *loader) read(n *doc.Node, f field) (ok bool) {
	switch to := f.to.(type) {
	case *string:
		*to, ok = l.text(n, f.name, f)
	case *[]string:
		*to, ok = l.list(n, f)
	case *int64:
		*to, ok = l.Int(n, f.name, f.low, f.high)
	case *bool:
		*to, ok = l.Bool(n, f.name)
	case *Environment:
		*to, ok = l.environment(n, f)
	}
	return ok
}

func (l *loader) text(n *doc.Node, what string, f field) (string, bool) {
	if hint := l.advice(n, f); hint != "" {
		l.Fault(n.Pos, hint, "`%s` cannot be %s", what, doc.Quote(n.Text))
		return "", false
	}
	if f.words != nil {
		return l.OneOf(n, what, f.words...)
	}
	s, ok := l.String(n, what)
	switch {
	case !ok:
	case s == "" && f.low > 0:
		l.Fault(n.Pos, f.name+" is "+f.says, "`%s` is empty", what)
		ok = false
	case f.pattern != nil && !f.pattern.MatchString(s):
		l.Fault(n.Pos, "write "+f.grammar, "`%s` cannot be %s", what, doc.Quote(s))
		ok = false
	case f.high > 0 && int64(len(s)) > f.high && f.pattern != noNUL:
		l.Fault(n.Pos, fmt.Sprintf("write at most %d bytes", f.high), "`%s` is too long: %d bytes", what, len(s))
		ok = false
	}
	return s, ok
}

func (l *loader) list(n *doc.Node, f field) (list []string, ok bool) {
	if n.Kind == doc.String {
		l.Wrong(n, f.name, doc.List.String(), l.asList(n, f))
		return nil, false
	}
	items, ok := l.List(n, f.name)
	if !ok {
		return nil, false
	}
	if len(items) < int(f.low) {
		l.Fault(n.Pos, f.name+" is "+f.says, "`%s` is empty", f.name)
		return nil, false
	}
	if f.high > 0 && len(items) > int(f.high) {
		l.Fault(items[f.high].Pos, fmt.Sprintf("write at most %d", f.high), "`%s` has %d words", f.name, len(items))
		items, ok = items[:f.high], false
	}
	each := field{words: f.words, pattern: f.pattern, grammar: f.grammar}
	for i, item := range items {
		s, good := l.text(item, fmt.Sprintf("%s[%d]", f.name, i), each)
		if good && f.unique && slices.Contains(list, s) {
			l.Fault(item.Pos, "write each once", "`%s` has %s twice", f.name, doc.Quote(s))
			good = false
		}
		list, ok = append(list, s), ok && good
	}
	return list, ok
}

func (l *loader) environment(n *doc.Node, f field) (list Environment, ok bool) {
	if !l.table(n, f.name) {
		return nil, false
	}
	ok = true
	for _, v := range n.Fields {
		what := f.name + "." + doc.Quote(v.Name)
		switch {
		case !f.pattern.MatchString(v.Name):
			l.Fault(v.Pos, "a variable's name has "+f.grammar, "`%s`: %s cannot be a variable's name", f.name, doc.Quote(v.Name))
			ok = false
		case v.Name == depthVariable:
			l.Fault(v.Pos, "leave it out", "`%s`: %s is pawl's own, to see a hook that fires hooks", f.name, v.Name)
			ok = false
		default:
			what = f.name + "." + v.Name
		}
		s, good := l.text(v.Value, what, field{pattern: noNUL, grammar: noNULWords})
		list, ok = append(list, v.Name+"="+s), ok && good
	}
	return list, ok
}
