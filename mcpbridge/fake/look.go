package fake

import (
	"context"
	"errors"

	"swank-mcp/swank/lisp"
)

// DescribeSymbol knows car, and how one may fail.
func (f *Session) DescribeSymbol(_ context.Context, name, _ string) (*lisp.Finding, error) {
	switch name {
	case "car", "mapcar", "*print-base*", "CAR":
		return &lisp.Finding{Title: "CAR, external symbol of COMMON-LISP", Standard: "CAR",
			Sections: []lisp.Section{{Name: "Function", Lines: []string{"(CAR LIST)"}}}}, nil
	case "p:hidden":
		return nil, &lisp.LookupError{Type: "SYMBOL-NOT-EXTERNAL", Message: "not external", Names: []string{"P::HIDDEN"}}
	case "bare":
		return &lisp.Finding{Title: "BARE, internal symbol of P"}, nil
	}
	return nil, &lisp.LookupError{Type: "SYMBOL-NOT-FOUND", Message: "There is no symbol."}
}

func (f *Session) FindDefinition(_ context.Context, name, _ string) (*lisp.Finding, error) {
	return f.DescribeSymbol(context.Background(), name, "")
}

func (f *Session) CrossReference(_ context.Context, name, _, _ string, _ int) (*lisp.Finding, error) {
	return f.DescribeSymbol(context.Background(), name, "")
}

func (f *Session) Apropos(_ context.Context, q lisp.AproposQuery) (*lisp.Finding, error) {
	return &lisp.Finding{Title: "0 symbols match " + q.Pattern}, nil
}

func (f *Session) CompleteSymbol(_ context.Context, typed, _ string, _ int) (*lisp.Finding, error) {
	return &lisp.Finding{Names: []string{typed + "-all", typed + "-any"},
		Sections: []lisp.Section{{Lines: []string{"- " + typed + "-all"}}}}, nil
}

func (f *Session) DescribeSystem(_ context.Context, name string) (*lisp.Finding, error) {
	if name == "nix" {
		return nil, &lisp.LookupError{Type: "SYSTEM-NOT-FOUND", Message: "There is no system."}
	}
	return &lisp.Finding{Title: "1 system can be loaded", Names: []string{"alexandria", "cl-ppcre"}}, nil
}

func (f *Session) ProjectStatus(_ context.Context, r lisp.Request) (*lisp.ProjectStatus, error) {
	status := &lisp.ProjectStatus{Systems: []string{"alexandria"}, Files: 1, Definitions: 2}
	if r.Timeout == 0 {
		status.Unjudged = errors.New("none was to be started")
	}
	return status, nil
}

func (f *Session) ProjectDefinitions(_ context.Context, name string, _ lisp.Request) ([]lisp.ProjectDefinition, error) {
	if name == "nix" {
		return nil, &lisp.LookupError{Type: "NO-DEFINITION", Message: "There is no definition."}
	}
	return []lisp.ProjectDefinition{{Label: "CAR", Said: "different", Image: "(a)", ImagePlace: "image", Disk: "(b)", DiskPlace: "a.lisp:1"}}, nil
}
