package gate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-hooks/pawl/gate"
)

func TestSecretsBecomeMarkers(t *testing.T) {
	r := &gate.Redactor{Held: []string{"hunter2-hunter2", "hunter2-hunter2-longer", "short"}, Declared: []string{"päss\"wörd\\/ü", "line one\nline two\n"}}
	tests := map[string]struct{ in, want string }{
		"nothing to hide":              {"plain text", "plain text"},
		"a held value":                 {"a hunter2-hunter2 b", "a [redacted credential] b"},
		"the longest wins":             {"a hunter2-hunter2-longer b", "a [redacted credential] b"},
		"twice":                        {"hunter2-hunter2hunter2-hunter2", "[redacted credential][redacted credential]"},
		"a declared value":             {"x päss\"wörd\\/ü y", "x [redacted value] y"},
		"as JSON spells it":            {`{"k":"x päss\"wörd\\/ü y"}`, `{"k":"x [redacted value] y"}`},
		"with escaped slash":           {`{"k":"päss\"wörd\\\/ü"}`, `{"k":"[redacted value]"}`},
		"in ASCII":                     {`{"k":"p\u00e4ss\u0022w\u00F6rd\u005c\u002f\u00fc"}`, `{"k":"[redacted value]"}`},
		"JSON in JSON":                 {`{"k":"{\"i\":\"päss\\\"wörd\\\\/ü\"}"}`, `{"k":"{\"i\":\"[redacted value]\"}"}`},
		"JSON in JSON in ASCII":        {`{"k":"{\"i\":\"p\\u00e4ss\\\"w\\u00f6rd\\\\/\\u00fc\"}"}`, `{"k":"{\"i\":\"[redacted value]\"}"}`},
		"over two lines, in JSON":      {`{"k":"line one\nline two"}`, `{"k":"[redacted value]"}`},
		"over two lines, without last": {"line one\nline two", "[redacted value]"},
		"as a name":                    {`{"hunter2-hunter2":1}`, `{"[redacted credential]":1}`},
		"too short to look for":        {"short", "short"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, r.String(tc.in))
			require.Equal(t, tc.want, r.String(tc.want), "a second pass changes it")
		})
	}
	require.Equal(t, 1, r.Skipped())
}

