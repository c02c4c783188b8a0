package guard

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-hooks/pawl"
)

// A Config is the guards of this package as a configuration file writes them. Any decoder that knows the tags
// can fill it; [Load] reads a file of its own, with every fault at its place. A guard that is nil, or whose
// map is empty, is not made. The zero Config makes none.
type Config struct {
	Repeat        *RepeatConfig        `json:"repeat,omitempty" toml:"repeat"`
	ToolBudgets   map[string]Limit     `json:"tool_budgets,omitempty" toml:"tool_budgets"`
	ReadFirst     *ReadFirstConfig     `json:"read_first,omitempty" toml:"read_first"`
	Dedup         *DedupConfig         `json:"dedup,omitempty" toml:"dedup"`
	Redact        *RedactConfig        `json:"redact,omitempty" toml:"redact"`
	Truncate      []TruncateConfig     `json:"truncate,omitempty" toml:"truncate"` // each later one cuts what the earlier left
	OutputBudget  *OutputBudgetConfig  `json:"output_budget,omitempty" toml:"output_budget"`
	ThinkingDecay *ThinkingDecayConfig `json:"thinking_decay,omitempty" toml:"thinking_decay"`
	Once          []OnceConfig         `json:"once,omitempty" toml:"once"`
}

// A RepeatConfig is a [Repeat] in a configuration file.
type RepeatConfig struct {
	Tools map[string]Threshold `json:"tools,omitempty" toml:"tools"` // none: shell and read_file
	Other *Threshold           `json:"other,omitempty" toml:"other"`
}

// A ReadFirstConfig is a [ReadFirst] in a configuration file, on the files of this machine.
type ReadFirstConfig struct {
	Require bool     `json:"require,omitempty" toml:"require"`
	Dedup   bool     `json:"dedup,omitempty" toml:"dedup"`
	Read    []string `json:"read,omitempty" toml:"read"`
	Edit    []string `json:"edit,omitempty" toml:"edit"`
	Fields  []string `json:"fields,omitempty" toml:"fields"`
}

// A DedupConfig is a [Dedup] in a configuration file.
type DedupConfig struct {
	Tools    map[string][]string `json:"tools" toml:"tools"` // the members of the input that calls are equal by; none: all of it
	Keep     int                 `json:"keep,omitempty" toml:"keep"`
	MaxBytes int                 `json:"max_bytes,omitempty" toml:"max_bytes"`
	WaitMS   int                 `json:"wait_ms,omitempty" toml:"wait_ms"`
}

// A RedactConfig is a [Redact] in a configuration file.
type RedactConfig struct {
	Tools    []string `json:"tools,omitempty" toml:"tools"`
	Patterns []string `json:"patterns,omitempty" toml:"patterns"`
	With     string   `json:"with,omitempty" toml:"with"`
}

// A TruncateConfig is a [Truncate] in a configuration file.
type TruncateConfig struct {
	Tools []string `json:"tools,omitempty" toml:"tools"`
	Max   int      `json:"max" toml:"max"`
	Keep  string   `json:"keep,omitempty" toml:"keep"`
}

// An OutputBudgetConfig is an [OutputBudget] in a configuration file.
type OutputBudgetConfig struct {
	Max     int    `json:"max" toml:"max"`
	Message string `json:"message,omitempty" toml:"message"`
}

// A ThinkingDecayConfig is a [ThinkingDecay] in a configuration file.
type ThinkingDecayConfig struct {
	Budget    int    `json:"budget,omitempty" toml:"budget"`
	AfterTurn int    `json:"after_turn" toml:"after_turn"`
	Floor     int    `json:"floor" toml:"floor"`
	Field     string `json:"field,omitempty" toml:"field"`
}

// A OnceConfig is a [Once] that puts a note before the model at the first event of a trigger in each run.
type OnceConfig struct {
	On    string   `json:"on" toml:"on"`
	Tools []string `json:"tools,omitempty" toml:"tools"`
	Note  string   `json:"note" toml:"note"`
}

// FromConfig returns the hooks of every guard that the configuration names, in the order of the package
// documentation, or every fault in it. Each Truncate and Once beyond the first has its number behind its name:
// truncate-2.
func FromConfig(c Config) ([]pawl.Hook, error) {
	var guards []Guard
	for _, p := range c.guards() {
		guards = append(guards, p.Guard)
	}
	return Hooks(guards...)
}

// A part is a guard and the keys that lead to it in a Config.
type part struct {
	Guard
	key   string
	index int
}

func (c Config) guards() (list []part) {
	add := func(key string, index int, g Guard) { list = append(list, part{g, key, index}) }
	for i, o := range c.Once {
		add("once", i, o.guard(numbered("once", i)))
	}
	if r := c.Repeat; r != nil {
		g := &Repeat{Tools: r.Tools}
		if r.Other != nil {
			g.Other = *r.Other
		}
		add("repeat", 0, g)
	}
	if len(c.ToolBudgets) > 0 {
		add("tool_budgets", 0, &Budget{Tools: c.ToolBudgets})
	}
	if r := c.ReadFirst; r != nil {
		add("read_first", 0, &ReadFirst{Require: r.Require, Dedup: r.Dedup, Read: r.Read, Edit: r.Edit, Fields: r.Fields})
	}
	if c.Dedup != nil {
		add("dedup", 0, c.Dedup.guard())
	}
	if r := c.Redact; r != nil {
		add("redact", 0, &Redact{Tools: r.Tools, Patterns: r.Patterns, With: r.With})
	}
	for i, t := range c.Truncate {
		add("truncate", i, &Truncate{Name: numbered("truncate", i), Tools: t.Tools, Max: t.Max, Keep: t.Keep})
	}
	if o := c.OutputBudget; o != nil {
		add("output_budget", 0, &OutputBudget{Max: o.Max, Message: o.Message})
	}
	if t := c.ThinkingDecay; t != nil {
		add("thinking_decay", 0, &ThinkingDecay{Budget: t.Budget, AfterTurn: t.AfterTurn, Floor: t.Floor, Field: t.Field})
	}
	return list
}

func numbered(name string, i int) string {
	if i == 0 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, i+1)
}

func (c *DedupConfig) guard() *Dedup {
	d := &Dedup{Tools: map[string]Hasher{}, Keep: c.Keep, MaxBytes: c.MaxBytes, Wait: time.Duration(c.WaitMS) * time.Millisecond}
	for tool, fields := range c.Tools {
		d.Tools[tool] = WholeInput
		if len(fields) > 0 {
			d.Tools[tool] = Fields(fields...)
		}
	}
	return d
}

func (c OnceConfig) guard(name string) *Once {
	h := pawl.Hook{Name: name, On: pawl.Trigger(c.On), Effects: pawl.MayNote}
	if len(c.Tools) > 0 {
		h.Match = pawl.Names(c.Tools...)
	}
	if c.Note != "" { // without a note there is no handler, which is a fault
		h.Handler = pawl.HandlerFunc(func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
			return pawl.Decision{Notes: []string{c.Note}}, nil
		})
	}
	return &Once{Hook: h}
}
