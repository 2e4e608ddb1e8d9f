package sexp

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzDecode holds the decoder to four properties: it never panics; whatever
// the target, what is a datum is decided alike; encoding what was decoded is a
// fixed point; the offset of an error lies in the input.
func FuzzDecode(f *testing.F) {
	for _, c := range valid {
		f.Add([]byte(c.text))
	}
	for _, c := range invalid {
		if len(c.text) < 100 {
			f.Add([]byte(c.text))
		}
	}
	for _, frame := range frames(f) {
		if len(frame) < 5000 {
			f.Add(frame)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var raw Raw
		err := Unmarshal(b, &raw)
		if err != nil {
			if s := syntaxError(t, err); s.Offset < 0 || s.Offset > int64(len(b)) {
				t.Fatalf("offset %d of %d", s.Offset, len(b))
			}
		}
		checkTargets(t, b, err)
		if err != nil {
			return
		}
		checkRaw(t, raw)
		checkFixedPoint(t, raw)
	})
}

// checkTargets decodes into typed targets, for panics and false syntax errors.
func checkTargets(t *testing.T, b []byte, rawErr error) {
	for _, target := range []any{new(debugEvent), new(grabbed), new(backtrace), new(head), new(plist), new(outer),
		new([]Raw), new([]string), new(int8), new(bool), new(string), new(Symbol), new(**point)} {
		err := Unmarshal(b, target)
		switch e := err.(type) {
		case nil:
			if rawErr != nil {
				t.Fatalf("%T accepts what Raw refuses: %v", target, rawErr)
			}
		case *SyntaxError:
			if rawErr == nil {
				t.Fatalf("%T: %v but Raw accepts", target, err)
			}
		case *TypeError:
			if e.Offset < 0 || e.Offset > int64(len(b)) {
				t.Fatalf("%T: %v, %d bytes", target, err, len(b))
			}
		default:
			t.Fatalf("%T: %v (%T)", target, err, err)
		}
	}
}

// checkRaw scans a datum again on its own, and holds what may be sent to what is
// safe.
func checkRaw(t *testing.T, raw Raw) {
	if end, err := skip(raw); err != nil || end != len(raw) {
		t.Fatalf("raw %q alone: %d of %d, %v", raw, end, len(raw), err)
	}
	if out, err := Marshal(raw); err == nil {
		for _, bad := range []string{"#.", "#<", "#S", "#C", "#P", "#:"} {
			if bytes.Contains(out, []byte(bad)) && !bytes.ContainsAny(out, `"|\`) && !strings.Contains(string(out), "a"+bad) {
				checkInnocent(t, out, bad)
			}
		}
	}
}

// checkInnocent accepts "#." and the like only inside a token, where "#" does
// not dispatch.
func checkInnocent(t *testing.T, out []byte, bad string) {
	for i := 0; ; {
		n := bytes.Index(out[i:], []byte(bad))
		if n < 0 {
			return
		}
		if i += n; i == 0 || endsToken(out[i-1]) {
			t.Fatalf("Marshal(Raw) lets %q pass in %q", bad, out)
		}
		i++
	}
}

func checkFixedPoint(t *testing.T, raw Raw) {
	if len(raw) > 10_000 {
		return // tree takes quadratic time on deep nesting
	}
	once, err := Marshal(tree(raw))
	if err != nil {
		return
	}
	twice, err := Marshal(tree(once))
	if err != nil || !bytes.Equal(once, twice) {
		t.Fatalf("%q became %q, %v", once, twice, err)
	}
	if _, err := Marshal(Raw(once)); err != nil {
		t.Fatalf("own output is not safe: %v", err)
	}
}

// FuzzSymbol: whatever Append accepts is exactly one datum, the same symbol.
func FuzzSymbol(f *testing.F) {
	for _, s := range []string{":ok", "swank:ping", "foo #.(evil)", "", "1", ".", "a b", "|a b|", "|a", `a\`, "a:b:c", "λ", "1+", "#:g", "a::b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := Marshal(Symbol(s))
		if err != nil {
			if !errors.Is(err, ErrUnsafe) {
				t.Fatalf("Marshal(Symbol(%q)): %v", s, err)
			}
			return
		}
		var list []Symbol
		if err := Unmarshal([]byte("("+string(b)+" t)"), &list); err != nil || len(list) != 2 {
			t.Fatalf("Symbol(%q) in a list: %v, %v", s, list, err)
		}
		if want := Symbol(s); list[0] != want && !(strings.EqualFold(s, "nil") && list[0] == "") {
			t.Fatalf("Symbol(%q) came back as %#v", s, list[0])
		}
	})
}

// FuzzString: any string is one datum; valid UTF-8 comes back byte for byte,
// the rest with U+FFFD for each bad byte.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", `"`, `\`, `\"`, "a\nb\x00", "λ😀", "\xff", "\xed\xa0\x80", `" #.(evil) "`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := Marshal([]string{s})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := Unmarshal(b, &got); err != nil || len(got) != 1 {
			t.Fatalf("%q: %v, %v", b, got, err)
		}
		want := string([]rune(s))
		if got[0] != want || utf8.ValidString(s) && got[0] != s {
			t.Fatalf("%q came back as %q", s, got[0])
		}
	})
}
