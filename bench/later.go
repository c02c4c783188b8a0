package main

func sandboxed(b *bench) []figure {
	return []figure{missing("what Landlock adds to a spawn", "to come")}
}
