package doc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-hooks/pawl/internal/doc"
)

// show writes a tree on one line, each value with its place.
func show(n *doc.Node) string {
	var parts []string
	switch n.Kind {
	case doc.Table:
		for _, f := range n.Fields {
			parts = append(parts, fmt.Sprintf("%s@%s=%s", f.Name, f.Pos, show(f.Value)))
		}
		return fmt.Sprintf("{%s}@%s", strings.Join(parts, " "), n.Pos)
	case doc.List:
		for _, i := range n.Items {
			parts = append(parts, show(i))
		}
		return fmt.Sprintf("[%s]@%s", strings.Join(parts, " "), n.Pos)
	case doc.String:
		return fmt.Sprintf("%q@%s", n.Text, n.Pos)
	case doc.Word:
		return fmt.Sprintf(".%s@%s", n.Text, n.Pos)
	}
	return fmt.Sprintf("%s@%s", n.Text, n.Pos)
}

func TestParse(t *testing.T) {
	tests := []struct {
		name   string
		format doc.Format
		source string
		want   string
	}{
		{"values know their places", doc.JSON, "{\"a\": [1, -2.5e3,\n true],\n\t\"é\":null, \"b\":\"x\\u00e9\\n\"}",
			`{a@1:2=[1@1:8 -2.5e3@1:11 true@2:2]@1:7 é@3:2=null@3:7 b@3:13="xé\n"@3:17}@1:1`},
		{"numbers stay as written", doc.JSON, `[9007199254740993, 1.0, 1e400, -0]`, `[9007199254740993@1:2 1.0@1:20 1e400@1:25 -0@1:32]@1:1`}, // O09
		{"comments and trailing commas go", doc.JSONC, "{\"a\": [1, /* , */ 2,\n],} // end", `{a@1:2=[1@1:8 2@1:19]@1:7}@1:1`},
		{"comment signs inside a string stay", doc.JSONC, `{"c":"echo \"// not a comment\" , ]",}`, `{c@1:2="echo \"// not a comment\" , ]"@1:6}@1:1`}, // P02
		{"a comment alone in a table", doc.JSONC, "{\"hooks\": {\n // nothing\n}}", `{hooks@1:2={}@1:11}@1:1`},                                         // F08

		{"tables, dotted keys and arrays of tables", doc.TOML, "a.\"b c\" = [ 1, [], # x]\n {x = \"y\", z=[2]}, true ]\n[[h.k]]\nd = 1979-05-27\n[[h.k]]\n[h.k.sub]\ne={}\n",
			`{a@1:1={b c@1:3=[1@1:13 []@1:16 {x@2:3="y"@2:7 z@2:12=[2@2:15]@2:14}@2:2 true@2:20]@1:11}@1:1 h@3:3={k@3:5=[{d@4:1=1979-05-27@4:5}@3:5 {sub@6:6={e@7:1={}@7:3}@6:6}@5:5]@3:5}@3:3}@1:1`},
		{"an empty file", doc.TOML, "# nothing\n", `{}@1:1`},
		{"numbers that no bits hold stay as written", doc.TOML, "a = [-99999999999999999999, 99_999_999_999_999_999_999]\nb=1", `{a@1:1=[-99999999999999999999@1:6 99_999_999_999_999_999_999@1:29]@1:5 b@2:1=1@2:3}@1:1`},
		{"a table opened after its child", doc.TOML, "[a.b]\nx=1\n[a]\ny=2", `{a@1:2={b@1:4={x@2:1=1@2:3}@1:4 y@4:1=2@4:3}@1:2}@1:1`},
		{"literal and multi-line strings", doc.TOML, "a='c:\\x'\nb=\"\"\"\nx\\\n  y\"\"\"", `{a@1:1="c:\\x"@1:3 b@2:1="xy"@2:3}@1:1`},

		{"a struct of everything", doc.ZON, ".{\n  .a = \"x\\n\\u{e9}\\x41\", // c\n  .@\"b c\" = .{ 1, -0x1F, 1_000, 1.5e3, 'é', nan },\n  .c = .{}, .d = .refuse, .e = null, .f = true,\n}",
			`{a@2:3="x\néA"@2:8 b c@3:3=[1@3:16 -0x1F@3:19 1_000@3:26 1.5e3@3:33 233@3:40 nan@3:46]@3:13 c@4:3={}@4:8 d@4:13=.refuse@4:18 e@4:27=null@4:32 f@4:38=true@4:43}@1:1`},
		{"a string of lines", doc.ZON, ".{ .a =\n    \\\\one \"1\"\n    // between\n    \\\\two \\n\n, .b = 1 }", `{a@1:4="one \"1\"\ntwo \\n"@2:5 b@5:3=1@5:8}@1:1`},
		{"a word of any text", doc.ZON, `.@"tool.before"`, `.tool.before@1:1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, faults := doc.Parse("f", []byte(tt.source), tt.format)
			require.NoError(t, faults.Err())
			require.Equal(t, tt.want, show(d.Root))
		})
	}
}

func TestParseFaults(t *testing.T) {
	big := strings.Repeat(" ", doc.MaxSize)
	tests := []struct {
		name   string
		format doc.Format
		source string
		want   []string // prefix of each fault, in order
	}{
		{"a byte order mark", doc.JSON, "\xEF\xBB\xBF{}", []string{"f:1:1: the file begins with a byte order mark"}},
		{"UTF-16", doc.JSON, "\xFF\xFE{\x00", []string{"f:1:1: the file is UTF-16"}},
		{"invalid UTF-8", doc.TOML, "a = 1\nb = \"\xff\"", []string{"f:2:6: byte 0xFF is not valid UTF-8"}},
		{"half a surrogate", doc.JSON, `{"a":"\ud800"}`, []string{"f:1:7: "}},
		{"a NUL", doc.ZON, ".{ \x00 }", []string{"f:1:4: a NUL byte"}},
		{"a file over the limit", doc.JSON, "{}" + big, []string{"f:1:1: the file is larger than 1048576 bytes (1048578)"}},
		{"an unknown format", "", "{}", []string{"f:1:1: the format of this file is not known"}},

		{"an empty file", doc.JSON, " \n", []string{"f:1:1: the file is empty"}},
		{"a trailing comma", doc.JSON, "{\"a\": [1,\n ]}", []string{"f:1:9: a comma before the closing bracket"}},
		{"a trailing comma in an object", doc.JSON, "{\"a\": 1,\n }", []string{"f:1:8: a comma before the closing bracket"}},
		{"a comment", doc.JSON, "{\n// x\n}", []string{"f:2:1: a comment"}},
		{"every duplicate key", doc.JSON, "{\"a\":1,\"\\u0061\":2,\n\"b\":{\"c\":1,\"c\":2}}", []string{
			`f:1:8: duplicate key "a" (the first is at line 1, column 2; keep one)`, `f:2:12: duplicate key "c" (the first`}},
		{"keys that differ in case are two", doc.JSON, "{\"a\":1,\"A\":2} x", []string{"f:1:15: something follows the end"}},
		{"a second document", doc.JSON, "{} {}", []string{"f:1:4: something follows the end"}},
		{"an open bracket", doc.JSON, "{\"a\": [1", []string{"f:1:7: the file ends inside of this list (close it with ])"}},
		{"a comment at the end", doc.JSON, "{} // x", []string{"f:1:4: a comment"}},
		{"a bare key", doc.JSON, "{a: 1}", []string{"f:1:2: the key `a` is not in quotes (write \"a\")"}},
		{"a bare text", doc.TOML, "a = on", []string{"f:1:5: the text `on` is not in quotes (write \"on\")"}},
		{"a field without its dot", doc.ZON, ".{ name = \"x\" }", []string{"f:1:4: expected a value, found \"name\" (a field begins with a dot: .name = …)"}},
		{"single quotes", doc.JSON, "{'a': 1}", []string{"f:1:2: "}},
		{"a missing comma", doc.JSON, "{\"a\": 1\n \"b\": 2}", []string{"f:2:2: "}},
		{"deeper than the parser goes", doc.TOML, "a=" + strings.Repeat("[", 200000), []string{"f:1:10003: nested deeper than 100 (write it flatter)"}},
		{"three brackets", doc.TOML, "[[[a]]]", []string{"f:1:3: a bracket too many (write [[hooks]], with two brackets on either side)"}},
		{"deep nesting", doc.JSON, strings.Repeat("[", 200) + strings.Repeat("]", 200), []string{"f:1:101: nested deeper than 100 (write it flatter)"}},
		{"a comma without a value", doc.JSONC, "[,]", []string{"f:1:2: "}},
		{"two commas", doc.JSONC, "[1,,]", []string{"f:1:4: two commas"}},
		{"an open comment", doc.JSONC, "{} /* x", []string{"f:1:4: "}},

		{"a key twice", doc.TOML, "a=1\na=2\nb=1", []string{`f:2:1: duplicate key "a" (the first is at line 1, column 1; keep one)`}},
		{"a key twice inside an inline table", doc.TOML, "x = {a=1, a=2}", []string{`f:1:11: duplicate key "a"`}},
		{"a list twice", doc.TOML, "[hooks]\nStop = [1]\nStop = [2]", []string{`f:3:1: duplicate key "Stop"`}}, // P08
		{"a table twice", doc.TOML, "[a]\nx=1\n[a]\n", []string{`f:3:2: duplicate key "a"`}},
		{"a list made a table", doc.TOML, "[[a]]\n[a]\n", []string{`f:2:2: duplicate key "a"`}},
		{"a table of a dotted key opened", doc.TOML, "a.b=1\n[a]\nc=1", []string{`f:2:2: `}},
		{"an inline table extended", doc.TOML, "a={}\n[a.b]\n", []string{`f:2:2: `}},
		{"a fixed list extended", doc.TOML, "a=[]\n[[a]]\n", []string{`f:2:3: `}},
		{"a badly written number over 64 bits", doc.TOML, "a=9__223372036854775808", []string{`f:1:`}},
		{"a hexadecimal number over 64 bits", doc.TOML, "a=0x99999999999999999999", []string{`f:1:3: hexadecimal number is too large to fit in a 64-bit signed integer (write a smaller number)`}},
		{"a decimal number over 64 bits", doc.TOML, "a=1e999", []string{`f:1:3: `}},
		{"a fault behind a number over 64 bits", doc.TOML, "a=99999999999999999999\nb=1979-99-99", []string{`f:2:8: impossible date`}},
		{"an open string", doc.TOML, "a = \"x\ny\"", []string{"f:1:5: the string is not closed on its line"}},
		{"no value", doc.TOML, "a =", []string{"f:1:3: expected value"}},
		{"deep nesting in TOML", doc.TOML, "a=" + strings.Repeat("[", 200) + strings.Repeat("]", 200), []string{"f:1:103: nested deeper"}},

		{"an empty ZON file", doc.ZON, "// nothing", []string{"f:1:1: the file is empty"}},
		{"a field twice", doc.ZON, ".{ .a = 1, .a = 2, }", []string{`f:1:12: duplicate key "a"`}},
		{"named beside unnamed", doc.ZON, ".{ .a = 1, 2 }", []string{"f:1:12: named and unnamed elements"}},
		{"JSON braces", doc.ZON, "{ .a = 1 }", []string{"f:1:1: expected a value, found \"{\" (write .{ with its dot)"}},
		{"an unknown escape", doc.ZON, `"\q"`, []string{`f:1:2: unknown escape "\\q"`}},
		{"a byte that is no character", doc.ZON, `"\xff"`, []string{`f:1:2: the escape \xff is not a character`}},
		{"a missing comma in ZON", doc.ZON, ".{ 1 2 }", []string{`f:1:6: expected a comma or }, found "2"`}},
		{"a leading zero", doc.ZON, "010", []string{"f:1:1: expected a value"}},
		{"an open literal", doc.ZON, ".{ .a = .{\n 1,", []string{"f:1:9: the file ends inside this literal"}},
		{"a line end in a string", doc.ZON, "\"a\nb\"", []string{"f:1:1: the string is not closed on its line"}},
		{"a second value", doc.ZON, "1 2", []string{"f:1:3: something follows"}},
		{"deep nesting in ZON", doc.ZON, strings.Repeat(".{", 200), []string{"f:1:201: nested deeper"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, faults := doc.Parse("f", []byte(tt.source), tt.format)
			require.Nil(t, d)
			require.Len(t, faults, len(tt.want), "%v", faults)
			for i, want := range tt.want {
				require.True(t, strings.HasPrefix(faults[i].Error(), want), "%s", faults[i])
			}
		})
	}
}

func TestRawIsWhatWasWritten(t *testing.T) {
	d, faults := doc.Parse("f", []byte("{\"a\": {\"n\": 1.0, /*c*/ \"l\": [1,]}}"), doc.JSONC)
	require.Empty(t, faults)
	raw := d.Raw(d.Root.Get("a"))
	require.JSONEq(t, `{"n":1.0,"l":[1]}`, string(raw))
	require.Contains(t, string(raw), "1.0")
}

func TestCaretPointsAtTheColumn(t *testing.T) {
	_, faults := doc.Parse("hooks.toml", []byte("x = 1\n\t\"é\" = \"ü\" y\n"), doc.TOML)
	require.Len(t, faults, 1)
	lines := strings.Split(faults[0].Caret(), "\n")
	require.Equal(t, "     \"é\" = \"ü\" y", lines[1])
	require.Equal(t, strings.Index(strings.ReplaceAll(strings.ReplaceAll(lines[1], "é", "e"), "ü", "u"), "y"), strings.Index(lines[2], "^"))

	require.Equal(t, "m\n    a\ufffdb\n     ^\n    hint: h\n", doc.Caret("m", "a\x1bb", 2, "h"))
	require.Equal(t, "m\n", doc.Caret("m", "", 0, ""))
	long := doc.Caret("m", strings.Repeat("x", 500)+"HERE", 501, "")
	require.Contains(t, long, "HERE")
	require.Less(t, len(long), 200)
}

func TestReaderCollectsEveryFault(t *testing.T) {
	d, faults := doc.Parse("f", []byte(`{"nme":"x","on":"tool.befor","ms":99999999999999999999,"run":["a",1],"b":"yes","deep":[]}`), doc.JSON)
	require.Empty(t, faults)
	r := doc.NewReader(d)
	require.True(t, r.Table(d.Root, "a hook", "name", "on", "ms", "run", "b", "deep"))
	r.Require(d.Root, "name")
	_, ok := r.OneOf(d.Root.Get("on"), "on", "tool.before", "tool.after")
	require.False(t, ok)
	_, ok = r.Int(d.Root.Get("ms"), "ms", 1, 600000)
	require.False(t, ok)
	list, ok := r.Strings(d.Root.Get("run"), "run")
	require.False(t, ok)
	require.Nil(t, list)
	_, ok = r.Bool(d.Root.Get("b"), "b")
	require.False(t, ok)
	require.False(t, r.Table(d.Root.Get("deep"), "deep"))
	_, ok = r.String(d.Root.Get("absent"), "absent")
	require.False(t, ok)

	var got []string
	for _, f := range r.Faults() {
		got = append(got, f.Error())
	}
	require.Equal(t, []string{
		"f:1:1: `name` is missing",
		"f:1:2: unknown key \"nme\" (did you mean `name`?)",
		"f:1:17: unknown `on` \"tool.befor\" (did you mean `tool.before`?)",
		"f:1:35: `ms` is out of range: 99999999999999999999 (write a number from 1 to 600000)",
		"f:1:67: `run[1]`: expected a string, found the integer 1 (write one text, in quotes)",
		"f:1:74: `b`: expected true or false, found the string \"yes\" (write true or false, without quotes)",
		"f:1:87: `deep`: expected a table, found an empty list (write keys, each with a value)",
	}, got)
}

func TestNearest(t *testing.T) {
	keys := []string{"name", "on", "timeout_ms", "tool", "tool.before", "tool.after"}
	for word, want := range map[string]string{
		"timeoutMs": "timeout_ms", "timeout": "timeout_ms", "tool.befor": "tool.before", "ToolBefore": "tool.before",
		"toool": "tool", "nmae": "name", "xyzzy": "", "matcher": "",
	} {
		require.Equal(t, want, doc.Nearest(word, keys...), word)
	}
}

func TestReadFile(t *testing.T) {
	fsys := fstest.MapFS{
		"ok.toml":  {Data: []byte("a=1")},
		"big.json": {Data: make([]byte, 2*doc.MaxSize)},
		"dir/x":    {Data: nil},
	}
	data, f := doc.ReadFile(fsys, "ok.toml", "/shown/ok.toml")
	require.Nil(t, f)
	require.Equal(t, "a=1", string(data))
	for name, want := range map[string]string{
		"big.json": "S: the file is larger than 1048576 bytes",
		"dir":      "S: cannot read the file: it is a directory (name a file in it)",
		"none":     "S: cannot read the file: file does not exist",
	} {
		_, f := doc.ReadFile(fsys, name, "S")
		require.NotNil(t, f, name)
		require.Contains(t, f.Error(), want)
	}
	dir := t.TempDir()
	if os.Getuid() == 0 {
		return // root reads every file
	}
	require.NoError(t, os.WriteFile(dir+"/secret", nil, 0))
	_, f = doc.ReadFile(os.DirFS(dir), "secret", "S")
	require.Contains(t, f.Error(), "permission denied")
}

func TestFormatOf(t *testing.T) {
	require.Equal(t, doc.ZON, doc.FormatOf("a/chock.ZON"))
	require.Equal(t, doc.TOML, doc.FormatOf("hooks.toml"))
	require.Equal(t, doc.JSON, doc.FormatOf(".json"))
	require.Equal(t, doc.Format(""), doc.FormatOf("hooks"))
}

func fuzz(f *testing.F, format doc.Format, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, faults := doc.Parse("f", data, format)
		require.NotEqual(t, d == nil, len(faults) == 0, "either a document or faults")
		for _, fault := range faults {
			require.Positive(t, fault.Line)
			require.Positive(t, fault.Column)
			require.NotEmpty(t, fault.Message)
			fault.Caret()
		}
		if d == nil {
			return
		}
		walk(t, d, d.Root)
		judge(t, d, data)
	})
}

// walk asks that every value stands where it says it does.
func walk(t *testing.T, d *doc.Document, n *doc.Node) {
	require.Positive(t, n.Pos.Line)
	require.Positive(t, n.Pos.Column)
	n.Describe()
	raw := string(d.Raw(n))
	switch n.Kind {
	case doc.Int, doc.Float, doc.Bool, doc.Null, doc.Date:
		if !strings.HasPrefix(raw, "'") { // a character of ZON
			require.Equal(t, n.Text, raw)
		}
	case doc.String:
		require.Contains(t, "\"'\\", raw[:1])
	case doc.Word:
		require.Equal(t, ".", raw[:1])
	default:
		if raw != "" { // a table of TOML may be in several places
			require.Contains(t, "[]{}.{", raw[:1])
			require.Contains(t, "]}", raw[len(raw)-1:])
		}
	}
	for _, i := range n.Items {
		walk(t, d, i)
	}
	seen := map[string]bool{}
	for _, f := range n.Fields {
		require.False(t, seen[f.Name], "%q twice", f.Name)
		seen[f.Name] = true
		require.Same(t, f.Value, n.Get(f.Name))
		walk(t, d, f.Value)
	}
}

// judge asks another decoder of the format whether the tree is what was written.
func judge(t *testing.T, d *doc.Document, data []byte) {
	var want any
	switch d.Format {
	case doc.TOML:
		m := map[string]any{}
		require.NoError(t, toml.Unmarshal(data, &m))
		want = m
	case doc.JSON, doc.JSONC:
		dec := json.NewDecoder(bytes.NewReader(d.Raw(d.Root)))
		dec.UseNumber()
		require.NoError(t, dec.Decode(&want))
	default:
		return
	}
	require.Equal(t, plain(want), value(d.Root))
}

// value is a tree as plain Go values, and plain makes another decoder's values comparable to it.
func value(n *doc.Node) any {
	switch n.Kind {
	case doc.Table:
		m := map[string]any{}
		for _, f := range n.Fields {
			m[f.Name] = value(f.Value)
		}
		return m
	case doc.List:
		l := []any{}
		for _, i := range n.Items {
			l = append(l, value(i))
		}
		return l
	case doc.Int:
		if i, ok := n.Int(); ok {
			return i
		}
		return n.Text
	case doc.Bool:
		return n.Bool()
	case doc.Float, doc.Date:
		return n.Kind.String()
	case doc.Null:
		return nil
	}
	return n.Text
}

func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
		return v
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
		return v
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			return doc.Float.String()
		}
		if i, err := v.Int64(); err == nil {
			return i
		}
		return string(v)
	case float64:
		return doc.Float.String()
	case string, int64, bool, nil:
		return v
	}
	return doc.Date.String()
}

func FuzzJSON(f *testing.F) {
	fuzz(f, doc.JSON, `{"a":[1,{"b":null}],"c":"\u00e9"}`, `[1,]`, `{"a":1,"a":2}`, `"`, `{"a"`)
}

func FuzzJSONC(f *testing.F) {
	fuzz(f, doc.JSONC, "{\"a\":[1,],/* x */} // y", `[,]`, `0  ,`, `/*`, `"\`, `{"a":1,,}`)
}

func FuzzTOML(f *testing.F) {
	fuzz(f, doc.TOML, "a.b = [1, {x='y'}]\n[[h]]\nd=1979-05-27\n[h.x]\n", "[a]\n[a]", "a={b=1,b=2}", "a=[[],[#\n]]", "\"\"=1\n'a'.b=2")
}

func FuzzZON(f *testing.F) {
	fuzz(f, doc.ZON, ".{ .a = .{1, 'x', \"s\\u{41}\"}, .@\"b\" = .c, // y\n }", ".{", "\\\\a\n\\\\b", ".{ .a = 1, .a = 2 }", "-0x1p-3", ".{{}}")
}

func TestParseUpToTakesAnotherLimit(t *testing.T) {
	big := []byte("{}" + strings.Repeat(" ", doc.MaxSize))
	_, faults := doc.ParseUpTo(len(big), "f", big, doc.JSON)
	require.NoError(t, faults.Err())
	_, faults = doc.ParseUpTo(len(big)-1, "f", big, doc.JSON)
	require.EqualError(t, faults.Err(), "f:1:1: the file is larger than 1048577 bytes (1048578)")
}

func TestTreesAreWhatOtherDecodersRead(t *testing.T) {
	for format, sources := range map[doc.Format][]string{
		doc.TOML: {
			"a.b.c = 1\na.b.d = 2\na.e = {f.g = 3, f.h = [1, [2, [], [[3]]], {x = {}}]}\n",
			"[a]\nx = 1\n[a.b]\ny = 2\n[[a.c]]\nz = 1\n[[a.c]]\nz = 2\n[a.c.d]\nw = 3\n[[a.c.e]]\nv = 4\n[[a.c.e]]\n",
			"a = [ # one ]\n  1, # two\n  [ \"]\", '#' ], # three\n]\nb = \"#\"\n",
			"a = \"\"\"\nx\"\"y\"\"\"\nb = '''\nz'''\nc = +1_000\nd = 0xDEAD_beef\ne = 0o17\nf = 0b11\ng = -0\n",
			"\"a.b\" = 1\n'c d' = 2\n\"\\u00e9\".x = 3\n\"\" = 4\n",
			"a = 1979-05-27T07:32:00Z\nb = 07:32:00\nc = [1979-05-27, inf, -nan, 1e3]\r\nd = true\r\n",
			"a = [{b = 1}, {b = 2, c = [{}]}]\nd = {e = [\n1,\n2,\n], f = 3}\n",
		},
		doc.JSON:  {`{"a":[1,{"b":null},[]],"":{"c":"\u00e9\n"},"d":-1.5e3,"e":[true,false]}`, ` [ ] `, `"x"`, `-0`},
		doc.JSONC: {"/*a*/{\"a\":/*b*/[1,/*c*/],// d\n}\n// e", `{"//":"/*","\\":"\"//",}`},
	} {
		for _, s := range sources {
			d, faults := doc.Parse("f", []byte(s), format)
			require.NoError(t, faults.Err(), s)
			walk(t, d, d.Root)
			judge(t, d, []byte(s))
		}
	}
}

// zon writes a value as ZON, with what the grammar lets stand between its parts.
func zon(t *rapid.T, v any) string {
	gap := rapid.SampledFrom([]string{"", " ", "\n", "// c }\n", "\t"}).Draw(t, "gap")
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, gap+".@"+strconv.Quote(k)+gap+"="+gap+zon(t, v[k])+gap)
		}
		return ".{" + strings.Join(parts, ",") + rapid.SampledFrom([]string{"", ","}).Draw(t, "comma") + gap + "}"
	case []any:
		var parts []string
		for _, i := range v {
			parts = append(parts, gap+zon(t, i)+gap)
		}
		return ".{" + strings.Join(parts, ",") + rapid.SampledFrom([]string{"", ","}).Draw(t, "comma") + gap + "}"
	case string:
		var b strings.Builder
		for _, r := range v {
			if r < ' ' || r == '"' || r == '\\' || r == 0x7f || r > 0x7e {
				fmt.Fprintf(&b, "\\u{%x}", r)
			} else {
				b.WriteRune(r)
			}
		}
		return `"` + b.String() + `"`
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

func TestWhatIsWrittenInZONIsRead(t *testing.T) {
	leaf := rapid.OneOf(rapid.Int64().AsAny(), rapid.String().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil))
	list := rapid.Map(rapid.SliceOfN(leaf, 1, 4), func(l []any) any { return l })
	table := rapid.Map(rapid.MapOfN(rapid.StringMatching(`[a-z .]{1,5}`), rapid.OneOf(leaf, list), 1, 20), func(m map[string]any) any { return m })
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(leaf, list, table).Draw(t, "value")
		s := zon(t, v)
		d, faults := doc.Parse("f", []byte(s), doc.ZON)
		require.NoError(t, faults.Err(), s)
		require.Equal(t, v, value(d.Root), s)
	})
}

func TestALargeTableKnowsItsKeys(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "k%d = %d\n", i, i)
	}
	d, faults := doc.Parse("f", []byte(b.String()), doc.TOML)
	require.NoError(t, faults.Err())
	for i := range 100 {
		v, ok := d.Root.Get(fmt.Sprint("k", i)).Int()
		require.True(t, ok)
		require.Equal(t, int64(i), v)
	}
	require.Nil(t, d.Root.Get("k100"))
	_, faults = doc.Parse("f", []byte(b.String()+"k50 = 1\n"), doc.TOML)
	require.EqualError(t, faults.Err(), `f:101:1: duplicate key "k50" (the first is at line 51, column 1; keep one)`)
}
