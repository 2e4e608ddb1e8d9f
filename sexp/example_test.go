package sexp_test

import (
	"errors"
	"fmt"

	"swank-mcp/sexp"
)

func ExampleUnmarshal() {
	var reply struct {
		_     struct{} `sexp:",list"`
		Head  sexp.Symbol
		Value struct {
			_    struct{} `sexp:",list"`
			OK   sexp.Symbol
			Info struct {
				Pid     int    `sexp:"pid"`
				Version string `sexp:"version"`
			}
		}
		ID int64
	}
	err := sexp.Unmarshal([]byte(`(:return (:ok (:pid 7 :style :spawn :version "2.27")) 1)`), &reply)
	fmt.Println(reply.ID, reply.Value.Info.Pid, reply.Value.Info.Version, err)
	// Output: 1 7 2.27 <nil>
}

func ExampleUnmarshal_any() {
	var v any
	err := sexp.Unmarshal([]byte(`(:return (:ok ("" "3")) 12)`), &v)
	fmt.Printf("%q %v\n", v, err)
	// Output: [":return" [":ok" ["" "3"]] '\f'] <nil>
}

func ExampleSyntaxError() {
	err := sexp.Unmarshal([]byte(`(:return (:ok "unfinished) 12)`), new(sexp.Raw))
	var syntax *sexp.SyntaxError
	fmt.Println(errors.As(err, &syntax), syntax.Offset, syntax.Path)
	fmt.Println(err)
	// Output:
	// true 30 1/1
	// sexp: syntax: at byte 30 (1/1): unexpected end of input
}

func ExampleTypeError() {
	var ids []int
	fmt.Println(sexp.Unmarshal([]byte(`(1 2 "three")`), &ids))
	// Output: sexp: decode string into int: at byte 5 (2)
}

func ExampleMarshal() {
	b, err := sexp.Marshal(sexp.List{
		sexp.Symbol(":emacs-rex"),
		sexp.List{sexp.Symbol("swank:eval-and-grab-output"), `(format t "a\\b")`},
		"CL-USER", true, 12,
	})
	fmt.Println(string(b), err)
	// Output: (:emacs-rex (swank:eval-and-grab-output "(format t \"a\\\\b\")") "CL-USER" t 12) <nil>
}

func ExampleAppend_injection() {
	_, err := sexp.Append(nil, sexp.Symbol("foo #.(evil)"))
	fmt.Println(errors.Is(err, sexp.ErrUnsafe))
	b, _ := sexp.Append(nil, `foo" #.(evil)`)
	fmt.Println(string(b))
	// Output:
	// true
	// "foo\" #.(evil)"
}

func ExampleDecoder() {
	d := sexp.NewDecoder([]byte(`(:write-string "hello" :repl-result)`))
	if err := d.Enter(); err != nil {
		fmt.Println(err)
	}
	for d.Peek() != sexp.KindClose {
		raw, err := d.ReadRaw()
		fmt.Printf("%s %v %d\n", raw, err, d.Offset())
	}
	fmt.Println(d.Leave(), d.Peek())
	// Output:
	// :write-string <nil> 14
	// "hello" <nil> 22
	// :repl-result <nil> 35
	// <nil> end of input
}

func ExampleSymbol() {
	for _, s := range []sexp.Symbol{"swank:connection-info", ":ok", "cl-user::|Foo Bar|", sexp.Keyword("pid")} {
		fmt.Printf("%s %q %q\n", s, s.Package(), s.Name())
	}
	// Output:
	// swank:connection-info "SWANK" "CONNECTION-INFO"
	// :ok "KEYWORD" "OK"
	// cl-user::|Foo Bar| "CL-USER" "Foo Bar"
	// :pid "KEYWORD" "PID"
}

// thread is t, a keyword or a number on the wire.
type thread struct {
	number int64
	name   sexp.Symbol
}

func (t *thread) UnmarshalSexp(d *sexp.Decoder) error {
	if d.Peek() == sexp.KindNumber {
		return d.Decode(&t.number)
	}
	return d.Decode(&t.name)
}

func (t thread) AppendSexp(b []byte) ([]byte, error) {
	if t.name != "" {
		return sexp.Append(b, t.name)
	}
	return sexp.Append(b, t.number)
}

func ExampleUnmarshaler() {
	var all []thread
	err := sexp.Unmarshal([]byte("(:repl-thread 7 t)"), &all)
	back, _ := sexp.Marshal(all)
	fmt.Println(all, err, string(back))
	// Output: [{0 :repl-thread} {7 } {0 t}] <nil> (:repl-thread 7 t)
}
