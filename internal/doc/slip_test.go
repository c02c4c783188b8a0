package doc_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/internal/doc"
)

// What people write by habit of another format, or by a slip, is told at its place with what to write instead.
func TestASlipSaysWhatToWriteInstead(t *testing.T) {
	for _, c := range []struct {
		format       doc.Format
		source, want string
	}{

		{doc.JSON, `{"a": False}`, "1:7: the word `False` (write false)"},
		{doc.JSON, `{"a": NaN}`, "1:7: the word `NaN` (leave the key out)"},
		{doc.JSON, `{"a": None}`, "1:7: the word `None` (leave the key out)"},
		{doc.JSON, `{"a": True}`, "1:7: the word `True` (write true)"},
		{doc.JSON, `{"hooks" => []}`, "1:10: `=>` behind a key (write a colon)"},
		{doc.JSON, "{\"a\": `x`}", "1:7: the quote ` (write keys and texts in double quotes)"},
		{doc.JSON, `{"run": ["C:\dir"]}`, "1:13: `\\d` in a string (a backslash is written \\\\)"},
		{doc.JSON, `{"run": ["\x41"]}`, "1:11: `\\x` in a string (a backslash is written \\\\)"},
		{doc.JSON, `{"run": [/bin/sh]}`, "1:10: the text `/bin/sh` is not in quotes (write \"/bin/sh\")"},
		{doc.JSON, `{"a": 1: "b": 2}`, "1:8: `:` where a comma belongs (write a comma)"},
		{doc.JSON, `{"hooks" []}`, "1:10: there is no colon behind the key (write a colon between a key and its value)"},
		{doc.JSON, `{"a", 1}`, "1:5: there is no colon behind the key (write a colon between a key and its value)"},
		{doc.JSON, "{\"a\": 1, // c\n\"b\":2}", "1:10: a comment (JSON has no comments; remove it, or write the file in TOML)"},
		{doc.JSON, "{\"a\": 1 // c\n}", "1:9: a comment (JSON has no comments; remove it, or write the file in TOML)"},
		{doc.JSON, `{"a": 1, /* c */ "b": 2}`, "1:10: a comment (JSON has no comments; remove it, or write the file in TOML)"},
		{doc.JSON, "{\n# c\n\"hooks\": []}", "2:1: a comment (JSON has no comments; remove it, or write the file in TOML)"},
		{doc.JSON, "{\n// c\n\"hooks\": []}", "2:1: a comment (JSON has no comments; remove it, or write the file in TOML)"},
		{doc.JSON, "{\"a\": \"b\x01\"}", `1:9: a control character in a string (write \u and its four hexadecimal digits)`},
		{doc.JSON, `{"timeout_ms": .5}`, "1:16: the number `.5` (write it in decimal, without a plus sign, leading zeros and separators)"},
		{doc.JSON, `{"a": 1,, "b": 2}`, "1:9: two commas (remove one)"},
		{doc.JSON, `{"name": 1, "name": 2}`, `1:13: duplicate key "name" (the first is at line 1, column 2; keep one)`},
		{doc.JSON, `{"a": }`, "1:7: the key has no value (write a value behind the colon, or leave the key out)"},
		{doc.JSON, `{"a": , "b": 1}`, "1:7: the key has no value (write a value behind the colon, or leave the key out)"},
		{doc.JSON, `{"hooks" = []}`, "1:10: `=` behind a key (write a colon)"},
		{doc.JSON, `{"hooks": []}}`, "1:14: a closing bracket too many (remove it)"},
		{doc.JSON, `{"a": "\ud800"}`, `1:8: half of a character in a string (write the character itself, or both halves: \ud83d\ude00)`},
		{doc.JSON, `{"timeout_ms": 0x10}`, "1:16: the number `0x10` (write it in decimal, without a plus sign, leading zeros and separators)"},
		{doc.JSON, `{, "a": 1}`, "1:2: a comma with nothing before it (remove it)"},
		{doc.JSON, `{"timeout_ms": 010}`, "1:16: the number `010` (write it in decimal, without a plus sign, leading zeros and separators)"},
		{doc.JSON, "{\"hooks\": [\n  {\"name\": \"a\"}\n  {\"name\": \"b\"}\n]}", "3:3: there is no comma before this (write a comma between the two)"},
		{doc.JSON, `{"hooks": [{"timeout_ms": 5 "name": "a"}]}`, "1:29: there is no comma before this (write a comma between the two)"},
		{doc.JSON, "{\"hooks\": [\n  {\"name\": \"a\"\n   \"on\": \"x\"}]}", "3:4: there is no comma before this (write a comma between the two)"},
		{doc.JSON, `{"hooks": [{"run": ["a" "b"]}]}`, "1:25: there is no comma before this (write a comma between the two)"},
		{doc.JSON, "{\"name\":\u00a0\"a\"}", "1:9: a blank that is no plain space (write a space in its place)"},
		{doc.JSON, "{\"name\": \"a\nb\"}", `1:10: the string is not closed on its line (close it with "; a line break in it is written \n)`},
		{doc.JSON, "hello", "1:1: this is no JSON (JSON begins with {; keys and texts stand in double quotes)"},
		{doc.JSON, `{"timeout_ms": +1}`, "1:16: the number `+1` (write it in decimal, without a plus sign, leading zeros and separators)"},
		{doc.JSON, `{"a": 1; "b": 2}`, "1:8: `;` where a comma belongs (write a comma)"},
		{doc.JSON, `{"a": "\u12"}`, `1:8: an escape without its four digits (write \u and four hexadecimal digits)`},
		{doc.JSON, "{'hooks': []}", "1:2: the quote ' (write keys and texts in double quotes)"},
		{doc.JSON, `{"hooks": [{"name": 'a'}]}`, "1:21: the quote ' (write keys and texts in double quotes)"},
		{doc.JSON, `{"name": “a”}`, "1:10: the quote “ (write keys and texts in double quotes)"},
		{doc.JSON, "{“name”: 1}", "1:2: the quote “ (write keys and texts in double quotes)"},
		{doc.JSON, "{\"name\": \"a\tb\"}", `1:12: a tab in a string (write \t)`},
		{doc.JSON, "[[hooks]]\nname = \"a\"\n", "1:3: this is TOML, and no JSON (name the file .toml)"},
		{doc.JSON, "{\"hooks\": [\n  {\"name\": \"a\", \"on\": \"tool.before\", \"run\": [\"true\"],},\n]}", "2:53: a comma before the closing bracket (remove the comma; JSON has no trailing comma)"},
		{doc.JSON, "{\"hooks\": [],\n}", "1:13: a comma before the closing bracket (remove the comma; JSON has no trailing comma)"},
		{doc.JSON, "{}\n{}", "2:1: something follows the end of the document (a file holds one value)"},
		{doc.JSON, `{"hooks": [{"name": "a"}]`, "1:1: the file ends inside of this table (close it with })"},
		{doc.JSON, `{"hooks": [{"name": "a"}`, "1:11: the file ends inside of this list (close it with ])"},
		{doc.JSON, `{"name": "a`, `1:10: the string is not closed (close it with ")`},
		{doc.JSON, "{\"name\": \"a,\n\"on\": \"x\"}", `1:10: the string is not closed on its line (close it with "; a line break in it is written \n)`},
		{doc.JSON, `{"a": undefined}`, "1:7: the word `undefined` (leave the key out)"},
		{doc.JSON, `{"timeout_ms": 10_000}`, "1:16: the number `10_000` (write it in decimal, without a plus sign, leading zeros and separators)"},
		{doc.JSON, "{fail_open: true}", "1:2: the key `fail_open` is not in quotes (write \"fail_open\")"},
		{doc.JSON, "{name: 1}", "1:2: the key `name` is not in quotes (write \"name\")"},
		{doc.JSON, `{"a":1, timeout_ms: 1}`, "1:9: the key `timeout_ms` is not in quotes (write \"timeout_ms\")"},
		{doc.JSON, "{hooks: []}", "1:2: the key `hooks` is not in quotes (write \"hooks\")"},
		{doc.JSON, `{"on": never}`, "1:8: the text `never` is not in quotes (write \"never\")"},
		{doc.JSON, `{"on": tool.before}`, "1:8: the text `tool.before` is not in quotes (write \"tool.before\")"},
		{doc.JSON, `{"on": session.start}`, "1:8: the text `session.start` is not in quotes (write \"session.start\")"},
		{doc.JSON, `{"hooks": [1}}`, "1:13: a list that ends with } (close it with ])"},
		{doc.JSON, `{"hooks": {"a":1]}`, "1:17: a table that ends with ] (close it with })"},
		{doc.JSON, "hooks:\n  - name: a", "1:1: this is no JSON (JSON begins with {; keys and texts stand in double quotes)"},

		{doc.TOML, "a = False", "1:5: the word `False` (write false)"},
		{doc.TOML, "fail_open = True", "1:13: the word `True` (write true)"},
		{doc.TOML, `name => "a"`, "1:6: `=>` behind a key (write =)"},
		{doc.TOML, "name = `a`", "1:8: the quote ` (write texts in plain quotes: \"…\")"},
		{doc.TOML, `run = ["C:\dir"]`, "1:11: `\\d` in a string (a backslash is written \\\\, or the text stands in single quotes: 'C:\\dir')"},
		{doc.TOML, `run = ["a\d+"]`, "1:10: `\\d` in a string (a backslash is written \\\\, or the text stands in single quotes: 'C:\\dir')"},
		{doc.TOML, "run = [./x.sh]", "1:8: the text `./x.sh` is not in quotes (write \"./x.sh\")"},
		{doc.TOML, `"name": "a"`, "1:7: a colon behind a key (write =)"},
		{doc.TOML, `name: "a"`, "1:5: a colon behind a key (write =)"},
		{doc.TOML, "-- c\n[[hooks]]", "1:1: a comment that begins with `--` (a comment begins with #)"},
		{doc.TOML, "; c\n[[hooks]]", "1:1: a comment that begins with `;` (a comment begins with #)"},
		{doc.TOML, "[[hooks]] // c\nname = \"a\"\n", "1:11: a comment that begins with `//` (a comment begins with #)"},
		{doc.TOML, `name = "a" // c`, "1:12: a comment that begins with `//` (a comment begins with #)"},
		{doc.TOML, "// c\n[[hooks]]", "1:1: a comment that begins with `//` (a comment begins with #)"},
		{doc.TOML, "name = \"a\x01b\"", `1:10: a control character in a string (write \u and its four hexadecimal digits, between double quotes)`},
		{doc.TOML, `run = ["a",, "b"]`, "1:12: two commas (remove one)"},
		{doc.TOML, `a = ["x", , "y"]`, "1:11: two commas (remove one)"},
		{doc.TOML, `name == "a"`, "1:7: two equals signs (write one)"},
		{doc.TOML, "[hooks]\n[hooks]", `2:2: duplicate key "hooks" (the first is at line 1, column 2; keep one)`},
		{doc.TOML, "name = \"a\"\nname = \"b\"", `2:1: duplicate key "name" (the first is at line 1, column 1; keep one)`},
		{doc.TOML, `= "a"`, "1:1: a value without a key (a line is key = value)"},
		{doc.TOML, `export name = "a"`, "1:8: a key with a blank in it (write it as one word, or in quotes)"},
		{doc.TOML, "[[hooks]\nname = \"a\"\n", "1:8: the two brackets are not closed (write [[hooks]], with two brackets on either side)"},
		{doc.TOML, "[[hooks\nname = \"a\"\n", "1:8: the two brackets are not closed (write [[hooks]], with two brackets on either side)"},
		{doc.TOML, "[hooks]]\nname = \"a\"\n", "1:8: a bracket too many (write [[hooks]], with two brackets on either side)"},
		{doc.TOML, "[hooks\nname = \"a\"", "1:7: the bracket is not closed (write [table], with one bracket on either side)"},
		{doc.TOML, `env = {A: "b"}`, "1:9: a colon behind a key (write =)"},
		{doc.TOML, "a = {x = 1,, y = 2}", "1:12: two commas (remove one)"},
		{doc.TOML, "env = {A = \"b\"\nname = \"x\"", "2:1: the table is not closed before this (close it with })"},
		{doc.TOML, "{\"hooks\": [\n{\"name\": \"a\"}]}", "1:1: this is JSON, and no TOML (name the file .json)"},
		{doc.TOML, `my name = "a"`, "1:4: a key with a blank in it (write it as one word, or in quotes)"},
		{doc.TOML, `a = [, "y"]`, "1:6: a comma with nothing before it (remove it)"},
		{doc.TOML, "timeout_ms = 010", "1:14: a number with a zero before it (write it without)"},
		{doc.TOML, `run = ["a" "b"]`, "1:12: there is no comma before this (write a comma between the two)"},
		{doc.TOML, `name "a"`, "1:6: there is no = behind the key (a line is key = value; a comment begins with #)"},
		{doc.TOML, "run = [\"sh\", \"-c\", \"echo a\necho b\"]", `1:20: the string is not closed on its line (close it with "; a text of several lines stands between """ and """)`},
		{doc.TOML, "name =\u00a0\"a\"", "1:7: a blank that is no plain space (write a space in its place)"},
		{doc.TOML, "name =", "1:6: expected value, not end of input (a line is key = value, [table] or [[list of tables]]; texts stand in quotes)"},
		{doc.TOML, "tool = null", "1:8: the word `null`: TOML has no such value (leave the key out)"},
		{doc.TOML, "timeout_ms = 30s", "1:14: `30s` is neither a number nor a text (write a number without a unit, or a text in quotes)"},
		{doc.TOML, `“name” = "a"`, `1:1: the quote “ (write texts in plain quotes: "…")`},
		{doc.TOML, "name = “a”", `1:8: the quote “ (write texts in plain quotes: "…")`},
		{doc.TOML, "[ [hooks] ]\nname = \"a\"\n", "1:3: a blank between two brackets (write [[hooks]] without blanks)"},
		{doc.TOML, "name = \"a\",\non = \"b\"", "1:11: a comma behind a value (each key = value stands on a line of its own, without a comma)"},
		{doc.TOML, `name = "a", on = "b"`, "1:11: a comma behind a value (each key = value stands on a line of its own, without a comma)"},
		{doc.TOML, `name = "a" on = "b"`, "1:12: something follows on the line (each key = value stands on a line of its own, and texts stand in quotes)"},
		{doc.TOML, `run = ["a", "b"`, "1:15: the list is not closed (close it with ])"},
		{doc.TOML, "run = [\"a\", \"b\"\nname = \"x\"", "2:1: the list is not closed before this (close it with ], or write a comma before this)"},
		{doc.TOML, `a = "x`, `1:5: the string is not closed (close it with ")`},
		{doc.TOML, "a = '''x", "1:5: the string is not closed (close it with ''')"},
		{doc.TOML, "name = \"a\non = \"tool.before\"", `1:8: the string is not closed on its line (close it with "; a text of several lines stands between """ and """)`},
		{doc.TOML, "name = 'a\non = \"tool.before\"", "1:8: the string is not closed on its line (close it with '; a text of several lines stands between ''' and ''')"},
		{doc.TOML, "name = \"\"\"a\non = \"tool.before\"", `1:8: the string is not closed (close it with """)`},
		{doc.TOML, "name = indent", "1:8: the text `indent` is not in quotes (write \"indent\")"},
		{doc.TOML, `run = [go, "test"]`, "1:8: the text `go` is not in quotes (write \"go\")"},
		{doc.TOML, "name = tidy", "1:8: the text `tidy` is not in quotes (write \"tidy\")"},
		{doc.TOML, "on = tool.before", "1:6: the text `tool.before` is not in quotes (write \"tool.before\")"},
		{doc.TOML, "name = a", "1:8: the text `a` is not in quotes (write \"a\")"},
		{doc.TOML, "hooks:\n  - name: a", "1:6: a colon behind a key (write =)"},

		{doc.JSONC, "{} /* x", "1:4: the comment is not closed (close it with */)"},
		{doc.JSONC, "{\n# x\n}", "2:1: a comment that begins with # (begin it with //)"},
	} {
		t.Run(string(c.format)+" "+c.source, func(t *testing.T) {
			d, faults := doc.Parse("f", []byte(c.source), c.format)
			require.Nil(t, d)
			require.Len(t, faults, 1)
			require.Equal(t, "f:"+c.want, faults[0].Error())
		})
	}
}

// However much stands around it.
func TestASlipIsFoundInALargeFile(t *testing.T) {
	pad := strings.Repeat(" ", 4000)
	for source, want := range map[string]string{
		pad + `{"a": tool` + pad + `}`:          "f:1:4007: the text `tool` is not in quotes (write \"tool\")",
		`{"a": "` + pad + "\n":                  `f:1:7: the string is not closed on its line (close it with "; a line break in it is written \n)`,
		`{"a": 1` + pad + `"b": 1}`:             "f:1:4008: there is no comma before this (write a comma between the two)",
		pad + "b: 1":                            "f:1:4001: this is no JSON (JSON begins with {; keys and texts stand in double quotes)",
		`{"a": [` + pad + `{"b": 1` + pad + "}": "f:1:7: the file ends inside of this list (close it with ])",
	} {
		_, faults := doc.Parse("f", []byte(source), doc.JSON)
		require.EqualError(t, faults.Err(), want)
	}
}
