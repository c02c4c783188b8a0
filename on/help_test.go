package on_test

import (
	"encoding/json"
	"testing"

	"github.com/pawl-hooks/pawl"
	"github.com/stretchr/testify/require"
)

func registry(t testing.TB, hooks ...pawl.Hook) *pawl.Registry {
	t.Helper()
	reg, err := pawl.New(pawl.Options{}, hooks...)
	require.NoError(t, err)
	return reg
}

func fire(t testing.TB, reg *pawl.Registry, ev pawl.Event) pawl.Outcome {
	t.Helper()
	out, err := reg.Dispatch(t.Context(), &ev)
	require.NoError(t, err)
	return out
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func shell(input string) pawl.Event {
	return pawl.Event{Trigger: pawl.ToolBefore, Tool: "shell", Input: raw(input)}
}