// G07
func TestEveryShapeOfJSONStaysJSON(t *testing.T) {
	r := &gate.Redactor{Held: []string{"12345678", `x","y":"zz`, "nabcdefgh", `{"type":"service"}`, "true,false"}}
	tests := map[string]struct{ in, want string }{
		"a string":                       {`"12345678"`, `"[redacted credential]"`},
		"a number":                       {`12345678`, `"[redacted credential]"`},
		"within a number":                {`{"n":-1234567899.5, "m":1}`, `{"n":"-[redacted credential]99.5", "m":1}`},
		"an object":                      {`{"stdout":"12345678","stderr":"<&>"}`, `{"stdout":"[redacted credential]","stderr":"<&>"}`},
		"an array":                       {`[ "12345678" , 12345678 , null ]`, `[ "[redacted credential]" , "[redacted credential]" , null ]`},
		"null":                           {`null`, `null`},
		"over two strings":               {`{"a":"x","y":"zz"}`, `{"a":"[redacted credential]"}`},
		"a whole object":                 {`{"type":"service"}`, `"[redacted credential]"`},
		"an object within a string":      {`{"o":"{\"type\":\"service\"}"}`, `{"o":"[redacted credential]"}`},
		"over scalars":                   {`[true,false]`, `"[redacted credential]"`},
		"the letter of an escape is not": {`["x\nabcdefgh",1]`, `["x\nabcdefgh",1]`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := r.String(tc.in)
			require.True(t, json.Valid([]byte(got)), got)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestShapesOfSecrets(t *testing.T) {
	b64 := strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC+/==\n", 20)
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + b64 + "-----END RSA PRIVATE KEY-----"
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
	const mark = "[redacted shape]"
	tests := map[string]struct{ in, want string }{
		"AWS":                        {"id AKIAIOSFODNN7EXAMPLE.", "id " + mark + "."},
		"AWS, too short":             {"id AKIAIOSFODNN7.", "id AKIAIOSFODNN7."},
		"Google":                     {"AIza" + strings.Repeat("x", 35), mark},
		"GitHub":                     {"token=ghp_" + strings.Repeat("a1", 18) + "\n", "token=" + mark + "\n"},
		"GitHub, fine-grained":       {"github_pat_" + strings.Repeat("a1_", 20), mark},
		"GitLab":                     {"glpat-" + strings.Repeat("a", 20), mark},
		"Slack":                      {"xoxb-1234567890-abcdef", mark},
		"a provider's":               {"key sk-ant-" + strings.Repeat("a", 30), "key " + mark},
		"a provider's, in an escape": {`{"k":"\nsk-ant-` + strings.Repeat("a", 30) + `"}`, `{"k":"\n` + mark + `"}`},
		"a word with such an end":    {"the task-force-of-the-united-kingdom-sk", "the task-force-of-the-united-kingdom-sk"},
		"JWT":                        {"Bearer " + jwt + ", x", "Bearer " + mark + ", x"},
		"two parts are no JWT":       {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0 x", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0 x"},
		"PEM":                        {"a\n" + pem + "\nb", "a\n" + mark + "\nb"},
		"PEM in JSON":                {`{"k":` + jsonOf(pem) + `,"l":1}`, `{"k":"` + mark + `","l":1}`},
		"PEM cut off in JSON":        {`{"k":` + jsonOf(pem[:100]) + `,"l":1}`, `{"k":"` + mark + `","l":1}`},
		"a certificate is public":    {"-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----"},
		"dashes":                     {"-----BEGIN ", "-----BEGIN "},
	}
	on, off := &gate.Redactor{Shapes: true}, &gate.Redactor{}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, on.String(tc.in))
			require.Equal(t, tc.in, off.String(tc.in), "off unless asked for")
			for cut := range len(tc.in) {
				require.Equal(t, tc.want, streamed(on, tc.in[:cut], tc.in[cut:]), "cut at %d", cut)
			}
		})
	}
}

func jsonOf(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func streamed(r *gate.Redactor, chunks ...string) string {
	s := r.Filter()
	var out bytes.Buffer
	for _, c := range chunks {
		out.Write(s.Write([]byte(c)))
	}
	out.Write(s.Flush())
	return out.String()
}

// spellings draws one of the ways in which an encoder may write s within a JSON string.
func spellings(t *rapid.T, s string) string {
	var b strings.Builder
	for _, c := range s {
		short := map[rune]string{'"': `\"`, '\\': `\\`, '/': `\/`, '\n': `\n`, '\t': `\t`, '\r': `\r`, '\b': `\b`, '\f': `\f`}[c]
		must := c == '"' || c == '\\' || c < 0x20
		switch how := rapid.IntRange(0, 2).Draw(t, "how"); {
		case how == 0 && !must:
			b.WriteRune(c)
		case how <= 1 && short != "":
			b.WriteString(short)
		case c > 0xffff:
			hi, lo := utf16.EncodeRune(c)
			fmt.Fprintf(&b, `\u%04x\u%04X`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}

var secretRunes = rapid.StringOfN(rapid.RuneFrom([]rune("ab\\\"/n\n\tu00é😀")), 8, 14, -1)

func TestNoSecretSurvivesAnySpellingOrBorder(t *testing.T) {
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\\\"/n\n\tu0é😀{}[]:, ")), 0, 10, -1)
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfN(secretRunes.Filter(func(s string) bool { return strings.TrimRight(s, "\r\n") == s }), 1, 3).Draw(t, "secrets")
		r := &gate.Redactor{Declared: secrets}
		value := text.Draw(t, "before") + rapid.SampledFrom(secrets).Draw(t, "secret") + text.Draw(t, "after")
		doc := value
		depth := rapid.IntRange(0, 3).Draw(t, "depth")
		for range depth {
			doc = `{"k":"` + spellings(t, doc) + `"}`
		}
		whole := r.Bytes([]byte(doc))
		if depth > 0 {
			require.True(t, json.Valid(whole), "%s became %s", doc, whole)
		}
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(doc)), 0, 4).Draw(t, "cuts")
		for _, out := range []string{string(whole), streamed(r, chunksOf(doc, cuts)...)} {
			for _, s := range secrets {
				require.NotContains(t, out, s)
				require.NotContains(t, unwrapped(out, depth), s)
			}
		}
	})
}

