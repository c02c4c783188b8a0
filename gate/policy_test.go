package gate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/gate"
)

var rulings = []gate.Ruling{gate.Deny, gate.AgentThenHuman, gate.Ask, gate.AgentReview, gate.Allow}

func act(action string, d gate.Ruling) gate.Rule { return gate.Rule{Action: action, Decision: d} }

func TestTheClosestRuleDecides(t *testing.T) {
	allow, deny, ask := gate.Allow, gate.Deny, gate.Ask
	tests := map[string]struct {
		rules []gate.Rule
		query gate.Query
		want  gate.Ruling
	}{
		"exact name before prefix":             {[]gate.Rule{act("git.*", allow), act("git.push", deny)}, gate.Query{Action: "git.push"}, deny},
		"prefix holds below":                   {[]gate.Rule{act("git.*", allow), act("git.push", deny)}, gate.Query{Action: "git.commit"}, allow},
		"prefix holds far below":               {[]gate.Rule{act("git.*", allow), act("git.push", deny)}, gate.Query{Action: "git.branch.delete"}, allow},
		"longer prefix before shorter":         {[]gate.Rule{act("git.*", allow), act("git.branch.*", deny)}, gate.Query{Action: "git.branch.delete"}, deny},
		"prefix is not itself":                 {[]gate.Rule{act("git.*", allow)}, gate.Query{Action: "git"}, ask},
		"prefix ends at a dot":                 {[]gate.Rule{act("git.*", allow)}, gate.Query{Action: "gitlab.push"}, ask},
		"nothing below an empty name":          {[]gate.Rule{act("git.*", allow)}, gate.Query{Action: "git."}, ask},
		"unnamed asks":                         {[]gate.Rule{act("git.*", allow)}, gate.Query{Action: "net.fetch"}, ask},
		"no rules ask":                         {nil, gate.Query{Action: "net.fetch"}, ask},
		"action outweighs tool":                {[]gate.Rule{{Tool: "hook", Decision: deny}, act("a.*", allow)}, gate.Query{Action: "a.b", Tool: "hook"}, allow},
		"tool outweighs model":                 {[]gate.Rule{{Model: "m", Decision: deny}, {Tool: "hook", Decision: allow}}, gate.Query{Action: "a", Tool: "hook", Model: "m"}, allow},
		"model outweighs agent kind":           {[]gate.Rule{{AgentKind: "main", Decision: deny}, {Model: "m", Decision: allow}}, gate.Query{Action: "a", Model: "m", AgentKind: "main"}, allow},
		"a second field breaks an equal first": {[]gate.Rule{act("a", deny), {Action: "a", Model: "m", Decision: allow}}, gate.Query{Action: "a", Model: "m"}, allow},
		"stricter on a full tie":               {[]gate.Rule{act("a", allow), act("a", deny), act("a", ask)}, gate.Query{Action: "a"}, deny},
		"a model nobody named is not matched":  {[]gate.Rule{{Action: "a", Model: "m", Decision: allow}}, gate.Query{Action: "a"}, ask},
		"agent_review as written":              {[]gate.Rule{act("a", gate.AgentReview)}, gate.Query{Action: "a"}, gate.AgentReview},
		"agent_then_human as written":          {[]gate.Rule{act("a", gate.AgentThenHuman)}, gate.Query{Action: "a"}, gate.AgentThenHuman},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := gate.Policy{Rules: tc.rules}
			require.Equal(t, tc.want, p.Judge(tc.query).Ruling)
			slices.Reverse(p.Rules)
			require.Equal(t, tc.want, p.Judge(tc.query).Ruling, "the order of rules matters")
		})
	}
}

func TestOrderOfRulesNeverMatters(t *testing.T) {
	pattern := rapid.SampledFrom([]string{"", "a", "a.b", "a.*", "a.b.*", "a.b.c", "z"})
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.Custom(func(t *rapid.T) gate.Rule {
			return gate.Rule{Action: pattern.Draw(t, "action"), Tool: pattern.Draw(t, "tool"), Model: pattern.Draw(t, "model"),
				AgentKind: pattern.Draw(t, "kind"), Decision: rapid.SampledFrom(rulings).Draw(t, "decision")}
		})
		rules := rapid.SliceOfN(rule, 0, 6).Draw(t, "rules")
		name := rapid.SampledFrom([]string{"a", "a.b", "a.b.c", "a.x", "z", "y"})
		q := gate.Query{Action: name.Draw(t, "q"), Tool: name.Draw(t, "qtool"), Model: name.Draw(t, "qmodel"), AgentKind: name.Draw(t, "qkind")}
		want := (&gate.Policy{Rules: rules}).Judge(q).Ruling
		got := (&gate.Policy{Rules: rapid.Permutation(rules).Draw(t, "shuffled")}).Judge(q).Ruling
		require.Equal(t, want, got)
	})
}

