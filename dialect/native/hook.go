package native

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/wire"
)

// hook is one hook whose keys were read.
type hook struct {
	*loader
	Spec
	node *doc.Node
	bad  map[string]bool // keys whose value cannot be used
}

// at is where a key's value stands, or the hook, where it is not written.
func (h *hook) at(key string) doc.Pos {
	if n := h.node.Get(key); n != nil {
		return n.Pos
	}
	return h.node.Pos
}

// has reports whether a key was written.
func (h *hook) has(key string) bool { return h.node.Get(key) != nil }

// good reports whether a key was written and its value can be used.
func (h *hook) good(key string) bool { return h.has(key) && !h.bad[key] }

func (h *hook) build() pawl.Hook {
	before := h.Len()
	h.unique()
	h.wires()
	if h.good("run") && h.Run[0] == "" {
		h.Fault(h.node.Get("run").Items[0].Pos, "the first word is the program: ./check.sh, or a name on PATH", "`run` names no program: its first word is empty")
	}
	built := pawl.Hook{
		Name: h.Name, On: pawl.Trigger(h.On),
		Timeout:  time.Duration(h.TimeoutMS) * time.Millisecond,
		FailOpen: h.FailOpen, Shadow: h.Shadow,
		Origin: pawl.Origin{Layer: h.layer(), File: h.doc.File, Line: h.node.Pos.Line, Column: h.node.Pos.Column},
	}
	c, known := carrierOf(h.On)
	if !known {
		return built
	}
	h.carried(c)
	h.surprises(c)
	built.Match, built.Effects = h.matcher(c), h.effects(c)
	built.Handler = h.program()
	if h.Len() == before && len(h.bad) == 0 {
		h.registers(built)
	}
	return built
}

func (h *hook) layer() string {
	if h.opts.Layer == "" {
		return "config"
	}
	return h.opts.Layer
}

func (h *hook) unique() {
	if h.Name == "" || h.bad["name"] {
		return
	}
	if first, taken := h.first[h.Name]; taken {
		h.Fault(h.at("name"), fmt.Sprintf("the first is at line %d; a name belongs to one hook", first.Line), "two hooks are called %s", doc.Quote(h.Name))
		return
	}
	h.first[h.Name] = h.at("name")
}

// carried checks what the trigger cannot carry.
func (h *hook) carried(c carrier) {
	if !h.bad["output"] && !slices.Contains(c.outputs, h.Output) {
		h.Fault(h.at("output"), "there write "+strings.Join(c.outputs, " or "), "%s cannot carry output %s: %s", c.trigger, doc.Quote(h.Output), whyNot(c, h.Output))
	}
	for _, key := range []string{"tool", "paths", "if"} {
		if h.has(key) && !c.tool {
			h.Fault(h.node.Field(key).Pos, "leave it out, or write tool.before or tool.after", "`%s` is about a tool call, and %s is not", key, c.trigger)
		}
	}
	for key, effect := range map[string]pawl.Effect{"rewrite": pawl.MayRewrite, "replace": pawl.MayReplace} {
		if h.has(key) && c.changes&effect == 0 {
			h.Fault(h.node.Field(key).Pos, "leave it out", "%s has nothing that a hook could %s", c.trigger, key)
		}
	}
}

func whyNot(c carrier, output string) string {
	switch {
	case output == "refuse":
		return "what it is about has happened"
	case c.trigger == pawl.SessionEnd:
		return "nobody reads it any more"
	}
	return "there is no tool result to carry the words"
}

// wires checks the keys that go with wire, and those that do not.
func (h *hook) wires() {
	if h.has("wire") {
		if h.has("inputs") {
			h.Fault(h.node.Field("inputs").Pos, "leave out one of them", "`inputs` beside `wire`: the event on stdin holds every fact")
		}
		return
	}
	for _, key := range []string{"rewrite", "replace", "keep"} {
		if h.has(key) {
			h.Fault(h.node.Field(key).Pos, `add wire = "json"`, "`%s` needs a program that answers in JSON", key)
		}
	}
}

func (h *hook) effects(c carrier) pawl.Effect {
	var e pawl.Effect
	switch command.Output(h.Output) {
	case command.OutputRefuse:
		e = pawl.MayRefuse
		if h.Wire != "" {
			e |= h.contract(c.trigger).Can & (pawl.MayHalt | pawl.MayAsk)
		}
	case command.OutputNote:
		e = pawl.MayNote
	}
	if h.Rewrite {
		e |= pawl.MayRewrite
	}
	if h.Replace {
		e |= pawl.MayReplace
	}
	return e
}

func (h *hook) contract(t pawl.Trigger) pawl.Contract {
	table := h.opts.Triggers
	if table == nil {
		table = pawl.DefaultTriggers()
	}
	return table[t]
}

func (h *hook) program() pawl.Handler {
	p := command.Program{Name: h.Name, Args: h.Run, Dir: h.Dir, Env: h.Env}
	if p.Dir != "" && h.opts.Root != "" && !filepath.IsAbs(p.Dir) {
		p.Dir = filepath.Join(h.opts.Root, p.Dir)
	}
	p.Codec = command.Flags{Inputs: h.Inputs, Output: command.Output(h.Output)}
	if h.Wire != "" {
		p.Codec, p.Limit, p.Keep = wire.JSON{}, wire.MaxOutput, h.Keep
	}
	return p
}
