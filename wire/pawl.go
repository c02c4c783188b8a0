package wire

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/command"
)

// JSON is the codec of native hooks with wire = "json". The program is told the event in pawl's own JSON
// ([EncodeEvent]) on one line of its standard input, and answers on its standard output by one object, all
// of whose keys are optional:
//
//	{"verdict": "refuse", "reason": "…", "notes": ["…"], "input": …, "output": …}
//
// Printing nothing is Pass. Anything else that is not such an object, a key or a verdict it does not know, an
// exit code other than 0, and an answer that was cut are failures; but what the program forbade or put to a
// person, as far as that can be read anywhere in what it printed, stands, and where it asked for another input or output
// the failure refuses even under FailOpen: the program said that the original must not stand. An input or output
// of null is none, since many serializers write what is absent so. What the hook may do is not the codec's
// matter. The zero JSON is ready to use.
type JSON struct{}

// String returns the codec's definition.
func (JSON) String() string { return "pawl json" }

// Signed says that refusals are told under the hook's name.
func (JSON) Signed() bool { return true }

// Lines says that a program of this codec may be kept.
func (JSON) Lines() bool { return true }

// eventLineKey is that of an event's own line among what codecs share.
type eventLineKey struct{}

type eventLine struct {
	line []byte
	err  error
}

// Encode tells the event, encoded once however many hooks are asked.
func (JSON) Encode(ev *pawl.Event) (command.Message, error) {
	made, _ := ev.Once(eventLineKey{}, func() any {
		line, err := EncodeEvent(ev)
		return eventLine{append(line, '\n'), err}
	}).(eventLine)
	if made.err != nil {
		return command.Message{}, made.err
	}
	return command.Message{Stdin: made.line}, nil
}

// Decode reads the answer.
func (JSON) Decode(_ *pawl.Event, res pawl.Result) (pawl.Decision, error) {
	if err := command.Exited(res); err != nil {
		return forbidden(res.Stdout), explained(err, res.Stderr)
	}
	if cutAnswer(res) {
		return forbidden(res.Stdout), unreadable("the answer was cut")
	}
	text := bytes.TrimSpace(res.Stdout)
	if len(text) == 0 {
		return pawl.Decision{}, nil
	}
	d, err := readAnswer(text)
	if err != nil {
		return forbidden(text), unreadable("%w", err)
	}
	return d, nil
}

// An ownAnswer is what a program may print.
type ownAnswer struct {
	Verdict jsontext.Value `json:"verdict"`
	Reason  string         `json:"reason"`
	Notes   []string       `json:"notes"`
	Input   jsontext.Value `json:"input"`
	Output  jsontext.Value `json:"output"`
}

// readAnswer is strict: names in their exact case and once at any depth, valid UTF-8, and nothing behind.
func readAnswer(text []byte) (pawl.Decision, error) {
	if text[0] != '{' {
		return pawl.Decision{}, errors.New("the answer is no JSON object")
	}
	var a ownAnswer
	if err := json.Unmarshal(text, &a, json.RejectUnknownMembers(true)); err != nil {
		return pawl.Decision{}, wording(err)
	}
	verdict := pawl.Pass
	if a.Verdict != nil {
		if err := json.Unmarshal(a.Verdict, &verdict); err != nil || a.Verdict.Kind() != '"' {
			return pawl.Decision{}, fmt.Errorf("verdict %s is none of pass, allow, ask, refuse, halt", shortened(a.Verdict))
		}
	}
	return pawl.Decision{
		Verdict: verdict, Reason: a.Reason, Notes: a.Notes, Input: present(a.Input), Output: present(a.Output),
	}, nil
}

// present returns v, or nil for null.
func present(v jsontext.Value) []byte {
	if v.Kind() == 'n' {
		return nil
	}
	return []byte(v)
}

// wording says what is wrong with an answer in its own terms.
func wording(err error) error {
	var semantic *json.SemanticError
	switch {
	case errors.Is(err, json.ErrUnknownName) && errors.As(err, &semantic):
		return fmt.Errorf("the answer has an unknown key %q; it may have verdict, reason, notes, input, output", semantic.JSONPointer.LastToken())
	case errors.As(err, &semantic):
		return fmt.Errorf("the answer's %s has the wrong type: reason is a text, notes a list of texts", strings.TrimPrefix(string(semantic.JSONPointer), "/"))
	}
	return fmt.Errorf("the answer cannot be read: %s", strings.TrimPrefix(err.Error(), "jsontext: "))
}

func shortened(v jsontext.Value) string {
	const most = 40 // bytes
	if len(v) > most {
		return strings.ToValidUTF8(string(v[:most]), "") + "…"
	}
	return string(v)
}

// unusable stands for a rewrite that was asked for and cannot be applied. It is no JSON value, so that nothing
// ever goes on with it, and beside an error it makes the failure refuse even under FailOpen.
var unusable = []byte{}

// forbidden returns the strictest verdict in a text that is no answer, and its reason: of every object that
// begins anywhere in it, as far as it can be read, each verdict that asks, refuses or halts. Where any of them
// asks for another input or output, that is unusable.
func forbidden(text []byte) pawl.Decision {
	var strictest, asked pawl.Decision
	for o := range find(text) {
		d := restriction(o)
		asked = asked.Join(pawl.Decision{Input: d.Input, Output: d.Output})
		if d.Verdict > strictest.Verdict {
			strictest = d
		}
	}
	strictest.Input, strictest.Output = asked.Input, asked.Output
	return strictest
}

// restriction returns what o forbids. A name in another case is a fault, and meant all the same.
func restriction(o object) (d pawl.Decision) {
	reason := ""
	for _, m := range o {
		said, _ := unquote(m.value)
		switch asks := m.value.Kind() != 'n'; strings.ToLower(m.name) {
		case "verdict":
			d.Verdict = max(d.Verdict, restricts(said))
		case "reason":
			reason = cmp.Or(said, reason)
		case "input":
			if asks {
				d.Input = unusable
			}
		case "output":
			if asks {
				d.Output = unusable
			}
		}
	}
	if d.Verdict != pawl.Pass {
		d.Reason = strings.ToValidUTF8(reason, "\uFFFD")
	}
	return d
}

// restricts reads a verdict that narrows, in whatever case it was written; everything else is Pass.
func restricts(word string) pawl.Verdict {
	for _, v := range []pawl.Verdict{pawl.Ask, pawl.Refuse, pawl.Halt} {
		if strings.EqualFold(strings.TrimSpace(word), v.String()) {
			return v
		}
	}
	return pawl.Pass
}
