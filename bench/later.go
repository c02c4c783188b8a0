package main

func sandboxed(b *bench) []figure {
	return []figure{missing("what Landlock adds to a spawn", "to come")}
}
func workers(b *bench) []figure {
	return []figure{missing("a kept worker's round trip, of raw descriptors", "to come")}
}
