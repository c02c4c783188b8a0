package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/pawl-hooks/pawl"
)

// mapStrings returns the JSON value with every string in it (not the names of members) replaced by what f makes
// of it; numbers keep their digits. It is the value itself where f changes nothing.
func mapStrings(v json.RawMessage, f func(string) string) (json.RawMessage, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	changed := false
	for {
		tok, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the result cannot be read: %w", err)
		}
		if kind, n := dec.StackIndex(dec.StackDepth()); tok.Kind() == '"' && !(kind == '{' && n%2 == 1) {
			was := tok.String()
			if now := f(was); now != was {
				changed, tok = true, jsontext.String(now)
			}
		}
		if err := enc.WriteToken(tok); err != nil {
			return nil, fmt.Errorf("the result cannot be written: %w", err)
		}
	}
	if !changed {
		return v, nil
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// object reads a JSON object's members as they are. A repeated name is an error.
func object(v json.RawMessage) (map[string]jsontext.Value, error) {
	var members map[string]jsontext.Value
	if err := jsonv2.Unmarshal(v, &members); err != nil {
		return nil, fmt.Errorf("the input is no JSON object: %w", err)
	}
	return members, nil
}

// quote returns s as a JSON string, with < and > and & as they are; invalid UTF-8 is replaced.
func quote(s string) json.RawMessage {
	b, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	return json.RawMessage(b)
}

// rewriter is a hook that changes the texts of a result. A result that cannot be read fails it, and so is
// withheld.
func rewriter(name string, on pawl.Trigger, tools []string, f func(string) string) pawl.Hook {
	h := pawl.Hook{Name: name, On: on, Effects: pawl.MayReplace}
	if len(tools) > 0 {
		h.Match = pawl.Names(tools...)
	}
	h.Handler = pawl.HandlerFunc(func(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
		if ev.Output == nil {
			return pawl.Decision{}, nil
		}
		out, err := mapStrings(ev.Output, f)
		if err != nil || len(out) == len(ev.Output) && &out[0] == &ev.Output[0] {
			return pawl.Decision{}, err
		}
		return pawl.Decision{Output: out}, nil
	})
	return h
}
