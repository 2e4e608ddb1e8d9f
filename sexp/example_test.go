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
