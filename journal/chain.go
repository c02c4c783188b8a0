package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// A line of a chained log ends in
//
//	,"prev":"<hash of the line before>","hash":"<hash of this line>"}
//
// and hash is the SHA-256, in lower-case hexadecimal, of the line's bytes from the opening brace up to and
// not including ,"hash" — so over its own record and over prev. The first line of a log has Genesis for prev.
const (
	prevKey = `,"prev":"`
	hashKey = `","hash":"`
	lineEnd = `"}`

	hexLen  = 2 * sha256.Size
	sealLen = len(prevKey) + hexLen + len(hashKey) + hexLen + len(lineEnd)
	hashEnd = len(hashKey) - 1 + hexLen + len(lineEnd) // of a line, what its hash does not cover
)

// Genesis is the prev of the first line of a log.
const Genesis = "0000000000000000000000000000000000000000000000000000000000000000"

// A hash is a line's hash, in hexadecimal.
type hash [hexLen]byte

func (h hash) String() string { return string(h[:]) }

var genesis = parseHash([]byte(Genesis))

func parseHash(b []byte) hash { return hash(b[:hexLen]) }

// seal turns a JSON object into a line of the chain that follows prev.
func seal(line []byte, prev hash) ([]byte, hash) {
	line = append(line[:len(line)-1], prevKey...)
	line = append(line, prev[:]...)
	line = append(line, '"')
	h := digest(line)
	line = append(line, hashKey[1:]...)
	line = append(line, h[:]...)
	return append(append(line, lineEnd...), '\n'), h
}

func digest(covered []byte) (h hash) {
	sum := sha256.Sum256(covered)
	hex.Encode(h[:], sum[:])
	return h
}

// unseal takes the chain's fields off a line without its line feed. It does not check the hash.
func unseal(line []byte) (record []byte, prev, h hash, ok bool) {
	if len(line) < sealLen+1 || line[0] != '{' {
		return nil, hash{}, hash{}, false
	}
	record, end := line[:len(line)-sealLen], line[len(line)-sealLen:]
	rest, ok1 := bytes.CutPrefix(end, []byte(prevKey))
	rest, ok2 := bytes.CutPrefix(rest[min(hexLen, len(rest)):], []byte(hashKey))
	if !ok1 || !ok2 || !bytes.HasSuffix(rest, []byte(lineEnd)) {
		return nil, hash{}, hash{}, false
	}
	prev, h = parseHash(end[len(prevKey):]), parseHash(rest)
	return record, prev, h, isHex(prev) && isHex(h)
}

// intact reports whether a line that unseals has the hash it says.
func intact(line []byte, h hash) bool {
	return digest(line[:len(line)-hashEnd]) == h
}

func isHex(h hash) bool {
	for _, c := range h {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