func TestProjectRulesGoBeforeDefaults(t *testing.T) {
	tests := map[string]gate.Rule{
		"by kind alone":   {AgentKind: "main", Decision: gate.Deny},
		"by model alone":  {Model: "m", Decision: gate.Deny},
		"by tool alone":   {Tool: "hook", Decision: gate.Deny},
		"by broad action": act("exec.*", gate.Deny),
	}
	for name, rule := range tests {
		t.Run(name, func(t *testing.T) {
			p := gate.Policy{Rules: []gate.Rule{rule}}
			ans := p.Judge(gate.Query{Action: "exec.path.jq", Tool: "hook", Model: "m", AgentKind: "main"})
			require.Equal(t, gate.Deny, ans.Ruling)
			require.Equal(t, "project", ans.Layer)
		})
	}
	t.Run("a rule narrows one default and the others stand", func(t *testing.T) {
		p := gate.Policy{Rules: []gate.Rule{{Tool: "hook", Decision: gate.Allow}, act("exec.workspace.*", gate.Deny)}}
		require.Equal(t, gate.Deny, p.Judge(gate.Query{Action: "exec.workspace.x", Tool: "hook"}).Ruling)
		require.Equal(t, gate.Allow, p.Judge(gate.Query{Action: "exec.path.x", Tool: "hook"}).Ruling)
	})
}

func TestShippedDefaults(t *testing.T) {
	tests := map[string]gate.Ruling{
		"exec.path.jq": gate.Allow, "exec.workspace.x": gate.Allow, "exec.devshell.x": gate.Allow,
		"exec.nix.store.x": gate.Ask, "exec.unparsed": gate.Ask, "exec.path": gate.Ask, "device.open": gate.Ask,
		"net.fetch.org": gate.Ask, "call.anything": gate.Ask, "web.search": gate.Ask, "skill.read.project": gate.Ask,
	}
	for action, want := range tests {
		require.Equal(t, want, (&gate.Policy{}).Judge(gate.Query{Action: action, Tool: "fetch_url"}).Ruling, action)
	}
	t.Run("denying every class leaves the unparsed to be asked about", func(t *testing.T) {
		p := gate.Policy{Rules: []gate.Rule{act("exec.path.*", gate.Deny), act("exec.workspace.*", gate.Deny), act("exec.devshell.*", gate.Deny), act("exec.nix.store.*", gate.Deny)}}
		require.Equal(t, gate.Ask, p.Judge(gate.Query{Action: gate.Unparsed}).Ruling)
	})
	t.Run("an empty list is no defaults", func(t *testing.T) {
		p := gate.Policy{Defaults: []gate.Rule{}}
		require.Equal(t, gate.Ask, p.Judge(gate.Query{Action: "exec.path.jq"}).Ruling)
	})
}

func TestTheStrictestOfAChainHolds(t *testing.T) {
	kinds := []string{"a0", "a1", "a2", "a3", "a4", "a5"}
	held := []gate.Ruling{gate.Allow, gate.AgentReview, gate.Allow, gate.Ask, gate.AgentThenHuman, gate.Deny}
	var p gate.Policy
	for i, k := range kinds {
		p.Rules = append(p.Rules, gate.Rule{AgentKind: k, Action: "x", Decision: held[i]})
	}
	least := gate.Allow
	for i, k := range kinds {
		least = min(least, held[i])
		ans := p.JudgeChain(gate.Query{Action: "x", AgentKind: k}, kinds[:i+1]...)
		require.Equal(t, least, ans.Ruling)
		require.NotNil(t, ans.Rule)
	}
}

