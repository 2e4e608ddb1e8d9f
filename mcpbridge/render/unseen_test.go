package render

import "testing"

func TestMessage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The variable \ufeff is unbound.":     "The variable \\u{FEFF} is unbound.\n; \\u{FEFF} is U+FEFF, a byte order mark",
		"undefined function: A\u00a0\u2028":   "undefined function: A\\u{A0}\\u{2028}\n; \\u{A0} is U+00A0, a no-break space\n; \\u{2028} is U+2028, a line separator",
		"a\u00a0text of the program":          "a\u00a0text of the program",
		"no \U0001f468\u200d\U0001f467, λ, é": "no \U0001f468\u200d\U0001f467, λ, é",
		"READ error during LOAD:\n\n  :UTF-8 stream decoding error on\n  #<SB-INT:FORM-TRACKING-STREAM for \"file a.lisp\" {1}>:\n\n    the octet sequence #(233 34 41) cannot be decoded.": "READ error during LOAD:\n\n  :UTF-8 stream decoding error on\n  #<SB-INT:FORM-TRACKING-STREAM for \"file a.lisp\" {1}>:\n\n    the octet sequence #(233 34 41) cannot be decoded.\n; The file is not UTF-8, as which it is read: it has the byte E9, é in Latin-1. To convert it from Latin-1: iconv -f LATIN1 -t UTF-8",
	} {
		if got := message(text); got != want {
			t.Errorf("%q\nis %q\nnot %q", text, got, want)
		}
	}
}
