package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
)

// digestPrefix names the algorithm of every digest.
const digestPrefix = "sha256:"

func finish(h hash.Hash) string { return digestPrefix + hex.EncodeToString(h.Sum(nil)) }

// digest returns the digest of a file's content.
func (d disk) digest(name string) (string, error) {
	f, err := d.open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return finish(h), nil
}

// combine returns the digest of all that acceptance covers. Without scripts it is the definition's own, so
// that it reads the same as in a host's store. Lengths go before the texts: no two maps read alike.
func combine(definition string, scripts map[string]string) string {
	if len(scripts) == 0 {
		return definition
	}
	h := sha256.New()
	io.WriteString(h, definition)
	for _, word := range sortedKeys(scripts) {
		fmt.Fprintf(h, "\n%d:%s%d:%s", len(word), word, len(scripts[word]), scripts[word])
	}
	return finish(h)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
