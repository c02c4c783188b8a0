package gate

// A redactStream replaces the secrets of one stream.
type redactStream struct {
	rules *redactRules
	held  []byte // not returned yet, behind up to boundary bytes that were
	seen  int    // bytes at the start of held that were returned: what a shape may not follow
	out   []byte
}

// Write takes the next bytes of the stream and returns what is decided by now, good until the next call.
// What may be the beginning of a secret is held back.
func (s *redactStream) Write(p []byte) []byte {
	if s.rules.empty() {
		return p
	}
	s.held = append(s.held, p...)
	return s.release(false)
}

// Flush returns what was held back, at the end of the stream.
func (s *redactStream) Flush() []byte { return s.release(true) }

func (s *redactStream) release(final bool) []byte {
	spans, rest := s.rules.scan(s.held, s.seen, final)
	for i := range spans {
		spans[i].from, spans[i].to = spans[i].from-s.seen, spans[i].to-s.seen
	}
	s.out = s.rules.replace(s.out[:0], s.held[s.seen:rest], spans)
	keep := max(0, rest-boundary)
	s.held, s.seen = append(s.held[:0], s.held[keep:]...), rest-keep
	return s.out
}
