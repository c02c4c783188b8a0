package config

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// A spot is where a shell stands while its line runs.
type spot struct {
	bases []string // where a relative path starts, best first
	lost  string   // why that cannot be told; empty: it can
	ended bool     // the line does not get here, as far as can be told
}

// gone is the same place, not reached.
func (p spot) gone() spot { p.ended = true; return p }

// or is where a shell stands that came either way.
func (p spot) or(q spot) spot {
	switch {
	case p.ended:
		return q
	case q.ended, p.lost != "":
		return p
	case q.lost != "" || slices.Equal(p.bases, q.bases):
		return q
	}
	return spot{lost: "the working directory depends on how the command goes"}
}

// A walk follows one piece of shell text, statement by statement. Each of its methods begins at f.at and returns
// where the shell stands when the statement ended well, and when it did not.
type walk struct {
	*finder
	text  string
	depth int
}

// A function is a shell's, with the text that it stands in.
type function struct {
	text   string
	body   *syntax.Stmt
	called bool
}

// maxCalls bounds how many calls of functions are followed: each may call others, twice.
const maxCalls = 64

func (w walk) list(stmts []*syntax.Stmt) (well, ill spot) {
	well, ill = w.at, w.at.gone()
	for _, s := range stmts {
		w.at = well.or(ill)
		well, ill = w.stmt(s)
	}
	return well, ill
}

// apart walks statements that a shell of their own runs: where that goes, this one does not follow.
func (w walk) apart(stmts []*syntax.Stmt) (well, ill spot) {
	at := w.at
	w.list(stmts)
	w.at = at
	return at, at
}

func (w walk) stmt(s *syntax.Stmt) (well, ill spot) {
	for _, r := range s.Redirs {
		w.substitutions(r)
		if r.Op == syntax.RdrIn {
			w.operand(w.written(r.Word), w.known(r.Word), false)
		}
	}
	at := w.at
	well, ill = w.command(s.Cmd)
	if s.Background || s.Coprocess {
		w.at = at
		return at, at
	}
	if s.Negated {
		well, ill = ill, well
	}
	return well, ill
}

func (w walk) command(c syntax.Command) (well, ill spot) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		w.substitutions(c)
		return w.callExpr(c)
	case *syntax.BinaryCmd:
		return w.binary(c)
	case *syntax.Block:
		return w.list(c.Stmts)
	case *syntax.Subshell:
		return w.apart(c.Stmts)
	case *syntax.CoprocClause:
		return w.apart([]*syntax.Stmt{c.Stmt})
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return w.stmt(c.Stmt)
		}
	case *syntax.IfClause:
		return w.choice(c)
	case *syntax.WhileClause:
		return w.loop(c, slices.Concat(c.Cond, c.Do))
	case *syntax.ForClause:
		w.substitutions(c.Loop)
		return w.loop(c, c.Do)
	case *syntax.CaseClause:
		return w.cases(c)
	case *syntax.FuncDecl:
		w.functions[c.Name.Value] = append(w.functions[c.Name.Value], &function{text: w.text, body: c.Body})
	case nil:
	default:
		w.substitutions(c)
	}
	return w.at, w.at
}

func (w walk) binary(c *syntax.BinaryCmd) (well, ill spot) {
	at := w.at
	well, ill = w.stmt(c.X)
	switch c.Op {
	case syntax.AndStmt:
		w.at = well
		yes, no := w.stmt(c.Y)
		return yes, ill.or(no)
	case syntax.OrStmt:
		w.at = ill
		yes, no := w.stmt(c.Y)
		return well.or(yes), no
	}
	w.at = at
	well, ill = w.stmt(c.Y)
	after := at.or(well.or(ill)) // a shell may run the last command of a pipe itself
	w.at = at
	return after, after
}

func (w walk) choice(c *syntax.IfClause) (well, ill spot) {
	if len(c.Cond) == 0 { // else
		return w.list(c.Then)
	}
	yes, no := w.list(c.Cond)
	w.at = yes
	well, ill = w.list(c.Then)
	if c.Else == nil {
		return well.or(no), ill
	}
	w.at = no
	w1, i1 := w.choice(c.Else)
	return well.or(w1), ill.or(i1)
}

