package mcpbridge

import (
	"strings"
	"testing"
)

func TestCompileReplies(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	p := serve(t, Options{}).handshake()
	for _, c := range []struct {
		tool, args, want string
		failed           bool
	}{
		{"compile-form", `{"code":"good"}`, "Compiled: The code, no notes. Loaded.", false},
		{"compile-form", `{"form":"good","load":"false"}`, "Compiled: The code, no notes. Not loaded.", false},
		{"compile-form", `{"code":"bad"}`, "[ERROR] COMPILE-FAILED\nThe code: 1 error, 4 notes. Nothing was loaded.\n\n" +
			"2:5: error: a b\n   2 |   (x\n/other.lisp:1:1: note: slow\n; 3 more notes", true},
		{"compile-file", `{"path":"~/x.lisp","output":"/o.fasl"}`,
			"Compiled: " + home + "/x.lisp, no notes. Loaded.\n\n[stdout]\n" + home + "/x.lisp/o.fasl", false},
		{"compile-file", `{"path":" "}`, "[ERROR] INVALID-ARGUMENTS\npath is empty; it must be the path of a file.", true},
		{"load-file", `{"filename":"/a/../b.lisp"}`, "Loaded: /b.lisp\n\n[stdout]\n/b.lisp", false},
		{"macroexpand-form", `{"form":"(m)"}`, "(IF X Y)\n\n[stdout]\nnoise", false},
		{"macroexpand-form", `{"form":"(m)","mode":"steps"}`, "; Step 1\n(m)\n; =>\n(IF X Y)\n\n; 2 more steps", false},
		{"macroexpand-form", `{"form":"(car)","full":true}`, "; Nothing to expand: CAR is a function.\n(car)", false},
	} {
		a := p.call(c.tool, c.args)
		if a.Result.IsError != c.failed || !strings.HasPrefix(a.text(), c.want) {
			t.Errorf("%s %s answered (isError %v)\n%s\nwant\n%s", c.tool, c.args, a.Result.IsError, a.text(), c.want)
		}
	}
}
