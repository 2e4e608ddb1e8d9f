package sexp

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestEveryChar: each character that is encoded decodes to itself, as one
// datum, also in a list and as Raw; only surrogates are refused.
func TestEveryChar(t *testing.T) {
	for c := Char(0); c <= utf8.MaxRune; c++ {
		if c > 0x4000 && c%31 != 0 {
			continue
		}
		b, err := Marshal([]Char{c, 'x'})
		if surrogate := 0xD800 <= c && c < 0xE000; surrogate || err != nil {
			if !surrogate || !errors.Is(err, ErrUnsafe) {
				t.Fatalf("U+%04X: %q, %v", int32(c), b, err)
			}
			continue
		}
		var got []Char
		if err := Unmarshal(b, &got); err != nil || len(got) != 2 || got[0] != c || got[1] != 'x' {
			t.Fatalf("U+%04X: %q became %v, %v", int32(c), b, got, err)
		}
		if _, err := Marshal(Raw(b)); err != nil {
			t.Fatalf("U+%04X: %v", int32(c), err)
		}
	}
}

func TestCharNames(t *testing.T) {
	if len(latin1Names) != 128 {
		t.Fatalf("%d names from U+0080", len(latin1Names))
	}
	for name, want := range map[string]Char{
		"a": 'a', "A": 'A', "λ": 'λ', "😀": '😀', "(": '(', "\\": '\\', "|": '|', ";": ';', " ": ' ', "\n": '\n', "\uFFFD": 0xFFFD,
		"Space": ' ', "SPACE": ' ', "newline": '\n', "Linefeed": '\n', "Tab": '\t', "Return": '\r', "Page": '\f', "Backspace": 8,
		"Nul": 0, "Null": 0, "Esc": 27, "Escape": 27, "Rubout": 127, "Del": 127, "Bel": 7, "Us": 31,
		"C80": 0x80, "Next-Line": 0x85, "NO-BREAK_SPACE": 0xA0, "LATIN_SMALL_LETTER_Y_WITH_DIAERESIS": 0xFF, "latin_small_letter_sharp_s": 0xDF,
		"U41": 'A', "u41": 'A', "U+41": 'A', "U10FFFF": 0x10FFFF, "UD800": 0xD800, "U": 'U', "u": 'u',
	} {
		if got, ok := charNamed([]byte(name)); !ok || got != want {
			t.Errorf("charNamed(%q) = U+%04X, %v, want U+%04X", name, int32(got), ok, int32(want))
		}
	}
	for _, name := range []string{"", "ab", "NOSUCH", "U110000", "UXYZ", "U+", "\xff", "\xff\xff", "aλ", "Spac"} {
		if got, ok := charNamed([]byte(name)); ok {
			t.Errorf("charNamed(%q) = U+%04X", name, int32(got))
		}
	}
}

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
			raw, err := NewDecoder([]byte(c.text + after)).ReadRaw()
			if err != nil || string(raw) != c.want {
				t.Errorf("ReadRaw(%.60q) = %.60q, %v, want %.60q", c.text+after, raw, err, c.want)
			}
		}
	}
}
