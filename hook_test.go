package pawl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
)

// check is a hook that gives one verdict.
func check(name string, on pawl.Trigger, d pawl.Decision, may pawl.Effect) pawl.Hook {
	return pawl.Hook{Name: name, On: on, Effects: may, Handler: pawl.HandlerFunc(
		func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) { return d, nil })}
}

func refuse(name string) pawl.Hook {
	return check(name, pawl.ToolBefore, pawl.Decision{Verdict: pawl.Refuse, Reason: name + " says no"}, pawl.MayRefuse)
}

func registry(t testing.TB, opts pawl.Options, hooks ...pawl.Hook) *pawl.Registry {
	t.Helper()
	r, err := pawl.New(opts, hooks...)
	require.NoError(t, err)
	return r
}

func toolEvent() *pawl.Event {
	return &pawl.Event{Trigger: pawl.ToolBefore, Session: "s1", Turn: "t1", Call: "c1", Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}
}

func TestRefusalStands(t *testing.T) {
	var log bytes.Buffer
	r := registry(t, pawl.Options{Log: pawl.JSONLog(&log)}, refuse("a"), refuse("b"),
		check("c", pawl.ToolBefore, pawl.Decision{Notes: []string{"hello"}}, pawl.MayNote))
	out, err := r.Dispatch(context.Background(), toolEvent())
	require.NoError(t, err)
	require.Equal(t, pawl.Refuse, out.Verdict)
	require.Equal(t, "a says no", out.Decision().Reason, "at tool.before the first reason stands alone")
	require.Equal(t, []string{"hello"}, out.Decision().Notes)
	require.Len(t, out.Runs(), 3)
	require.Equal(t, 3, strings.Count(log.String(), "\n"))
	require.True(t, strings.HasPrefix(log.String(), `{"kind":"hook.run","name":"a","trigger":"tool.before","tool":"Bash","action":"","outcome":"ran","errored":false,"refused":true,"time":"`), log.String())
}

func TestTimeoutRefusesAndReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := pawl.Hook{Name: "slow", On: pawl.ToolBefore, Effects: pawl.MayRefuse, Timeout: time.Second,
			Handler: pawl.HandlerFunc(func(ctx context.Context, _ *pawl.Event, _ pawl.Gate) (pawl.Decision, error) {
				<-ctx.Done()
				return pawl.Decision{}, ctx.Err()
			})}
		deaf := slow
		deaf.Name = "deaf"
		stop := make(chan bool)
		deaf.Handler = pawl.HandlerFunc(func(context.Context, *pawl.Event, pawl.Gate) (pawl.Decision, error) {
			<-stop
			return pawl.Decision{}, nil
		})
		r := registry(t, pawl.Options{}, slow, deaf)
		began := time.Now()
		out, err := r.Dispatch(t.Context(), toolEvent())
		require.NoError(t, err)
		require.Equal(t, 3*time.Second, time.Since(began))
		require.Equal(t, pawl.Refuse, out.Verdict)
		require.Equal(t, pawl.CauseTimeout, out.Runs()[0].Cause)
		require.Equal(t, pawl.CauseAbandoned, out.Runs()[1].Cause)
		close(stop)
	})
}

func TestRootImportsNoOS(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, ".").Output()
	require.NoError(t, err)
	for _, p := range strings.Fields(string(out)) {
		require.NotContains(t, []string{"os", "os/exec", "net", "syscall"}, p)
	}
	out, err = exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	for _, p := range strings.Fields(string(out)) {
		require.NotContains(t, []string{"os/exec", "net"}, p)
	}
}

var _ = errors.Is
var _ = runtime.NumGoroutine
