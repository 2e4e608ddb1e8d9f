package fake

import (
	"context"

	"swank-mcp/swank/lisp"
)

func (f *Session) Expand(_ context.Context, code, mode string, r lisp.Request) (*lisp.Expansion, *lisp.Result, error) {
	switch mode {
	case "steps":
		return &lisp.Expansion{Steps: []lisp.Step{{Form: lisp.Text{Head: code}, Expansion: lisp.Text{Head: "(IF X Y)"}}}, More: 2}, &lisp.Result{}, nil
	case "one":
		return &lisp.Expansion{Text: lisp.Text{Head: "(IF X Y)"}}, &lisp.Result{Stdout: lisp.Text{Head: "noise"}}, nil
	}
	return &lisp.Expansion{Text: lisp.Text{Head: code}, Why: "CAR is a function."}, &lisp.Result{}, nil
}

func (f *Session) Compile(_ context.Context, c lisp.Compilation, r lisp.Request) (*lisp.Compiled, *lisp.Result, error) {
	if c.Code == "bad" {
		return &lisp.Compiled{Failed: true, Notes: []lisp.Note{
			{Severity: "error", Line: 2, Column: 5, Text: "a\nb", Source: "  (x"},
			{Severity: "note", File: "/other.lisp", Line: 1, Column: 1, Text: "slow"},
		}, More: 3}, &lisp.Result{}, nil
	}
	return &lisp.Compiled{Loaded: !c.NoLoad}, &lisp.Result{Stdout: lisp.Text{Head: c.File + c.Output}}, nil
}

func (f *Session) Load(_ context.Context, file string, r lisp.Request) (*lisp.Result, error) {
	return &lisp.Result{Stdout: lisp.Text{Head: file}}, nil
}

func (f *Session) Disassemble(ctx context.Context, name, pkg string) (*lisp.Finding, error) {
	if name == "identity" {
		name = "car"
	}
	return f.DescribeSymbol(ctx, name, pkg)
}

func (f *Session) RunTests(_ context.Context, system, test string, r lisp.Request) (*lisp.Tests, *lisp.Result, error) {
	failing := &lisp.Tests{Frameworks: []string{"FiveAM"}, Tests: 2, Passed: 3, Failed: 1, Errors: 1, Skipped: 1, Failures: []lisp.TestFailure{
		{Test: "T1", Status: "failed", Form: "(= 1\n 2)", Reason: "1\n is not\n2", Place: "/t.lisp:3"},
	}}
	boom := &lisp.Failure{Type: "SIMPLE-ERROR", Message: "tests\nfailed"}
	switch system + test {
	case "good":
		return &lisp.Tests{Frameworks: []string{"Rove"}, Tests: 1, Passed: 2}, &lisp.Result{}, nil
	case "failing":
		return failing, &lisp.Result{Stdout: lisp.Text{Head: "noise"}}, nil
	case "signals":
		return failing, &lisp.Result{Failure: boom}, nil
	case "broken":
		return &lisp.Tests{}, &lisp.Result{Failure: boom}, nil
	case "slow":
		return failing, &lisp.Result{Failure: &lisp.Failure{Kind: lisp.KindTimeout}}, nil
	}
	return &lisp.Tests{}, &lisp.Result{Stdout: lisp.Text{Head: "all fine"}}, nil
}

func (f *Session) LoadSystem(ctx context.Context, _ string, _ bool, r lisp.Request) (*lisp.Result, error) {
	return f.Evaluate(ctx, r)
}

func (f *Session) Fresh(ctx context.Context, system string, tests bool, test string, r lisp.Request) (out *lisp.Fresh, err error) {
	out = &lisp.Fresh{Missing: []lisp.Missing{{Kind: "function", Name: "MINE::OLD", InImage: true}}}
	if tests {
		out.Compared = &lisp.Comparison{Run: true, Whole: true, Changed: []lisp.TestChange{{Test: "T1", Session: "passed", Fresh: "failed"}}}
		out.Tests, out.Result, err = f.RunTests(ctx, system, test, r)
		out.Tests.Begun = true
		return out, err
	}
	out.Result, err = f.LoadSystem(ctx, system, false, r)
	return out, err
}

// Reload finds nothing that has changed.
func (f *Session) Reload(_ context.Context, _ lisp.Request, tell func(*lisp.Reloaded, *lisp.Result)) error {
	tell(&lisp.Reloaded{}, &lisp.Result{})
	return nil
}
