package on

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/pawl-hooks/pawl"
)

// A TypeError says that an event's Payload is not of the type that a hook was made for.
type TypeError struct {
	Trigger pawl.Trigger
	Want    reflect.Type
	Got     reflect.Type // nil where there is no Payload
}

func (e *TypeError) Error() string {
	if e.Got == nil {
		return fmt.Sprintf("%s has no payload, want %s", e.Trigger, e.Want)
	}
	return fmt.Sprintf("the payload of %s is %s, want %s", e.Trigger, e.Got, e.Want)
}

// A ValueError says that a part of an event could not be read or written as JSON.
type ValueError struct {
	What string // input, result, stand-in, answer
	Err  error
}

func (e *ValueError) Error() string { return "the " + e.What + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *ValueError) Unwrap() error { return e.Err }

func payloadAs[P any](ev *pawl.Event) (P, error) {
	p, ok := ev.Payload.(P)
	if !ok {
		return p, &TypeError{ev.Trigger, reflect.TypeFor[P](), reflect.TypeOf(ev.Payload)}
	}
	return p, nil
}

// decode reads v with exact names, and no name twice. Whole: with no member that into lacks.
func decode(what string, v json.RawMessage, into any, whole bool) error {
	if raw, ok := into.(*json.RawMessage); ok {
		*raw = append(json.RawMessage{}, v...)
		return nil
	}
	if err := jsonv2.Unmarshal(v, into, jsonv2.RejectUnknownMembers(whole)); err != nil {
		return &ValueError{what, err}
	}
	return nil
}

// concerns says that v, an object with members, has none that the struct I has. The name of one that is passed
// over is exact, so one misspelt here would check nothing for ever.
func concerns[I any](v json.RawMessage) error {
	t := reflect.TypeFor[I]()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var members map[string]json.RawMessage
	if t.Kind() != reflect.Struct || t.NumField() == 0 || jsonv2.Unmarshal(v, &members) != nil || len(members) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(members))
	for _, name := range names {
		one, err := jsonv2.Marshal(map[string]json.RawMessage{name: members[name]})
		if err == nil {
			err = jsonv2.Unmarshal(one, new(I), jsonv2.RejectUnknownMembers(true))
		}
		if !errors.Is(err, jsonv2.ErrUnknownName) {
			return nil
		}
	}
	return &ValueError{"input", fmt.Errorf("none of its members is one of %s: %q", reflect.TypeFor[I](), names)}
}

func encode(what string, v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return slices.Clone(raw), nil // f may change the bytes it is given in place
	}
	b, err := jsonv2.Marshal(v, jsonv2.Deterministic(true))
	if err != nil {
		return nil, &ValueError{what, err}
	}
	return b, nil
}
