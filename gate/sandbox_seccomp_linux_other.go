//go:build linux && !amd64

package gate

// oldAttributeCalls are those that newer architectures never had; a filter for older ones, which have them
// too, matches no call of theirs anyway.
func oldAttributeCalls() []uint32 { return nil }
