package journal

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode"

	"github.com/pawl-hooks/pawl"
)

// Show writes one line for each entry:
//
//	hook tests-pass: zig build test            a program of a hook is about to start
//	$ git push                                 so is one of the agent's
//	  exit status: 1 (214 bytes)               it ended
//	  hook tests-pass: exit status: 1          so did that of the hook
//	  hook tests-pass: approval of exec.path.zig: asked (ask)
//	12:00:01 hook tests-pass on tool.before request_action: ran, exit 1, refused: 3 tests failed (1.2s)
//
// What a record holds is shown cut, and without the characters that would drive a terminal or forge a line.
// An entry that is no record is shown as such, with where it stands. It stops at the first error.
func Show(w io.Writer, entries iter.Seq2[*Entry, error]) error {
	for e, err := range entries {
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, e.show()+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func (e *Entry) show() string {
	if e.Err != nil {
		return fmt.Sprintf("? %s: %s: %s", e.at(), oneLine(e.Err.Error(), 120), oneLine(string(e.Raw), 80))
	}
	shows := map[string]func(*Entry) (string, error){
		"hook.run": showRun, "tool.call": showCall, "tool.result": showResult,
		"approval.request": showApproval, "approval.response": showApproval,
	}
	if f := shows[e.Kind]; f != nil {
		if s, err := f(e); err == nil {
			return s
		}
	}
	raw := e.Raw
	if record, _, _, ok := unseal(raw); ok {
		raw = append(record[:len(record):len(record)], '}')
	}
	return oneLine(e.Kind, 60) + " " + oneLine(string(raw), 160)
}

func showRun(e *Entry) (string, error) {
	r, err := e.Run()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if !r.Time.IsZero() {
		b.WriteString(r.Time.Format("15:04:05 "))
	}
	fmt.Fprintf(&b, "hook %s on %s", oneLine(r.Name, 80), oneLine(string(r.Trigger), 60))
	if r.Tool != "" {
		b.WriteString(" " + oneLine(r.Tool, 80))
	}
	b.WriteString(": " + strings.Join(runFacts(r), ", "))
	if r.Reason != "" {
		b.WriteString(": " + oneLine(r.Reason, 160))
	}
	if r.Elapsed > 0 {
		fmt.Fprintf(&b, " (%s)", r.Elapsed)
	}
	return b.String(), nil
}

// runFacts lists what is not as usual about a run.
func runFacts(r *pawl.Run) []string {
	facts := []string{oneLine(r.Outcome, 40)}
	add := func(is bool, fact string) {
		if is {
			facts = append(facts, fact)
		}
	}
	add(r.Stage == "recheck", "recheck")
	add(r.Code > 0, "exit "+strconv.Itoa(r.Code))
	add(r.Signal != "", "killed: "+oneLine(r.Signal, 40))
	add(r.Cause != "", "failed: "+oneLine(string(r.Cause), 40))
	add(r.PassedOpen, "passed open")
	add(r.Orphans, "orphans")
	add(r.Cut > 0, fmt.Sprintf("%d bytes cut", r.Cut))
	switch {
	case r.Shadow:
		facts = append(facts, "shadow, would "+r.Verdict.String())
	case r.Refused && r.Verdict == pawl.Halt:
		facts = append(facts, "halted")
	case r.Refused:
		facts = append(facts, "refused")
	default:
		add(r.Verdict != pawl.Pass, r.Verdict.String())
	}
	return facts
}

func showCall(e *Entry) (string, error) {
	var rec struct {
		ID        string `json:"id"`
		CallID    string `json:"call_id"` // as an agent's own records may spell it
		Tool      string
		Arguments json.RawMessage
	}
	if err := json.Unmarshal(e.Raw, &rec); err != nil {
		return "", err
	}
	words := callWords(rec.Tool, rec.Arguments)
	if of := ofHook(rec.ID + rec.CallID); of != "" {
		return of + words, nil
	}
	return "$ " + words, nil
}

// ofHook names the hook of a call's id, for the begin of a line; empty where it is no hook's.
func ofHook(id string) string {
	if name, ok := hookOf(id); ok {
		return "hook " + oneLine(name, 80) + ": "
	}
	return ""
}

// hookOf reads the name of a hook out of the id of its program's call: hook:NAME:ABOUT.
func hookOf(id string) (string, bool) {
	rest, ok := strings.CutPrefix(id, "hook:")
	name, _, ok2 := strings.Cut(rest, ":")
	return name, ok && ok2
}

// callWords shows a command: its words where they are a list, the line where there is one, else the tool
// and its arguments.
func callWords(tool string, args json.RawMessage) string {
	var list []string
	if json.Unmarshal(args, &list) == nil && len(list) > 0 {
		for i, word := range list {
			list[i] = shellWord(word)
		}
		return oneLine(strings.Join(list, " "), 200)
	}
	var text string
	if json.Unmarshal(args, &text) == nil {
		args = json.RawMessage(text)
	}
	var line struct{ Command string }
	if json.Unmarshal(args, &line) == nil && line.Command != "" {
		return oneLine(line.Command, 200)
	}
	return oneLine(strings.TrimSpace(tool+" "+string(args)), 200)
}

// shellWord quotes a word that a reader could take for several.
func shellWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func showResult(e *Entry) (string, error) {
	var rec struct {
		ID        string `json:"id"`
		CallID    string `json:"call_id"`
		Output    string
		Truncated bool
	}
	if err := json.Unmarshal(e.Raw, &rec); err != nil {
		return "", err
	}
	first, rest, _ := strings.Cut(rec.Output, "\n")
	s := "  " + ofHook(rec.ID+rec.CallID) + oneLine(first, 160)
	switch {
	case rec.Truncated:
		s += fmt.Sprintf(" (%d bytes, cut)", len(rest))
	case rest != "":
		s += fmt.Sprintf(" (%d bytes)", len(rest))
	}
	return s, nil
}

func showApproval(e *Entry) (string, error) {
	var rec struct {
		Action, Outcome, By, Reason, Decision string
		Session                               bool
		Call                                  string `json:"tool_call_id"`
	}
	if err := json.Unmarshal(e.Raw, &rec); err != nil {
		return "", err
	}
	s := fmt.Sprintf("  %sapproval of %s: ", ofHook(rec.Call), oneLine(rec.Action, 120))
	if e.Kind == "approval.request" {
		return s + "asked (" + oneLine(rec.Decision, 40) + ")", nil
	}
	s += oneLine(rec.Outcome, 40)
	if rec.Session {
		s += " for the session"
	}
	if rec.By != "" {
		s += " by " + oneLine(rec.By, 80)
	}
	if rec.Reason != "" {
		s += ": " + oneLine(rec.Reason, 120)
	}
	return s, nil
}

// oneLine shows text on one line, at most n runes of it.
func oneLine(s string, n int) string {
	var b strings.Builder
	for _, r := range s {
		if n--; n < 0 {
			b.WriteString("…")
			break
		}
		if unicode.IsGraphic(r) && r != unicode.ReplacementChar {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}
