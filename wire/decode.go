package wire

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
)

// A reading is one program's answer being read.
type reading struct {
	codec Codec
	row   *row
	ev    *pawl.Event
	res   pawl.Result
}

func (r *reading) scan() printed { return scan(r.res.Stdout, r.speaks) }

// decide reads the exit code first: it says which stream, if any, the answer is in.
func (r *reading) decide() (pawl.Decision, error) {
	ended := command.Exited(r.res)
	switch {
	case r.row.deaf:
		return pawl.Decision{}, explained(ended, r.res.Stderr)
	case r.res.Signal != "" || r.res.Code < 0:
		return r.restrictions(r.scan()), ended
	case r.res.Code == 2 && r.row.exit2 != fails:
		return r.blocked()
	case r.res.Code != 0:
		return r.failed(ended)
	}
	return r.answered(r.scan())
}

// blocked reads exit code 2, the answer of which is on standard error. Claude's hooks may say more on
// standard output; of ZeroCode's only an end of the run counts there, which is more than a refusal.
func (r *reading) blocked() (pawl.Decision, error) {
	why := strings.ToValidUTF8(strings.TrimSpace(string(r.res.Stderr)), "\uFFFD")
	p := r.scan()
	if r.codec.Flavour != Claude {
		var d pawl.Decision
		if said := r.restrictions(p); said.Verdict == pawl.Halt {
			d = said
		}
		return r.act(d, r.row.exit2, why), nil
	}
	d, err := r.answered(p)
	if !p.whole || err != nil {
		d = r.restrictions(p)
	}
	if d.Verdict == pawl.Allow {
		d.Verdict = pawl.Pass
	}
	if r.row.exit2 == refuses && d.Reason != "" && d.Verdict >= pawl.Refuse || r.row.exit2 == notes && saysBlock(p.objects) {
		return d, nil // it gave its own reason, which is preferred
	}
	return r.act(d, r.row.exit2, why), nil
}

// failed reads an exit code that is no answer. Claude's hooks may answer all the same, by an object.
func (r *reading) failed(ended error) (pawl.Decision, error) {
	p := r.scan()
	if r.codec.Flavour == Claude && !r.codec.Strict && p.whole {
		return r.answered(p)
	}
	return r.restrictions(p), explained(ended, r.res.Stderr)
}

// answered reads what was printed as the whole answer.
func (r *reading) answered(p printed) (pawl.Decision, error) {
	switch {
	case len(p.text) == 0:
		return pawl.Decision{}, nil
	case p.whole && cutAnswer(r.res):
		return r.restrictions(p), unreadable("the answer was cut")
	case p.whole:
		return r.object(p.objects[0])
	}
	d := r.restrictions(p)
	switch {
	case p.fault != "" && (p.text[0] == '{' || d.Effects()&^pawl.MayNote != 0 || r.row.plain != notes):
		return d, unreadable("the answer cannot be read: %s", p.fault)
	case r.codec.Flavour == ZeroCode && p.text[0] == '[':
		return d, unreadable("the answer cannot be read: an array where an object is expected")
	case r.row.plain == fails, r.row.plain == nothing && r.codec.Strict && r.row.gates():
		return d, unreadable("the answer cannot be read: plain text where JSON is expected")
	case r.row.plain == notes:
		return r.act(d, notes, strings.ToValidUTF8(string(p.text), "\uFFFD")), nil
	case r.row.trigger == pawl.ToolBefore, r.row.trigger == pawl.ToolApproval: // who prints there may mean to answer
		d.Warnings = append(d.Warnings, r.codec.named("printed text that is no JSON object: it decides nothing here"))
	}
	return d, nil
}

// act adds to d what an action comes to, for a reason that may be blank.
func (r *reading) act(d pawl.Decision, a action, reason string) pawl.Decision {
	if !r.row.keepSpace {
		reason = strings.TrimSpace(reason)
	}
	switch a {
	case refuses:
		return d.Join(pawl.Decision{Verdict: pawl.Refuse, Reason: r.feedback(reason)})
	case halts:
		return d.Join(pawl.Decision{Verdict: pawl.Halt, Reason: r.told(reason)})
	case replaces:
		no := false
		said := cmp.Or(reason, "A hook stopped the processing of this result.")
		return d.Join(pawl.Decision{Output: quote(nil, r.feedback(said)), Fail: &no})
	case notes:
		return d.Join(pawl.Decision{Notes: []string{r.context(cmp.Or(reason, "A hook objected and gave no reason."))}})
	}
	return d
}

// feedback is a reason, which the model sees: it is spilled above the default limit, at every event.
func (r *reading) feedback(text string) string {
	if r.codec.Flavour == Claude && !r.row.spills && !overClaude(text) {
		return text
	}
	return r.codec.Spill.shorten(r.ev.Session, text, DefaultLimit)
}

// told is text for the person, which Claude spills too.
func (r *reading) told(text string) string {
	if r.codec.Flavour != Claude || !overClaude(text) {
		return text
	}
	return r.codec.Spill.shorten(r.ev.Session, text, DefaultLimit)
}

func overClaude(text string) bool { return utf8.RuneCountInString(text) > claudeInline }

// claudeInline is how many characters Claude's model is given as they are.
const claudeInline = 10_000

// context is text for the model, spilled above the hook's own limit.
func (r *reading) context(text string) string {
	limit := DefaultLimit
	if r.codec.Limit != nil {
		limit = *r.codec.Limit
	}
	if r.codec.Flavour == Claude && !overClaude(text) {
		return text
	}
	return r.codec.Spill.shorten(r.ev.Session, text, limit)
}
