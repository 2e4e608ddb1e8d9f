package spool

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"swank-mcp/mcpbridge/render"
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

// The line where a text is cut counts what nothing keeps, and names it: what the image did not
// keep, and what is too much for the spool.
func TestCutNamesWhatIsLost(t *testing.T) {
	var s Spool
	half := strings.Repeat("123456789\n", 25_000)
	for name, c := range map[string]struct{ text, all, lost string }{
		"in the image":  {half + render.Gap(238_890) + half, "738,890", "238,890"},
		"twice":         {half + render.Gap(1000) + half + render.Gap(500) + half, "751,500", "1,500"},
		"in the spool":  {strings.Repeat("123456789\n", MaxBytes/10+100_000), "17,777,210", "996,"},
		"not in middle": {"1\n" + render.Gap(1000) + half + half, "501,002", ""},
	} {
		got := s.Cut(c.text, 8000)
		_, line, _ := strings.Cut(got[strings.Index(got, " characters left out here; ")-30:], " of ")
		line, _, _ = strings.Cut(line, "\n")
		named := strings.Contains(line, c.lost) && strings.Contains(line, "of them were not kept and cannot be read; to read the others: read-output {")
		if !strings.HasPrefix(line, c.all+" characters") || named != (c.lost != "") {
			t.Errorf("%s: the line says %q, want %s characters of which %s are lost", name, line, c.all, c.lost)
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
	got, err := s.Get(h)
	if all, lost := measure(got.All); err != nil || all != MaxBytes || lost != got.Lost || lost < MaxBytes/2 || s.bytes > MaxBytes {
		t.Errorf("a text beyond the bounds: %d characters of %d, of which %d are lost, %v", got.Chars, all, got.Lost, err)
	}
}
