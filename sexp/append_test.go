package sexp

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
)

type rex struct {
	_       struct{} `sexp:",list"`
	Head    Symbol
	Form    any
	Package string
	Thread  any
	ID      int64
}

type pointerAppender struct{ n int }

func (p *pointerAppender) AppendSexp(b []byte) ([]byte, error) { return Append(b, p.n) }

func TestAppend(t *testing.T) {
	for _, c := range []struct {
		where where
		value any
		want  string
	}{
		{here(), rex{Head: ":emacs-rex", Form: List{Symbol("swank:eval-and-grab-output"), `"a\`}, Package: "CL-USER", Thread: true, ID: 3},
			`(:emacs-rex (swank:eval-and-grab-output "\"a\\") "CL-USER" t 3)`},
		{here(), []any{1, int8(-1), uint64(math.MaxUint64), "x", true, false, nil}, `(1 -1 18446744073709551615 "x" t nil nil)`},
		{here(), []byte{1, 2}, "(1 2)"},
		{here(), [2]string{"a", "b"}, `("a" "b")`},
		{here(), []int{}, "nil"},
		{here(), List{}, "nil"},
		{here(), (*int)(nil), "nil"},
		{here(), new(5), "5"},
		{here(), big.NewInt(-7), "-7"},
		{here(), *big.NewInt(7), "7"},
		{here(), *big.NewRat(1, 7), "1/7"},
		{here(), []*big.Rat{big.NewRat(4, 2)}, "(2)"},
		{here(), 0.1, "0.1d0"},
		{here(), 1e21, "1.0d21"},
		{here(), 1e20, "100000000000000000000.0d0"},
		{here(), -1.5e-7, "-1.5d-7"},
		{here(), float32(0.1), "0.1f0"},
		{here(), plist{A: 1}, "(:a 1)"},
		{here(), plist{A: 1, B: "b"}, `(:a 1 :b "b")`},
		{here(), &point{X: 1, Y: 2}, "(1 2)"},
		{here(), head{Head: ":x", Rest: []Raw{Raw("(1 . 2)"), Raw("'y")}}, "(:x (1 . 2) 'y)"},
		{here(), head{Head: ":x"}, "(:x)"},
		{here(), dotted{Car: 1, Cdr: 2}, "(1 . 2)"},
		{here(), dotted{Car: 1, Cdr: List{2, 3}}, "(1 2 3)"},
		{here(), dotted{Car: 1}, "(1)"},
		{here(), Pair{1, 2}, "(1 . 2)"},
		{here(), Pair{1, List{2, Pair{3, "x"}}}, `(1 2 (3 . "x"))`},
		{here(), Pair{1, &Pair{2, (*Pair)(nil)}}, "(1 2)"},
		{here(), upper("ABC"), `"abc"`},
		{here(), pointerAppender{4}, "4"},
		{here(), []pointerAppender{{4}, {5}}, "(4 5)"},
		{here(), Symbol("CL:CAR"), "CL:CAR"},
		{here(), Keyword("ok"), ":ok"},
		{here(), Raw(` #(1 #\a "é" 1.5 1d300 |a b|) `), ` #(1 #\a "é" 1.5 1d300 |a b|) `},
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
	deep := any(1)
	for range MaxDepth + 1 {
		deep = List{deep}
	}
	deeper := any(1)
	for range MaxDepth + 1 {
		deeper = []any{deeper}
	}
	ring := List{nil}
	ring[0] = ring
	var cycle loop
	cycle = &cycle
	for _, c := range []struct {
		where where
		value any
		path  string
		err   error
	}{
		{here(), math.NaN(), "", errNotFinite},
		{here(), []float64{1, math.Inf(1)}, "1", errNotFinite},
		{here(), 0x1p-1023, "", ErrUnsafe},
		{here(), float32(0x1p-127), "", ErrUnsafe},
		{here(), map[string]int{}, "", errNoEncoding},
		{here(), func() {}, "", errNoEncoding},
		{here(), make(chan int), "", errNoEncoding},
		{here(), 1i, "", errNoEncoding},
		{here(), Unreadable("#<x>"), "", ErrUnsafe},
		{here(), Char(0xD800), "", ErrUnsafe},
		{here(), Char(-1), "", ErrUnsafe},
		{here(), Char(0x110000), "", ErrUnsafe},
		{here(), injects{}, "", errTrailing},
		{here(), truncate{}, "", ErrUnsafe},
		{here(), failing{}, "", errNoName},
		{here(), badTag{}, "", nil},
		{here(), deep, strings.TrimSuffix(strings.Repeat("0/", MaxDepth), "/"), ErrDepth},
		{here(), deeper, strings.TrimSuffix(strings.Repeat("0/", MaxDepth), "/"), ErrDepth},
		{here(), ring, strings.TrimSuffix(strings.Repeat("0/", MaxDepth), "/"), ErrDepth},
		{here(), cycle, "", ErrDepth},
		{here(), List{1, plist{}, Symbol("a b")}, "2", ErrUnsafe},
		{here(), struct {
			X []Symbol `sexp:"x"`
		}{[]Symbol{"a", ""}}, "x/1", ErrUnsafe},
		{here(), Pair{1, Symbol("")}, "1", ErrUnsafe},
		{here(), Pair{1, List{2, Symbol("")}}, "2", ErrUnsafe},
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
		"a:1", ":1.5", ":.", "a::..", "..::a", "+.:a", "-.::a", "1:a", "||:a", "ﬁ", "\xff"} {
		if b, err := Marshal(Symbol(s)); err == nil && s != "||:a" {
			t.Errorf("Marshal(Symbol(%q)) = %q", s, b)
		} else if err != nil && !errors.Is(err, ErrUnsafe) {
			t.Errorf("Marshal(Symbol(%q)): %v is not ErrUnsafe", s, err)
		}
	}
}

func TestRefusedRaw(t *testing.T) {
	for _, s := range []string{"", " ", "1 2", "(", ")", "#.(evil)", "(a #.x)", "#<x>", "#S(a)", "#P\"x\"", "#C(1 2)", "#*01", "#2A((1))",
		"#:g", "'#.x", "#(#.x)", "(a . #.x)", "1e39", "1d309", "1.5d-310", "1e-40", "\"\xff\"", "λ", "(a:1)", "#\\NOSUCH", ";x\n1", "1;",
		"#'car", "`a", "1 ;", "1 #|", strings.Repeat("(", 1001)} {
		if b, err := Marshal(Raw(s)); err == nil {
			t.Errorf("Marshal(Raw(%q)) = %q", s, b)
		}
	}
	if _, err := Marshal(List{Raw(strings.Repeat("(", MaxDepth) + strings.Repeat(")", MaxDepth))}); !errors.Is(err, ErrDepth) {
		t.Errorf("depth of a Raw in a list: %v", err)
	}
}

func TestSymbolParts(t *testing.T) {
	for _, c := range []struct{ symbol, name, pkg string }{
		{"foo", "FOO", ""}, {":ok", "OK", "KEYWORD"}, {"swank:connection-info", "CONNECTION-INFO", "SWANK"},
		{"common-lisp-user::|a\\|b|", "a|b", "COMMON-LISP-USER"}, {"|Foo Bar|", "Foo Bar", ""}, {"|lower pkg|:|Sym Bol|", "Sym Bol", "lower pkg"},
		{"#:g12", "G12", ""}, {"#:|a:b|", "a:b", ""}, {`a\:b`, "A:B", ""}, {"|a:b|", "a:b", ""}, {`\a`, "a", ""}, {`\λb`, "λB", ""}, {"λ", "Λ", ""},
		{"straße", "STRAßE", ""}, {"µ", "µ", ""}, {"a|b c|d", "Ab cD", ""}, {"", "", ""}, {`x\`, "X", ""}, {"\xff", "\xff", ""}, {"cl-user::||", "", "CL-USER"},
	} {
		if s := Symbol(c.symbol); s.Name() != c.name || s.Package() != c.pkg {
			t.Errorf("Symbol(%q): %q in %q, want %q in %q", c.symbol, s.Name(), s.Package(), c.name, c.pkg)
		}
	}
}
