package syntax

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// What a call may do and take for each byte of its text, and besides.
const (
	mostSteps   = 8
	mostBytes   = 100
	besideBytes = 200 << 10
)

// hostile are texts of some n bytes, each of which has much of something.
func hostile(n int) map[string]string {
	all := map[string]string{
		"a definition with parameters": "(defmethod f (" + strings.Repeat("a ", n/2) + "))",
		"kanji":                        "(defun " + strings.Repeat("漢", n/3) + " ())",
		"lists that end":               strings.Repeat(strings.Repeat("(", n/20)+strings.Repeat(")", n/20), 10),
		"one feature expression":       "#+(and " + strings.Repeat("(or a b) ", n/9) + ") x",
		"#+ in #+":                     strings.Repeat("#+(and #-(or ", 60) + strings.Repeat("a ", n/2) + strings.Repeat(") x) y", 60),
		"arrays":                       strings.Repeat("#2A(", n/5) + strings.Repeat(")", n/5),
		"specializers":                 "(defmethod f (" + strings.Repeat("(a b) ", n/6) + "))",
		"a long line":                  "(f \"" + strings.Repeat("a", n) + "\"))",
	}
	for _, s := range []string{"(", ")", "()", "'", "\"", "#|", "|#", "`", "`,", ",@", "|", "\\", "\n", "(\n", "(a)\n", "(\n ", "(a))\n", "(a\n  (b\nc",
		"#?", "#+", "#-a ", "#+(and ", "#C(", "#C(1 2)", "#S(a)", "#S", "#1=", "#\\", "#", "(. ", "(a . ", "a", "a:", ";\n", "\t", "\r\n", "\u00a0", "λ", "(defun f ())", "(in-package a)", "(progn "} {
		all[s] = strings.Repeat(s, n/len(s))
	}
	return all
}

// allocated is how many bytes f allocates; nothing else may run.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// bounded checks what a text costs. A text that has #+ inside of #+ may make all the steps
// that there are, and is then told so.
func bounded(t *testing.T, text string) {
	t.Helper()
	w := workOn(t.Context(), text)
	var report *Report
	bytes := allocated(func() { report = check(text, w) })
	inside := strings.Count(text, "#+")+strings.Count(text, "#-") > 1
	switch most := mostSteps*len(text) + 100; {
	case w.over && (len(report.Problems) == 0 || !inside || w.steps > w.most+len(text)+1):
		t.Errorf("%.60q…, %d bytes: %d steps, %v", text, len(text), w.steps, report.Problems)
	case !w.over && w.steps > most && !inside:
		t.Errorf("%.60q…, %d bytes: %d steps", text, len(text), w.steps)
	}
	if bytes > mostBytes*len(text)+besideBytes {
		t.Errorf("%.60q…, %d bytes: %d bytes", text, len(text), bytes)
	}
	w = workOn(t.Context(), text)
	bytes = allocated(func() { definitions(text, w, Reading{Has: func(string) bool { return true }}) })
	if w.over || w.steps > mostSteps*len(text)+100 || bytes > 2*mostBytes*len(text)+besideBytes {
		t.Errorf("%.60q…, %d bytes: definitions take %d steps, %d bytes", text, len(text), w.steps, bytes)
	}
}

// A text takes steps and memory in proportion to its length, whatever it has.
func TestWork(t *testing.T) {
	for _, text := range hostile(50_000) {
		bounded(t, text)
	}
}

// What is open costs little, and is not held for ever.
func TestDepth(t *testing.T) {
	text := strings.Repeat("(", 3_000_000)
	var report *Report
	if n := allocated(func() { report = Check(t.Context(), text) }); n > 24<<20 {
		t.Errorf("%d parentheses take %d bytes", len(text), n)
	}
	want := "0 forms; 1:200001 Lists and prefixes are nested deeper than 200000 here. From here on nothing was checked."
	if got := described(report); got != want {
		t.Errorf("got %s", got)
	}
	if got := described(Check(t.Context(), strings.Repeat("(", MaxDepth)+strings.Repeat(")", MaxDepth))); got != "1 forms" {
		t.Errorf("got %s", got)
	}
	if got := described(Check(t.Context(), strings.Repeat(" ", MaxText+1))); got != "0 forms; 1:1 The text has more than 16 MB, and was not checked." {
		t.Errorf("got %s", got)
	}
}

// A call that has ended comes to no result.
func TestEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text := "(defun f () 1)"
	if got := described(Check(ctx, text)); got != "0 forms; 1:1 The text was not checked as a whole: the call has ended." {
		t.Error(got)
	}
	if all, _, ok := Definitions(ctx, text, Reading{}); ok {
		t.Error(all)
	}
	if mended, ok := Repair(ctx, text+")"); ok {
		t.Error(mended)
	}
	if SameCode(ctx, text, text) {
		t.Error("the same")
	}
}

// A repair weighs so much and no more.
func TestRepairIsBounded(t *testing.T) {
	t.Parallel()
	form := "(f" + strings.Repeat("\n   a\n  b\n     c", 600) + "\n"
	w := &work{ctx: t.Context(), most: 200_000}
	if mended, ok := repairForm(form, 1, w); ok || w.steps > w.most+len(form) {
		t.Errorf("%v after %d steps: %.40q", ok, w.steps, mended)
	}
	for _, text := range []string{
		strings.Repeat("(f (x)\n", maxBroken+1),
		"(f \"" + strings.Repeat("a", maxForm) + "\"",
		"(f" + strings.Repeat(" a", maxTokens),
	} {
		if mended, ok := Repair(t.Context(), text); ok {
			t.Errorf("%.20q… was mended: %.40q", text, mended)
		}
	}
}

func FuzzScan(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, text := range hostile(60) {
		f.Add(text)
		at := random.IntN(len(text))
		f.Add(text[at:] + text[:at])
	}
	f.Fuzz(func(t *testing.T, text string) {
		bounded(t, text)
		whole, ok := Repair(t.Context(), text)
		if ok && len(Check(t.Context(), whole).Problems) > 0 {
			t.Errorf("%q is called mended: %q", text, whole)
		}
	})
}
