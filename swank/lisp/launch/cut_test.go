package launch

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// What is kept begins and ends between characters, wherever its limits cut the text and
// in whatever pieces it came, and each character is kept or counted.
func TestTailCutsBetweenCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		max     int
		pieces  []string
		want    string
		dropped int64
	}{
		{4, []string{"語語語"}, "語", 2},
		{4, []string{"語", "語", "語"}, "語", 2},
		{3, []string{"語語語"}, "語", 2},
		{2, []string{"語語語"}, "", 3},
		{0, []string{"語x"}, "", 2},
		{5, []string{"aλ語😀"}, "😀", 3},
		{4, []string{"a😀b"}, "b", 2},
		{6, []string{"a😀b"}, "a😀b", 0},
		{3, []string{"\x80\x80\x80\x80\x80"}, "\uFFFD", 2},
		{3, []string{"\xe8\xaa\x78\x80\x80"}, "x\uFFFD", 2},
		{3, []string{"\uFFFDa"}, "a", 1},
	} {
		got := tail{max: c.max}
		for _, piece := range c.pieces {
			got.write([]byte(piece))
		}
		if text, dropped := got.take(); text != c.want || dropped != c.dropped {
			t.Errorf("max %d of %q: %q after %d, want %q after %d", c.max, c.pieces, text, dropped, c.want, c.dropped)
		}
	}
}

func TestSinkCutsAtEveryOffset(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("aλ語😀\uFFFDé\n", 3)
	for head := range len(text) + 2 {
		for end := range len(text) + 2 {
			for _, size := range []int{1, 2, 3, 5, len(text)} {
				checkKept(t, text, head, end, size)
			}
		}
	}
}

// checkKept writes text through a drain, in pieces of that many bytes, into a sink that
// keeps head and end bytes.
func checkKept(t *testing.T, text string, head, end, size int) {
	t.Helper()
	s := newSink(head, end)
	d := &drain{sink: s.write}
	for rest := text; rest != ""; {
		piece := rest[:min(size, len(rest))]
		rest = rest[len(piece):]
		d.flush(append(d.rest[:len(d.rest):len(d.rest)], piece...), false)
	}
	d.flush(d.rest, true)
	got := s.take()
	all := got.Head + got.Tail
	switch {
	case !utf8.ValidString(all):
		t.Errorf("%q, kept %d and %d in pieces of %d: %+v is no valid text", text, head, end, size, got)
	case !utf8.ValidString(text): // a run of bytes that are no text is one replacement
	case utf8.RuneCountInString(all)+int(got.Omitted) != utf8.RuneCountInString(text):
		t.Errorf("%q, kept %d and %d in pieces of %d: %+v does not add up", text, head, end, size, got)
	case !strings.HasPrefix(text, got.Head), !strings.HasSuffix(text, got.Tail):
		t.Errorf("%q, kept %d and %d in pieces of %d: %+v is not in it", text, head, end, size, got)
	case got.Omitted > 0 && (len(got.Head) > head || len(got.Tail) > end):
		t.Errorf("%q, kept %d and %d in pieces of %d: %+v is too much", text, head, end, size, got)
	case got.Omitted > 0 && (len(got.Head) < head-utf8.UTFMax+1 || len(got.Tail) < end-utf8.UTFMax+1):
		t.Errorf("%q, kept %d and %d in pieces of %d: %+v is too little", text, head, end, size, got)
	}
}

func FuzzKept(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string, head, end, size byte) {
		checkKept(t, text, int(head), int(end), 1+int(size))
	})
}
