package mcpbridge

import (
	"context"

	"swank-mcp/swank/lisp"
)

func (f *fakeImage) Expand(_ context.Context, _, code, mode string, r lisp.Request) (*lisp.Expansion, *lisp.Result, error) {
	r.Queued()
	switch mode {
	case "steps":
		return &lisp.Expansion{Steps: []lisp.Step{{Form: lisp.Text{Head: code}, Expansion: lisp.Text{Head: "(IF X Y)"}}}, More: 2}, &lisp.Result{}, nil
	case "one":
		return &lisp.Expansion{Text: lisp.Text{Head: "(IF X Y)"}}, &lisp.Result{Stdout: lisp.Text{Head: "noise"}}, nil
	}
	return &lisp.Expansion{Text: lisp.Text{Head: code}, Why: "CAR is a function."}, &lisp.Result{}, nil
}
