package sexp

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzDecode holds the decoder to four properties: it never panics; Skip,
// ReadRaw and Raw agree on what is a datum, and whatever decodes can be
// skipped; encoding what was decoded is a fixed point; the offset of an error
// lies in the input.
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
		skipper, reader := NewDecoder(b), NewDecoder(b)
		skipErr := skipper.Skip()
		raw, rawErr := reader.ReadRaw()
		if (skipErr == nil) != (rawErr == nil) || skipper.Offset() != reader.Offset() {
			t.Fatalf("Skip %v at %d, ReadRaw %v at %d", skipErr, skipper.Offset(), rawErr, reader.Offset())
		}
		if skipErr != nil {
			if s := syntaxError(t, skipErr); s.Offset < 0 || s.Offset > int64(len(b)) {
				t.Fatalf("offset %d of %d", s.Offset, len(b))
			}
		}
		var v any
		err := NewDecoder(b).Decode(&v)
		checkTargets(t, b, skipErr)
		if err != nil {
			var te *TypeError
			if skipErr == nil && (!errors.As(err, &te) || te.Offset > int64(len(b))) {
				t.Fatalf("Decode: %v", err)
			}
			return
		}
		if skipErr != nil {
			t.Fatalf("Decode accepts what Skip refuses: %v", skipErr)
		}
		checkRaw(t, raw, v)
		checkFixedPoint(t, v)
	})
}

// checkTargets decodes into typed targets, for panics and false syntax errors.
func checkTargets(t *testing.T, b []byte, skipErr error) {
	for _, target := range []any{new(debugEvent), new(grabbed), new(inspection), new(head), new(dotted), new(plist), new(Pair),
		new([]any), new([]Pair), new([2]any), new([]upper), new(float64), new(uint8), new(bool), new(Char), new(Symbol), new(**point)} {
		err := NewDecoder(b).Decode(target)
		switch e := err.(type) {
		case nil:
			if skipErr != nil {
				t.Fatalf("%T accepts what Skip refuses: %v", target, skipErr)
			}
		case *SyntaxError:
			if skipErr == nil {
				t.Fatalf("%T: %v but Skip accepts", target, err)
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

// checkRaw decodes a datum again on its own.
func checkRaw(t *testing.T, raw Raw, want any) {
	var alone any
	if err := Unmarshal(raw, &alone); err != nil {
		t.Fatalf("raw %q alone: %v", raw, err)
	}
	// Not cmp.Diff: it takes exponential time on deep nesting.
	if !reflect.DeepEqual(want, alone) {
		t.Fatalf("raw %q alone: %#v, want %#v", raw, alone, want)
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

func checkFixedPoint(t *testing.T, v any) {
	once, err := Marshal(v)
	if err != nil {
		return
	}
	var again any
	if err := Unmarshal(once, &again); err != nil {
		t.Fatalf("Unmarshal(%q) after Marshal: %v", once, err)
	}
	twice, err := Marshal(again)
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
		var list []any
		if err := Unmarshal([]byte("("+string(b)+" 1)"), &list); err != nil || len(list) != 2 {
			t.Fatalf("Symbol(%q) in a list: %v, %v", s, list, err)
		}
		want := any(Symbol(s))
		if strings.EqualFold(s, "nil") {
			want = nil
		}
		if !reflect.DeepEqual(list[0], want) {
			t.Fatalf("Symbol(%q) came back as %#v", s, list[0])
		}
		_, _ = Symbol(s).Name(), Symbol(s).Package()
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
