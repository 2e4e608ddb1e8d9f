package mcpbridge

import (
	"testing"

	"swank-mcp/swank/lisp"
)

// The next call has the right name where the wrong one stood, and nowhere else.
func TestNextCallKeepsOtherNames(t *testing.T) {
	b := New(Options{})
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
		r := &request{args: parseArgs(&evaluateTool, evaluateParams(&b.o), []byte(tt.arguments))}
		want := ""
		if tt.want != "" {
			want = "Next: evaluate-lisp " + tt.want
		}
		if got := b.nextAfter(r, &lisp.Failure{Written: tt.written, Meant: tt.meant}); got != want {
			t.Errorf("%s for %s in %s:\n%s\nwant\n%s", tt.meant, tt.written, tt.arguments, got, want)
		}
	}
}
