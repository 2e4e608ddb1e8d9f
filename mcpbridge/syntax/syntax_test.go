package syntax

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"swank-mcp/internal/tier"
)

func described(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d forms", r.Forms)
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "; %d:%d %s", p.Line, p.Column, p.Message)
		if p.Hint != nil {
			fmt.Fprintf(&b, " [%d %d]", p.Hint.Last, p.Hint.Line)
		}
	}
	if len(r.Unknown) > 0 {
		fmt.Fprintf(&b, "; unknown %v", r.Unknown)
	}
	return b.String()
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", "0 forms"},
		{"(a b)\n(c)", "2 forms"},
		{`(a "(" #\( #\) #\; #\" #\Space |(| \( :k)`, "1 forms"},
		{"(a ; (\n b)", "1 forms"},
		{"(a #| ( #| ) |# |# b) #||#", "1 forms"},
		{"#+sbcl (a) #-(or x y) (b) 'c", "3 forms"},
		{"(a . b) (a . #+x c #-x d) (f 1.5 .5 ...a)", "3 forms"},
		{"`(a ,b ,@c ,.d `(,e ,,f)) #'g #(1 2) #2A((1)) #c(1 2) #p\"x\" #*0101 #:u #b01 #16rFF #1=(a #1#) #s(a :b 1) #.(x)", "13 forms"},
		{"#!/usr/bin/sbcl --script (\n(a)", "1 forms"},
		{"(a #?\"b\")", "1 forms; unknown [{1 4}]"},

		{"(a", "0 forms; 1:1 This list is never closed: 1 closing parenthesis is missing. [1 1]"},
		{"(a))", "1 forms; 1:4 This closing parenthesis closes nothing."},
		{"(a \"b", "0 forms; 1:4 The string that begins here has no closing \"."},
		{"(a |b", "0 forms; 1:4 The symbol that begins here has no closing |."},
		{"(a) #| b", "1 forms; 1:5 The comment #| that begins here has no |#."},
		{"(a ')", "1 forms; 1:4 No form follows ' before the closing parenthesis at 1:5."},
		{"(a #+x)", "1 forms; 1:4 No form follows #+ before the closing parenthesis at 1:7."},
		{"'", "0 forms; 1:1 No form follows ' before the end of the text."},
		{"(a ,b)", "1 forms; 1:4 A comma stands outside of any backquote."},
		{"`(a ,,b)", "1 forms; 1:6 A comma stands outside of any backquote."},
		{"(. a)", "1 forms; 1:2 Nothing stands before the dot in this list."},
		{"(a . )", "1 forms; 1:6 No form follows the dot in this list."},
		{"(a . b c)", "1 forms; 1:9 More than one form follows the dot in this list."},
		{"(a #<B>)", "1 forms; 1:4 #< begins the printed form of an object, which cannot be read."},
		{"\ufeff(a)", "2 forms; 1:1 U+FEFF, a byte order mark, stands here: for the reader it is part of a symbol."},
		{"(a\n\u00a0\u00a0(b))", "1 forms; 2:1 U+00A0, a no-break space, stands here: for the reader it is part of a symbol.; 2:2 U+00A0, a no-break space, stands here: for the reader it is part of a symbol."},
		{"(a b\u2028c \u3000)", "1 forms; 1:5 U+2028, a line separator, stands here: for the reader it is part of a symbol.; 1:8 U+3000, an ideographic space, stands here: for the reader it is part of a symbol."},
		{"(a \"\u00a0\ufeff\" #\\\u00a0 |\u2028| ; \u00a0\n #|\ufeff|#)", "1 forms"},
		{"(é \"λ\" ))", "1 forms; 1:9 This closing parenthesis closes nothing."},
	} {
		if got := described(Check(t.Context(), c.text)); got != c.want {
			t.Errorf("%s\n is %s\nnot %s", c.text, got, c.want)
		}
	}
}

