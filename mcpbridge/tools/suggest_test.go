package tools

import (
	"slices"
	"testing"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/swank/lisp"
)

// taking is the environment of a server that takes these tools.
func taking(tools ...string) Env {
	return Env{Takes: func(tool string) bool { return slices.Contains(tools, tool) }}
}

// The next call has the right name where the wrong one stood, and nowhere else.
func TestNextCallKeepsOtherNames(t *testing.T) {
	for _, tt := range []struct{ arguments, written, meant, want string }{
		{`{"code": "(list (fo:format 1) (info:format 2) #'fo:format)"}`, "FO:FORMAT", "FO::FORMAT",
			`{"code": "(list (fo::format 1) (info:format 2) #'fo::format)"}`},
		{`{"code": "(fo:for 1) (fo:format 2)"}`, "FO:FOR", "FO::FOR",
			`{"code": "(fo::for 1) (fo:format 2)"}`},
		{`{"code": "(alex:f (galex:g))"}`, "ALEX:", "ALEXANDRIA:",
			`{"code": "(alexandria:f (galex:g))"}`},
		{`{"code": "(map 'list #'ap x)", "package": "ap"}`, "ap", "APP",
			`{"code": "(map 'list #'ap x)", "package": "app"}`},
		{`{"code": "(MAP)", "package": "AP"}`, "AP", "APP",
			`{"code": "(MAP)", "package": "APP"}`},
		{`{"code": "(intern \"x\" (concatenate 'string \"A\" \"LEX\"))"}`, "ALEX:", "ALEXANDRIA:", ""},
		{`{"code": "(f)"}`, "\xff", "X", ""},
	} {
		r := &Request{Args: args.Parse(evaluateTool.Spec(testLimits), []byte(tt.arguments)), Env: taking("evaluate-lisp")}
		want := ""
		if tt.want != "" {
			want = "Next: evaluate-lisp " + tt.want
		}
		if got := r.nextAfter(&lisp.Failure{Written: tt.written, Meant: tt.meant}); got != want {
			t.Errorf("%s for %s in %s:\n%s\nwant\n%s", tt.meant, tt.written, tt.arguments, got, want)
		}
	}
}

// Unbalanced code is told where it broke, with the call that has what is missing,
// or with the tool that shows it, if that is there.
func TestUnbalancedIsTold(t *testing.T) {
	all, alone := taking("evaluate-lisp", "validate-syntax"), taking("evaluate-lisp")
	for _, tt := range []struct {
		env       Env
		arguments string
		want      string
	}{
		{all, `{"code": "(+ 1 2))"}`, "; 1:8: This closing parenthesis closes nothing.\n; What stands before 1:8 was evaluated.\nNext: validate-syntax {\"code\": \"(+ 1 2))\"}"},
		{alone, `{"code": "(f)\n(defun f (x)\n  (g x))\n  (h x))"}`, "; 4:8: This closing parenthesis closes nothing. Line 4 is indented as if it belonged to the form before it, which ended in line 3: look there for a closing parenthesis too many.\n" +
			"; What stands before 4:8 was evaluated.\nNext: evaluate-lisp {\"code\": \"(defun f (x)\\n  (g x)\\n  (h x))\"}"},
		{alone, `{"code": "(f (g)"}`, "; 1:1: This list is never closed: 1 closing parenthesis is missing.\nNext: evaluate-lisp {\"code\": \"(f (g))\"}"},
		{alone, `{"code": "(print 1) ; (\n(f (g) ; end\n"}`, "; 2:1: This list is never closed: 1 closing parenthesis is missing. The indentation fits up to the end: look at the end of line 2.\n" +
			"; What stands before 2:1 was evaluated.\nNext: evaluate-lisp {\"code\": \"(f (g)) ; end\"}"},
		{alone, `{"code": "(f \"g)"}`, "; 1:4: The string that begins here has no closing \"."},
		{alone, `{"code": "(defun f (x)\n  (* x 2)\n(defun g (x) x)"}`, "; 1:1: This list is never closed: 1 closing parenthesis is missing. " +
			"Line 3 begins in column 1, as if the list that begins at 1:1 were closed before it: look at the end of line 2.\nNext: evaluate-lisp {\"code\": \"(defun f (x)\\n  (* x 2))\\n(defun g (x) x)\"}"},
		{alone, "{\"code\": \"```lisp\\n(f (g)\\n```\"}", "; 2:1: This list is never closed: 1 closing parenthesis is missing. The indentation fits up to the end: look at the end of line 2.\nNext: evaluate-lisp {\"code\": \"(f (g))\"}"},
		{all, `{"code": "(load \"x.lisp\")"}`, "Next: validate-syntax {\"code\": \"(load \\\"x.lisp\\\")\"}"}, // the reader knows of something else
		{alone, `{"code": ""}`, ""},
	} {
		r := &Request{Args: args.Parse(evaluateTool.Spec(testLimits), []byte(tt.arguments)), Env: tt.env}
		if got := r.nextAfter(&lisp.Failure{Unbalanced: true}); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.arguments, got, tt.want)
		}
	}
}
