package fake

import (
	"context"
	"strings"
	"time"

	"swank-mcp/swank/lisp"
)

// What the image would answer; "no-such" names nothing anywhere.

func (f *Session) Inspect(_ context.Context, code string, v lisp.View, r lisp.Request) (*lisp.Finding, *lisp.Result, error) {
	if code == "(oops)" {
		return &lisp.Finding{}, &lisp.Result{Failure: &lisp.Failure{Type: "UNDEFINED-FUNCTION", Message: "no OOPS"}}, nil
	}
	return &lisp.Finding{Title: "obj-1: CONS, (1 2)", Sections: []lisp.Section{{Name: "parts", Lines: []string{"0: 1", "1: 2"}}}},
		&lisp.Result{Stdout: lisp.Text{Head: "said"}}, nil
}

func (f *Session) InspectHandle(_ context.Context, handle string, v lisp.View) (*lisp.Finding, error) {
	switch {
	case handle == "obj-9":
		return nil, &lisp.LookupError{Type: "UNKNOWN-HANDLE", Message: "There is no handle obj-9."}
	case handle == "obj-2":
		return nil, &lisp.LookupError{Type: "STALE-HANDLE", Message: "It was garbage.", Names: []string{"(list 1 2)"}}
	case v.Path == "7":
		return nil, &lisp.LookupError{Type: "NO-SUCH-PART", Message: "It has no part 7."}
	}
	return &lisp.Finding{Title: "obj-1: CONS, (1 2)", Notes: []string{"More: offset 40"}}, nil
}

func (f *Session) Trace(_ context.Context, code, functions string, r lisp.Request) (*lisp.Trace, *lisp.Result, error) {
	if functions == "no-such" {
		return &lisp.Trace{Names: []string{"P::NO-SUCH"}}, &lisp.Result{Failure: &lisp.Failure{Type: "SYMBOL-NOT-FOUND", Message: "none"}}, nil
	}
	return &lisp.Trace{Lines: []string{"0: (F 1)", "0: F returned 2"}, Shown: 1, Calls: []lisp.CallCount{{Function: "F", Calls: 5}}}, value("2"), nil
}

func (f *Session) SwitchTrace(_ context.Context, functions, _ string, on bool) (*lisp.Finding, error) {
	if functions == "no-such" {
		return nil, &lisp.LookupError{Type: "SYMBOL-NOT-FOUND", Message: "none", Names: []string{"P::NO-SUCH"}}
	}
	if !on {
		functions = "nothing"
	}
	return &lisp.Finding{Title: "Traced: " + functions}, nil
}

func (f *Session) Profile(_ context.Context, code string, p lisp.Profiling, r lisp.Request) (*lisp.Profile, *lisp.Result, error) {
	if p.Mode == "CALLS" {
		return &lisp.Profile{Elapsed: 2 * time.Second, Rows: []lisp.ProfileRow{{Function: strings.ToUpper(p.Functions), Self: 500_000, Total: 1_000_000, Calls: 1234}}}, value("1"), nil
	}
	if p.Mode == "ALLOC" {
		alloc := &lisp.Profile{Elapsed: 100 * time.Millisecond}
		switch code {
		case "(small)":
			alloc.Samples, alloc.Bytes = 200, 200*33_000
			alloc.Rows = []lisp.ProfileRow{{Function: "CONSER", Self: 150, Total: 200}, {Function: "elsewhere", Self: 50, Total: 50}}
		case "(large)":
			alloc.Samples, alloc.Bytes = 200, 200*70_000
		case "(much)":
			alloc.Samples, alloc.Bytes = 100_000, 100_000*70_000
		case "(little)":
			alloc.Bytes = 32 << 10
		}
		return alloc, value("1"), nil
	}
	return &lisp.Profile{Elapsed: 100 * time.Millisecond, Samples: 20, Rows: []lisp.ProfileRow{{Function: "FIB", Self: 15, Total: 20}, {Function: "elsewhere", Self: 5, Total: 5}}}, value("1"), nil
}

func (f *Session) MemoryReport(context.Context, int) (*lisp.Finding, error) {
	return &lisp.Finding{Title: "Heap: 50 MB of 4,000 MB used, 1 %", Sections: []lisp.Section{{Name: "by type", Lines: []string{"CONS: 10 MB"}}}}, nil
}

func (f *Session) Threads(_ context.Context, backtraces bool) (*lisp.Finding, error) {
	lines := []string{"1 main thread: the image's main thread"}
	if backtraces {
		lines = append(lines, "   0: (LOOP)")
	}
	return &lisp.Finding{Title: "1 thread", Sections: []lisp.Section{{Name: "threads", Lines: lines}}}, nil
}

func (f *Session) InterruptThread(_ context.Context, thread string, abort bool) (*lisp.Finding, error) {
	switch {
	case thread == "twin":
		return nil, &lisp.LookupError{Type: "AMBIGUOUS-THREAD", Message: "two", Names: []string{"7", "8"}}
	case thread == "1" && abort:
		return nil, &lisp.LookupError{Type: "THREAD-PROTECTED", Message: "It is the main thread."}
	}
	return &lisp.Finding{Title: "7 mine: the program's"}, nil
}
