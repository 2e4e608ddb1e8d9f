package tools

import (
	"fmt"
	"strings"
	"testing"
)

// numbered are so many lines that differ.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "(line %d)\n", i+1)
	}
	return b.String()
}

// Of long texts the diff is that of short ones, further down.
func TestDiffOfLongTexts(t *testing.T) {
	t.Parallel()
	all := numbered(100_000)
	for _, c := range []struct{ before, after, want string }{
		{all, strings.Replace(all, "(line 50000)", "(line 50000", 1), "--- a\n+++ b\n@@ -49997,7 +49997,7 @@\n (line 49997)\n (line 49998)\n (line 49999)\n-(line 50000)\n+(line 50000\n (line 50001)\n (line 50002)\n (line 50003)"},
		{all, "x\n" + all, "--- a\n+++ b\n@@ -1,3 +1,4 @@\n+x\n (line 1)\n (line 2)\n (line 3)"},
		{all, all + "x\n", "--- a\n+++ b\n@@ -99998,3 +99998,4 @@\n (line 99998)\n (line 99999)\n (line 100000)\n+x"},
		{all, strings.TrimSuffix(all, "\n"), "--- a\n+++ b\n@@ -99997,4 +99997,4 @@\n (line 99997)\n (line 99998)\n (line 99999)\n-(line 100000)\n+(line 100000)\n\\ No newline at end of file"},
		{all + strings.Repeat("a\n", 100_000), all + strings.Repeat("a\n", 100_001), "--- a\n+++ b\n@@ -199998,3 +199998,4 @@\n a\n a\n a\n+a"},
		{strings.Repeat("a\n", 30_000), strings.Repeat("b\n", 30_001) + "c", "--- a\n+++ b\n; lines 1 to 30000 became lines 1 to 30002. That is too much for a diff."},
		{"(f)\n" + strings.Repeat("a", maxDiffBytes) + "\n", "(f)\n" + strings.Repeat("a", maxDiffBytes), "--- a\n+++ b\n; lines 1 to 2 became lines 1 to 2. That is too much for a diff."},
	} {
		if got := diffText("a", c.before, "b", c.after); got != c.want {
			t.Errorf("got\n%.2000s\nwant\n%s", got, c.want)
		}
	}
}
