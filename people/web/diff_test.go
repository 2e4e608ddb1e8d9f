package web

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A diff has the lines that differ with a few around them; what it leaves out is the same in
// both texts.
func TestDiff(t *testing.T) {
	show := func(all []change) (text string) {
		for _, c := range all {
			text += c.Sign + c.Text + "\n"
		}
		return text
	}
	var lines []string
	for i := range 20 {
		lines = append(lines, fmt.Sprint(i))
	}
	before := strings.Join(lines, "\n")
	lines[10] = "ten"
	if got := show(diff(before, strings.Join(lines, "\n"))); got != "@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n@\n" {
		t.Errorf("of one line:\n%s", got)
	}
	if got := show(diff("a\nb", "b\nc")); got != "-a\n b\n+c\n" {
		t.Errorf("of both ends:\n%s", got)
	}
	long := strings.Repeat("x\n", 3000)
	if got := diff("a\n"+long+"b", "c\n"+strings.Repeat("y\n", 3000)+"d"); len(got) != 6004 {
		t.Errorf("of what is too long to compare: %d lines", len(got))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text := func() string {
			var some []string
			for range random.IntN(12) {
				some = append(some, string(rune('a'+random.IntN(4))))
			}
			return strings.Join(some, "\n")
		}
		a, b := text(), text()
		var was, is []string
		for _, c := range changes(splitLines(a), splitLines(b)) {
			if c.Sign != "+" {
				was = append(was, c.Text)
			}
			if c.Sign != "-" {
				is = append(is, c.Text)
			}
		}
		if strings.Join(was, "\n") != a || strings.Join(is, "\n") != b {
			t.Fatalf("of %q and %q the lines are %q and %q", a, b, was, is)
		}
	}
}
