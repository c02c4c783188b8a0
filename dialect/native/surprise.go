package native

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/internal/doc"
)

// surprises warns of what is valid and most likely not what its author thinks.
func (h *hook) surprises(c carrier) {
	if !h.has("output") && slices.Contains(c.outputs, "refuse") && !h.Rewrite && !h.Replace {
		h.warn(h.node.Pos, `a check needs output = "refuse"; write output = "ignore" if it is none`, "%s runs at %s without `output`: whatever it finds, nothing is refused", doc.Quote(h.Name), c.trigger)
	}
	for _, key := range []string{"paths", "if", "wire"} {
		if h.good(key) && c.tool {
			h.warn(h.node.Field(key).Pos, "text that the model wrote can then decide what the hook does", "`%s` lets the hook see the call's arguments", key)
		}
	}
	if h.has("fail_open") && h.FailOpen && h.mild() {
		h.warn(h.at("fail_open"), "leave it out", "`fail_open` does nothing here: this hook's failure never refuses")
	}
	const brief = 100
	if h.good("timeout_ms") && h.TimeoutMS < brief {
		h.warn(h.at("timeout_ms"), "30 seconds are 30000", "`timeout_ms` %d is less than a program needs to start", h.TimeoutMS)
	}
	h.unexpanded()
}

// mild reports whether the hook has no say.
func (h *hook) mild() bool { return h.Output != "refuse" && !h.Rewrite && !h.Replace }

var variable = regexp.MustCompile(`\$(\{?[A-Za-z_][A-Za-z0-9_]*\}?|\()`)

// unexpanded warns of what a shell would have expanded, or split.
func (h *hook) unexpanded() {
	if h.good("run") {
		at, program := h.node.Get("run").Items[0].Pos, h.Run[0]
		switch {
		case variable.MatchString(program):
			h.warn(at, "write a path below the session's directory, ./h.sh; or name a shell: sh, -c", "`run` is never expanded: the program is called %s as it stands", doc.Quote(program))
		case strings.HasPrefix(program, "~/"):
			h.warn(at, "write the whole path", "`run` is never expanded: ~ stands for no home here")
		case len(h.Run) == 1 && strings.ContainsAny(program, " \t") && !drivePath.MatchString(program):
			h.warn(at, h.asList(h.node.Get("run").Items[0], field{name: "run"}), "`run` is one word with a space in it: the program is called %s", doc.Quote(program))
		}
	}
	if h.good("dir") && (strings.HasPrefix(h.Dir, "~") || variable.MatchString(h.Dir)) {
		h.warn(h.at("dir"), "write the path out", "`dir` is never expanded: %s is taken as it stands", doc.Quote(h.Dir))
	}
	if !h.good("env") {
		return
	}
	for _, v := range h.node.Get("env").Fields {
		if variable.MatchString(v.Value.Text) {
			h.warn(v.Value.Pos, "write the value out", "`env` is never expanded: %s is %s as it stands", v.Name, doc.Quote(v.Value.Text))
		}
	}
}

// registers asks the registry whether it would take the hook: what loads can be used.
func (h *hook) registers(built pawl.Hook) {
	if _, err := pawl.New(pawl.Options{Triggers: h.opts.Triggers}, built); err != nil {
		h.Fault(h.node.Pos, "", "%s: %s", built.On, problem(err))
	}
}