// loop walks a body that may run again from where it ended.
func (w walk) loop(c syntax.Node, body []*syntax.Stmt) (well, ill spot) {
	if w.at.lost == "" && w.moves(c) {
		w.at = spot{lost: "the working directory changes in a loop"}
	}
	at := w.at
	well, ill = w.list(body)
	after := at.or(well.or(ill))
	return after, after
}

func (w walk) cases(c *syntax.CaseClause) (well, ill spot) {
	w.substitutions(c.Word)
	at := w.at
	after, from := at, at
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			w.substitutions(p)
		}
		w.at = from
		yes, no := w.list(item.Stmts)
		after, from = after.or(yes.or(no)), at
		if item.Op != syntax.Break {
			from = at.or(yes.or(no))
		}
	}
	return after, after
}

// moves reports whether a command below n may change the working directory: a cd, or what may be one.
func (w walk) moves(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			name := w.known(call.Args[0])
			found = found || name == "" || cds[name] || movers[name] || w.functions[name] != nil
		}
		return !found
	})
	return found
}

// substitutions walks the commands whose output stands in the words below n.
func (w walk) substitutions(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.apart(n.Stmts)
			return false
		case *syntax.ProcSubst:
			w.apart(n.Stmts)
			return false
		}
		return true
	})
}

func (w walk) written(word *syntax.Word) string {
	return w.text[word.Pos().Offset():word.End().Offset()]
}

func (w walk) callExpr(call *syntax.CallExpr) (well, ill spot) {
	if len(call.Args) == 0 {
		return w.at, w.at
	}
	written, args := make([]string, len(call.Args)), make([]string, len(call.Args))
	for i, word := range call.Args {
		written[i], args[i] = w.written(word), w.known(word)
	}
	if bodies := w.functions[args[0]]; bodies != nil {
		return w.invoke(bodies)
	}
	return w.simple(written, args)
}

// invoke walks a function where it is called. Of several of one name any may be meant.
func (w walk) invoke(bodies []*function) (well, ill spot) {
	at := w.at
	well, ill = at.gone(), at.gone()
	for _, f := range bodies {
		if w.calls++; w.calls > maxCalls {
			lost := spot{lost: "too many functions call one another"}
			return lost, lost
		}
		w.at, f.called = at, true
		yes, no := walk{w.finder, f.text, w.depth}.stmt(f.body)
		well, ill = well.or(yes), ill.or(no)
	}
	return well, ill
}

// uncalled walks the functions that nothing called so far: what is named by a full path is found in them.
func (f *finder) uncalled(depth int) {
	for _, name := range sortedKeys(f.functions) {
		for _, def := range f.functions[name] {
			if def.called {
				continue
			}
			f.at = spot{lost: "where function " + name + " is called cannot be told"}
			walk{f, def.text, depth}.stmt(def.body)
		}
	}
}

// assigned notes the variables that a text sets: what they stand for is known only as it runs.
func (f *finder) assigned(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				f.set[n.Name.Value] = true
			}
		case *syntax.WordIter:
			f.set[n.Name.Value] = true
		case *syntax.CallExpr:
			if len(n.Args) > 0 && setters[n.Args[0].Lit()] {
				for _, arg := range n.Args[1:] {
					f.set[arg.Lit()] = true
				}
			}
		case *syntax.ParamExp:
			if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				f.set[n.Param.Value] = true
			}
		}
		return true
	})
}

// setters are builtins that set the variables they name.
var setters = words(`read unset getopts mapfile readarray printf`)

// follow walks a piece of shell text from f.at, and returns where it ends.
func (f *finder) follow(text string, file *syntax.File, depth int) spot {
	f.assigned(file)
	well, ill := walk{f, text, depth}.list(file.Stmts)
	return well.or(ill)
}

// child walks the line of a shell of its own, which knows none of this one's functions and moves itself alone.
func (f *finder) child(text string, depth int) {
	at, functions := f.at, f.functions
	f.functions = map[string][]*function{}
	f.shell(text, depth)
	f.uncalled(depth)
	f.at, f.functions = at, functions
}
