package lisp

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// TestHelperOnItsOwn loads Swank and the helper into a plain SBCL, as warnings
// allow, and runs the helper's own tests there.
func TestHelperOnItsOwn(t *testing.T) {
	sbcl, err := FindSBCL(Config{})
	if err != nil {
		t.Fatal(err)
	}
	swankDir, err := FindSwank(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "helper.lisp")
	if err := os.WriteFile(source, helperSource(), 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`
(load %q)
(setf swank-loader::*fasl-directory* %q)
(let ((*error-output* (make-broadcast-stream))) (swank-loader:init :load-contribs nil))
(multiple-value-bind (fasl warnings failure) (compile-file %q)
  (when (or warnings failure) (format t "WARNINGS in the helper~%%"))
  (load fasl))
(load %q)`,
		filepath.Join(swankDir.Path, "swank-loader.lisp"), dir+"/", source, "testdata/helper-test.lisp")
	run := filepath.Join(dir, "run.lisp")
	if err := os.WriteFile(run, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, sbcl.Path, "--noinform", "--disable-ldb", "--no-sysinit", "--no-userinit",
		"--non-interactive", "--load", run)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("sbcl: %v\n%s", err, out)
	}
	if !regexp.MustCompile(`(?m)^\d{4} checks, 0 failed$`).Match(out) ||
		regexp.MustCompile(`WARNINGS in the helper|caught (STYLE-)?WARNING`).Match(out) {
		t.Errorf("the helper's tests say:\n%s", out)
	}
}

// SLIME indents calls of every macro of the image that has a &body, by its bare
// name, and so would a person's macros of the same names.
func TestHelperMacrosTeachEmacsNothing(t *testing.T) {
	body := regexp.MustCompile(`\(defmacro [^"\n]*&body`)
	for _, name := range helperOrder() {
		text, err := helperFiles.ReadFile("helper/" + name + ".lisp")
		if err != nil {
			t.Fatal(err)
		}
		if m := body.Find(text); m != nil {
			t.Errorf("%s.lisp: %s: use &rest", name, m)
		}
	}
}

// The helper is one package: of two definitions of one name the later wins, and
// says nothing.
func TestHelperDefinesNothingTwice(t *testing.T) {
	definition := regexp.MustCompile(`(?m)(^#[-+]\S.*\n)?^\((defun|defmacro|defgeneric|defvar|defparameter|define-condition|defstruct) \(?((?:setf )?[^\s()]+)`)
	space := map[string]string{"defstruct": "type ", "define-condition": "type ", "defvar": "variable ", "defparameter": "variable "}
	seen := map[string]int{}
	for _, m := range definition.FindAllStringSubmatch(string(helperSource()), -1) {
		// Of two behind #+ and #- only one is read.
		name := space[m[2]] + m[3]
		if seen[name]++; seen[name] > 1 && m[1] == "" {
			t.Errorf("%s is defined twice", name)
		}
	}
	if len(seen) < 500 {
		t.Errorf("only %d definitions were found", len(seen))
	}
}
