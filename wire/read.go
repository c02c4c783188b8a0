package wire

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl"
)

// object reads one whole object as an answer.
func (r *reading) object(o object) (pawl.Decision, error) {
	a := answer{reading: *r, top: o, specific: o.inner("hookSpecificOutput")}
	a.shape()
	said := a.meaning()
	d := r.restrict(pawl.Decision{}, o)
	a.stranger(said, d)
	if s, _ := o.text("systemMessage"); strings.TrimSpace(s) != "" {
		a.warnings = append([]string{r.told(s)}, a.warnings...)
	}
	if a.fault != "" {
		d = r.unapplied(d, o)
		d.Warnings = a.warnings
		return d, unreadable("%s", a.fault)
	}
	d = said.Join(d)
	d.Warnings = a.warnings
	return d, nil
}

// An answer is one object being read for what it says beyond its restrictions.
type answer struct {
	reading
	top, specific object
	fault         string   // the first thing that makes it no answer
	warnings      []string // for the person
	unknown       []string // keys that its format does not know
	known         int      // how many it does know
}

func (a *answer) fail(format string, args ...any) {
	if a.fault == "" {
		a.fault = fmt.Sprintf(format, args...)
	}
}

// shape checks names and kinds.
func (a *answer) shape() {
	for _, m := range a.top {
		switch known := slices.Contains(universal[a.codec.Flavour], m.name) || slices.Contains(a.row.top, m.name); {
		case !known || m.name == "hookSpecificOutput" && a.row.specific == nil:
			a.unknown = append(a.unknown, m.name)
		default:
			a.known++
			a.kind(m)
		}
	}
	a.shapeSpecific()
	a.refusedKeys()
}

func (a *answer) shapeSpecific() {
	v := a.top.get("hookSpecificOutput")
	if v == nil || a.row.specific == nil {
		return
	}
	if v.Kind() != '{' {
		a.fail("hookSpecificOutput is no object")
		return
	}
	event, ok := a.specific.text("hookEventName")
	switch r := a.codec.Flavour.named(event); {
	case !ok:
		a.fail("hookSpecificOutput has no hookEventName")
	case r == nil || r.deaf:
		a.fail("hookSpecificOutput.hookEventName %q is no event that has one", event)
	}
	for _, m := range a.specific {
		switch {
		case m.name == "hookEventName":
		case slices.Contains(a.row.specific, m.name), slices.Contains(a.row.lost, m.name):
			a.known++
			a.kind(m)
		default:
			a.unknown = append(a.unknown, "hookSpecificOutput."+m.name)
		}
	}
}

// kind checks the kind of a value whose key is known.
func (a *answer) kind(m objectMember) {
	switch m.name {
	case "continue", "suppressOutput":
		if !isTruth(m.value) {
			a.fail("%s is not true or false", m.name)
		}
	case "stopReason", "systemMessage", "reason", "additionalContext", "permissionDecision",
		"permissionDecisionReason":
		if !isText(m.value) {
			a.fail("%s is no text", m.name)
		}
	}
}

// refusedKeys fails an answer that uses what its host knows and does not support.
func (a *answer) refusedKeys() {
	for _, name := range a.row.refused {
		for _, o := range []object{a.top, a.specific} {
			v := o.get(name)
			switch {
			case v == nil, name == "suppressOutput" && v.Kind() != 't', name == "continue" && v.Kind() != 'f':
			case name == "stopReason" && stopped(a.top): // it says why
			case stopped(a.top) && a.row.stop == replaces: // which wins over what is not supported
			default:
				a.fail("%s is not supported at %s", name, a.row.event)
			}
		}
	}
}

// meaning reads the decision, the notes and what is rewritten.
func (a *answer) meaning() pawl.Decision {
	var d pawl.Decision
	if slices.Contains(a.row.top, "decision") {
		a.decision()
	}
	switch a.row.trigger {
	case pawl.ToolBefore:
		d = a.permission()
	case pawl.ToolApproval:
		d = a.approval()
	case pawl.ToolAfter:
		d = a.replacement()
	}
	text, _ := a.specific.text("additionalContext")
	switch {
	case strings.TrimSpace(text) == "" || !slices.Contains(a.row.specific, "additionalContext"):
	case a.row.effects&pawl.MayNote == 0: // the agent goes on with it
		d = d.Join(pawl.Decision{Verdict: pawl.Refuse, Reason: a.context(text)})
	default:
		d.Notes = append(d.Notes, a.context(text))
	}
	return d
}

// decision reads the top-level decision, whose words are the same at every event that has it.
func (a *answer) decision() {
	v := a.top.get("decision")
	word, _ := unquote(v)
	_, reason := a.top.text("reason")
	before := a.row.trigger == pawl.ToolBefore
	switch {
	case v == nil && reason && a.needsDecision():
		a.fail("a reason without a decision")
	case v == nil, word == "block", word == "approve" && before:
	default:
		a.fail("decision %s is unknown", v)
	}
	if word == "approve" && before && a.specific.get("permissionDecision") == nil {
		a.meaningless()
	}
}

