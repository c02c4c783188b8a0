package on

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-hooks/pawl"
)

// Named gives every hook without a name one made from its trigger and a number: tool-before-1. Names that are
// taken, by the hooks themselves or by those in taken, are passed over, so the same list gets the same names
// every time. The hooks given are not changed.
func Named(hooks []pawl.Hook, taken ...string) []pawl.Hook {
	hooks = slices.Clone(hooks)
	used := map[string]bool{}
	for _, name := range taken {
		used[name] = true
	}
	for _, h := range hooks {
		used[h.Name] = true
	}
	for i := range hooks {
		for n := 1; hooks[i].Name == ""; n++ {
			if name := fmt.Sprintf("%s-%d", stem(hooks[i].On), n); !used[name] {
				hooks[i].Name, used[name] = name, true
			}
		}
	}
	return hooks
}

// stem turns a trigger into words that a hook's name may begin with.
func stem(t pawl.Trigger) string {
	words := strings.FieldsFunc(strings.ToLower(string(t)), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	if len(words) == 0 {
		return "hook"
	}
	return strings.Join(words, "-")
}

// Add adds hooks to l as one: one undo takes all of them away, and may be called twice. Hooks without a name
// get one that is free in l, as [Named] makes it.
func Add(l *pawl.Live, hooks ...pawl.Hook) (undo func(), err error) {
	for {
		before := l.Registry()
		var taken []string
		for h := range before.Hooks() {
			taken = append(taken, h.Name)
		}
		undo, err = l.Add(Named(hooks, taken...)...)
		if err == nil || l.Registry() == before {
			return undo, err
		}
		// l changed meanwhile, so a name may have been taken under our hands.
	}
}

// Undo makes one undo of many. They run last first, each once however often it is called; nil ones are passed
// over. It may be called concurrently.
func Undo(undos ...func()) func() {
	undos = slices.Clone(undos)
	slices.Reverse(undos)
	return sync.OnceFunc(func() {
		for _, undo := range undos {
			if undo != nil {
				undo()
			}
		}
	})
}
