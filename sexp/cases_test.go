package sexp

import (
	"errors"
	"fmt"
	"math"
	"math/big"
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

func bigInt(s string) *big.Int {
	i, ok := new(big.Int).SetString(s, 10)
	if !ok {
		panic(s)
	}
	return i
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
	{here(), "|lower pkg|:|Sym Bol|", Symbol("|lower pkg|:|Sym Bol|"), "|lower pkg|:|Sym Bol|"},
	{here(), "common-lisp-user::|t|", Symbol("common-lisp-user::|t|"), "common-lisp-user::|t|"},
	{here(), "common-lisp-user::||", Symbol("common-lisp-user::||"), "common-lisp-user::||"},
	{here(), `..::|a\|b|`, Symbol(`..::|a\|b|`), ""},
	{here(), "..::|a:b|", Symbol("..::|a:b|"), ""},
	{here(), "common-lisp-user::|1|", Symbol("common-lisp-user::|1|"), "common-lisp-user::|1|"},
	{here(), "#:g159", Symbol("#:g159"), ""},
	{here(), "#:|a b|", Symbol("#:|a b|"), ""},
	{here(), "foo", Symbol("foo"), "foo"},
	{here(), "1+", Symbol("1+"), "1+"},
	{here(), "+", Symbol("+"), "+"},
	{here(), "-", Symbol("-"), "-"},
	{here(), "...x", Symbol("...x"), "...x"},
	{here(), `a\ b`, Symbol(`a\ b`), `a\ b`},
	{here(), `\1`, Symbol(`\1`), `\1`},
	{here(), "a#b", Symbol("a#b"), "a#b"},
	{here(), "a|b c|d", Symbol("a|b c|d"), "a|b c|d"},
	{here(), "λ", Symbol("λ"), ""},
	{here(), "nilx", Symbol("nilx"), "nilx"},
	{here(), `nil||`, Symbol("nil||"), "nil||"},
	{here(), "(:|a| :b :|c D|)", List{Symbol(":|a|"), Symbol(":b"), Symbol(":|c D|")}, "(:|a| :b :|c D|)"},

	{here(), "0", int64(0), "0"},
	{here(), "-0", int64(0), "0"},
	{here(), "+7", int64(7), "7"},
	{here(), "12.", int64(12), "12"},
	{here(), "9223372036854775807", int64(math.MaxInt64), "9223372036854775807"},
	{here(), "-9223372036854775808", int64(math.MinInt64), "-9223372036854775808"},
	{here(), "9223372036854775808", bigInt("9223372036854775808"), "9223372036854775808"},
	{here(), "-9223372036854775809", bigInt("-9223372036854775809"), "-9223372036854775809"},
	{here(), "123456789012345678901234567890", bigInt("123456789012345678901234567890"), "123456789012345678901234567890"},
	{here(), "1/3", big.NewRat(1, 3), "1/3"},
	{here(), "-4/6", big.NewRat(-2, 3), "-2/3"},
	{here(), "4/2", int64(2), "2"},
	{here(), "1.5", 1.5, "1.5d0"},
	{here(), "1.5d0", 1.5, "1.5d0"},
	{here(), "1.5f0", 1.5, "1.5d0"},
	{here(), "0.1f0", float64(float32(0.1)), "0.10000000149011612d0"},
	{here(), "1.0e100", 1e100, "1.0d100"},
	{here(), "1.000000013351432e-10", 1.000000013351432e-10, "1.000000013351432d-10"},
	{here(), "-0.0", math.Copysign(0, -1), "-0.0d0"},
	{here(), "4.9406564584124654e-324", 5e-324, ""},
	{here(), "1.7976931348623157d308", math.MaxFloat64, "1.7976931348623157d308"},
	{here(), ".5", 0.5, "0.5d0"},
	{here(), "+1.e2", 100.0, "100.0d0"},
	{here(), "#.sb-ext:double-float-positive-infinity", math.Inf(1), ""},
	{here(), "#.sb-ext:single-float-negative-infinity", math.Inf(-1), ""},

	{here(), `""`, "", `""`},
	{here(), `"a\"b\\c"`, `a"b\c`, `"a\"b\\c"`},
	{here(), `"\n"`, "n", `"n"`},
	{here(), "\"\x00\a\n\r\x1b\"", "\x00\a\n\r\x1b", "\"\x00\a\n\r\x1b\""},
	{here(), `"λ😀é"`, "λ😀é", `"λ😀é"`},
	{here(), "\"\xff\"", "\xff", "\"\uFFFD\""},

	{here(), `#\a`, Char('a'), `#\a`},
	{here(), `#\ `, Char(' '), `#\Space`},
	{here(), "#\\\n", Char('\n'), `#\Newline`},
	{here(), `#\Newline`, Char('\n'), `#\Newline`},
	{here(), `#\newline`, Char('\n'), `#\Newline`},
	{here(), `#\(`, Char('('), `#\(`},
	{here(), `#\"`, Char('"'), `#\"`},
	{here(), `#\Nul`, Char(0), `#\Nul`},
	{here(), `#\Rubout`, Char(0x7F), `#\Rubout`},
	{here(), `#\LATIN_SMALL_LETTER_E_WITH_ACUTE`, Char('é'), `#\é`},
	{here(), `#\NO-BREAK_SPACE`, Char(0xA0), `#\Ua0`},
	{here(), `#\UD800`, Char(0xD800), ""},
	{here(), `#\λ`, Char('λ'), `#\λ`},
	{here(), `#\GREEK_SMALL_LETTER_LAMDA`, Unreadable(`#\GREEK_SMALL_LETTER_LAMDA`), ""},
	{here(), `(#\( #\))`, List{Char('('), Char(')')}, `(#\( #\))`},

	{here(), "(1 2 . 3)", Pair{int64(1), Pair{int64(2), int64(3)}}, "(1 2 . 3)"},
	{here(), "(1 . (2 . (3 . nil)))", List{int64(1), int64(2), int64(3)}, "(1 2 3)"},
	{here(), "(1 . ())", List{int64(1)}, "(1)"},
	{here(), "(1 .5)", List{int64(1), 0.5}, "(1 0.5d0)"},
	{here(), `(a."b")`, List{Symbol("a."), "b"}, `(a. "b")`},
	{here(), `(a"b"c(d)e)`, List{Symbol("a"), "b", Symbol("c"), List{Symbol("d")}, Symbol("e")}, `(a "b" c (d) e)`},
	{here(), "(quote common-lisp-user::a)", List{Symbol("quote"), Symbol("common-lisp-user::a")}, "(quote common-lisp-user::a)"},
	{here(), "'(a)", List{Symbol("quote"), List{Symbol("a")}}, "(quote (a))"},
	{here(), "(common-lisp:function common-lisp:car)", List{Symbol("common-lisp:function"), Symbol("common-lisp:car")}, "(common-lisp:function common-lisp:car)"},
	{here(), `#(1 2 "x")`, List{int64(1), int64(2), "x"}, `(1 2 "x")`},
	{here(), "#()", nil, "nil"},
	{here(), "(() (nil) #())", List{nil, List{nil}, nil}, "(nil (nil) nil)"},

	{here(), "#C(1 2)", Unreadable("#C(1 2)"), ""},
	{here(), "#C(1.5f0 2.0f0)", Unreadable("#C(1.5f0 2.0f0)"), ""},
	{here(), "#*1011", Unreadable("#*1011"), ""},
	{here(), "#*", Unreadable("#*"), ""},
	{here(), "#2A((1 2))", Unreadable("#2A((1 2))"), ""},
	{here(), "#0A5", Unreadable("#0A5"), ""},
	{here(), `#P"/x y"`, Unreadable(`#P"/x y"`), ""},
	{here(), "#S(common-lisp-user::pt :x 1 :y 2)", Unreadable("#S(common-lisp-user::pt :x 1 :y 2)"), ""},
	{here(), "(sb-int:quasiquote (a #S(sb-impl::comma :expr b :kind 0)))", List{Symbol("sb-int:quasiquote"),
		List{Symbol("a"), Unreadable("#S(sb-impl::comma :expr b :kind 0)")}}, ""},
	{here(), "#.(foo 1)", Unreadable("#.(foo 1)"), ""},

	{here(), "(#<function common-lisp:car> 1)", List{Unreadable("#<function common-lisp:car>"), int64(1)}, ""},
	{here(), `#<common-lisp:package "COMMON-LISP">`, Unreadable(`#<common-lisp:package "COMMON-LISP">`), ""},
	{here(), "#<a #<b {1}> c>", Unreadable("#<a #<b {1}> c>"), ""},
	{here(), "(#<a #<b>>)", List{Unreadable("#<a #<b>>")}, ""},
	{here(), "#<function (lambda (x) > y)>", Unreadable("#<function (lambda (x) > y)>"), ""},
	{here(), "(#<function common-lisp:>> 1)", List{Unreadable("#<function common-lisp:>>"), int64(1)}, ""},
	{here(), `#<e "a > b">`, Unreadable(`#<e "a > b">`), ""},
	{here(), `(#<odd " quote> 2)`, List{Unreadable(`#<odd " quote>`), int64(2)}, ""},
	{here(), "(#<smile :(> 2)", List{Unreadable("#<smile :(>"), int64(2)}, ""},
	{here(), "(#<sad :)> 2)", List{Unreadable("#<sad :)>"), int64(2)}, ""},
	{here(), "#<" + strings.Repeat("(", 2000) + ">", Unreadable("#<" + strings.Repeat("(", 2000) + ">"), ""},
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
	{here(), "#:", 0, "", errPrefix},
	{here(), "#:a:b", 0, "", errPrefix},
	{here(), "a:", 2, "", errPrefix},
	{here(), ":", 1, "", errPrefix},
	{here(), "::a", 1, "", errPrefix},
	{here(), "a:::b", 3, "", errPrefix},
	{here(), "a:b:c", 3, "", errPrefix},
	{here(), "(1 1/0)", 3, "1", errZeroDenom},
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
