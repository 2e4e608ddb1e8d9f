package sexp

import (
	"errors"
	"math"
	"math/big"
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

type dotted struct {
	_   struct{} `sexp:",list"`
	Car int
	Cdr any `sexp:",rest"`
}

type dottedInt struct {
	_   struct{} `sexp:",list"`
	Car int
	Cdr int `sexp:",rest"`
}

type plist struct {
	A int    `sexp:"a"`
	B string `sexp:"b,omitzero"`
}

type upper string

func (u *upper) UnmarshalSexp(d *Decoder) error {
	var s string
	if err := d.Decode(&s); err != nil {
		return err
	}
	*u = upper(strings.ToUpper(s))
	return nil
}

func (u upper) AppendSexp(b []byte) ([]byte, error) { return Append(b, strings.ToLower(string(u))) }

func TestTyped(t *testing.T) {
	for _, c := range []struct {
		where where
		text  string
		want  any // a pointer to the expected value
	}{
		{here(), "5", new(int8(5))},
		{here(), "-128", new(int8(-128))},
		{here(), "18446744073709551615", new(uint64(math.MaxUint64))},
		{here(), "nil", new(int)},
		{here(), "nil", new(string)},
		{here(), "nil", new(point)},
		{here(), "nil", new(*point)},
		{here(), "nil", new(Symbol)},
		{here(), "()", new(Pair)},
		{here(), "nil", new(Char)},
		{here(), "nil", new([]int)},
		{here(), "nil", new(Raw("nil"))},
		{here(), "t", new(true)},
		{here(), ":yes", new(true)},
		{here(), "nil", new(false)},
		{here(), "7", new(big.NewInt(7))},
		{here(), "2/4", new(big.NewRat(1, 2))},
		{here(), "1.5", new(big.NewRat(3, 2))},
		{here(), "3", new(3.0)},
		{here(), "1/4", new(float32(0.25))},
		{here(), "#.sb-ext:double-float-negative-infinity", new(math.Inf(-1))},
		{here(), "(1 2)", &point{X: 1, Y: 2}},
		{here(), "(1)", &point{X: 1}},
		{here(), "(1 2 3 (4))", &point{X: 1, Y: 2}},
		{here(), "(1 2 . 3)", &point{X: 1, Y: 2}},
		{here(), "(1 . 2)", &point{X: 1, Y: 2}},
		{here(), "#(1 2)", &point{X: 1, Y: 2}},
		{here(), "(:x (1 2) \"b\")", &head{Head: ":x", Rest: []Raw{Raw("(1 2)"), Raw(`"b"`)}}},
		{here(), "(:x . y)", &head{Head: ":x", Rest: []Raw{Raw("y")}}},
		{here(), "(:x)", &head{Head: ":x"}},
		{here(), "(1 . 2)", &dotted{Car: 1, Cdr: int64(2)}},
		{here(), "(1 2 3)", &dotted{Car: 1, Cdr: List{int64(2), int64(3)}}},
		{here(), "(1)", &dotted{Car: 1}},
		{here(), "(1 . 2)", &dottedInt{Car: 1, Cdr: 2}},
		{here(), "(:b \"x\" :a 1)", &plist{A: 1, B: "x"}},
		{here(), "(:zz (1 (2)) :a 1 :zz 4)", &plist{A: 1}},
		{here(), "(:a 1 :a 2)", &plist{A: 1}},
		{here(), "(1 . 2)", &[2]int{1, 2}},
		{here(), "(1)", &[2]int{1, 0}},
		{here(), "(1 . 2)", &Pair{int64(1), int64(2)}},
		{here(), "(1 2 . 3)", &Pair{int64(1), Pair{int64(2), int64(3)}}},
		{here(), "(1 2)", &Pair{int64(1), List{int64(2)}}},
		{here(), "(1)", &Pair{int64(1), nil}},
		{here(), `((1 2) nil (3 4))`, &[]*point{{X: 1, Y: 2}, nil, {X: 3, Y: 4}}},
		{here(), `("a" "b")`, &[]upper{"A", "B"}},
		{here(), `(1 "a")`, &List{int64(1), "a"}},
		{here(), `'x`, new(Raw("'x"))},
		{here(), `#<x>`, new(Unreadable("#<x>"))},
		{here(), `#\x`, new(Char('x'))},
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

type badTag struct{ A int }
type badOption struct {
	A int `sexp:"a,rest"`
}
type badRest struct {
	_ struct{} `sexp:",list"`
	A []int    `sexp:",rest"`
	B int
}
type badTwice struct {
	A int `sexp:"a"`
	B int `sexp:"a"`
}
type badKey struct {
	A int `sexp:"a b"`
}
type loop *loop
type panics struct{}

func (*panics) UnmarshalSexp(*Decoder) error         { panic("boom") }
func (panics) AppendSexp(b []byte) ([]byte, error)   { panic("boom") }
func (failing) AppendSexp(b []byte) ([]byte, error)  { return nil, errNoName }
func (injects) AppendSexp(b []byte) ([]byte, error)  { return append(b, "1 #.(evil)"...), nil }
func (truncate) AppendSexp(b []byte) ([]byte, error) { return b[:0], nil }
func (*failing) UnmarshalSexp(*Decoder) error        { return errNoName }

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
		{here(), "-1", new(uint), 0, "", errIntRange},
		{here(), "99999999999999999999", new(int64), 0, "", errIntRange},
		{here(), "1/2", new(int), 0, "", errFraction},
		{here(), "1.0", new(int), 0, "", errFraction},
		{here(), "1/2", new(big.Int), 0, "", errFraction},
		{here(), "(1 1e999)", new(any), 3, "1", errRange},
		{here(), "1e39", new(float32), 0, "", errRange},
		{here(), "#<x>", new(float64), 0, "", nil},
		{here(), strings.Repeat("9", MaxDigits+1), new(any), 0, "", ErrTooLarge},
		{here(), strings.Repeat("9", MaxDigits+1), new(float64), 0, "", ErrTooLarge},
		{here(), "x", new(string), 0, "", nil},
		{here(), `"x"`, new(Symbol), 0, "", nil},
		{here(), `"x"`, new(bool), 0, "", nil},
		{here(), `"x"`, new(Char), 0, "", nil},
		{here(), `"x"`, new(Unreadable), 0, "", nil},
		{here(), `"x"`, new(Pair), 0, "", nil},
		{here(), `"x"`, new(big.Int), 0, "", nil},
		{here(), `"x"`, new(point), 0, "", nil},
		{here(), `"x"`, new([]int), 0, "", nil},
		{here(), `"x"`, new([2]int), 0, "", nil},
		{here(), `"x"`, new(map[string]int), 0, "", nil},
		{here(), `1`, new(chan int), 0, "", nil},
		{here(), `1`, new(error), 0, "", nil},
		{here(), `'x`, new([]Symbol), 0, "", nil},
		{here(), `#\GREEK_SMALL_LETTER_LAMDA`, new(Char), 0, "", errNoName},
		{here(), "(1 . 2)", new([]int), 0, "", errDotted},
		{here(), "(1 2 . 3)", new([3]int), 0, "", errDotted},
		{here(), "(1 2 3)", new([2]int), 0, "", errExtra},
		{here(), "(1 x)", new(dottedInt), 3, "1", nil},
		{here(), "(:a)", new(plist), 1, "", errNoValue},
		{here(), "(:a . 1)", new(plist), 0, "", errDotted},
		{here(), "(1 2)", new(plist), 1, "0", errKey},
		{here(), "(1)", new(badTag), 0, "", nil},
		{here(), "(1)", new(badOption), 0, "", nil},
		{here(), "(1)", new(badRest), 0, "", nil},
		{here(), "(1)", new(badTwice), 0, "", nil},
		{here(), "(1)", new(badKey), 0, "", ErrUnsafe},
		{here(), "1", new(loop), 0, "", ErrDepth},
		{here(), "1", point{}, 0, "", errTarget},
		{here(), "1", nil, 0, "", errTarget},
		{here(), "1", (*int)(nil), 0, "", errTarget},
		{here(), "(1)", new([]failing), 1, "0", errNoName},
		{here(), `("a" 1)`, new([]upper), 5, "1", nil},
	} {
		d := NewDecoder([]byte(c.text + " 1"))
		err := d.Decode(c.target)
		var e *TypeError
		if !errors.As(err, &e) {
			t.Errorf("%s: Decode(%.40q, %T) = %v, want a TypeError", c.where, c.text, c.target, err)
			continue
		}
		if e.Offset != c.offset || e.Path != c.path || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: Decode(%.40q, %T) = %v, want offset %d path %q cause %v", c.where, c.text, c.target, err, c.offset, c.path, c.err)
		}
		if !strings.HasPrefix(err.Error(), "sexp: decode ") {
			t.Errorf("%s: message %q", c.where, err)
		}
		if want := int64(len(c.text)); d.Offset() != want && c.err != errTarget {
			t.Errorf("%s: offset after the error %d, want %d", c.where, d.Offset(), want)
		}
	}
}

func TestPanicBecomesError(t *testing.T) {
	if err := Unmarshal([]byte("(1)"), new([]panics)); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("Unmarshal: %v", err)
	}
	if b, err := Append([]byte("x"), []any{panics{}}); err == nil || !strings.Contains(err.Error(), "boom") || string(b) != "x" {
		t.Errorf("Append: %q, %v", b, err)
	}
}