func TestAChainThatCannotBeFoldedAsks(t *testing.T) {
	p := gate.Policy{Rules: []gate.Rule{{Decision: gate.Allow}}}
	tests := map[string][]string{
		"empty":                      {},
		"does not end with who asks": {"worker", "main"},
		"a link without a name":      {"main", "", "worker"},
		"its root without a name":    {"", "worker"},
		"only a link without a name": {""},
	}
	for name, chain := range tests {
		t.Run(name, func(t *testing.T) {
			ans := p.JudgeChain(gate.Query{Action: "x", AgentKind: "worker"}, chain...)
			require.Equal(t, gate.Ask, ans.Ruling)
			require.NotEmpty(t, ans.Why)
			strict := gate.Policy{Rules: []gate.Rule{{Decision: gate.Deny}}, Ceilings: [][]gate.Rule{{{Decision: gate.Deny}}}}
			require.Equal(t, gate.Deny, strict.JudgeChain(gate.Query{Action: "x", AgentKind: "worker"}, chain...).Ruling)
		})
	}
}

func TestCeilingsAndPromisesOnlyNarrow(t *testing.T) {
	for _, own := range rulings {
		for _, ceiling := range rulings {
			p := gate.Policy{Rules: []gate.Rule{act("x.*", own)}, Ceilings: [][]gate.Rule{{act("x.*", ceiling)}}, Promises: new(gate.Promises)}
			require.Equal(t, min(own, ceiling), p.Judge(gate.Query{Action: "x.y"}).Ruling)
			require.Equal(t, gate.Ask, p.Judge(gate.Query{Action: "z"}).Ruling, "a silent ceiling narrows nothing")
			for _, promise := range rulings {
				before := p.Judge(gate.Query{Action: "x.y"}).Ruling
				require.NoError(t, p.Promises.Add(act("x.y", promise)))
				require.LessOrEqual(t, p.Judge(gate.Query{Action: "x.y"}).Ruling, before)
			}
		}
	}
	t.Run("a ceiling alone binds what the project never named", func(t *testing.T) {
		p := gate.Policy{Ceilings: [][]gate.Rule{{act("exec.path.rm", gate.Deny)}}}
		ans := p.Judge(gate.Query{Action: "exec.path.rm"})
		require.Equal(t, gate.Deny, ans.Ruling)
		require.Equal(t, "ceiling", ans.Layer)
		require.Equal(t, gate.Allow, p.Judge(gate.Query{Action: "exec.path.ls"}).Ruling)
	})
	t.Run("a project's closer rule under a ceiling stays", func(t *testing.T) {
		p := gate.Policy{Rules: []gate.Rule{act("x.y", gate.Deny)}, Ceilings: [][]gate.Rule{{act("x.*", gate.Ask)}}}
		require.Equal(t, gate.Deny, p.Judge(gate.Query{Action: "x.y"}).Ruling)
	})
	t.Run("a promise that names nothing is refused", func(t *testing.T) {
		var s gate.Promises
		for _, bad := range []gate.Rule{{}, act("*", gate.Deny), act("", gate.Deny), act("a.*.b", gate.Deny)} {
			require.Error(t, s.Add(bad))
		}
	})
}

func TestWellFormedPatterns(t *testing.T) {
	for _, good := range []string{"a", "git.push", "git.*", ""} {
		require.NoError(t, (&gate.Policy{Rules: []gate.Rule{act(good, gate.Allow)}}).Check(), good)
	}
	for _, bad := range []string{"*", ".*", "git.*.push", "git*", "a\x00", "a\x00.*", "*.*"} {
		for i, rule := range []gate.Rule{{Action: bad}, {Tool: bad}, {Model: bad}, {AgentKind: bad}} {
			p := gate.Policy{Rules: []gate.Rule{act("fine", gate.Allow), rule}}
			var fault *gate.RuleError
			require.ErrorAs(t, p.Check(), &fault)
			require.Equal(t, []string{"action", "tool", "model", "agent_kind"}[i], fault.Field)
			require.Equal(t, "project rule 2", fault.Where)
		}
	}
	t.Run("every fault is told", func(t *testing.T) {
		p := gate.Policy{Rules: []gate.Rule{act("*", gate.Allow), act("x", 9)}, Ceilings: [][]gate.Rule{{act("*", gate.Deny)}}}
		require.Len(t, strings.Split(p.Check().Error(), "\n"), 3)
	})
	t.Run("a policy with a fault denies", func(t *testing.T) {
		p := gate.Policy{Rules: []gate.Rule{act("*", gate.Allow)}}
		require.Equal(t, gate.Deny, p.Decide(nil, pawl.Command{Args: []string{"jq"}}).Ruling)
	})
}

