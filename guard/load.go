package guard

import (
	"math"
	"regexp"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/internal/doc"
)

// Load reads a Config from a file in TOML, JSON or ZON, as its name ends, and returns the hooks it makes, each
// with its place as Origin; they are of layer config. File is for showing. Where anything is wrong there are no
// hooks, and the error lists every fault with file, line, column and what to write instead.
func Load(file string, data []byte) ([]pawl.Hook, error) {
	d, faults := doc.Parse(file, data, doc.FormatOf(file))
	if faults != nil {
		return nil, faults.Err()
	}
	r := &reader{doc.NewReader(d)}
	c := r.config(d.Root)
	if err := r.Faults().Err(); err != nil {
		return nil, err
	}
	parts := c.guards()
	guards := make([]Guard, len(parts))
	for i, p := range parts {
		n := d.Root.Get(p.key)
		if n.Is(doc.List) && p.index < len(n.Items) {
			n = n.Items[p.index]
		}
		guards[i] = &origin{p.Guard, pawl.Origin{Layer: "config", File: file, Line: n.Pos.Line, Column: n.Pos.Column}}
	}
	return Hooks(guards...)
}

// origin is a guard from a file.
type origin struct {
	Guard
	at pawl.Origin
}

// Hooks marks the hooks with their place.
func (o *origin) Hooks() ([]pawl.Hook, error) {
	hooks, err := o.Guard.Hooks()
	for i := range hooks {
		hooks[i].Origin = o.at
	}
	return hooks, err
}

// reader takes a document apart. What it returns is good only where it found no fault.
type reader struct{ *doc.Reader }

func (r *reader) config(n *doc.Node) (c Config) {
	r.Table(n, "", "repeat", "tool_budgets", "read_first", "dedup", "redact", "truncate", "output_budget", "thinking_decay", "once")
	c.Repeat = r.repeat(n.Get("repeat"))
	c.ToolBudgets = r.budgets(n.Get("tool_budgets"))
	c.ReadFirst = r.readFirst(n.Get("read_first"))
	c.Dedup = r.dedup(n.Get("dedup"))
	c.Redact = r.redact(n.Get("redact"))
	items, _ := r.List(n.Get("truncate"), "truncate")
	for _, item := range items {
		c.Truncate = append(c.Truncate, r.truncate(item))
	}
	c.OutputBudget = r.outputBudget(n.Get("output_budget"))
	c.ThinkingDecay = r.thinkingDecay(n.Get("thinking_decay"))
	items, _ = r.List(n.Get("once"), "once")
	for _, item := range items {
		c.Once = append(c.Once, r.once(item))
	}
	return c
}

// number reads a number of at least low; a key that must be there is a fault where it is not.
func (r *reader) number(table *doc.Node, key string, low int, needed bool) int {
	if needed {
		r.Require(table, key)
	}
	v, _ := r.Int(table.Get(key), key, int64(low), math.MaxInt32)
	return int(v)
}

func (r *reader) text(table *doc.Node, key string, needed bool) string {
	if needed {
		r.Require(table, key)
	}
	s, ok := r.String(table.Get(key), key)
	if ok && s == "" {
		r.Fault(table.Get(key).Pos, "", "`%s` is empty", key)
	}
	return s
}

func (r *reader) words(table *doc.Node, key string) []string {
	list, _ := r.Strings(table.Get(key), key)
	for i, s := range list {
		if s == "" {
			r.Fault(table.Get(key).Items[i].Pos, "", "`%s[%d]` is empty", key, i)
		}
	}
	return list
}

// tools reads a table whose keys are the names of tools.
func tools[T any](r *reader, n *doc.Node, what string, read func(*doc.Node) T) map[string]T {
	if !r.Table(n, what) {
		return nil
	}
	table := map[string]T{}
	for _, f := range n.Fields {
		if f.Name == "" {
			r.Fault(f.Pos, "", "a tool without a name")
		}
		table[f.Name] = read(f.Value)
	}
	return table
}

func (r *reader) threshold(n *doc.Node) (t Threshold) {
	if !r.Table(n, "threshold", "block", "abort") {
		return t
	}
	t.Block, t.Abort = r.number(n, "block", 2, true), r.number(n, "abort", 1, true)
	if t.Block > 0 && t.Abort > 0 && t.Abort <= t.Block {
		r.Fault(n.Get("abort").Pos, "the run ends after some calls were refused", "`abort` is %d, not above `block`, %d", t.Abort, t.Block)
	}
	return t
}

