package sexp

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var exact = cmp.Options{
	cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 }),
	cmp.Comparer(func(a, b *big.Rat) bool { return a.Cmp(b) == 0 }),
	cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }),
}

func TestValid(t *testing.T) {
	for _, c := range valid {
		var got any
		if err := Unmarshal([]byte(c.text), &got); err != nil {
			t.Errorf("%s: Unmarshal(%q): %v", c.where, c.text, err)
			continue
		}
		if diff := cmp.Diff(c.value, got, exact); diff != "" {
			t.Errorf("%s: Unmarshal(%q) (-want +got):\n%s", c.where, c.text, diff)
		}
		out, err := Marshal(got)
		switch {
		case c.canon == "" && err == nil:
			t.Errorf("%s: Marshal(%#v) = %q, want a refusal", c.where, got, out)
		case c.canon != "" && (err != nil || string(out) != c.canon):
			t.Errorf("%s: Marshal(%#v) = %q, %v, want %q", c.where, got, out, err, c.canon)
		}
		raw, err := NewDecoder([]byte(c.text)).ReadRaw()
		if want := strings.Trim(c.text, " \t\r\n\f"); err != nil || string(raw) != want && c.text != "#\\\n" && c.text != `#\ ` {
			t.Errorf("%s: ReadRaw(%q) = %q, %v", c.where, c.text, raw, err)
		}
		d := NewDecoder(raw)
		if err := d.Skip(); err != nil || d.Offset() != int64(len(raw)) || d.Peek() != KindEOF {
			t.Errorf("%s: Skip(%q) = %v at %d of %d", c.where, raw, err, d.Offset(), len(raw))
		}
	}
}

func TestInvalid(t *testing.T) {
	for _, c := range invalid {
		target := any("untouched")
		err := Unmarshal([]byte(c.text), &target)
		if err == nil {
			t.Errorf("%s: Unmarshal(%.60q) = %v, want an error", c.where, c.text, target)
			continue
		}
		s := syntaxError(t, err)
		if s.Offset != c.offset || s.Path != c.path || !errors.Is(err, c.err) {
			t.Errorf("%s: Unmarshal(%.60q):\n got %d %.40q %v\nwant %d %.40q %v", c.where, c.text,
				s.Offset, s.Path, s.Err, c.offset, c.path, c.err)
		}
		if target != "untouched" {
			t.Errorf("%s: target changed to %v", c.where, target)
		}
		if c.err == errTrailing {
			continue
		}
		d := NewDecoder([]byte(c.text))
		if err := d.Skip(); err == nil || d.Offset() != 0 {
			t.Errorf("%s: Skip(%.60q) = %v, offset %d", c.where, c.text, err, d.Offset())
		}
		if _, err := Marshal(Raw(c.text)); err == nil {
			t.Errorf("%s: Marshal(Raw(%.60q)) was accepted", c.where, c.text)
		}
	}
}

func TestFrames(t *testing.T) {
	for name, frame := range frames(t) {
		var v any
		if err := Unmarshal(frame, &v); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		list, ok := v.(List)
		if !ok || !strings.HasPrefix(string(list[0].(Symbol)), ":") {
			t.Errorf("%s: not a message: %.80v", name, v)
		}
		for n := range len(frame) - 1 {
			cut := frame[:n]
			err := NewDecoder(cut).Skip()
			if err == nil {
				t.Fatalf("%s: cut at %d is accepted", name, n)
			}
			if s := syntaxError(t, err); s.Offset > int64(n) {
				t.Fatalf("%s: cut at %d: offset %d", name, n, s.Offset)
			}
			if n > 600 {
				break
			}
		}
	}
}

type restart struct {
	_    struct{} `sexp:",list"`
	Name string
	Text string
}

type frameLine struct {
	_     struct{} `sexp:",list"`
	N     int
	Text  string
	Props frameProps
}

type frameProps struct {
	Restartable bool `sexp:"restartable"`
}

type debugEvent struct {
	_         struct{} `sexp:",list"`
	Head      Symbol
	Thread    int64
	Level     int
	Condition []any
	Restarts  []restart
	Frames    []frameLine
	Pending   []int64
}

func TestDebugFrame(t *testing.T) {
	var e debugEvent
	if err := Unmarshal(frames(t)["debug"], &e); err != nil {
		t.Fatal(err)
	}
	if e.Head != ":debug" || e.Level != 1 || len(e.Restarts) != 3 || len(e.Frames) == 0 || len(e.Pending) != 1 {
		t.Fatalf("debug = %+v", e)
	}
	if e.Restarts[0].Name != "RETRY" || !e.Frames[4].Props.Restartable || e.Frames[0].Props.Restartable {
		t.Fatalf("debug = %+v", e)
	}
	if e.Condition[0] != "arithmetic error DIVISION-BY-ZERO signalled\nOperation was (/ 1 0)." {
		t.Fatalf("condition = %q", e.Condition[0])
	}
}

func TestConnectionInfo(t *testing.T) {
	var m struct {
		_     struct{} `sexp:",list"`
		Head  Symbol
		Reply struct {
			_    struct{} `sexp:",list"`
			OK   Symbol
			Info struct {
				Pid   int    `sexp:"pid"`
				Style Symbol `sexp:"style"`
				Impl  struct {
					Type    string  `sexp:"type"`
					Version string  `sexp:"version"`
					Program *string `sexp:"program"`
				} `sexp:"lisp-implementation"`
				Features []Symbol `sexp:"features"`
				Version  string   `sexp:"version"`
				Absent   int      `sexp:"absent"`
			}
		}
		ID int64
	}
	if err := Unmarshal(frames(t)["connection-info"], &m); err != nil {
		t.Fatal(err)
	}
	i := m.Reply.Info
	if m.ID != 1 || i.Pid == 0 || i.Style != ":spawn" || i.Impl.Type != "SBCL" || i.Impl.Program != nil ||
		i.Version != "2.27" || i.Features[0] != ":swank" || i.Absent != 0 {
		t.Fatalf("info = %+v", m)
	}
}

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

