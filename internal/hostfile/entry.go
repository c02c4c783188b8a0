package hostfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/wire"
)

// Key is what the host's trust store knows the handler by.
func (h Handler) Key() string {
	return fmt.Sprintf("%s:%s:%d:%d", h.File.KeySource, h.Event.Label, h.Group.Index, h.Index)
}

// Name is LAYER-EVENT-GROUP-HANDLER.
func (h Handler) Name() string {
	event := strings.ReplaceAll(h.Event.Label, "_", "-")
	return fmt.Sprintf("%s-%s-%d-%d", word(h.File.Layer), event, h.Group.Index, h.Index)
}

// word makes s fit for a hook's name.
func word(s string) string {
	fields := strings.FieldsFunc(strings.ToLower(s), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	return strings.Join(fields, "-")
}

// Codec is the codec of the handler's program.
func (h Handler) Codec(limit *int) wire.Codec {
	return wire.Codec{
		Flavour: h.File.Flavour, Strict: h.File.Strict, Limit: limit, Warned: h.File.Warned, Hook: h.Name(),
		Spill: wire.Spill{Dir: h.File.TempDir, Redact: h.File.Redact},
	}
}

// Entry is the handler as an entry but for what its dialect alone knows. Build must be set; the hook is
// made of it.
func (h Handler) Entry(e dialect.Entry) dialect.Entry {
	e.Dialect = h.File.Flavour.String()
	e.Event, e.Group, e.Handler = h.Event.Name, h.Group.Index, h.Index
	e.Key, e.Managed, e.Plugin = h.Key(), h.File.Managed, h.File.Plugin
	e.Rename(h.Name())
	return e
}

// Hook is the handler's hook but for its name, Match, Handler and Timeout.
func (h Handler) Hook() pawl.Hook {
	status, _ := h.Text("statusMessage")
	return pawl.Hook{
		On: h.Event.Trigger, Effects: h.Event.Effects, FailOpen: !h.File.Strict, Concurrent: true,
		Status: status, Origin: h.File.Origin(h.Node.Pos),
	}
}

// A Field is one member of a definition.
type Field struct {
	Name  string
	Value any // string, bool, int64, float64 or []string
}

// Hash is the hash of a definition: the SHA-256 of an object with event_name, hooks (the one handler) and,
// unless matcher is nil, matcher, compact and with sorted names.
func Hash(event string, handler []Field, matcher *string) string {
	b := append(quote([]byte(`{"event_name":`), event), `,"hooks":[`...)
	b = append(Definition(b, handler), ']')
	if matcher != nil {
		b = quote(append(b, `,"matcher":`...), *matcher)
	}
	sum := sha256.Sum256(append(b, '}'))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Definition appends the fields as one object with sorted names.
func Definition(b []byte, fields []Field) []byte {
	fields = slices.SortedFunc(slices.Values(fields), func(x, y Field) int { return strings.Compare(x.Name, y.Name) })
	b = append(b, '{')
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(quote(b, f.Name), ':')
		switch v := f.Value.(type) {
		case string:
			b = quote(b, v)
		case []string:
			b = append(b, '[')
			for j, s := range v {
				if j > 0 {
					b = append(b, ',')
				}
				b = quote(b, s)
			}
			b = append(b, ']')
		default:
			b = fmt.Append(b, v)
		}
	}
	return append(b, '}')
}

func quote(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}
