package mcpbridge

import (
	"context"

	"swank-mcp/swank/lisp"
)

// DescribeSymbol knows car, and how one may fail.
func (f *fakeImage) DescribeSymbol(_ context.Context, _, name, _ string) (*lisp.Finding, error) {
	switch name {
	case "car", "mapcar":
		return &lisp.Finding{Title: "CAR, external symbol of COMMON-LISP", Standard: "CAR",
			Sections: []lisp.Section{{Name: "Function", Lines: []string{"(CAR LIST)"}}}}, nil
	case "p:hidden":
		return nil, &lisp.LookupError{Type: "SYMBOL-NOT-EXTERNAL", Message: "not external", Names: []string{"P::HIDDEN"}}
	case "bare":
		return &lisp.Finding{Title: "BARE, internal symbol of P"}, nil
	}
	return nil, &lisp.LookupError{Type: "SYMBOL-NOT-FOUND", Message: "There is no symbol."}
}
