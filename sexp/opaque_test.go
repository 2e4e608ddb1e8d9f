package sexp

import (
	"strings"
	"testing"
)

// TestOpaqueEnd: where an opaque object ends among other elements.
func TestOpaqueEnd(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"#<a>", "#<a>"},
		{"#<>", "#<>"},
		{"#<a>b>", "#<a>b>"},
		{"#<a>\"b\">", "#<a>\"b\">"},
		{"#<a->b c>", "#<a->b c>"},
		{"#<a -> b>", "#<a ->"}, // a guess, and wrong
		{"#<a (b -> c)>", "#<a (b -> c)>"},
		{"#<a \"-> \\\" x\" c>", "#<a \"-> \\\" x\" c>"},
		{"#<a #<b> #<c #<d>>>", "#<a #<b> #<c #<d>>>"},
		{"#<a |> | b>", "#<a |>"},
		{"#<a \\> b>", "#<a \\> b>"},
		{"#<fn ((setf x) y)>", "#<fn ((setf x) y)>"},
		{"#<" + strings.Repeat("x", 5000) + " (>", "#<" + strings.Repeat("x", 5000) + " (>"},
		{"#<" + strings.Repeat("x", 5000) + " y>", "#<" + strings.Repeat("x", 5000) + " y>"},
	} {
		for _, after := range []string{"", " 1", ")", "\n(#<z>)"} {
			b := []byte(c.text + after)
			end, err := skip(b)
			if err != nil || string(b[:end]) != c.want {
				t.Errorf("%.60q: %.60q, %v, want %.60q", b, b[:end], err, c.want)
			}
		}
	}
}
