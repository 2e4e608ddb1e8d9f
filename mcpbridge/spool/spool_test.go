package spool

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	var s Spool
	short := strings.Repeat("é", 1000)
	if got := s.Cut(short, 1000); got != short {
		t.Error("text within the limit was changed")
	}
	for name, text := range map[string]string{
		"lines":    strings.Repeat("0123456789 λ\n", 1000),
		"one line": strings.Repeat("λ", 20_000),
	} {
		got := s.Cut(text, 8000)
		if n := utf8.RuneCountInString(got); n > 8000 || n < 7000 {
			t.Errorf("%s: cut to %d characters", name, n)
		}
		head, rest, _ := strings.Cut(got, "; … ")
		_, tail, _ := strings.Cut(rest, " …\n")
		if !strings.HasPrefix(text, strings.TrimSuffix(head, "\n")) || !strings.HasSuffix(text, tail) || len(tail) < 3000 {
			t.Errorf("%s: head %.20q or tail of %d bytes is not the text's", name, head, len(tail))
		}
	}
}

func TestSpoolBounds(t *testing.T) {
	var s Spool
	for i := range 3 * MaxTexts {
		s.Add(fmt.Sprint(i), 1)
	}
	if len(s.texts) != MaxTexts {
		t.Errorf("%d texts kept, want %d", len(s.texts), MaxTexts)
	}
	if _, err := s.Get("out-1"); err == nil {
		t.Error("the oldest text is still there")
	}
	big := strings.Repeat("x", MaxBytes/4)
	for range 10 {
		s.Add(big, len(big))
	}
	if s.bytes > MaxBytes || len(s.texts) != 4 {
		t.Errorf("%d bytes in %d texts", s.bytes, len(s.texts))
	}
	h := s.Add(strings.Repeat("é", MaxBytes), MaxBytes)
	if got, err := s.Get(h); err != nil || got.Chars != MaxBytes/2 || s.bytes > MaxBytes {
		t.Errorf("a text beyond the bounds: %d characters, %v", got.Chars, err)
	}
}