// Where the indentation says it broke.
func TestCheckIndentation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"missing in the body": {`(defun a (x)
  (when x
    (print x)
  (foo))

(defun b ()
  1)
`, "0 forms; 1:1 This list is never closed: 1 closing parenthesis is missing. [3 4]"},
		"missing at the end of a definition": {`;;; two
(defun a (x)
  "Doc
(not code)."
  (let ((y 1))
    (foo x y))

;; about b
(defun b ()
  1)
`, "0 forms; 2:1 This list is never closed: 1 closing parenthesis is missing. [6 9]"},
		"missing in the last of three": {`(defun a () 1)
(defun b () 2)
(defun c ()
  (list 1
        (list 2 3
        4))
`, "2 forms; 3:1 This list is never closed: 1 closing parenthesis is missing. [5 6]"},
		"two missing": {`(defun a ()
  (list (b
  (c))
`, "0 forms; 1:1 This list is never closed: 2 closing parentheses are missing. [2 3]"},
		"one too many": {`(defun a (x)
  (when x
    (print x)))
  (foo))

(defun b () 1)
`, "3 forms; 4:8 This closing parenthesis closes nothing. [3 4]"},
		"one too many at the end": {"(defun a ()\n  1))\n(b)\n", "2 forms; 2:5 This closing parenthesis closes nothing."},
		"a quote is missing":      {"(print \"a)\n(print \"b\")\n(print 'c)\n", "0 forms; 2:10 The string that begins here has no closing \". [1 2]"},
	} {
		if got := described(Check(t.Context(), c.text)); got != c.want {
			t.Errorf("%s\n is %s\nnot %s", name, got, c.want)
		}
	}
}

// What SBCL loads is well-formed: the helper, what TestRepair judges on, and Swank.
func TestCheckRealSources(t *testing.T) {
	t.Parallel()
	files := append(sources(t), formFiles(t)...)
	swank, err := filepath.Glob("/usr/share/common-lisp/source/slime/swank/*.lisp")
	if err != nil || len(swank) == 0 {
		t.Fatalf("no Swank (%v): scripts/install-deps --test installs it", err)
	}
	files = append(files, swank...)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if r := Check(t.Context(), string(text)); len(r.Problems) > 0 || r.Forms == 0 || r.Unknown != nil {
			t.Errorf("%s: %s", file, described(r))
		}
	}
}

// Whatever list is taken out of a well-formed text or put into it is noticed.
func TestCheckNoticesOneParenthesis(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../swank/lisp/helper/eval/evaluate.lisp")
	if err != nil {
		t.Fatal(err)
	}
	var places []int
	for i, r := range text {
		if r == '(' || r == ')' {
			before := string(text[:i])
			line := before[strings.LastIndexByte(before, '\n')+1:]
			if !strings.ContainsAny(line, `;"#`) && strings.Count(before, `"`)%2 == 0 {
				places = append(places, i)
			}
		}
	}
	tier.SeedRapid(t)
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.SampledFrom(places).Draw(t, "at")
		less := string(text[:at]) + string(text[at+1:])
		more := string(text[:at]) + string(text[at]) + string(text[at:])
		for _, s := range []string{less, more} {
			if r := Check(t.Context(), s); len(r.Problems) == 0 {
				t.Fatalf("unnoticed: a parenthesis at byte %d", at)
			}
		}
	})
}

func FuzzCheck(f *testing.F) {
	f.Add("(a . #| ( |# `(,b #\\( \"c\\\"\"))")
	f.Add("#+sbcl '|(|\\) #1=(\n  #p\"x\" #<y>")
	f.Fuzz(func(t *testing.T, text string) {
		r := Check(t.Context(), text)
		lines := strings.Count(text, "\n") + 1
		for _, p := range r.Problems {
			if p.Line < 1 || p.Line > lines || p.Column < 1 || p.Message == "" {
				t.Fatalf("%q: %+v", text, p)
			}
			if h := p.Hint; h != nil && (h.Line < 1 || h.Line > lines || h.Last < 0 || h.Last > lines) {
				t.Fatalf("%q: %+v", text, *h)
			}
		}
	})
}

func TestSameCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"(defun f () 1)", "( defun f ; one\n\t() #| two |# 1 )", true},
		{"(f g)", "(fg)", false},
		{`(f "a  b")`, `(f "a b")`, false},
		{"(f 1)", "(f 1 2)", false},
	} {
		if got := SameCode(t.Context(), c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}
