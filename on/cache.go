package on

import (
	"context"

	"github.com/pawl-hooks/pawl"
)

// Sections are the parts of a system prompt that a provider's cache hangs on: the Payload of cache.break and
// cache.drift. Which requests are compared, and against what baseline, is for the runtime's own detector: pawl
// carries what it found.
type Sections struct {
	SkillsCatalog   string `json:"skillsCatalog"`
	ToolsCatalog    string `json:"toolsCatalog"`
	MCPInstructions string `json:"mcpInstructions"`
	Rules           string `json:"rules"`       // the rules block of the context sections
	HostStatic      string `json:"hostStatic"`  // the rest of the prompt above the boundary
	HostDynamic     string `json:"hostDynamic"` // the rest below it
}

// CacheBreak makes a hook that watches requests whose cached prefix was lost.
func CacheBreak(name string, f func(ctx context.Context, ev *pawl.Event, s Sections)) pawl.Hook {
	return ObserveAs(name, pawl.CacheBreak, f)
}

// CacheDrift makes a hook that watches requests whose prefix changed where it should not.
func CacheDrift(name string, f func(ctx context.Context, ev *pawl.Event, s Sections)) pawl.Hook {
	return ObserveAs(name, pawl.CacheDrift, f)
}
