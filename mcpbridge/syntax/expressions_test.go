package syntax

import (
	"strings"
	"testing"
)

// The reader refuses what stands behind these prefixes, and Check says so; SBCL agrees.
func TestCheckExpressions(t *testing.T) {
	t.Parallel()
	refused := map[string]string{
		`#+((or) ccl mcl) x`:                 "1:1 #+" + needsFeatures,
		`(f #-"sbcl" x)`:                     "1:4 #-" + needsFeatures,
		`(f #+12 x)`:                         "1:4 #+" + needsFeatures,
		`(f #+(sbcl) x)`:                     "1:4 #+" + needsFeatures,
		`(f #+(not a b) x)`:                  "1:4 #+" + needsFeatures,
		`(f #+'a x)`:                         "1:4 #+" + needsFeatures,
		`(f #-(and) #+((or) a) x y)`:         "1:12 #+" + needsFeatures,
		`(f #C(1))`:                          "1:4 #C" + needsComplex,
		`(f #c (1 "2"))`:                     "1:4 #c" + needsComplex,
		`(f #P (a))`:                         "1:4 #P" + needsPathname,
		`(f #S ((a) b))`:                     "1:4 #S" + needsStruct,
		`(f #S (a))`:                         "1:4 #S" + needsStruct,
		`(f #s("a" :b 1))`:                   "1:4 #s" + needsStruct,
		"(f\n #+sbcl a\n #+(and ((b) c)) d)": "3:2 #+" + needsFeatures,
	}
	var texts []string
	for text, want := range refused {
		texts = append(texts, text)
		if got := described(Check(t.Context(), text)); !strings.HasSuffix(got, "; "+want) {
			t.Errorf("%s: %s; want %s", text, got, want)
		}
	}
	for i, n := range readable(t, texts) {
		if n != -1 {
			t.Errorf("the reader takes %s", texts[i])
		}
	}
	taken := []string{
		`#+(or) x y`, `(f #+() x y)`, `(f #+(and abcl (version>= 1 2)) x y)`, `(f #+(cl:or sbcl) x)`, `(f #+64-bit x y)`, `(f #+#:u x y)`, `(f #+|a b| x y)`,
		`(f #-(and) #C(1) x)`, `(f #C(#+sbcl 1 #+sbcl 2))`, `(f #c (1 2))`, `(f #p #+sbcl "a")`, `(f #'(setf g) #'5)`,
		`(f #+#+sbcl sbcl x)`,
	}
	for i, n := range readable(t, taken) {
		if p := Check(t.Context(), taken[i]).Problems; len(p) > 0 {
			t.Errorf("%s: %v", taken[i], p)
		}
		if n != 1 {
			t.Errorf("the reader refuses %s", taken[i])
		}
	}
	// Only the reader knows what #. is.
	for _, text := range []string{`(f #+#.(cl:if t '(and) '(or)) x y)`, `(f #+(or #.'sbcl b) x y)`, `(f #P#.(g) #C(#.(h) 1))`} {
		if p := Check(t.Context(), text).Problems; len(p) > 0 {
			t.Errorf("%s: %v", text, p)
		}
	}
}

// What a repair changes is parentheses, and what becomes of an expression behind a prefix
// is one that somebody may mean.
func TestRepairExpressions(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"(defun class-definitions (name)\n  (let ((class (kernel::find-class name nil)))\n    (etypecase class\n      (null '())\n      #+((or)\n      (conditions::condition-class\n       (list class))\n      ((or kernel::built-in-class\n           conditions::condition-class)\n       (list class)))))",
		"(f a)b)", "(f \"a\" b)12)", // two tokens do not become one
		"(a #+(and b (((not c)) d\n   #-(or e (not f)) (g))",
		"#+((or ccl mcl)\n  (warning \"x\")\n",
		"(f x\n  #+((or)\n  (g y)\n  (h))\n",
		"(case x\n  (a 1)\n  #+((or)\n  (b 2)\n  (c 3)))",
		"(a #'(lambda (((x) y)\n (b c))",
		"(a #'((lambda (x)) y)\n (b c)))",
		"(a #C(1 2) 3))\n", "(a #S((b) :c 1)\n", "(a #p (\"x\")\n",
	} {
		got, ok := Repair(t.Context(), text)
		if !ok {
			continue
		}
		if len(misplaced(got, workOn(t.Context(), got), true)) > 0 || strings.Join(words(t, got), " ") != strings.Join(words(t, text), " ") {
			t.Errorf("%q is called mended: %q", text, got)
		}
	}
}

// allTokens are the tokens of a text that has an end.
func allTokens(t *testing.T, text string) (all []token) {
	t.Helper()
	l := newLexer(text, workOn(t.Context(), text))
	for tok := l.next(); tok.kind != none; tok = l.next() {
		all = append(all, tok)
	}
	if l.unended != 0 {
		t.Fatalf("%q", text)
	}
	return all
}

// words are the tokens of a text but for its parentheses.
func words(t *testing.T, text string) (all []string) {
	t.Helper()
	for _, tok := range allTokens(t, text) {
		if word := text[tok.start:tok.end]; word != "(" && word != ")" {
			all = append(all, word)
		}
	}
	return all
}