func (r *reader) repeat(n *doc.Node) *RepeatConfig {
	if !r.Table(n, "repeat", "tools", "other") {
		return nil
	}
	c := &RepeatConfig{Tools: tools(r, n.Get("tools"), "tools", r.threshold)}
	if other := n.Get("other"); other != nil {
		t := r.threshold(other)
		c.Other = &t
	}
	return c
}

func (r *reader) budgets(n *doc.Node) map[string]Limit {
	return tools(r, n, "tool_budgets", func(n *doc.Node) (l Limit) {
		if r.Table(n, "budget", "max", "on_exceed", "message") {
			l.Max, l.Message = r.number(n, "max", 1, true), r.text(n, "message", false)
			r.Require(n, "on_exceed")
			l.OnExceed, _ = r.OneOf(n.Get("on_exceed"), "on_exceed", Steer, Block)
		}
		return l
	})
}

func (r *reader) readFirst(n *doc.Node) *ReadFirstConfig {
	if !r.Table(n, "read_first", "require", "dedup", "read", "edit", "fields") {
		return nil
	}
	c := &ReadFirstConfig{Read: r.words(n, "read"), Edit: r.words(n, "edit"), Fields: r.words(n, "fields")}
	var known [2]bool
	c.Require, known[0] = r.Bool(n.Get("require"), "require")
	c.Dedup, known[1] = r.Bool(n.Get("dedup"), "dedup")
	if !c.Require && !c.Dedup && known[0] == (n.Get("require") != nil) && known[1] == (n.Get("dedup") != nil) {
		r.Fault(n.Pos, "write `require = true`, `dedup = true` or both", "`read_first` would do nothing")
	}
	return c
}

func (r *reader) dedup(n *doc.Node) *DedupConfig {
	if !r.Table(n, "dedup", "tools", "keep", "max_bytes", "wait_ms") {
		return nil
	}
	r.Require(n, "tools")
	return &DedupConfig{
		Tools: tools(r, n.Get("tools"), "tools", func(n *doc.Node) []string {
			fields, _ := r.Strings(n, "members of the input")
			return fields
		}),
		Keep: r.number(n, "keep", 1, false), MaxBytes: r.number(n, "max_bytes", 1, false), WaitMS: r.number(n, "wait_ms", 1, false),
	}
}

func (r *reader) redact(n *doc.Node) *RedactConfig {
	if !r.Table(n, "redact", "tools", "patterns", "with") {
		return nil
	}
	c := &RedactConfig{Tools: r.words(n, "tools"), Patterns: r.words(n, "patterns"), With: r.text(n, "with", false)}
	for i, p := range c.Patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			r.Fault(n.Get("patterns").Items[i].Pos, "patterns are Go's, without lookaround", "`patterns[%d]`: %v", i, err)
		} else if re.MatchString("") {
			r.Fault(n.Get("patterns").Items[i].Pos, "", "`patterns[%d]`: %s matches the empty text", i, doc.Quote(p))
		}
	}
	return c
}

func (r *reader) truncate(n *doc.Node) (c TruncateConfig) {
	if r.Table(n, "truncate", "tools", "max", "keep") {
		c.Tools, c.Max = r.words(n, "tools"), r.number(n, "max", 1, true)
		c.Keep, _ = r.OneOf(n.Get("keep"), "keep", KeepHead, KeepTail, KeepBoth)
	}
	return c
}

func (r *reader) outputBudget(n *doc.Node) *OutputBudgetConfig {
	if !r.Table(n, "output_budget", "max", "message") {
		return nil
	}
	return &OutputBudgetConfig{Max: r.number(n, "max", 1, true), Message: r.text(n, "message", false)}
}

func (r *reader) thinkingDecay(n *doc.Node) *ThinkingDecayConfig {
	if !r.Table(n, "thinking_decay", "budget", "after_turn", "floor", "field") {
		return nil
	}
	c := &ThinkingDecayConfig{
		Budget: r.number(n, "budget", 1, false), AfterTurn: r.number(n, "after_turn", 1, true),
		Floor: r.number(n, "floor", 0, true), Field: r.text(n, "field", false),
	}
	if c.Budget > 0 && c.Floor > c.Budget {
		r.Fault(n.Get("floor").Pos, "", "`floor` is %d, above `budget`, %d", c.Floor, c.Budget)
	}
	return c
}

func (r *reader) once(n *doc.Node) (c OnceConfig) {
	if r.Table(n, "once", "on", "tools", "note") {
		c.On, c.Tools, c.Note = r.text(n, "on", true), r.words(n, "tools"), r.text(n, "note", true)
	}
	return c
}