func TestRulingWords(t *testing.T) {
	for _, r := range rulings {
		text, err := r.MarshalText()
		require.NoError(t, err)
		var back gate.Ruling
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, r, back)
	}
	var r gate.Ruling
	require.ErrorContains(t, r.UnmarshalText([]byte("alow")), `"alow"`)
}

func TestPermits(t *testing.T) {
	p := gate.Policy{Rules: []gate.Rule{
		{Action: "net.com.good.443", Tool: "fetch", Decision: gate.Allow},
		act("net.com.evil.*", gate.Deny),
		act("net.org.wide.*", gate.Allow),
	}}
	permits := func(action, tool string) bool { return p.Permits(gate.Query{Action: action, Tool: tool}) }
	require.True(t, permits("net.com.good", "fetch"))
	require.True(t, permits("net.com.good.443", "fetch"))
	require.False(t, permits("net.com.good", "other"))
	require.False(t, permits("net.com.evil", "fetch"))
	require.False(t, permits("net.com.unnamed", "fetch"))
	require.True(t, permits("net.org.wide", "x"))
	require.True(t, permits("net.org.wide.deep", "x"))
	require.False(t, permits("net.org.wider", "x"))
	require.False(t, permits("net.wide.org", "x"))
	p.Ceilings = [][]gate.Rule{{act("net.*", gate.Ask)}}
	require.False(t, permits("net.org.wide", "x"))

	p = gate.Policy{Rules: []gate.Rule{act("exec.path.git.*", gate.Deny)}}
	require.True(t, permits("exec.path.git", "x"), "the action itself, though nothing below it")
}

func TestKindsOfAgents(t *testing.T) {
	line := []gate.Kind{{Name: "main"}, {Name: "worker", Parent: "main"}}
	rule := func(kind, action string, d gate.Ruling) gate.Rule {
		return gate.Rule{AgentKind: kind, Action: action, Decision: d}
	}
	tests := map[string]struct {
		kinds []gate.Kind
		rules []gate.Rule
		want  string // part of the error; empty: it is sound
	}{
		"no rules":                         {line, nil, ""},
		"a child narrower than its parent": {line, []gate.Rule{rule("worker", "exec.path.*", gate.Ask)}, ""},
		"a child repeats the narrowing":    {line, []gate.Rule{rule("main", "exec.path.*", gate.Ask), rule("worker", "exec.path.*", gate.Ask)}, ""},
		"a child stronger by a rule":       {line, []gate.Rule{rule("main", "a", gate.Ask), rule("worker", "a", gate.AgentReview)}, `"worker" would get agent_review where its parent "main" has ask`},
		"a child stronger by falling back": {line, []gate.Rule{rule("main", "a", gate.Deny)}, `"worker" would get ask where its parent "main" has deny`},
		"a child stronger by a default":    {line, []gate.Rule{rule("main", "", gate.Ask)}, "allow"},
		"a child stronger for one model":   {line, []gate.Rule{rule("main", "a", gate.Ask), {AgentKind: "worker", Model: "m", Action: "a", Decision: gate.Allow}}, "model m"},
		"declared twice":                   {append(line, gate.Kind{Name: "worker"}), nil, "declared twice"},
		"a parent nobody declared":         {[]gate.Kind{{Name: "worker", Parent: "boss"}}, nil, `"boss" is not declared`},
		"its own parent":                   {[]gate.Kind{{Name: "a", Parent: "a"}}, nil, "its own ancestor"},
		"a circle":                         {[]gate.Kind{{Name: "a", Parent: "b"}, {Name: "b", Parent: "a"}}, nil, "its own ancestor"},
		"a NUL":                            {[]gate.Kind{{Name: "a\x00"}}, nil, "NUL"},
		"a pattern":                        {[]gate.Kind{{Name: "a.*"}}, nil, "not a pattern"},
	}
	seen := map[string]string{}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := (&gate.Policy{Kinds: tc.kinds, Rules: tc.rules}).Check()
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
			if other := seen[err.Error()]; other != "" && name != "a circle" {
				t.Fatalf("says the same as %q", other)
			}
			seen[err.Error()] = name
		})
	}
}

