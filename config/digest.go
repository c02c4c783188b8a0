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

// unreadable stands for the digest of a file that can be run and not read.
const unreadable = "unreadable"

// maxScript is the size in bytes above which a file is not read: a project that nobody trusts yet may name
// what it likes.
const maxScript = 256 << 20

// digests turns paths into digests of what they hold. A file that can be run and not read, or is too large,
// has none: its word is noted all the same, so that a change of that shows.
func (d disk) digests(scripts map[string]string) map[string]string {
	if len(scripts) == 0 {
		return nil
	}
	out := make(map[string]string, len(scripts))
	for word, file := range scripts {
		out[word] = d.script(file)
	}
	return out
}

// script returns the digest of a script's content, or what stands for it.
func (d disk) script(file string) string {
	info, err := d.stat(file)
	if err == nil && info.Size() > maxScript {
		return fmt.Sprintf("unreadable: %d bytes", info.Size())
	}
	sum, err := d.digest(file)
	if err != nil {
		return unreadable
	}
	return sum
}