// unwrapped undoes the encoding of doc as far as it goes.
func unwrapped(doc string, depth int) string {
	for range depth {
		var v map[string]string
		if json.Unmarshal([]byte(doc), &v) != nil {
			return ""
		}
		for _, doc = range v {
		}
	}
	return doc
}

func chunksOf(s string, cuts []int) []string {
	var chunks []string
	last := 0
	for _, c := range cuts {
		if c > last {
			chunks = append(chunks, s[last:c])
			last = c
		}
	}
	return append(chunks, s[last:])
}

func TestAStreamIsTheWholeAtEveryBorder(t *testing.T) {
	r := &gate.Redactor{Held: []string{"abababab", "ababababc", "babababa", `q"\uz/zz`}, Shapes: true}
	in := `xababababababcy q"\uz/zz {"k":"q\"\\uz\/zz"} AKIAIOSFODNN7EXAMPLE abababa`
	want := r.String(in)
	require.NotContains(t, want, "abababab")
	for i := range len(in) {
		for j := i; j < len(in); j += 7 {
			require.Equal(t, want, streamed(r, in[:i], in[i:j], in[j:]))
		}
	}
	require.Equal(t, want, streamed(r, strings.Split(in, "")...))
}

func TestSecretsThatOverlapLeaveNoPart(t *testing.T) {
	r := &gate.Redactor{Held: []string{"abcdefgh", "efghijkl"}}
	require.Equal(t, "-[redacted credential]-", r.String("-abcdefghijkl-"))
	require.Equal(t, "-[redacted credential]-", streamed(r, "-abcdefgh", "ijkl-"))
}

func TestASecretThatIsPartOfAMarker(t *testing.T) {
	r := &gate.Redactor{Held: []string{"redacted"}, Declared: []string{"credential"}}
	require.Equal(t, "[#1] [#2]", r.String("redacted credential"))
}

func TestNothingToRedactCostsNothing(t *testing.T) {
	in := []byte(`{"k":"v"}`)
	for _, r := range []*gate.Redactor{{}, {Held: []string{"not in there"}}} {
		require.Zero(t, testing.AllocsPerRun(100, func() { r.Bytes(in) }))
		require.Same(t, &in[0], &r.Bytes(in)[0])
	}
}

func TestARedactorIsSharedByGoroutines(t *testing.T) {
	r := &gate.Redactor{Held: []string{"hunter2-hunter2"}}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := r.String("hunter2-hunter2"); got != "[redacted credential]" {
				t.Error(got)
			}
		})
	}
	wg.Wait()
}

func FuzzRedactor(f *testing.F) {
	f.Add("secret-value", `{"a":"secret-value"}`, 3)
	f.Add(`q"\uz/zzz`, `{"k":"q\"\\uz\/zzz"}`, 9)
	f.Fuzz(func(t *testing.T, secret, text string, cut int) {
		r := &gate.Redactor{Held: []string{secret}, Shapes: true}
		out := r.String(text)
		if json.Valid([]byte(text)) && !json.Valid([]byte(out)) {
			t.Fatalf("%q became %q", text, out)
		}
		trimmed := strings.TrimRight(secret, "\r\n")
		if len(trimmed) >= gate.MinSecret && strings.Contains(out, trimmed) && !strings.ContainsAny(trimmed, "[#123]") && !json.Valid([]byte(text)) {
			t.Fatalf("%q is still in %q", trimmed, out)
		}
		if cut < 0 || cut > len(text) {
			return
		}
		streamed(r, text[:cut], text[cut:])
	})
}

func BenchmarkRedact(b *testing.B) {
	text := []byte(strings.Repeat("the quick brown fox {\"a\":\"b\\n\"} jumps over the lazy dog\n", 1000))
	r := &gate.Redactor{Held: []string{"hunter2-hunter2", "correct horse"}, Shapes: true}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Bytes(text)
	}
}
