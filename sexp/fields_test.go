package sexp

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// TestPlanErrors: what a tag gets wrong is said once and clearly, by decoding
// and by encoding.
func TestPlanErrors(t *testing.T) {
	for _, c := range []struct {
		where where
		value any
		want  string
	}{
		{here(), struct{ A int }{}, "field A: no sexp tag"},
		{here(), struct {
			A int `json:"a"`
		}{}, "field A: no sexp tag"},
		{here(), struct {
			A int `sexp:",omitzero"`
		}{}, "field A: no sexp tag"},
		{here(), struct {
			A int `sexp:"a,omitempty"`
		}{}, `field A: unknown tag option "omitempty"`},
		{here(), struct {
			A []int `sexp:"a,rest"`
		}{}, `field A: unknown tag option "rest"`},
		{here(), struct {
			_ struct{} `sexp:",list"`
			A int      `sexp:"a"`
		}{}, `field A: name "a" in a positional struct`},
		{here(), struct {
			_ struct{} `sexp:",list"`
			A int      `sexp:",omitzero"`
		}{}, `field A: unknown tag option "omitzero"`},
		{here(), struct {
			_ struct{} `sexp:",list"`
			A []int    `sexp:",rest"`
			B int
		}{}, `field B: behind "0", which takes the rest`},
		{here(), struct {
			_ struct{} `sexp:",list"`
			A string   `sexp:",rest"`
		}{}, `field A: unknown tag option "rest"`},
		{here(), struct {
			A int `sexp:"a"`
			B int `sexp:"a"`
		}{}, "field B: second field for :a"},
		{here(), struct {
			A int `sexp:"a b"`
		}{}, `field A: not safe to encode: symbol ":a b"`},
		{here(), struct {
			A int `sexp:"#.(evil)"`
		}{}, `field A: not safe to encode`},
		{here(), struct {
			a int `sexp:"a"`
		}{}, "field a: tagged but not exported"},
		{here(), struct {
			point
		}{}, ""},
	} {
		target := reflect.New(reflect.TypeOf(c.value))
		_, encodeErr := Marshal(c.value)
		decodeErr := Unmarshal([]byte("(:a 1)"), target.Interface())
		for _, err := range []error{encodeErr, decodeErr} {
			if c.want == "" {
				if err != nil {
					t.Errorf("%s: %v", c.where, err)
				}
				continue
			}
			if e := (*TypeError)(nil); !errors.As(err, &e) || e.Path != "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", c.where, err, c.want)
			}
		}
	}
}

// TestIgnoredFields: unexported and excluded fields neither count nor move the
// others.
func TestIgnoredFields(t *testing.T) {
	type mixed struct {
		_      struct{} `sexp:",list"`
		A      int
		hidden int
		Skip   chan int `sexp:"-"`
		B      string
	}
	got := mixed{hidden: 3}
	if err := Unmarshal([]byte(`(1 "b" 3)`), &got); err != nil || got.A != 1 || got.B != "b" || got.Skip != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestPropertyOrder: properties are found in any order, among any number of
// fields.
func TestPropertyOrder(t *testing.T) {
	var fields []reflect.StructField
	var forward, backward, want []string
	for i := range 100 {
		name := strings.Repeat("k", i%7+1) + "-" + strings.Repeat("z", i/7+1)
		fields = append(fields, reflect.StructField{
			Name: "F" + strings.Repeat("a", i), Type: reflect.TypeFor[string](), Tag: reflect.StructTag(`sexp:"` + name + `"`)})
		forward = append(forward, ":"+name, `"`+name+`"`)
		backward = append([]string{":" + name, `"` + name + `"`, ":other", "(1 . 2)"}, backward...)
		want = append(want, name)
	}
	typ := reflect.StructOf(fields)
	for _, text := range []string{strings.Join(forward, " "), strings.Join(backward, "\n"), strings.Join(append(forward, backward...), " ")} {
		v := reflect.New(typ)
		if err := Unmarshal([]byte("("+text+")"), v.Interface()); err != nil {
			t.Fatal(err)
		}
		for i, name := range want {
			if got := v.Elem().Field(i).String(); got != name {
				t.Errorf("field %d = %q, want %q", i, got, name)
			}
		}
	}
}

func TestKeyAlone(t *testing.T) {
	for text, ok := range map[string]bool{
		"(:a 1)": true, "(:a 1 :b nil)": true, "(:a)": false, "(:a 1 :b)": false, "(:a . 1)": false, "(:a 1 . :b)": false,
		"(a 1)": true, "(1 2)": false, `("a" 1)`: false, "((:a) 1)": false, "nil": true, "()": true, "#(:a 1)": true, ":a": false,
	} {
		var p plist
		if err := Unmarshal([]byte(text), &p); (err == nil) != ok {
			t.Errorf("Unmarshal(%s) = %+v, %v", text, p, err)
		}
	}
}
