package sexp

import (
	"bytes"
	"reflect"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

type inner struct {
	_     struct{} `sexp:",list"`
	Name  Symbol
	Flags []bool
	Pair  *[2]int
	Rest  []string `sexp:",rest"`
}

type outer struct {
	ID    int64            `sexp:"id"`
	Text  string           `sexp:"text,omitzero"`
	Inner inner            `sexp:"inner"`
	More  []inner          `sexp:"more"`
	Size  uint16           `sexp:"size,omitzero"`
	Ratio float64          `sexp:"ratio"`
	Chars []Char           `sexp:"chars"`
	Skip  map[string]int   `sexp:"-"`
	Ptr   *map[string]bool `sexp:"-"`
}

func genInner(t *rapid.T) inner {
	in := inner{Name: rapid.SampledFrom([]Symbol{":ok", "t", "p::x", "|a b|"}).Draw(t, "name")}
	for range rapid.IntRange(0, 3).Draw(t, "flags") {
		in.Flags = append(in.Flags, rapid.Bool().Draw(t, "flag"))
	}
	if rapid.Bool().Draw(t, "has pair") {
		in.Pair = &[2]int{rapid.Int().Draw(t, "a"), rapid.Int().Draw(t, "b")}
	}
	for range rapid.IntRange(0, 3).Draw(t, "rest") {
		in.Rest = append(in.Rest, string([]rune(rapid.String().Draw(t, "string"))))
	}
	return in
}

// TestStructRoundTrip: what a struct encodes to decodes to an equal struct,
// also after a detour through any.
func TestStructRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := outer{
			ID:    rapid.Int64().Draw(t, "id"),
			Text:  rapid.StringMatching(`[a-z"\\ \n]*`).Draw(t, "text"),
			Inner: genInner(t),
			Size:  rapid.Uint16().Draw(t, "size"),
			Ratio: rapid.Float64Range(-1e6, 1e6).Filter(func(f float64) bool { return f == 0 || f > 1e-300 || f < -1e-300 }).Draw(t, "ratio"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "more") {
			want.More = append(want.More, genInner(t))
		}
		for range rapid.IntRange(0, 3).Draw(t, "chars") {
			want.Chars = append(want.Chars, Char(rapid.Int32Range(0, 0xD7FF).Draw(t, "char")))
		}
		b, err := Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got outer
		if err := Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %+v, want %+v (%v)", b, got, want, err)
		}
		var v any
		if err := Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		again, err := Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var detour outer
		if err := Unmarshal(again, &detour); err != nil || !reflect.DeepEqual(detour, want) {
			t.Fatalf("%q: %+v, want %+v (%v)", again, detour, want, err)
		}
	})
}

