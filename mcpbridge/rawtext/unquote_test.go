package rawtext

import (
	"encoding/json"
	"math/rand"
	"strings"
	"testing"
)

// TestUnquoteBig: long strings are read as package json reads them.
func TestUnquoteBig(t *testing.T) {
	pieces := []string{"x", `\"`, `\\`, `\/`, `\b\f\n\r\t`, `\u0041`, `\ud83d\ude00`, `\ud83d`, `\ude00x`, `\ud83d\u0041`,
		`\\u0041`, "\u03bb", "\U0001f600", "\xff", "\xf0\x9f", strings.Repeat("y", 1000)}
	r := rand.New(rand.NewSource(1))
	for range 300 {
		b := []byte{'"'}
		for len(b) < bigString+r.Intn(1000) {
			piece := pieces[r.Intn(len(pieces))]
			b = append(b, strings.Repeat(piece, 1+r.Intn(20))...)
		}
		b = append(b, '"')
		var want string
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		if got := Unquote(b); got != want {
			t.Fatalf("a string of %d bytes is read otherwise than by package json", len(b))
		}
	}
}

// A long string is a few pieces of memory, whatever it is written in: it grows only where it gets
// longer than it was written.
func TestUnquoteBigTakesFewPieces(t *testing.T) {
	for _, written := range []string{`\u00e9`, `\n`, `\ud83d\ude00`, `\ud83d`, "\xff\\n", "é"} {
		b := []byte(`"` + strings.Repeat(written, 2*bigString/len(written)) + `"`)
		if n := testing.AllocsPerRun(1, func() { Unquote(b) }); n > 3 {
			t.Errorf("%q again and again, %d bytes: %v pieces, want at most 3", written, len(b), n)
		}
	}
}
