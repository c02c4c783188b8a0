//go:build !unix

package pawltest

import "time"

// A beacon is a named pipe as Unix has it; elsewhere the rules that need one are left out.
type beacon struct{ path string }

func newBeacon(string) (*beacon, error)  { return nil, nil }
func (*beacon) close()                   {}
func (*beacon) lit(<-chan struct{}) bool { return false }
func (*beacon) gone(time.Duration) bool  { return true }

const hasSignals = false
