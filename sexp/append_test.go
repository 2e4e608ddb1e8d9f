package sexp

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestAppend(t *testing.T) {
	for _, c := range []struct {
		where where
		value any
		want  string
	}{
		{here(), List{Symbol(":emacs-rex"), List{Symbol("swank:eval-and-grab-output"), `"a\`}, "CL-USER", true, 3},
			`(:emacs-rex (swank:eval-and-grab-output "\"a\\") "CL-USER" t 3)`},
		{here(), []any{1, int8(-1), int64(math.MinInt64), "x", true, false, nil}, `(1 -1 -9223372036854775808 "x" t nil nil)`},
		{here(), []int64{1, 2}, "(1 2)"},
		{here(), []int{}, "nil"},
		{here(), List{}, "nil"},
		{here(), plist{A: 1}, "(:a 1)"},
		{here(), plist{A: 1, B: "b"}, `(:a 1 :b "b")`},
		{here(), upper("ABC"), `"abc"`},
		{here(), Symbol("CL:CAR"), "CL:CAR"},
		{here(), Raw(` #(1 1/2 "é" a-b 'c) `), ` #(1 1/2 "é" a-b 'c) `},
		{here(), struct{}{}, "nil"},
		{here(), "nul\x00 \n \u2028 \xc3( \xed\xa0\x80", "\"nul\x00 \n \u2028 \uFFFD( \uFFFD\uFFFD\uFFFD\""},
	} {
		got, err := Append([]byte("pre"), c.value)
		if err != nil || string(got) != "pre"+c.want {
			t.Errorf("%s: Append(%#v) = %q, %v, want %q", c.where, c.value, got, err, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		where where
		value any
		path  string
		err   error
	}{
		{here(), map[string]int{}, "", errNoEncoding},
		{here(), func() {}, "", errNoEncoding},
		{here(), make(chan int), "", errNoEncoding},
		{here(), 1i, "", errNoEncoding},
		{here(), 1.5, "", errNoEncoding},
		{here(), uint(1), "", errNoEncoding},
		{here(), new(1), "", errNoEncoding},
		{here(), []any{1, [2]int{}}, "1", errNoEncoding},
		{here(), point{}, "", errNoEncoding},
		{here(), injects{}, "", errTrailing},
		{here(), truncate{}, "", ErrUnsafe},
		{here(), failing{}, "", errFailing},
		{here(), struct{ A int }{}, "", nil},
		{here(), List{1, plist{}, Symbol("a b")}, "2", ErrUnsafe},
		{here(), struct {
			X []Symbol `sexp:"x"`
		}{[]Symbol{"a", ""}}, "x/1", ErrUnsafe},
	} {
		got, err := Append([]byte("pre"), c.value)
		var e *TypeError
		if !errors.As(err, &e) || e.Path != c.path || c.err != nil && !errors.Is(err, c.err) || string(got) != "pre" {
			t.Errorf("%s: Append(%T) = %.40q, %.200v, want path %.40q and %v", c.where, c.value, got, err, c.path, c.err)
		}
	}
}

func TestRefusedSymbols(t *testing.T) {
	for _, s := range []string{"", " ", "a b", " a", "a ", "1", "-1", "+1.", "1/2", "1/0", "1e5", "1.5d0", ".5", ".", "..", "...",
		"foo #.(evil)", "#.(evil)", "#.x", "#:g", "#", "#|x|#", "(", ")", "()", "'a", "a'b", "a\"b", "\"a\"", "a;b", "`a", ",a",
		"|a", "a|", "|a|b|", `a\`, `|a\|`, "a:", ":", "::a", "a::", "a:b:c", "a:::b", "a: b", "λ", "|λ|", `\λ`, "a\x00", "a\x7f", "a\nb",
		"a:1", "|a b|", "p::||", `a\ b`, "1+", "+", "a#b", ":|a|", ":1.5", ":.", "a::..", "..::a", "+.:a", "-.::a", "1:a", "||:a", "ﬁ", "\xff"} {
		if b, err := Marshal(Symbol(s)); err == nil {
			t.Errorf("Marshal(Symbol(%q)) = %q", s, b)
		} else if !errors.Is(err, ErrUnsafe) {
			t.Errorf("Marshal(Symbol(%q)): %v is not ErrUnsafe", s, err)
		}
	}
}

func TestRefusedRaw(t *testing.T) {
	for _, s := range []string{"", " ", "1 2", "(", ")", "#.(evil)", "(a #.x)", "#<x>", "#S(a)", "#P\"x\"", "#C(1 2)", "#*01", "#2A((1))",
		"#:g", "'#.x", "#(#.x)", "(a . #.x)", "1.5", "1d0", "(1 .5)", "#\\a", "#\\Space", "\"\xff\"", "λ", "(a:1)", ";x\n1", "1;",
		"#'car", "`a", "1 ;", "1 #|", strings.Repeat("(", 1001)} {
		if b, err := Marshal(Raw(s)); err == nil {
			t.Errorf("Marshal(Raw(%q)) = %q", s, b)
		}
	}
}
