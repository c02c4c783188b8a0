package config_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pawl-hooks/pawl/config"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A model says of one hook what a reader of the documentation would expect.
type model struct {
	name, layer                string
	definition, script         int  // what is on disk now
	accepted                   bool // by pawl's store
	acceptedDef, acceptedBytes int
	off                        bool
}

func (h *model) runs(folder bool) bool {
	return !h.off && (h.layer == "user" || folder) &&
		h.accepted && h.acceptedDef == h.definition && h.acceptedBytes == h.script
}

// world is a machine with a hook in the user's layer and two in the project's, and the model of it.
type world struct {
	*machine
	hooks  []*model
	folder bool
}

func (w *world) save() {
	for _, h := range w.hooks {
		file := filepath.Join(w.home, h.name+".sh")
		require.NoError(w.t, os.WriteFile(file, fmt.Appendf(nil, "exit %d\n", h.script), 0o644))
	}
	line := func(h *model) string { return fmt.Sprintf("sh ~/%s.sh %d", h.name, h.definition) }
	w.user(hooks(line(w.hooks[0])), ".zerotwo", "hooks.json")
	w.project(hooks(line(w.hooks[1]), line(w.hooks[2])), ".codex", "hooks.json")
}

func (w *world) check() {
	set := w.load()
	var runs, want []string
	for _, h := range set.Hooks {
		runs = append(runs, h.Name)
	}
	waits := 0
	for _, h := range w.hooks {
		if h.runs(w.folder) {
			want = append(want, h.name)
		} else if !h.off {
			waits++
		}
	}
	require.Equal(w.t, want, runs)
	require.Len(w.t, set.Entries, len(w.hooks), "every handler is accounted for")
	require.Len(w.t, set.Pending, waits)
	for _, e := range set.Pending {
		require.NotEmpty(w.t, e.Reason)
	}
	require.Equal(w.t, waits > 0, len(set.Warnings) == 1)
}

// A step does one thing to one hook, to the files and to the model alike.
type step func(w *world, set *config.Set, h *model) error

var steps = map[string]step{
	"accept": func(_ *world, set *config.Set, h *model) error {
		h.accepted, h.acceptedDef, h.acceptedBytes = true, h.definition, h.script
		_, err := set.Accept(h.name)
		return err
	},
	"accept all": func(w *world, set *config.Set, _ *model) error {
		for _, h := range w.hooks {
			h.accepted, h.acceptedDef, h.acceptedBytes = true, h.definition, h.script
		}
		_, err := set.AcceptAll()
		return err
	},
	"revoke": func(_ *world, set *config.Set, h *model) error {
		h.accepted = false
		_, err := set.Revoke(h.name)
		return err
	},
	"enable": func(_ *world, set *config.Set, h *model) error {
		h.off = false
		_, err := set.Enable(h.name)
		return err
	},
	"disable": func(_ *world, set *config.Set, h *model) error {
		h.off = true
		_, err := set.Disable(h.name)
		return err
	},
	"trust the folder": func(w *world, set *config.Set, _ *model) error {
		w.folder = true
		_, err := set.AcceptProject(w.root)
		return err
	},
	"distrust the folder": func(w *world, set *config.Set, _ *model) error {
		w.folder = false
		_, err := set.RevokeProject(w.root)
		return err
	},
	"edit the definition": func(_ *world, _ *config.Set, h *model) error { h.definition = 1 - h.definition; return nil },
	"edit the script":     func(_ *world, _ *config.Set, h *model) error { h.script = 1 - h.script; return nil },
}

// The store is synced at each step, so runs are few; each has its own seed and is the same every time.
func TestTrustFollowsItsModel(t *testing.T) {
	names := slices.Sorted(maps.Keys(steps))
	walk := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int {
		return [2]int{rapid.IntRange(0, len(names)-1).Draw(t, "step"), rapid.IntRange(0, 2).Draw(t, "hook")}
	}), 40, 40)
	for seed := range 5 {
		w := &world{machine: newMachine(t)}
		for i, layer := range []string{"user", "project", "project"} {
			w.hooks = append(w.hooks, &model{name: fmt.Sprintf("%s-pre-tool-use-0-%d", layer, max(i-1, 0)), layer: layer})
		}
		w.save()
		for _, at := range walk.Example(seed) {
			set, h := w.load(), w.hooks[at[1]]
			t.Logf("seed %d: %s %s", seed, names[at[0]], h.name)
			require.NoError(t, steps[names[at[0]]](w, &set, h))
			w.save()
			w.check()
		}
	}
}
