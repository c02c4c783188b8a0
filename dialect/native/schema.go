package native

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/internal/jsonline"
)

// Schema returns the JSON Schema (draft 2020-12) of a native file, made from the fields that [Load] goes by.
// It is indented, and has no newline at its end. What a schema cannot say is left to Load: that names are unique,
// that matchers can match.
func Schema() []byte {
	limit := int64(0)
	hooks := member{"hooks", object{{"type", "array"}, {"maxItems", maxMaxHooks}, {"items", hookSchema()}}}
	properties := object{{"$schema", object{{"type", "string"}}}, hooks}
	for _, f := range topFields(&limit) {
		properties = append(properties, member{f.name, f.schema(maxHooks)})
	}
	top := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", "pawl hooks"},
		{"type", "object"},
		{"properties", properties},
		{"additionalProperties", false},
		// The eight hold unless the file itself raises them.
		{"if", object{{"not", object{{"required", []string{"max_hooks"}}}}}},
		{"then", object{{"properties", object{{"hooks", object{{"maxItems", maxHooks}}}}}}},
	}
	var b bytes.Buffer
	text, err := jsonline.Marshal(top)
	if err = errors.Join(err, json.Indent(&b, text, "", "  ")); err != nil {
		panic(err) // nothing in it can fail to marshal
	}
	return b.Bytes()
}

// hookSchema is the schema of one hook: its keys, and what its trigger can carry.
func hookSchema() object {
	w := preset()
	properties, required := object{}, []string{}
	for _, f := range hookFields(&w) {
		properties = append(properties, member{f.name, f.schema(f.value())})
		if f.required {
			required = append(required, f.name)
		}
	}
	rules := []object{}
	for _, c := range carriers {
		rules = append(rules, c.schema())
	}
	rules = append(rules,
		object{{"if", object{{"required", []string{"wire"}}}}, {"then", forbid("inputs")}, {"else", forbid("rewrite", "replace", "keep")}})
	return object{
		{"type", "object"}, {"properties", properties}, {"required", required},
		{"additionalProperties", false}, {"allOf", rules},
	}
}

// schema says what the trigger can carry.
func (c carrier) schema() object {
	barred := []string{}
	if !c.tool {
		barred = append(barred, "tool", "paths", "if")
	}
	if c.changes&pawl.MayRewrite == 0 {
		barred = append(barred, "rewrite")
	}
	if c.changes&pawl.MayReplace == 0 {
		barred = append(barred, "replace")
	}
	then := forbid(barred...)
	then[0].value = append(object{{"output", object{{"enum", c.outputs}}}}, then[0].value.(object)...)
	is := object{{"properties", object{{"on", object{{"const", c.trigger}}}}}, {"required", []string{"on"}}}
	return object{{"if", is}, {"then", then}}
}

func forbid(keys ...string) object {
	properties := object{}
	for _, k := range keys {
		properties = append(properties, member{k, false})
	}
	return object{{"properties", properties}}
}

// value is what a field holds, or nil where that is nothing: of a preset hook, what is the case unless written.
func (f field) value() any {
	switch to := f.to.(type) {
	case *string:
		if *to != "" {
			return *to
		}
	case *int64:
		return *to
	case *bool:
		return *to
	}
	return nil
}

// schema is the field's value.
func (f field) schema(preset any) object {
	s := object{{"description", f.says}}
	switch f.to.(type) {
	case *string:
		s = append(append(s, member{"type", "string"}), f.textSchema(true)...)
	case *int64:
		s = append(s, member{"type", "integer"}, member{"minimum", f.low}, member{"maximum", f.high})
	case *bool:
		s = append(s, member{"type", "boolean"})
	case *[]string:
		s = append(s, member{"type", "array"}, member{"items", append(object{{"type", "string"}}, f.textSchema(false)...)})
		if f.low > 0 {
			s = append(s, member{"minItems", f.low})
		}
		if f.high > 0 {
			s = append(s, member{"maxItems", f.high})
		}
		if f.unique {
			s = append(s, member{"uniqueItems", true})
		}
	case *Environment:
		s = append(s, member{"type", "object"}, member{"propertyNames", object{{"pattern", f.pattern.String()}, {"not", object{{"const", depthVariable}}}}},
			member{"additionalProperties", object{{"type", "string"}}})
	}
	if preset != nil {
		s = append(s, member{"default", preset})
	}
	return s
}

// textSchema is what a string may be; bounds are of the string itself, not of a list's length.
func (f field) textSchema(bounds bool) (s object) {
	if f.words != nil {
		return object{{"enum", f.words}}
	}
	if f.pattern != nil {
		s = append(s, member{"pattern", f.pattern.String()})
	}
	if bounds && f.low > 0 {
		s = append(s, member{"minLength", f.low})
	}
	if bounds && f.high > 0 {
		s = append(s, member{"maxLength", f.high})
	}
	return s
}

// An object is a JSON object with its members in order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := jsonline.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := jsonline.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}
