package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl"
)

func TestOnlyAHookOverASecondIsNamedAndTheLineGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown bytes.Buffer
		p := newProgress(&shown)
		quick, slow := &pawl.Hook{Name: "quick"}, &pawl.Hook{Name: "slow", Status: "Asking\x1b[2J around"}
		p.trace().Started(quick, nil)
		time.Sleep(900 * time.Millisecond)
		p.trace().Finished(quick, nil)
		p.trace().Started(slow, nil)
		p.trace().Started(quick, nil)
		time.Sleep(900 * time.Millisecond)
		synctest.Wait()
		p.mu.Lock()
		require.Empty(t, shown.String())
		p.mu.Unlock()
		time.Sleep(1500 * time.Millisecond)
		p.trace().Finished(slow, nil)
		p.trace().Finished(quick, nil)
		p.stop()
		require.Contains(t, shown.String(), "\r\x1b[Kwaiting for hook slow: Asking\\x1b[2J around (and 1 more) 1s")
		require.Contains(t, shown.String(), "(and 1 more) 2s")
		require.True(t, bytes.HasSuffix(shown.Bytes(), []byte("s\r\x1b[K")), "%q", shown.String())
	})
}