func TestBoundsOfAPolicy(t *testing.T) {
	rules := func(n int, f func(i int) gate.Rule) []gate.Rule {
		list := make([]gate.Rule, n)
		for i := range list {
			list[i] = f(i)
		}
		return list
	}
	line := []gate.Kind{{Name: "main"}, {Name: "worker", Parent: "main"}}
	one := func(i int) gate.Rule { return act(fmt.Sprintf("a%d", i), gate.Deny) }
	three := func(i int) gate.Rule {
		return gate.Rule{Action: fmt.Sprintf("a%d", i), Tool: fmt.Sprintf("t%d", i), Model: fmt.Sprintf("m%d", i)}
	}
	long := func(size int) func(i int) gate.Rule {
		return func(i int) gate.Rule {
			r := three(i)
			r.Action += strings.Repeat("x", size)
			return r
		}
	}
	require.NoError(t, (&gate.Policy{Rules: rules(512, one), Kinds: line}).Check())
	require.ErrorContains(t, (&gate.Policy{Rules: rules(513, one)}).Check(), "513 rules, at most 512")
	require.ErrorContains(t, (&gate.Policy{Rules: rules(512, three), Kinds: line}).Check(), "too complex")
	require.NoError(t, (&gate.Policy{Rules: rules(512, three)}).Check())
	require.NoError(t, (&gate.Policy{Rules: rules(9, long(10)), Kinds: line}).Check())
	require.ErrorContains(t, (&gate.Policy{Rules: rules(9, long(60000)), Kinds: line}).Check(), "too complex")
	kinds := make([]gate.Kind, 65)
	for i := range kinds {
		kinds[i].Name = fmt.Sprintf("k%d", i)
	}
	require.NoError(t, (&gate.Policy{Kinds: kinds[:64]}).Check())
	require.ErrorContains(t, (&gate.Policy{Kinds: kinds}).Check(), "65 agent kinds, at most 64")
}

// ran is a gate that counts what reached it.
type ran struct{ commands []pawl.Command }

func (g *ran) Run(_ context.Context, cmd pawl.Command) (pawl.Result, error) {
	g.commands = append(g.commands, cmd)
	return pawl.Result{Code: 7}, nil
}

func TestPolicyWrapsAGate(t *testing.T) {
	tests := map[string]struct {
		policy gate.Policy
		args   []string
		action string
		runs   bool
	}{
		"the zero policy runs a program of the path": {gate.Policy{}, []string{"jq"}, "exec.path.jq", true},
		"the zero policy asks about the rest":        {gate.Policy{}, []string{"../jq"}, gate.Unparsed, false},
		"a denied program":                           {gate.Policy{Rules: []gate.Rule{act("exec.path.*", gate.Deny)}}, []string{"jq"}, "exec.path.jq", false},
		"nobody to review":                           {gate.Policy{Rules: []gate.Rule{act("exec.path.*", gate.AgentReview)}}, []string{"jq"}, "exec.path.jq", false},
		"nobody to review and ask":                   {gate.Policy{Rules: []gate.Rule{act("exec.path.*", gate.AgentThenHuman)}}, []string{"jq"}, "exec.path.jq", false},
		"a fault refuses all":                        {gate.Policy{Rules: []gate.Rule{act("*", gate.Allow)}}, []string{"jq"}, "", false},
		"no command":                                 {gate.Policy{}, nil, gate.Unparsed, false},
		"a namer with no name": {gate.Policy{Rules: []gate.Rule{{Decision: gate.Allow}}, Namer: gate.NamerFunc(func(pawl.Command) (string, error) {
			return "", nil
		})}, []string{"jq"}, "", false},
		"a namer of one's own": {gate.Policy{Rules: []gate.Rule{act("my.jq", gate.Allow)}, Namer: gate.NamerFunc(func(cmd pawl.Command) (string, error) {
			return "my." + cmd.Args[0], nil
		})}, []string{"jq"}, "my.jq", true},
		"a tool part of its own":                {gate.Policy{Rules: []gate.Rule{{Tool: gate.HookTool, Decision: gate.Deny}}}, []string{"jq"}, "exec.path.jq", false},
		"a rule for a shell tool does not bind": {gate.Policy{Rules: []gate.Rule{{Tool: "Bash", Decision: gate.Deny}}}, []string{"jq"}, "exec.path.jq", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var inner ran
			res, err := tc.policy.Wrap(&inner).Run(t.Context(), pawl.Command{Args: tc.args})
			require.Equal(t, tc.action, res.Action)
			if tc.runs {
				require.NoError(t, err)
				require.Len(t, inner.commands, 1)
				require.Equal(t, 7, res.Code)
				return
			}
			require.ErrorIs(t, err, pawl.ErrRefused)
			var refused *pawl.RefusedError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, tc.action, refused.Action)
			require.Empty(t, inner.commands)
		})
	}
}

