package slug

import "testing"

func TestMake(t *testing.T) {
	for _, c := range []struct{ title, want string }{
		{"Release notes", "release-notes"},
		{"What is new, Go?", "what-is-new-go"},
		{"  a pawl & ratchet", "a-pawl-ratchet"},
	} {
		if got := Make(c.title); got != c.want {
			t.Errorf("Make(%q) = %q, want %q", c.title, got, c.want)
		}
	}
}
