package pawltest

// GateRules names the rules of TestGate.
func GateRules() []string { return names(gateRules) }

func names[T any](rules []rule[T]) []string {
	var list []string
	for _, r := range rules {
		list = append(list, r.name)
	}
	return list
}

// LogRules names the rules of TestLog.
func LogRules() []string { return names(logRules) }

// HandlerRules names the rules of TestHandler.
func HandlerRules() []string { return names(handlerRules) }

// JudgeGateBy is TestGate with one rule alone.
func JudgeGateBy(name string, kit GateKit) error {
	for _, r := range gateRules {
		if r.name == name {
			return testGate(kit, []rule[*gateCheck]{r})
		}
	}
	panic("there is no rule " + name)
}
