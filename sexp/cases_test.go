package sexp

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// where is the file:line of a case, so that a failure points at it.
type where string

func here() where {
	_, file, line, _ := runtime.Caller(1)
	return where(fmt.Sprintf("%s:%d", filepath.Base(file), line))
}

type validCase struct {
	where where
	text  string
	value any
	canon string // what Append writes; "" means that it refuses the value
}

// tree is a datum as nil, an int64, a string, a Symbol, a List of these, or what
// has no such value, a Raw.
func tree(raw Raw) any {
	var list []Raw
	var number int64
	var text string
	var symbol Symbol
	switch {
	case Unmarshal(raw, &list) == nil:
		if list == nil {
			return nil
		}
		values := make(List, len(list))
		for i, element := range list {
			values[i] = tree(element)
		}
		return values
	case Unmarshal(raw, &number) == nil:
		return number
	case Unmarshal(raw, &text) == nil:
		return text
	case Unmarshal(raw, &symbol) == nil:
		return symbol
	}
	return raw
}

// valid are single data: every printed form of the protocol reference, and the
// corners of the grammar.
var valid = []validCase{
	{here(), "nil", nil, "nil"},
	{here(), "()", nil, "nil"},
	{here(), "( \n)", nil, "nil"},
	{here(), "NIL", nil, "nil"},
	{here(), "t", Symbol("t"), "t"},
	{here(), " \t\r\n\f:ok ", Symbol(":ok"), ":ok"},
	{here(), "swank:connection-info", Symbol("swank:connection-info"), "swank:connection-info"},
	{here(), "common-lisp-user::foo", Symbol("common-lisp-user::foo"), "common-lisp-user::foo"},
	{here(), "|lower pkg|:|Sym Bol|", Symbol("|lower pkg|:|Sym Bol|"), ""},
	{here(), "common-lisp-user::|t|", Symbol("common-lisp-user::|t|"), ""},
	{here(), "common-lisp-user::||", Symbol("common-lisp-user::||"), ""},
	{here(), `..::|a\|b|`, Symbol(`..::|a\|b|`), ""},
	{here(), "..::|a:b|", Symbol("..::|a:b|"), ""},
	{here(), "common-lisp-user::|1|", Symbol("common-lisp-user::|1|"), ""},
	{here(), "#:g159", Symbol("#:g159"), ""},
	{here(), "#:|a b|", Symbol("#:|a b|"), ""},
	{here(), "foo", Symbol("foo"), "foo"},
	{here(), "1+", Symbol("1+"), ""},
	{here(), "+", Symbol("+"), ""},
	{here(), "-", Symbol("-"), ""},
	{here(), "...x", Symbol("...x"), ""},
	{here(), `a\ b`, Symbol(`a\ b`), ""},
	{here(), `\1`, Symbol(`\1`), ""},
	{here(), "a#b", Symbol("a#b"), ""},
	{here(), "a|b c|d", Symbol("a|b c|d"), ""},
	{here(), "λ", Symbol("λ"), ""},
	{here(), "nilx", Symbol("nilx"), "nilx"},
	{here(), `nil||`, Symbol("nil||"), ""},
	{here(), "(:|a| :b :|c D|)", List{Symbol(":|a|"), Symbol(":b"), Symbol(":|c D|")}, ""},

	{here(), "0", int64(0), "0"},
	{here(), "-0", int64(0), "0"},
	{here(), "+7", int64(7), "7"},
	{here(), "12.", int64(12), "12"},
	{here(), "9223372036854775807", int64(math.MaxInt64), "9223372036854775807"},
	{here(), "-9223372036854775808", int64(math.MinInt64), "-9223372036854775808"},
	{here(), "9223372036854775808", Raw("9223372036854775808"), "9223372036854775808"},
	{here(), "-9223372036854775809", Raw("-9223372036854775809"), "-9223372036854775809"},
	{here(), "123456789012345678901234567890", Raw("123456789012345678901234567890"), "123456789012345678901234567890"},
	{here(), "1/3", Raw("1/3"), "1/3"},
	{here(), "-4/6", Raw("-4/6"), "-4/6"},
	{here(), "1.5", Raw("1.5"), ""},
	{here(), "1.5d0", Raw("1.5d0"), ""},
	{here(), "1.5f0", Raw("1.5f0"), ""},
	{here(), "1.0e100", Raw("1.0e100"), ""},
	{here(), "-0.0", Raw("-0.0"), ""},
	{here(), ".5", Raw(".5"), ""},
	{here(), "+1.e2", Raw("+1.e2"), ""},
	{here(), "#.sb-ext:double-float-positive-infinity", Raw("#.sb-ext:double-float-positive-infinity"), ""},

	{here(), `""`, "", `""`},
	{here(), `"a\"b\\c"`, `a"b\c`, `"a\"b\\c"`},
	{here(), `"\n"`, "n", `"n"`},
	{here(), "\"\x00\a\n\r\x1b\"", "\x00\a\n\r\x1b", "\"\x00\a\n\r\x1b\""},
	{here(), `"λ😀é"`, "λ😀é", `"λ😀é"`},
	{here(), "\"\xff\"", "\xff", "\"\uFFFD\""},

	{here(), `#\a`, Raw(`#\a`), ""},
	{here(), `#\ `, Raw(`#\ `), ""},
	{here(), "#\\\n", Raw("#\\\n"), ""},
	{here(), `#\Newline`, Raw(`#\Newline`), ""},
	{here(), `#\(`, Raw(`#\(`), ""},
	{here(), `#\"`, Raw(`#\"`), ""},
	{here(), `#\LATIN_SMALL_LETTER_E_WITH_ACUTE`, Raw(`#\LATIN_SMALL_LETTER_E_WITH_ACUTE`), ""},
	{here(), `#\λ`, Raw(`#\λ`), ""},
	{here(), `(#\( #\))`, List{Raw(`#\(`), Raw(`#\)`)}, ""},

	{here(), "(1 2 . 3)", Raw("(1 2 . 3)"), "(1 2 . 3)"},
	{here(), "(1 . (2 . (3 . nil)))", Raw("(1 . (2 . (3 . nil)))"), "(1 . (2 . (3 . nil)))"},
	{here(), "(1 . ())", Raw("(1 . ())"), "(1 . ())"},
	{here(), "(1 .5)", List{int64(1), Raw(".5")}, ""},
	{here(), `(a."b")`, List{Symbol("a."), "b"}, `(a. "b")`},
	{here(), `(a"b"c(d)e)`, List{Symbol("a"), "b", Symbol("c"), List{Symbol("d")}, Symbol("e")}, `(a "b" c (d) e)`},
	{here(), "(quote common-lisp-user::a)", List{Symbol("quote"), Symbol("common-lisp-user::a")}, "(quote common-lisp-user::a)"},
	{here(), "'(a)", Raw("'(a)"), "'(a)"},
	{here(), "(common-lisp:function common-lisp:car)", List{Symbol("common-lisp:function"), Symbol("common-lisp:car")}, "(common-lisp:function common-lisp:car)"},
	{here(), `#(1 2 "x")`, List{int64(1), int64(2), "x"}, `(1 2 "x")`},
	{here(), "#()", nil, "nil"},
	{here(), "(() (nil) #())", List{nil, List{nil}, nil}, "(nil (nil) nil)"},

	{here(), "#C(1 2)", Raw("#C(1 2)"), ""},
	{here(), "#C(1.5f0 2.0f0)", Raw("#C(1.5f0 2.0f0)"), ""},
	{here(), "#*1011", Raw("#*1011"), ""},
	{here(), "#*", Raw("#*"), ""},
	{here(), "#2A((1 2))", Raw("#2A((1 2))"), ""},
	{here(), "#0A5", Raw("#0A5"), ""},
	{here(), `#P"/x y"`, Raw(`#P"/x y"`), ""},
	{here(), "#S(common-lisp-user::pt :x 1 :y 2)", Raw("#S(common-lisp-user::pt :x 1 :y 2)"), ""},
	{here(), "(sb-int:quasiquote (a #S(sb-impl::comma :expr b :kind 0)))", List{Symbol("sb-int:quasiquote"),
		List{Symbol("a"), Raw("#S(sb-impl::comma :expr b :kind 0)")}}, ""},
	{here(), "#.(foo 1)", Raw("#.(foo 1)"), ""},

	{here(), "(#<function common-lisp:car> 1)", List{Raw("#<function common-lisp:car>"), int64(1)}, ""},
	{here(), `#<common-lisp:package "COMMON-LISP">`, Raw(`#<common-lisp:package "COMMON-LISP">`), ""},
	{here(), "#<a #<b {1}> c>", Raw("#<a #<b {1}> c>"), ""},
	{here(), "(#<a #<b>>)", List{Raw("#<a #<b>>")}, ""},
	{here(), "#<function (lambda (x) > y)>", Raw("#<function (lambda (x) > y)>"), ""},
	{here(), "(#<function common-lisp:>> 1)", List{Raw("#<function common-lisp:>>"), int64(1)}, ""},
	{here(), `#<e "a > b">`, Raw(`#<e "a > b">`), ""},
	{here(), `(#<odd " quote> 2)`, List{Raw(`#<odd " quote>`), int64(2)}, ""},
	{here(), "(#<smile :(> 2)", List{Raw("#<smile :(>"), int64(2)}, ""},
	{here(), "(#<sad :)> 2)", List{Raw("#<sad :)>"), int64(2)}, ""},
	{here(), "#<" + strings.Repeat("(", 2000) + ">", Raw("#<" + strings.Repeat("(", 2000) + ">"), ""},
}

