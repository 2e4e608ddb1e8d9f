package mcpbridge

import (
	"os"
	"path/filepath"
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

// A file that cannot be read is asked where its parentheses broke.
func TestCompiledTextParentheses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.lisp")
	if err := os.WriteFile(file, []byte("(a\n (b\n (c))\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var p parts
	writeParentheses(&p, file, "")
	writeParentheses(&p, file+".none", "")
	writeParentheses(&p, "", "(fine)")
	want := "1:1: This list is never closed: 1 closing parenthesis is missing. " +
		"Line 3 begins in column 2, as if the list that begins at 2:2 were closed before it: look at the end of line 2."
	if got := p.String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestNearFiles(t *testing.T) {
	dir := t.TempDir()
	if got := nearFiles(filepath.Join(dir, "a.lisp")); got != " That directory has no Lisp files." {
		t.Error(got)
	}
	for _, name := range []string{"package.lisp", "main.lisp", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"pakage.lisp":         " Near it: " + dir + "/package.lisp.",
		"something-else.lisp": " In that directory: main.lisp, package.lisp.",
		"no/x.lisp":           " Nor is there a directory " + dir + "/no.",
	} {
		if got := nearFiles(filepath.Join(dir, name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
