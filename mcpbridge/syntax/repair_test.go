package syntax

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/internal/tier"
)

var repairSeed = flag.Uint64("repair.seed", 1, "of what TestRepair drops and doubles")

// formFiles returns the files below testdata/forms, in order.
func formFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/forms/*/*.lisp")
	if err != nil || len(files) == 0 {
		t.Fatalf("no Lisp files below testdata/forms (%v)", err)
	}
	return files
}

// forms returns the top-level forms of testdata/forms.
func forms(t *testing.T) (all []string) {
	t.Helper()
	for _, file := range formFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if p := Check(t.Context(), string(text)).Problems; len(p) > 0 {
			t.Fatalf("%s: %v", file, p)
		}
		depth, start := 0, 0
		for _, tok := range allTokens(t, string(text)) {
			switch tok.kind {
			case opener:
				if depth == 0 {
					start = tok.start
				}
				depth++
			case closer:
				if depth--; depth == 0 && start > 0 && text[start-1] == '\n' {
					all = append(all, string(text[start:tok.end]))
				}
			}
		}
	}
	return all
}

// TestRepair drops or doubles one parenthesis in each of hundreds of forms of testdata/forms:
// nine in ten become what they were, and none is called mended that SBCL's reader does not
// read, where it reads the form itself.
func TestRepair(t *testing.T) {
	tier.More(t)
	t.Parallel()
	all := forms(t)
	random, shown := rand.New(rand.NewPCG(*repairSeed, 2)), rand.New(rand.NewPCG(*repairSeed, 3))
	tries := tier.Tries(t, 600, 2000)
	mended, refused := 0, 0
	var texts, called []string // the forms, and what they became where that is called mended
	kinds := map[string]int{}
	for n := range tries {
		text := all[random.IntN(len(all))]
		var places []token
		for _, tok := range allTokens(t, text) {
			if tok.kind == opener && text[tok.start] == '(' || tok.kind == closer {
				places = append(places, tok)
			}
		}
		p := places[random.IntN(len(places))]
		what := "dropped "
		broken := text[:p.start] + text[p.end:]
		if n%2 == 1 {
			what = "doubled "
			broken = text[:p.end] + text[p.start:]
		}
		what += text[p.start:p.end]
		kinds[what+" all"]++
		got, ok := Repair(t.Context(), broken)
		if ok {
			texts, called = append(texts, text), append(called, got)
		}
		switch {
		case !ok:
			refused++
			kinds[what+" refused"]++
		case got == text:
			mended++
			kinds[what+" mended"]++
		default:
			if testing.Verbose() && shown.IntN(50) == 0 {
				t.Logf("%s\n%s\n--- became\n%s", what, text, got)
			}
		}
		if ok && len(Check(t.Context(), got).Problems) > 0 {
			t.Errorf("called mended, and is not:\n%s", got)
		}
	}
	unread, several, before, after := 0, 0, readable(t, texts), readable(t, called)
	for i := range texts {
		switch {
		case before[i] != 1:
			unread++ // it has a reader macro of its own
		case after[i] < 1:
			t.Errorf("the reader refuses what is called mended:\n%s", called[i])
		case after[i] > 1:
			several++
		}
	}
	t.Logf("of %d called mended SBCL reads %d, %d of them as several forms; the other %d it did not read as they were", len(called), len(called)-unread, several, unread)
	if unread > tries/20 {
		t.Errorf("the reader refuses %d forms as they were", unread)
	}
	t.Logf("%d forms; of %d, %d mended to what they were, %d refused; %v", len(all), tries, mended, refused, kinds)
	if mended < tries*9/10 {
		t.Errorf("only %d of %d were mended to what they were", mended, tries)
	}
}

func TestRepairText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"(a (b)":                        "(a (b))",
		"(a)\n(b\n (c\n(d)":             "(a)\n(b\n (c))\n(d)",
		"(a ; (\n":                      "(a) ; (\n",
		"(let ((x 1)\n  x)\n":           "(let ((x 1))\n  x)\n",
		"(f #\\( \"(\" |(|\n (g)  \n\n": "(f #\\( \"(\" |(|\n (g))  \n\n",
		"(a":                            "(a)",
		"(a))":                          "(a)",
		"(defun f (x)\n  (if (plusp x)\n      (let ((y x)\n        (g y)\n      (h))":          "(defun f (x)\n  (if (plusp x)\n      (let ((y x))\n        (g y))\n      (h)))",
		"(defun f (x)\n  (g x)))\n\n(defun h (y)\n  (g (car y))\n":                             "(defun f (x)\n  (g x))\n\n(defun h (y)\n  (g (car y)))\n",
		"(eval-when (:load-toplevel)\n(defun f (x)\n  (g x))\n)\n(defun h (y)\n  (g (car y)\n": "(eval-when (:load-toplevel)\n(defun f (x)\n  (g x))\n)\n(defun h (y)\n  (g (car y)))\n",
		"(f (x)\n\n(macrolet ((a () 1))\n  (b\n\"B\"))\n":                                      "(f (x))\n\n(macrolet ((a () 1))\n  (b\n\"B\"))\n",
		"(defmethod f ((a b) item t))\n  (g a))":                                               "(defmethod f ((a b) (item t))\n  (g a))",
		"(defmethod (setf f) (value (a b)\n  (g a value))":                                     "(defmethod (setf f) (value (a b))\n  (g a value))",
		"(defmethod f :around (a b)))\n  (g a))":                                               "(defmethod f :around ((a b))\n  (g a))",
		"(defun f (x)\n  (when x)\n    (g x)))\n":                                              "(defun f (x)\n  (when x\n    (g x)))\n",
	} {
		if got, ok := Repair(t.Context(), text); !ok || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, ok, want)
		}
	}
	for _, text := range []string{"(a \"b)", "(a (b . ) c", "(list #C0 1))", "(f '#1=#1#))", "(a #+(or :b \"c\")\n  d", "#|", strings.Repeat("(", 9), "", ")"} {
		if got, ok := Repair(t.Context(), text); ok && got != text {
			t.Errorf("%q: %q", text, got)
		}
	}
}