type invalidCase struct {
	where  where
	text   string
	offset int64
	path   string
	err    error
}

var invalid = []invalidCase{
	{here(), "", 0, "", ErrUnexpectedEnd},
	{here(), " \n ", 3, "", ErrUnexpectedEnd},
	{here(), "(", 1, "0", ErrUnexpectedEnd},
	{here(), "(a (b", 5, "1/1", ErrUnexpectedEnd},
	{here(), "(:emacs-", 8, "1", ErrUnexpectedEnd},
	{here(), `"abc`, 4, "", ErrUnexpectedEnd},
	{here(), `"abc\`, 5, "", ErrUnexpectedEnd},
	{here(), `"abc\"`, 6, "", ErrUnexpectedEnd},
	{here(), "|abc", 4, "", ErrUnexpectedEnd},
	{here(), `a\`, 2, "", ErrUnexpectedEnd},
	{here(), `|a\|`, 4, "", ErrUnexpectedEnd},
	{here(), "#", 1, "", ErrUnexpectedEnd},
	{here(), `#\`, 2, "", ErrUnexpectedEnd},
	{here(), "(#<foo 1)", 9, "0", ErrUnexpectedEnd},
	{here(), "'", 1, "", ErrUnexpectedEnd},
	{here(), "(a .", 4, "1", ErrUnexpectedEnd},
	{here(), "(a . b", 6, "1", ErrUnexpectedEnd},
	{here(), ")", 0, "", errClose},
	{here(), "(a '))", 4, "1", errClose},
	{here(), "a b", 2, "", errTrailing},
	{here(), `(:return (:ok ("unbalanced ) 12)`, 32, "1/1/0", ErrUnexpectedEnd},
	{here(), "() )", 3, "", errTrailing},
	{here(), ".", 0, "", errDotPlace},
	{here(), "..", 0, "", errDotPlace},
	{here(), "(a ... b)", 3, "1", errDotPlace},
	{here(), "( . a)", 2, "0", errDotPlace},
	{here(), "(a . )", 5, "1", errDotNothing},
	{here(), "(a . b c)", 7, "1", errDotMore},
	{here(), "#(a . b)", 4, "1", errDotPlace},
	{here(), "(1 (2 ;x\n))", 6, "1/1", errMacro},
	{here(), "`a", 0, "", errMacro},
	{here(), ",a", 0, "", errMacro},
	{here(), "#'car", 0, "", errDispatch},
	{here(), "(1 #|c|# 2)", 3, "1", errDispatch},
	{here(), "#+sbcl a", 0, "", errDispatch},
	{here(), "#x1F", 0, "", errDispatch},
	{here(), "#1=(a)", 0, "", errDispatch},
	{here(), "#*012", 4, "", errDispatch},
	{here(), "#Px", 0, "", errDispatch},
	{here(), strings.Repeat("(", MaxDepth+1), MaxDepth, strings.Repeat("0/", MaxDepth-1) + "0", ErrDepth},
	{here(), strings.Repeat("'", MaxDepth+1) + "a", MaxDepth, "", ErrDepth},
	{here(), strings.Repeat("#(", MaxDepth+1), 2 * MaxDepth, strings.Repeat("0/", MaxDepth-1) + "0", ErrDepth},
	{here(), strings.Repeat("#2A", 5000) + "1", 3 * MaxDepth, "", ErrDepth},
}

// frames returns the captured frames by name.
func frames(tb testing.TB) map[string][]byte {
	tb.Helper()
	files, err := filepath.Glob("testdata/frames/*.sexp")
	if err != nil || len(files) < 30 {
		tb.Fatalf("frames: %d files, %v", len(files), err)
	}
	all := make(map[string][]byte)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(f), ".sexp")] = b
	}
	return all
}

func syntaxError(t *testing.T, err error) *SyntaxError {
	t.Helper()
	var s *SyntaxError
	if !errors.As(err, &s) {
		t.Fatalf("error %v (%T) is not a SyntaxError", err, err)
	}
	return s
}

// skip returns the end of the datum that b begins with.
func skip(b []byte) (int, error) { return (&scanner{buf: b}).datum(0, 0) }
