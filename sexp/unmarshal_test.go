package sexp

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

type point struct {
	_    struct{} `sexp:",list"`
	X, Y int
}

type head struct {
	_    struct{} `sexp:",list"`
	Head Symbol
	Rest []Raw `sexp:",rest"`
}

type plist struct {
	A int    `sexp:"a"`
	B string `sexp:"b,omitzero"`
}

type upper string

func (u upper) AppendSexp(b []byte) ([]byte, error) { return Append(b, strings.ToLower(string(u))) }

func TestTyped(t *testing.T) {
	for _, c := range []struct {
		where where
		text  string
		want  any // a pointer to the expected value
	}{
		{here(), "5", new(int8(5))},
		{here(), "-128", new(int8(-128))},
		{here(), "nil", new(int)},
		{here(), "nil", new(string)},
		{here(), "nil", new(point)},
		{here(), "nil", new(*point)},
		{here(), "nil", new(Symbol)},
		{here(), "nil", new([]int)},
		{here(), "nil", new(Raw("nil"))},
		{here(), "t", new(true)},
		{here(), ":yes", new(true)},
		{here(), "nil", new(false)},
		{here(), "(1 2)", &point{X: 1, Y: 2}},
		{here(), "(1)", &point{X: 1}},
		{here(), "(1 2 3 (4))", &point{X: 1, Y: 2}},
		{here(), "(1 2 . 3)", &point{X: 1, Y: 2}},
		{here(), "(1 . 2)", &point{X: 1, Y: 2}},
		{here(), "#(1 2)", &point{X: 1, Y: 2}},
		{here(), "(:x (1 2) \"b\")", &head{Head: ":x", Rest: []Raw{Raw("(1 2)"), Raw(`"b"`)}}},
		{here(), "(:x . y)", &head{Head: ":x", Rest: []Raw{Raw("y")}}},
		{here(), "(:x)", &head{Head: ":x"}},
		{here(), "(:b \"x\" :a 1)", &plist{A: 1, B: "x"}},
		{here(), "(:zz (1 (2)) :a 1 :zz 4)", &plist{A: 1}},
		{here(), "(:a 1 :a 2)", &plist{A: 1}},
		{here(), `((1 2) nil (3 4))`, &[]*point{{X: 1, Y: 2}, nil, {X: 3, Y: 4}}},
		{here(), `'x`, new(Raw("'x"))},
	} {
		got := reflect.New(reflect.TypeOf(c.want).Elem())
		if err := Unmarshal([]byte(c.text), got.Interface()); err != nil {
			t.Errorf("%s: Unmarshal(%q, %T): %v", c.where, c.text, c.want, err)
			continue
		}
		if !reflect.DeepEqual(got.Interface(), c.want) {
			t.Errorf("%s: Unmarshal(%q, %T) = %+v, want %+v", c.where, c.text, c.want, got.Elem(), reflect.ValueOf(c.want).Elem())
		}
	}
}

func (failing) AppendSexp(b []byte) ([]byte, error)  { return nil, errFailing }
func (injects) AppendSexp(b []byte) ([]byte, error)  { return append(b, "1 #.(evil)"...), nil }
func (truncate) AppendSexp(b []byte) ([]byte, error) { return b[:0], nil }

var errFailing = errors.New("failing")

type failing struct{}
type injects struct{}
type truncate struct{}

func TestTypeErrors(t *testing.T) {
	for _, c := range []struct {
		where  where
		text   string
		target any
		offset int64
		path   string
		err    error
	}{
		{here(), `(:debug 1 x)`, new(debugEvent), 10, "2", nil},
		{here(), `(:debug 1 1 () (("A" "b") ("C" 7)))`, new(debugEvent), 31, "4/1/1", nil},
		{here(), `(1 (:restarts (1 x)))`, new(struct {
			_ struct{} `sexp:",list"`
			N int
			P struct {
				R []int `sexp:"restarts"`
			}
		}), 17, "1/restarts/1", nil},
		{here(), "300", new(int8), 0, "", errIntRange},
		{here(), "99999999999999999999", new(int64), 0, "", errIntRange},
		{here(), "1/2", new(int), 0, "", errInteger},
		{here(), "(1 1.0)", new([]int), 3, "1", errInteger},
		{here(), "#<x>", new(int), 0, "", nil},
		{here(), "1", new(uint), 0, "", nil},
		{here(), "1.5", new(float64), 0, "", nil},
		{here(), "x", new(string), 0, "", nil},
		{here(), `"x"`, new(Symbol), 0, "", nil},
		{here(), `"x"`, new(bool), 0, "", nil},
		{here(), `"x"`, new(point), 0, "", nil},
		{here(), `"x"`, new([]int), 0, "", nil},
		{here(), `"x"`, new(map[string]int), 0, "", nil},
		{here(), `1`, new(chan int), 0, "", nil},
		{here(), `1`, new(error), 0, "", nil},
		{here(), `1`, new(any), 0, "", nil},
		{here(), `'x`, new([]Symbol), 0, "", nil},
		{here(), `#\x`, new(string), 0, "", nil},
		{here(), "(1 . 2)", new([]int), 0, "", errDotted},
		{here(), "(:a)", new(plist), 1, "", errNoValue},
		{here(), "(:a . 1)", new(plist), 0, "", errDotted},
		{here(), "(1 2)", new(plist), 1, "0", errKey},
		{here(), "1", point{}, 0, "", errTarget},
		{here(), "1", nil, 0, "", errTarget},
		{here(), "1", (*int)(nil), 0, "", errTarget},
	} {
		err := Unmarshal([]byte(c.text), c.target)
		var e *TypeError
		if !errors.As(err, &e) {
			t.Errorf("%s: Unmarshal(%.40q, %T) = %v, want a TypeError", c.where, c.text, c.target, err)
			continue
		}
		if e.Offset != c.offset || e.Path != c.path || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: Unmarshal(%.40q, %T) = %v, want offset %d path %q cause %v", c.where, c.text, c.target, err, c.offset, c.path, c.err)
		}
		if !strings.HasPrefix(err.Error(), "sexp: decode ") {
			t.Errorf("%s: message %q", c.where, err)
		}
	}
}

// What is short and would be large is refused.
func TestStoredIsBounded(t *testing.T) {
	type wide struct {
		_    struct{} `sexp:",list"`
		A, B []string
		C    [8]struct{ D, E string } `sexp:"-"`
	}
	for n, want := range map[int]error{25_000: nil, 30_000: ErrTooLarge} {
		var v struct {
			_    struct{} `sexp:",list"`
			X, Y []wide
		}
		list := "(" + strings.Repeat("()", n) + ")"
		if err := Unmarshal([]byte("("+list+list+")"), &v); !errors.Is(err, want) || want == nil && len(v.Y) != n {
			t.Errorf("%d: %v", n, err)
		}
	}
}
