package doc

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlReader places go-toml's expressions in one tree. It knows just enough of TOML's rules to do that;
// whether the document is valid is for go-toml's decoder to say, which judges it afterwards.
type tomlReader struct {
	doc    *Document
	parser unstable.Parser
	root   *Node
	faults Faults
	large  []*Node // integers that no int64 holds
}

func (d *Document) parseTOML() (*Node, Faults) {
	r := &tomlReader{doc: d, root: &Node{Kind: Table, Pos: Pos{1, 1}}}
	r.parser.Reset(d.source)
	table := r.root
	for r.parser.NextExpression() {
		switch e := r.parser.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = r.header(e)
		case unstable.KeyValue:
			r.keyValue(table, e, 0)
		}
	}
	if err := r.parser.Error(); err != nil {
		return nil, append(r.faults, r.syntax(err))
	}
	if f := r.judge(); f != nil && !r.knows(f) {
		r.faults = append(r.faults, f)
	}
	return r.root, r.faults
}

// judge decodes the document the normal way into a value that is thrown away. An integer that is too large for the
// decoder is judged as if it were 1: who reads it knows its bounds, and says more.
func (r *tomlReader) judge() *Fault {
	source := r.doc.source
	if len(r.large) > 0 {
		source = bytes.Clone(source)
	}
	for _, n := range r.large {
		blank(source[n.start:n.end])
		source[n.start] = '1'
	}
	var e *toml.DecodeError
	err := toml.Unmarshal(source, &map[string]any{})
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		line, column := e.Position()
		hint := tomlLines
		if strings.Contains(e.Error(), "out of range") || strings.Contains(e.Error(), "too large") {
			hint = "write a smaller number"
		}
		return r.doc.FaultAt(Pos{line, column}, strings.TrimPrefix(e.Error(), "toml: "), hint)
	}
	return r.doc.FaultAt(Pos{1, 1}, err.Error(), "")
}

// knows reports whether the judge's fault was found here too, perhaps at a better place.
func (r *tomlReader) knows(f *Fault) bool {
	for _, g := range r.faults {
		if g.Line >= f.Line {
			return true
		}
	}
	return false
}

// tomlLines says how TOML is written, where nothing nearer the mark is known.
const tomlLines = `a line is key = value, [table] or [[list of tables]]; texts stand in quotes`

func (r *tomlReader) syntax(err error) *Fault {
	var e *unstable.ParserError
	if !errors.As(err, &e) {
		return r.doc.FaultAt(Pos{1, 1}, err.Error(), "")
	}
	return r.doc.slipped(tomlSlips(), e.Message, int(r.parser.Range(e.Highlight).Offset))
}

// header opens the table of a [a.b] or [[a.b]] line and returns it, or nil where it stands for something else.
func (r *tomlReader) header(e *unstable.Node) *Node {
	keys := r.keys(e)
	table := r.descend(r.root, keys[:len(keys)-1])
	if table == nil {
		return nil
	}
	last := keys[len(keys)-1]
	old := table.Field(last.Name)
	if e.Kind == unstable.ArrayTable {
		return r.element(table, last, old)
	}
	if old == nil {
		last.Value.explicit = true
		table.add(last)
		return last.Value
	}
	if old.Value.Kind != Table || old.Value.explicit {
		r.twice(last, old)
		return nil
	}
	old.Value.explicit = true
	return old.Value
}

// element adds a table to a list of tables.
func (r *tomlReader) element(table *Node, key Field, old *Field) *Node {
	key.Value.explicit = true
	switch {
	case old == nil:
		list := &Node{Kind: List, Pos: key.Pos, Items: []*Node{key.Value}}
		table.add(Field{key.Name, key.Pos, list})
	case old.Value.Kind == List:
		old.Value.Items = append(old.Value.Items, key.Value)
	default:
		r.twice(key, old)
		return nil
	}
	return key.Value
}

func (r *tomlReader) twice(key Field, old *Field) {
	r.faults = append(r.faults, r.doc.duplicate(key.Name, key.Pos, old.Pos))
}