func TestAWrappedPolicyDoesNotChange(t *testing.T) {
	var inner ran
	p := gate.Policy{Rules: []gate.Rule{act("exec.path.jq", gate.Deny)}}
	g := p.Wrap(&inner)
	p.Rules[0].Decision = gate.Allow
	_, err := g.Run(t.Context(), pawl.Command{Args: []string{"jq"}})
	require.ErrorIs(t, err, pawl.ErrRefused)
}

func TestDecideNamesTheRuleAndTheAgent(t *testing.T) {
	p := gate.Policy{Rules: []gate.Rule{
		{Action: "exec.path.*", Decision: gate.Allow, Origin: pawl.Origin{Layer: "config", File: "p.toml", Line: 3, Column: 1}},
		{Action: "exec.path.*", AgentKind: "sub", Decision: gate.Ask},
		{Action: "exec.path.*", Model: "small", Decision: gate.Deny},
	}}
	jq := pawl.Command{Args: []string{"jq"}}
	sub := &pawl.Event{Agent: pawl.Agent{ID: "1", Type: "reviewer"}}
	require.Equal(t, "allow exec.path.jq: project rule action=exec.path.* decision=allow (config:p.toml:3:1)", p.Decide(nil, jq).String())
	require.Equal(t, gate.Ask, p.Decide(sub, jq).Ruling, "what binds every sub-agent binds this one")
	require.Equal(t, gate.Ask, p.Decide(&pawl.Event{Agent: pawl.Agent{ID: "1"}}, jq).Ruling)
	require.Equal(t, gate.Deny, p.Decide(&pawl.Event{Model: "small"}, jq).Ruling)
	require.Equal(t, "ask exec.unparsed: no rule names it", p.Decide(nil, pawl.Command{}).String())
	t.Run("a declared line of parents", func(t *testing.T) {
		p := gate.Policy{Kinds: []gate.Kind{{Name: "boss"}, {Name: "reviewer", Parent: "boss"}},
			Rules: []gate.Rule{{AgentKind: "boss", Action: "exec.path.*", Decision: gate.Ask}, {AgentKind: "reviewer", Action: "exec.path.*", Decision: gate.Ask}}}
		require.NoError(t, p.Check())
		require.Equal(t, "boss", p.Decide(sub, jq).Agent)
	})
	t.Run("a chain of the runtime's own", func(t *testing.T) {
		p := gate.Policy{Chain: func(*pawl.Event) []string { return nil }}
		require.Equal(t, gate.Ask, p.Decide(sub, jq).Ruling)
	})
}

func TestADigestTellsPoliciesApart(t *testing.T) {
	a, b := act("a", gate.Deny), act("b", gate.Allow)
	same := (&gate.Policy{Rules: []gate.Rule{a, b}}).Digest()
	a.Origin = pawl.Origin{File: "elsewhere", Line: 9}
	require.Equal(t, same, (&gate.Policy{Rules: []gate.Rule{b, a}}).Digest(), "order and place do not count")
	require.Equal(t, (&gate.Policy{}).Digest(), (&gate.Policy{Defaults: gate.ShippedDefaults(), Promises: new(gate.Promises)}).Digest())
	promised := new(gate.Promises)
	require.NoError(t, promised.Add(a))
	seen := map[string]bool{}
	for _, p := range []*gate.Policy{
		{}, {Rules: []gate.Rule{a}}, {Rules: []gate.Rule{b}}, {Rules: []gate.Rule{a, b}}, {Rules: []gate.Rule{act("a", gate.Ask)}},
		{Rules: []gate.Rule{{Tool: "a"}}}, {Defaults: []gate.Rule{}}, {Ceilings: [][]gate.Rule{{a}}}, {Ceilings: [][]gate.Rule{{a}, {b}}},
		{Ceilings: [][]gate.Rule{{a, b}}}, {Promises: promised}, {Kinds: []gate.Kind{{Name: "a"}}},
	} {
		require.False(t, seen[p.Digest()], "%+v", p)
		seen[p.Digest()] = true
	}
}