// TestSpacing: white space between tokens does not matter, except that offsets
// count it.
func TestSpacing(t *testing.T) {
	for _, c := range valid {
		spaced := "\n\t " + c.text + " \r\f"
		if strings.HasSuffix(c.text, `\`) {
			continue
		}
		var a, b any
		if err := Unmarshal([]byte(c.text), &a); err != nil {
			t.Fatalf("%s: %v", c.where, err)
		}
		if err := Unmarshal([]byte(spaced), &b); err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %q = %#v, %v; without the space %#v", c.where, spaced, b, err, a)
		}
	}
	for _, c := range invalid {
		err := Unmarshal([]byte("\n "+c.text), new(any))
		if err == nil {
			t.Errorf("%s: accepted after white space", c.where)
			continue
		}
		if s := syntaxError(t, err); s.Offset != c.offset+2 {
			t.Errorf("%s: offset %d, want %d", c.where, s.Offset, c.offset+2)
		}
	}
}

// TestNesting puts every case into lists: valid ones stay valid in any place,
// and the offset and path of an error follow.
func TestNesting(t *testing.T) {
	for _, c := range valid {
		var list []Raw
		if err := Unmarshal([]byte("(a "+c.text+" (b))"), &list); err != nil || len(list) != 3 || string(list[2]) != "(b)" {
			t.Errorf("%s: %q in a list: %q, %v", c.where, c.text, list, err)
		}
		var pair Pair
		if err := Unmarshal([]byte("(a . "+c.text+" )"), &pair); err != nil || pair.Car != Symbol("a") {
			t.Errorf("%s: %q behind a dot: %v, %v", c.where, c.text, pair, err)
		}
	}
	for _, c := range invalid {
		if c.err == errTrailing || c.err == ErrDepth || c.text == "." || c.text == ")" {
			continue
		}
		err := Unmarshal([]byte("(a "+c.text), new(any))
		if err == nil {
			t.Errorf("%s: accepted in a list", c.where)
			continue
		}
		want := strings.TrimSuffix("1/"+c.path, "/")
		if s := syntaxError(t, err); s.Offset != c.offset+3 || s.Path != want {
			t.Errorf("%s: offset %d path %q, want %d %q", c.where, s.Offset, s.Path, c.offset+3, want)
		}
	}
}

// TestPrefixes: a list that is cut anywhere is unfinished, and the error says
// that at its very end, or complains about the cut token no earlier than where
// it begins.
func TestPrefixes(t *testing.T) {
	for _, c := range valid {
		text := "(" + strings.TrimRight(c.text, " ") + ")"
		if strings.Contains(text, "#<") {
			continue
		}
		for n := range len(text) {
			err := NewDecoder([]byte(text[:n])).Skip()
			if err == nil {
				t.Errorf("%s: %q is accepted", c.where, text[:n])
				continue
			}
			if s := syntaxError(t, err); s.Offset > int64(n) {
				t.Errorf("%s: %q: offset %d", c.where, text[:n], s.Offset)
			}
		}
	}
}

// TestInputIsNotChanged: a decoder only reads, and a Raw aliases its input
// without room to append into it.
func TestInputIsNotChanged(t *testing.T) {
	for name, frame := range frames(t) {
		before := bytes.Clone(frame)
		var v any
		if err := Unmarshal(frame, &v); err != nil {
			t.Fatal(err)
		}
		var m head
		if err := Unmarshal(frame, &m); err != nil {
			t.Fatal(err)
		}
		for _, raw := range m.Rest {
			if cap(raw) != len(raw) {
				t.Errorf("%s: raw has room for %d more", name, cap(raw)-len(raw))
			}
			_ = append(raw, "overwritten"...)
		}
		if !bytes.Equal(frame, before) {
			t.Errorf("%s was changed", name)
		}
		first := m.Rest[0]
		if at := bytes.Index(frame, first); &frame[at] != &first[0] {
			t.Errorf("%s: raw does not alias the frame", name)
		}
	}
}

// TestConcurrent uses the functions, and so the cache of plans, from several
// goroutines; the race detector judges.
func TestConcurrent(t *testing.T) {
	frame := frames(t)["debug"]
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				type local struct {
					_    struct{} `sexp:",list"`
					Head Symbol
					Rest []Raw `sexp:",rest"`
				}
				var l local
				if err := Unmarshal(frame, &l); err != nil || l.Head != ":debug" {
					t.Errorf("%+v, %v", l, err)
				}
				if _, err := Marshal(l); err == nil {
					continue
				}
			}
		})
	}
	wg.Wait()
}

// TestDecodeReplaces: nothing of the old value shines through.
func TestDecodeReplaces(t *testing.T) {
	p := plist{A: 7, B: "old"}
	if err := Unmarshal([]byte("(:zz 1)"), &p); err != nil || p != (plist{}) {
		t.Errorf("%+v, %v", p, err)
	}
	list := []int{1, 2, 3}
	alias := list
	if err := Unmarshal([]byte("(9)"), &list); err != nil || len(list) != 1 || alias[0] != 1 {
		t.Errorf("%v, %v, alias %v", list, err, alias)
	}
	array := [3]int{1, 2, 3}
	if err := Unmarshal([]byte("(9)"), &array); err != nil || array != [3]int{9, 0, 0} {
		t.Errorf("%v, %v", array, err)
	}
	old := &point{X: 1}
	shared := old
	if err := Unmarshal([]byte("(5)"), &old); err != nil || old.X != 5 || shared.X != 1 {
		t.Errorf("%v, %v, shared %v", old, err, shared)
	}
	m := head{Head: ":old", Rest: []Raw{Raw("x")}}
	if err := Unmarshal([]byte("nil"), &m); err != nil || m.Head != "" || m.Rest != nil {
		t.Errorf("%v, %v", m, err)
	}
}

// TestContinueAfterTypeError: one element that does not fit does not end the
// reading of a list.
func TestContinueAfterTypeError(t *testing.T) {
	d := NewDecoder([]byte(`("a" 2 (3 x) "d")`))
	if err := d.Enter(); err != nil {
		t.Fatal(err)
	}
	var got []string
	failed := 0
	for d.Peek() != KindClose {
		var s string
		if err := d.Decode(&s); err != nil {
			failed++
			continue
		}
		got = append(got, s)
	}
	if err := d.Leave(); err != nil || failed != 2 || !reflect.DeepEqual(got, []string{"a", "d"}) {
		t.Errorf("%q, %d failed, %v", got, failed, err)
	}
}
