package rawtext

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestTwice: names that a reader can take for one, at any depth and wherever they stand.
func TestTwice(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"b":2}`:                             "",
		`{"a":1,"a":2}`:                             `: "a" "a"`,
		`{"a":1,"A":2}`:                             `: "a" "A"`,
		`{"a":1,"\u0061":2}`:                        `: "a" "a"`,
		`{"\u0041":1,"x":3,"a" :2}`:                 `: "A" "a"`,
		`{"k":1,"` + "\u212a" + `":2}`:              `: "k" "` + "\u212a" + `"`,
		`{"s":1,"` + "\u017f" + `":2}`:              `: "s" "` + "\u017f" + `"`,
		`{"É":1,"é":2}`:                             `: "É" "é"`,
		`{"a\"":1,"a\u0022":2}`:                     `: "a\"" "a\""`,
		`{"":1,"":2}`:                               `: "" ""`,
		`{"a":{"a":{"a":1}}}`:                       "",
		`{"a":{"b":1,"b":2}}`:                       `a: "b" "b"`,
		`{"p":{"q":[1,{"r":{"b":1,"c":3,"b":2}}]}}`: `p.q.r: "b" "b"`,
		`[{"a":1},{"a":1}]`:                         "",
		`[{"a":1},{"x":[{"b":1},{"b":1,"b":1}]}]`:   `x: "b" "b"`,
		`{"a":"a","b":"a","c":["a","a"]}`:           "",
		`{"a":"\"a\":1,\"a\":2"}`:                   "",
		`{"a":"{","b":"}","c":"\\"}`:                "",
		`{"a" : 1 , "b" : [ ] , "a" : 2 }`:          `: "a" "a"`,
		`{}`:                                        "",
		`[]`:                                        "",
		`"a"`:                                       "",
		`1`:                                         "",
		strings.Repeat(`{"a":`, 900) + "1" + strings.Repeat("}", 900): "",
	} {
		if !json.Valid([]byte(text)) {
			t.Fatalf("%s is not JSON", text)
		}
		p, ok := Twice([]byte(text))
		got := ""
		if ok {
			got = fmt.Sprintf("%s: %q %q", p.In, p.First, p.Again)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestTwiceOfMany: two names among very many are found, and very many that differ are not
// taken for two; no object is made for each of them.
func TestTwiceOfMany(t *testing.T) {
	var b strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&b, `"%x":0,`, i)
	}
	differ := []byte("{" + b.String() + `"last":0}`)
	twice := []byte("{" + b.String() + `"FACE":0}`)
	if p, ok := Twice(differ); ok {
		t.Errorf("found %+v", p)
	}
	if p, ok := Twice(twice); !ok || p.First != "face" || p.Again != "FACE" {
		t.Errorf("found %+v, %v", p, ok)
	}
	if n := testing.AllocsPerRun(1, func() { Twice(differ) }); n > 100 {
		t.Errorf("%.0f allocations", n)
	}
}

// FuzzTwice compares with a reader that keeps the names of each object in a map.
func FuzzTwice(f *testing.F) {
	for _, text := range []string{`{"a":1,"A":2}`, `[{"a":{"b":1,"\u0062":2}}]`, `{"a":"\"a\":1"}`, `{"` + "\xff" + `":1,"\udc00":2}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !json.Valid(b) {
			return
		}
		if _, got := Twice(b); got != slowly(t, b) {
			t.Errorf("%q: %v", b, got)
		}
	})
}

// slowly reports whether an object in b, valid JSON, has a name twice.
func slowly(t *testing.T, b []byte) bool {
	type object struct {
		names map[string]bool // nil: it is an array
		value bool            // comes next
	}
	var open []*object
	twice := false
	for d := json.NewDecoder(strings.NewReader(string(b))); ; {
		token, err := d.Token()
		if err != nil {
			return twice
		}
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			open = open[:len(open)-1]
			continue
		}
		if n := len(open) - 1; n >= 0 && open[n].names != nil {
			if o := open[n]; !o.value {
				name := string(foldText(nil, []byte(token.(string))))
				twice = twice || o.names[name]
				o.names[name], o.value = true, true
				continue
			} else {
				o.value = false
			}
		}
		switch token {
		case json.Delim('{'):
			open = append(open, &object{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, &object{})
		}
	}
}