func TestDecoderSequence(t *testing.T) {
	d := NewDecoder([]byte(` (:return (:ok "v") . 12) tail`))
	var kinds []Kind
	peek := func() { kinds = append(kinds, d.Peek()) }
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	peek()
	check(d.Enter())
	var s Symbol
	check(d.Decode(&s))
	check(d.Enter())
	check(d.Skip())
	raw, err := d.ReadRaw()
	check(err)
	peek()
	check(d.Leave())
	peek()
	check(d.Leave())
	if d.Offset() != 25 || s != ":return" || string(raw) != `"v"` {
		t.Fatalf("offset %d, %q, %q", d.Offset(), s, raw)
	}
	if err := d.Leave(); !errors.Is(err, errNotOpen) {
		t.Fatalf("Leave = %v", err)
	}
	check(d.Skip())
	peek()
	if want := []Kind{KindOpen, KindClose, KindDot, KindEOF}; !reflect.DeepEqual(kinds, want) {
		t.Fatalf("kinds %v, want %v", kinds, want)
	}
	if err := d.Enter(); !errors.Is(err, ErrUnexpectedEnd) {
		t.Fatalf("Enter = %v", err)
	}
	if err := NewDecoder([]byte("x")).Enter(); !errors.As(err, new(*TypeError)) {
		t.Fatalf("Enter = %v", err)
	}
	deep := NewDecoder(bytes.Repeat([]byte("("), 2*MaxDepth))
	for range MaxDepth {
		check(deep.Enter())
	}
	if err := deep.Enter(); !errors.Is(err, ErrDepth) {
		t.Fatalf("Enter = %v", err)
	}
	if err := deep.Leave(); !errors.Is(err, ErrDepth) {
		t.Fatalf("Leave = %v", err)
	}
}

func TestPeek(t *testing.T) {
	for text, want := range map[string]Kind{"": KindEOF, " (": KindOpen, "#(": KindOpen, ")": KindClose, ". ": KindDot,
		"'": KindQuote, `"`: KindString, "a": KindSymbol, ":a": KindSymbol, "#:a": KindSymbol, "1": KindNumber, "1.5": KindNumber,
		"1+": KindSymbol, `#\a`: KindChar, "#<": KindOpaque, "#S(": KindOpaque, "#2A": KindOpaque, "#.": KindOpaque,
		";": KindInvalid, "`": KindInvalid, "#'": KindInvalid, "#": KindInvalid, "a:b:c": KindInvalid, "1/0": KindInvalid} {
		if got := NewDecoder([]byte(text)).Peek(); got != want {
			t.Errorf("Peek(%q) = %v, want %v", text, got, want)
		}
	}
	if Kind(200).String() != "unknown kind" {
		t.Error(Kind(200))
	}
}

func TestSizeLimit(t *testing.T) {
	big := bytes.Repeat([]byte("x"), MaxSize+1)
	d := NewDecoder(big)
	_, rawErr := d.ReadRaw()
	for i, err := range []error{Unmarshal(big, new(any)), d.Skip(), d.Decode(new(any)), d.Enter(), rawErr} {
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := Unmarshal(big[:MaxSize], new(Raw)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := Marshal(string(big[:MaxSize-1])); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Marshal: %v", err)
	}
	if _, err := Marshal(string(big[:MaxSize-2])); err != nil {
		t.Errorf("Marshal at the limit: %v", err)
	}
	ring := &Pair{Car: 1}
	ring.Cdr = ring
	if _, err := Marshal(ring); !errors.Is(err, ErrTooLarge) {
		t.Errorf("ring: %v", err)
	}
}

// TestHostileTime feeds inputs that invite quadratic time.
func TestHostileTime(t *testing.T) {
	for _, unit := range []string{"#<(>", `#<"`, `#<">`, `\\`, `"\\\\`, "(", "#<#<", "'", "#(", "|", "#.", "a:", "#2A"} {
		b := bytes.Repeat([]byte(unit+" "), 1<<18/len(unit))
		_ = NewDecoder(append([]byte("("), b...)).Skip()
		_ = NewDecoder(append([]byte(`"`), b...)).Skip()
	}
}

func TestSkipAllocatesNothing(t *testing.T) {
	all := frames(t)
	all["large"] = largeString()
	for name, frame := range all {
		d := new(Decoder)
		if n := testing.AllocsPerRun(10, func() {
			*d = Decoder{s: scanner{buf: frame}}
			if err := d.Skip(); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: Skip allocates %v times", name, n)
		}
	}
}

func TestKnownSymbolsAllocateNothing(t *testing.T) {
	for _, text := range []string{":return", ":ok", "t", ":debug-activate", ":write-string"} {
		b := []byte(text)
		var s Symbol
		d := NewDecoder(b)
		if n := testing.AllocsPerRun(100, func() {
			*d = Decoder{s: scanner{buf: b}}
			if err := d.Decode(&s); err != nil || string(s) != text {
				t.Fatal(s, err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
		if n := testing.AllocsPerRun(100, func() { _ = d.symbol(b) }); n != 0 {
			t.Errorf("%s: %v allocations in any", text, n)
		}
	}
	frame := []byte("(" + strings.Repeat("common-lisp-user::some-name ", 1000) + ")")
	var all []Symbol
	if n := testing.AllocsPerRun(5, func() {
		if err := Unmarshal(frame, &all); err != nil {
			t.Fatal(err)
		}
	}); n > 50 {
		t.Errorf("1000 equal symbols: %v allocations", n)
	}
}