// descend walks down from table by keys and makes the tables that are not there yet. It returns nil where a
// key stands for something that is no table.
func (r *tomlReader) descend(table *Node, keys []Field) *Node {
	for _, k := range keys {
		old := table.Field(k.Name)
		if old == nil {
			table.add(k)
			table = k.Value
			continue
		}
		next := old.Value
		if next.Kind == List && len(next.Items) > 0 {
			next = next.Items[len(next.Items)-1]
		}
		if next.Kind != Table {
			r.twice(k, old)
			return nil
		}
		table = next
	}
	return table
}

// keys returns the parts of a dotted key, each with an empty table to stand for it.
func (r *tomlReader) keys(e *unstable.Node) []Field {
	var keys []Field
	for it := e.Key(); it.Next(); {
		k := it.Node()
		at := r.doc.pos(int(k.Raw.Offset))
		keys = append(keys, Field{string(k.Data), at, &Node{Kind: Table, Pos: at}})
	}
	return keys
}

// keyValue adds key = value to table, which may be nil, and returns the offset behind it.
func (r *tomlReader) keyValue(table *Node, e *unstable.Node, depth int) int {
	keys := r.keys(e)
	behind := 0
	for it := e.Key(); it.Next(); {
		behind = int(it.Node().Raw.Offset + it.Node().Raw.Length)
	}
	value, end := r.value(e.Value(), r.skip(behind, " \t="), depth)
	if table == nil {
		return end
	}
	if table = r.descend(table, keys[:len(keys)-1]); table == nil {
		return end
	}
	last := keys[len(keys)-1]
	if old := table.Field(last.Name); old != nil {
		r.twice(last, old)
		return end
	}
	last.Value = value
	table.add(last)
	return end
}

var tomlKinds = map[unstable.Kind]Kind{
	unstable.String: String, unstable.Bool: Bool, unstable.Float: Float, unstable.Integer: Int,
	unstable.LocalDate: Date, unstable.LocalTime: Date, unstable.LocalDateTime: Date, unstable.DateTime: Date,
	unstable.Array: List, unstable.InlineTable: Table,
}

// value builds the node of a value that begins at an offset and returns the offset behind it: the parser
// does not say where arrays are.
func (r *tomlReader) value(v *unstable.Node, at, depth int) (*Node, int) {
	n := &Node{Kind: tomlKinds[v.Kind], Pos: r.doc.pos(at), start: at, explicit: true}
	if depth >= MaxDepth {
		r.faults = append(r.faults, r.doc.FaultAt(n.Pos, tooDeep, flatter))
		return n, at
	}
	end := at + 1
	switch v.Kind {
	case unstable.Array:
		for it := v.Children(); it.Next(); {
			var item *Node
			item, end = r.value(it.Node(), r.skip(end, " \t\r\n,#"), depth+1)
			n.Items = append(n.Items, item)
		}
		end = r.skip(end, " \t\r\n,#") + 1
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			end = r.keyValue(n, it.Node(), depth+1)
		}
		end = r.skip(end, " \t\r\n,#") + 1
	default:
		end = at + int(v.Raw.Length)
		n.Text = string(v.Data)
	}
	n.end = min(end, len(r.doc.source))
	if v.Kind == unstable.Integer && n.Text == string(r.doc.source[n.start:n.end]) && overflows(n.Text) {
		r.large = append(r.large, n)
	}
	return n, n.end
}

// decimal is an integer that is well written, however large it is.
var decimal = regexp.MustCompile(`^[+-]?[1-9][0-9]*(_[0-9]+)*$`)

func overflows(number string) bool {
	_, err := strconv.ParseInt(number, 0, 64)
	return errors.Is(err, strconv.ErrRange) && decimal.MatchString(number)
}

// skip returns the first offset from at that holds none of chars; with '#' among them it passes comments.
func (r *tomlReader) skip(at int, chars string) int {
	for at < len(r.doc.source) && strings.IndexByte(chars, r.doc.source[at]) >= 0 {
		if r.doc.source[at] == '#' {
			if n := bytes.IndexByte(r.doc.source[at:], '\n'); n >= 0 {
				at += n
				continue
			}
			return len(r.doc.source)
		}
		at++
	}
	return at
}
