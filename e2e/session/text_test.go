package session

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
)

func TestTextGoesBothWays(t *testing.T) {
	t.Parallel()
	s := harness.Start(t) // in the C locale
	l := harness.Begin(t, s)
	for _, text := range []string{"λ", "😀", "𝕏 ∀x∈ℝ", "é", "e\u0301", "日本語", "\u00a0", "\ufffd", "\uffff", "tab\there", "two\nlines", `quote " and \ backslash`, "<&>", "\u2028"} {
		var codes strings.Builder
		for _, r := range text {
			fmt.Fprintf(&codes, " %d", r)
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
		t.Run(text, func(t *testing.T) {
			wantIn(t, s, "(map 'list #'char-code "+quoted+")", "=> ("+codes.String()[1:]+")")
			wantIn(t, s, quoted, "=> "+quoted)
			wantIn(t, s, "(progn (write-line "+quoted+") 1)", "[stdout]\n"+text+"\n\n=> 1")
			harness.WantError(t, s, `(error "~a" `+quoted+`)`, "[ERROR] SIMPLE-ERROR\n"+text+"\n")
		})
	}
	harness.Want(t, s, `(defun λ (x) (* x x)) (λ 4)`, "=> 16")
	harness.Want(t, s, `(char-name #\λ)`, `=> "GREEK_SMALL_LETTER_LAMDA"`)
	l.GoesOn(t, s)
}

// wantIn is want for lists that the printer may break into lines.
func wantIn(t *testing.T, s *harness.Server, code, text string) {
	t.Helper()
	got, isErr := harness.Eval(t, s, code)
	if isErr || got != text && strings.Join(strings.Fields(got), " ") != text {
		t.Errorf("evaluating %q\n got (isError %v): %q\nwant: %q", code, isErr, got, text)
	}
}

// What a terminal or a model could be fooled by is shown, never sent.
func TestControlCharactersAreShown(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	for _, code := range []int{0, 1, 7, 8, 0xb, 0xc, 0xd, 0x1b, 0x7f, 0x85, 0x9b, 0x202e, 0x202a, 0x2066, 0x2069, 0xd800, 0xdbff, 0xdc00, 0xdfff} {
		for _, form := range []string{
			"(format nil \"a~ab\" (code-char %d))",
			"(progn (format t \"a~ab\" (code-char %d)) nil)",
			"(progn (format *error-output* \"a~ab\" (code-char %d)) nil)",
			"(progn (warn \"a~ab\" (code-char %d)) nil)",
			"(error \"a~ab\" (code-char %d))",
			"(intern (format nil \"a~ab\" (code-char %d)))",
		} {
			got, _ := harness.Eval(t, s, fmt.Sprintf(form, code))
			for i, r := range got {
				if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == utf8.RuneError) {
					t.Errorf("character %#x, %s: %U went out at byte %d: %q", code, form, r, i, harness.Clip(got))
					break
				}
			}
			at := strings.Index(got, "a")
			if rest := got[at+1:]; at < 0 || strings.HasPrefix(rest, "b") || strings.HasPrefix(rest, "?b") || strings.HasPrefix(rest, " b") {
				t.Errorf("character %#x, %s: it vanished: %q", code, form, harness.Clip(got))
			}
		}
	}
	l.GoesOn(t, s)
}

// Code as no encoder would write it.
func TestOddCharactersComeIn(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	for _, c := range []struct{ name, code, text string }{
		{"NUL", `"(char-code (char \"\u0000\" 0))"`, "=> 0"},
		{"escape", `"(char-code (char \"\u001b\" 0))"`, "=> 27"},
		{"emoji as a pair", `"(char-code (char \"\ud83d\ude00\" 0))"`, "=> 128512"},
		{"solidus", `"(char-code (char \"\/\" 0))"`, "=> 47"},
		{"byte order mark", `"(char-code (char \"\ufeff\" 0))"`, "=> 65279"},
	} {
		harness.WantReply(t, s, "evaluate-lisp", harness.Object{"code": json.RawMessage(c.code)}, c.text)
	}
	// A lone surrogate is no text. It may arrive as the character that Lisp
	// has for it, or be refused by name; turned into U+FFFD in silence it is lost.
	for _, code := range []string{`"(char-code (char \"\ud800\" 0))"`, `"(char-code (char \"\udc00x\" 0))"`, `"(char-code (char \"\ud800\ud800\" 1))"`} {
		r := harness.Call(t, s, "evaluate-lisp", harness.Object{"code": json.RawMessage(code)})
		arrived := !r.IsError && (r.Text() == "=> 55296" || r.Text() == "=> 56320")
		refused := r.IsError && strings.Contains(strings.ToLower(r.Text()), "surrogate")
		if !arrived && !refused {
			t.Errorf("lone surrogate, %s answered (isError %v):\n%s", code, r.IsError, r.Text())
		}
	}
	l.GoesOn(t, s)
}

// Bytes that are not UTF-8 inside a message must not end the session.
func TestInvalidUTF8ComesIn(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	s.Inject([]byte("{\"jsonrpc\":\"2.0\",\"id\":\"bad\",\"method\":\"tools/call\",\"params\":{\"name\":\"evaluate-lisp\",\"arguments\":{\"code\":\"(length \\\"a\xff\xfeb\\\")\"}}}\n"))
	if await.Until(func() bool { return s.Answers()[`"bad"`]+len(s.NullReplies()) > 0 }) != nil {
		t.Error("no answer to a message with invalid UTF-8")
	}
	time.Sleep(50 * time.Millisecond)
	l.GoesOn(t, s)
}
