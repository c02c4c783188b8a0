package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/pawl-hooks/pawl"
)

// A ThinkingDecay lowers the thinking budget of later turns, in one step: turns 1 to AfterTurn, by Event.Step,
// have Budget, those after it Floor. One step and not a slope, because the budget is part of some providers'
// cache keys, and each new value pays for the whole prompt again. It never raises a budget that the runtime
// set lower.
type ThinkingDecay struct {
	Name      string // of its hook; empty: "thinking-decay"
	Budget    int    // tokens; zero: what the runtime asks for
	AfterTurn int    // the last turn with the whole budget; at least 1
	Floor     int    // tokens; at most Budget

	// Field is the member of the turn.before input, the request options, that holds the budget. Empty:
	// "thinking_budget". Members within members are parted by dots: "thinking.budget_tokens".
	Field string
}

// Hooks returns the hook of the guard, or every fault in its settings.
func (t *ThinkingDecay) Hooks() ([]pawl.Hook, error) {
	name := cmp.Or(t.Name, "thinking-decay")
	var faults []error
	if t.AfterTurn < 1 {
		faults = append(faults, fmt.Errorf("guard %s: after_turn is %d, want at least 1: turns are counted from 1", name, t.AfterTurn))
	}
	if t.Budget < 0 || t.Floor < 0 {
		faults = append(faults, fmt.Errorf("guard %s: budget and floor must not be below zero", name))
	}
	if t.Budget > 0 && t.Floor > t.Budget {
		faults = append(faults, fmt.Errorf("guard %s: floor is %d, above the budget of %d", name, t.Floor, t.Budget))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return []pawl.Hook{{Name: name, On: pawl.TurnBefore, Effects: pawl.MayRewrite, Handler: pawl.HandlerFunc(t.apply)}}, nil
}

func (t *ThinkingDecay) apply(_ context.Context, ev *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
	budget := t.Budget
	if ev.Step > t.AfterTurn {
		budget = t.Floor
	} else if budget == 0 {
		return pawl.Decision{}, nil
	}
	var input []byte = ev.Input
	if input == nil {
		input = []byte("{}")
	}
	out, changed, err := lower(input, splitField(cmp.Or(t.Field, "thinking_budget")), budget)
	if err != nil || !changed {
		return pawl.Decision{}, err
	}
	return pawl.Decision{Input: out}, nil
}

// lower sets the member at the path to n, unless it is a number at or below n already.
func lower(v []byte, path []string, n int) (out []byte, changed bool, err error) {
	members, err := object(v)
	if err != nil {
		return nil, false, err
	}
	next := []byte(strconv.Itoa(n))
	if was, ok := members[path[0]]; len(path) > 1 {
		if !ok {
			was = []byte("{}")
		}
		if next, changed, err = lower(was, path[1:], n); err != nil || !changed {
			return nil, false, err
		}
	} else if ok {
		set, err := strconv.ParseFloat(string(was), 64)
		if err != nil {
			return nil, false, fmt.Errorf("%s is %s, want a number", path[0], was)
		}
		if set <= float64(n) {
			return nil, false, nil
		}
	}
	members[path[0]] = next
	out, err = jsonv2.Marshal(members, jsonv2.Deterministic(true))
	return out, true, err
}

func splitField(path string) []string { return strings.Split(path, ".") }
