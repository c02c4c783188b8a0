package wire

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pawl-hooks/pawl"
)

// mostReasons bounds how many reasons of one answer are told. What they are reasons of counts all the same.
const mostReasons = 64

// restrictions returns what was forbidden, stopped or put to a person in anything that was printed, however
// badly the rest was put. It is the least that any reading of the answer comes to.
func (r *reading) restrictions(p printed) pawl.Decision {
	var d pawl.Decision
	reasons := 0
	for _, o := range p.objects {
		said := r.unapplied(r.restrict(pawl.Decision{}, o), o)
		again := said.Verdict == d.Verdict && said.Reason == d.Reason // what breaks off is found in what it is in, too
		switch {
		case said.Reason == "" && said.Notes == nil:
		case reasons == mostReasons && said.Verdict <= d.Verdict, again && said.Notes == nil:
			said.Reason, said.Notes = "", nil
		default:
			reasons++
		}
		d = d.Join(said)
	}
	return d
}

// unapplied asks for an unusable rewrite where o rewrites what happens and cannot be believed: the hook said that
// the original must not stand.
func (r *reading) unapplied(d pawl.Decision, o object) pawl.Decision {
	if instead, ok := unquote(jsontext.Value(d.Output)); ok { // a failed hook replaces nothing, so it refuses
		d.Output, d.Fail = nil, nil
		d = d.Join(pawl.Decision{Verdict: pawl.Refuse, Reason: instead})
	}
	asks := slices.ContainsFunc(o, func(m objectMember) bool {
		return m.name == "hookSpecificOutput" && slices.ContainsFunc(m.inner, r.rewriting)
	})
	switch {
	case !asks, d.Verdict >= pawl.Refuse:
	case r.row.effects&pawl.MayRewrite != 0:
		d.Input = unusable
	default:
		d.Output = unusable
	}
	return d
}

// rewriting reports whether m asks for something else in place of what the event is of.
func (r *reading) rewriting(m objectMember) bool {
	return slices.Contains(r.row.rewrites, m.name) && m.value.Kind() != 'n' && r.concerns(m.name)
}

// concerns reports whether a key that rewrites is meant for the event's tool.
func (r *reading) concerns(key string) bool {
	return key != "updatedMCPToolOutput" || strings.HasPrefix(r.ev.Tool, "mcp__")
}

// speaks reports whether o has a key by which answers of the event's format, or of another event's, decide. A
// reason alone says nothing: the lines of logs have one too.
func (r *reading) speaks(o object) bool {
	return slices.ContainsFunc(o, func(m objectMember) bool {
		switch m.name {
		case "reason":
			return false
		case "decision", "permissionDecision", "behavior":
			return true
		}
		return slices.Contains(universal[r.codec.Flavour], m.name) || slices.Contains(r.row.top, m.name)
	})
}

// restrict joins o's restrictions to d.
func (r *reading) restrict(d pawl.Decision, o object) pawl.Decision {
	asks, blocks, why := verdictIn(o)
	if asks && r.row.effects&pawl.MayAsk != 0 {
		d = d.Join(pawl.Decision{Verdict: pawl.Ask, Reason: strings.TrimSpace(why)})
	}
	if blocks {
		d = r.act(d, r.row.block, why)
	}
	if !stopped(o) {
		return d
	}
	reason := o.first("stopReason", "reason")
	if r.row.stop == replaces {
		reason = o.first("reason", "stopReason")
	}
	if blocks && r.row.stop == replaces {
		return d // refused: nothing of the result is delivered already
	}
	if blocks && r.row.stop == refuses {
		return d // said twice
	}
	return r.act(d, r.row.stop, cmp.Or(reason, strings.TrimSpace(why)))
}

func stopped(o object) bool {
	return slices.ContainsFunc(o, func(m objectMember) bool { return m.name == "continue" && m.value.Kind() == 'f' })
}

func saysBlock(objects []object) bool {
	for _, o := range objects {
		if _, blocks, _ := verdictIn(o); blocks {
			return true
		}
	}
	return false
}

// verdictIn looks for a deny or an ask in every place where some event has one.
func verdictIn(o object) (asks, blocks bool, why string) {
	look := func(o object, reasons ...string) {
		for _, m := range o {
			if m.name != "decision" && m.name != "permissionDecision" && m.name != "behavior" {
				continue
			}
			word, _ := unquote(m.value)
			switch strings.ToLower(strings.TrimSpace(word)) { // in another case it is unknown, and meant all the same
			case "block", "deny":
				blocks = true
				why = cmp.Or(why, o.first(reasons...))
			case "ask", "defer":
				asks = true
				why = cmp.Or(why, o.first(reasons...))
			}
		}
	}
	for _, m := range o {
		if m.name != "hookSpecificOutput" {
			continue
		}
		look(m.inner, "permissionDecisionReason", "reason", "message")
		for _, n := range m.inner {
			if n.name == "decision" {
				look(n.inner, "message", "reason")
			}
		}
	}
	look(o, "reason", "permissionDecisionReason", "message")
	if blocks && why == "" {
		why = o.first("stopReason")
	}
	return asks, blocks, why
}

// isText and its like are the kinds of value that keys have.
func isText(v jsontext.Value) bool  { return v.Kind() == '"' || v.Kind() == 'n' }
func isTruth(v jsontext.Value) bool { return v.Kind() == 't' || v.Kind() == 'f' }
