package sexp

import (
	"bytes"
	"reflect"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"swank-mcp/internal/tier"
)

type inner struct {
	Name  Symbol `sexp:"name"`
	Flags []bool `sexp:"flags,omitzero"`
	Small int8   `sexp:"small"`
}

type outer struct {
	ID    int64          `sexp:"id"`
	Text  string         `sexp:"text,omitzero"`
	Inner inner          `sexp:"inner"`
	More  []inner        `sexp:"more"`
	Texts []string       `sexp:"texts"`
	Skip  map[string]int `sexp:"-"`
}

func genInner(t *rapid.T) inner {
	in := inner{Name: rapid.SampledFrom([]Symbol{":ok", "t", "p::x", "*a-b*"}).Draw(t, "name"), Small: rapid.Int8().Draw(t, "small")}
	for range rapid.IntRange(0, 3).Draw(t, "flags") {
		in.Flags = append(in.Flags, rapid.Bool().Draw(t, "flag"))
	}
	return in
}

// TestStructRoundTrip: what a struct encodes to decodes to an equal struct,
// also after a detour.
func TestStructRoundTrip(t *testing.T) {
	tier.SeedRapid(t)
	rapid.Check(t, func(t *rapid.T) {
		want := outer{
			ID:    rapid.Int64().Draw(t, "id"),
			Text:  rapid.StringMatching(`[a-z"\\ \n]*`).Draw(t, "text"),
			Inner: genInner(t),
		}
		for range rapid.IntRange(0, 3).Draw(t, "more") {
			want.More = append(want.More, genInner(t))
		}
		for range rapid.IntRange(0, 3).Draw(t, "texts") {
			want.Texts = append(want.Texts, string([]rune(rapid.String().Draw(t, "string"))))
		}
		b, err := Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got outer
		if err := Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %+v, want %+v (%v)", b, got, want, err)
		}
		again, err := Marshal(tree(b))
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%q became %q, %v", b, again, err)
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
		var raw Raw
		if err := Unmarshal([]byte(spaced), &raw); err != nil || !reflect.DeepEqual(tree(raw), c.value) {
			t.Errorf("%s: %q = %#v, %v", c.where, spaced, tree(raw), err)
		}
	}
	for _, c := range invalid {
		err := Unmarshal([]byte("\n "+c.text), new(Raw))
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
		var pair head
		if err := Unmarshal([]byte("(a . "+c.text+" )"), &pair); err != nil || pair.Head != "a" || len(pair.Rest) != 1 {
			t.Errorf("%s: %q behind a dot: %v, %v", c.where, c.text, pair, err)
		}
	}
	for _, c := range invalid {
		if c.err == errTrailing || c.err == ErrDepth || c.text == "." || c.text == ")" {
			continue
		}
		err := Unmarshal([]byte("(a "+c.text), new(Raw))
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
			_, err := skip([]byte(text[:n]))
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
				if b, err := Marshal(plist{A: 1}); err != nil || string(b) != "(:a 1)" {
					t.Errorf("%q, %v", b, err)
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