// needsDecision reports whether a reason alone says that something was misspelt.
func (a *answer) needsDecision() bool {
	switch a.row.trigger {
	case pawl.ToolBefore:
		return a.specific.get("permissionDecision") == nil
	case pawl.ToolAfter:
		return !stopped(a.top)
	}
	return false
}

// permission reads the form that only PreToolUse has.
func (a *answer) permission() pawl.Decision {
	v, input := a.specific.get("permissionDecision"), a.specific.get("updatedInput")
	word, _ := unquote(v)
	_, reason := a.specific.text("permissionDecisionReason")
	may := word == "allow" || word == "ask" && a.codec.Flavour == Claude
	switch {
	case v == nil && reason:
		a.fail("permissionDecisionReason without permissionDecision")
	case v != nil && !slices.Contains([]string{"allow", "deny", "ask"}, word) &&
		!(word == "defer" && a.codec.Flavour == Claude):
		a.fail("permissionDecision %s is unknown", v)
	case input != nil && !may && word != "deny":
		a.fail("updatedInput without permissionDecision allow")
	case input != nil && input.Kind() != '{':
		a.fail("updatedInput is no object")
	case input != nil && (a.ev.Tool == "Bash" || a.ev.Tool == "apply_patch") && !hasCommand(input):
		a.fail("updatedInput for %s has no text \"command\"", a.ev.Tool)
	case input != nil:
		return pawl.Decision{Input: bytes.Clone(input)}
	case word == "allow":
		a.meaningless()
	}
	return pawl.Decision{}
}

func hasCommand(input []byte) bool {
	o, _, _ := parse(input)
	_, ok := o.text("command")
	return ok
}

// meaningless warns, once per load, that an allow narrows nothing.
func (a *answer) meaningless() {
	if w := a.codec.Warned; w == nil || w.CompareAndSwap(false, true) {
		a.warnings = append(a.warnings,
			"a hook's allow approves nothing here: the policy decides (said once)")
	}
}

// approval reads the answer to the question that the policy left open.
func (a *answer) approval() pawl.Decision {
	v := a.specific.get("decision")
	if v == nil {
		return pawl.Decision{}
	}
	o := a.specific.inner("decision")
	if o == nil {
		a.fail("decision is no object")
		return pawl.Decision{}
	}
	for _, m := range o {
		switch m.name {
		case "behavior", "message", "updatedInput", "updatedPermissions", "interrupt":
			a.known++
		default:
			a.unknown = append(a.unknown, "decision."+m.name)
		}
	}
	if m := o.all("message"); len(m) > 0 && !isText(m[0]) {
		a.fail("decision.message is no text")
	}
	if o.get("updatedInput") != nil {
		a.fail("decision.updatedInput is not supported at %s", a.row.event)
	}
	a.reserved(o)
	switch word, _ := o.text("behavior"); word {
	case "allow":
		return pawl.Decision{Verdict: pawl.Allow}
	case "deny": // a restriction, which is read already
	default:
		a.fail("decision.behavior %s is unknown", cmp.Or(string(o.get("behavior")), "null"))
	}
	return pawl.Decision{}
}

// reserved reads what ZeroCode keeps for later and Claude does for itself.
func (a *answer) reserved(o object) {
	permissions := o.get("updatedPermissions") != nil
	interrupt := o.all("interrupt")
	switch {
	case len(interrupt) > 0 && !isTruth(interrupt[0]):
		a.fail("decision.interrupt is not true or false")
	case a.codec.Flavour == Claude && permissions:
		a.warnings = append(a.warnings, "updatedPermissions is not carried: only this request is answered")
	case a.codec.Flavour == Claude:
	case permissions:
		a.fail("decision.updatedPermissions is not supported at %s", a.row.event)
	case len(interrupt) > 0 && interrupt[0].Kind() == 't':
		a.fail("decision.interrupt is not supported at %s", a.row.event)
	}
}

// replacement reads a new result, which Claude alone has.
func (a *answer) replacement() pawl.Decision {
	for _, key := range a.row.rewrites {
		switch v := a.specific.get(key); {
		case v == nil:
		case !a.concerns(key):
			a.warnings = append(a.warnings, key+" is ignored for "+a.ev.Tool)
		default:
			return pawl.Decision{Output: bytes.Clone(v)}
		}
	}
	return pawl.Decision{}
}

// stranger judges keys that the format does not know. They never cancel a restriction; beside anything else
// they may qualify what is granted, so an allow with one is no answer, nor is one that says nothing else.
func (a *answer) stranger(said, d pawl.Decision) {
	for _, name := range a.row.lost {
		if a.specific.get(name) != nil || a.top.get(name) != nil {
			a.warnings = append(a.warnings, name+" is not carried")
		}
	}
	if len(a.unknown) == 0 {
		return
	}
	names := strings.Join(a.unknown, ", ")
	switch {
	case d.Verdict >= pawl.Refuse, d.Verdict == pawl.Ask && !a.codec.Strict:
	case a.known == 0, a.codec.Strict, said.Verdict == pawl.Allow:
		a.fail("%s has no %s", a.row.event, names)
	default:
		a.warnings = append(a.warnings, fmt.Sprintf("%s has no %s: ignored", a.row.event, names))
	}
}
