package launch

import (
	"strings"
	"testing"
)

// Records are taken out wherever the reads cut them; what only looks like one stays.
func TestFlushed(t *testing.T) {
	t.Parallel()
	text := "a\x1eb" + recordBegin + "7 out\x1fone é\n\x1e" + "c" + recordBegin + "7 err\x1ftwo\x1e" + recordBegin + "7 out\x1fthree\x1e" +
		recordBegin + strings.Repeat("x", maxRecord)
	want := "a\x1ebc" + recordBegin + strings.Repeat("x", maxRecord)
	for size := 1; size < 70; size++ {
		var passed strings.Builder
		f := newFlushed(func(b []byte) { passed.Write(b) })
		for i := 0; i < len(text); i += size {
			f.write([]byte(text[i:min(i+size, len(text))]))
		}
		if passed.String() != want {
			t.Fatalf("in pieces of %d bytes: %.80q", size, passed.String())
		}
		if out, err := f.texts["7 out"].String(), f.texts["7 err"].String(); out != "one é\nthree" || err != "two" {
			t.Fatalf("in pieces of %d bytes: %q, %q", size, out, err)
		}
	}
}

// Code of a session's can write as many records as it likes.
func TestFlushedIsBounded(t *testing.T) {
	t.Parallel()
	f := newFlushed(func([]byte) {})
	for range 100 {
		f.write([]byte(strings.Repeat(recordBegin+"7 out\x1f"+strings.Repeat("x", 900)+"\x1e", 100)))
	}
	if n := f.texts["7 out"].Len(); n > keepFlushed || n < keepFlushed-900 {
		t.Errorf("%d bytes are kept, %d at most", n, keepFlushed)
	}
}
