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
