package gate

import (
	"bytes"
	"encoding/json"

	"github.com/pawl-hooks/pawl/internal/jsonline"
)

// replaceJSON redacts the JSON value src token by token, so that it stays one. The spans are the secrets
// found in its text; where one reaches over more than a string or a number, all of it is hidden.
func (rr *redactRules) replaceJSON(src []byte, spans []span) []byte {
	var out []byte
	for i := 0; i < len(src); {
		end := tokenEnd(src, i)
		tok := rr.token(src[i:end])
		for len(spans) > 0 && spans[0].from < end {
			s := spans[0]
			marker := quote(rr.markers[s.kind])
			switch structural := bytes.IndexByte([]byte(jsonStructure), src[i]) >= 0; {
			case s.to > end || structural:
				return marker
			case src[i] == '"' && (s.from == i || s.to == end):
				tok = marker // the quotes are part of the secret
			}
			spans = spans[1:]
		}
		out = append(out, tok...)
		i = end
	}
	return out
}

// jsonStructure are the bytes of JSON outside strings and scalars.
const jsonStructure = " \t\r\n,:{}[]"

// tokenEnd returns where the string or scalar that begins at i ends; else a byte of structure or space.
func tokenEnd(src []byte, i int) int {
	if src[i] == '"' {
		for i++; src[i] != '"'; i++ {
			if src[i] == '\\' {
				i++
			}
		}
		return i + 1
	}
	n := bytes.IndexAny(src[i:], jsonStructure+`"`)
	switch {
	case n < 0:
		return len(src)
	case n == 0:
		return i + 1
	}
	return i + n
}

// token redacts one token of JSON by what it means.
func (rr *redactRules) token(tok []byte) []byte {
	text := string(tok)
	if tok[0] == '"' && json.Unmarshal(tok, &text) != nil {
		return tok
	}
	spans, _ := rr.scan([]byte(text), 0, true)
	if len(spans) == 0 {
		return tok
	}
	return quote(string(rr.replace(nil, []byte(text), spans)))
}

// quote spells s as a JSON string.
func quote(s string) []byte {
	b, _ := jsonline.Marshal(s) // a string always can be written
	return b
}
