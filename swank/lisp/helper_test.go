package lisp

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/tier"
	"swank-mcp/swank/lisp/launch"
)

// TestHelperAlone has the helper without the bridge, in plain SBCLs.
//
// It compiles the helper's files one by one, each when those before it are loaded: the
// compiler warns of what a file uses and only a later one defines. Names that are quoted,
// by which a function is called, it does not follow: refers-back.lisp does.
func TestHelperAlone(t *testing.T) {
	tier.More(t)
	t.Parallel()
	oneIn := tier.Tries(t, 40, 1)
	fasls := t.TempDir()
	out := runLispScript(t, `
(load-swank)
(load %[1]q)
(check-order %[2]q %[3]q '(%[4]s))`, absolute(t, "testdata/refers-back.lisp"), absolute(t, "helper")+"/", fasls, quotedOrder())
	if !strings.HasSuffix(out, "\nEach file refers only to files before it.\n") {
		t.Fatalf("of the helper's files:\n%s", out)
	}
	t.Run("tests", func(t *testing.T) {
		t.Parallel()
		testHelperItself(t, fasls)
	})
	t.Run("without internals", func(t *testing.T) {
		t.Parallel()
		testWithoutInternals(t, fasls, oneIn)
	})
}

// testHelperItself loads the helper as an ASDF system, compiled below fasls, and runs its
// own tests, which are in testdata/helper.
func testHelperItself(t *testing.T, fasls string) {
	out := runLispScript(t, `
(require :asdf)
(asdf:initialize-output-translations '(:output-translations (t %[2]q) :ignore-inherited-configuration))
(load-swank)
(setf *compile-verbose* nil)
(asdf:load-asd %[1]q)
(asdf:load-system "swank-mcp")
(let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream)))
  (asdf:load-system "swank-mcp/tests"))
(asdf:test-system "swank-mcp")`, absolute(t, "helper/swank-mcp.asd"), fasls+"/")
	if !regexp.MustCompile(`(?m)^\d{4} checks, 0 failed$`).MatchString(out) ||
		regexp.MustCompile(`caught (STYLE-)?WARNING|redefining SWANK-MCP::`).MatchString(out) {
		t.Errorf("the helper's tests say:\n%s", out)
	}
}

// quotedOrder is the names of the helper's files as strings of a Lisp list.
func quotedOrder() string { return `"` + strings.Join(helperOrder(), `" "`) + `"` }

// Each file of the helper's folders stands in its system's definition, once.
func TestHelperFilesAreComponents(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(helperFiles, "helper/*/*.lisp")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range files {
		files[i] = strings.TrimSuffix(strings.TrimPrefix(name, "helper/"), ".lisp")
	}
	order := helperOrder()
	slices.Sort(files)
	slices.Sort(order)
	if !slices.Equal(files, order) {
		t.Errorf("the folders have %q,\nswank-mcp.asd has %q", files, order)
	}
}

// runLispScript runs a script in a plain SBCL, which has a function LOAD-SWANK for it,
// and returns what it prints. The script is a format for args.
func runLispScript(t *testing.T, script string, args ...any) string {
	t.Helper()
	sbcl, err := launch.FindSBCL(launch.Config{})
	if err != nil {
		t.Fatal(err)
	}
	swankDir, err := launch.FindSwank(t.Context(), launch.Config{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script = fmt.Sprintf(`
(defun load-swank ()
  (load %q)
  (setf (symbol-value (find-symbol "*FASL-DIRECTORY*" "SWANK-LOADER")) %q)
  (let ((*error-output* (make-broadcast-stream)))
    (funcall (find-symbol "INIT" "SWANK-LOADER") :load-contribs nil)))
`, filepath.Join(swankDir.Path, "swank-loader.lisp"), dir+"/") + fmt.Sprintf(script, args...)
	run := filepath.Join(dir, "run.lisp")
	if err := os.WriteFile(run, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute) // some 150 processes: minutes, where memory is slow
	defer cancel()
	cmd := exec.CommandContext(ctx, sbcl.Path, "--noinform", "--disable-ldb", "--no-sysinit", "--no-userinit",
		"--non-interactive", "--load", run)
	// ASDF, when it looks for modules, compiles a newer ASDF there, and two of them at once
	// do not bear each other.
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("sbcl: %v\n%s", err, out)
	}
	return string(out)
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// SLIME indents calls of every macro of the image that has a &body, by its bare
// name, and so would a person's macros of the same names.
func TestHelperMacrosTeachEmacsNothing(t *testing.T) {
	t.Parallel()
	body := regexp.MustCompile(`\(defmacro [^"\n]*&body`)
	for _, name := range helperOrder() {
		if m := body.Find(helperText(name)); m != nil {
			t.Errorf("%s.lisp: %s: use &rest", name, m)
		}
	}
}

// The helper is one package: of two definitions of one name the later wins, and
// says nothing.
func TestHelperDefinesNothingTwice(t *testing.T) {
	t.Parallel()
	definition := regexp.MustCompile(`(?m)(^#[-+]\S.*\n)?^\((defun|defmacro|defgeneric|defvar|defparameter|define-condition|defstruct) \(?((?:setf )?[^\s()]+)`)
	space := map[string]string{"defstruct": "type ", "define-condition": "type ", "defvar": "variable ", "defparameter": "variable "}
	seen := map[string][]string{} // the conditions before the definitions of a name
	for _, m := range definition.FindAllStringSubmatch(string(bytes.Join(helperParts(), nil)), -1) {
		// What has no condition may be in a file that SBCL alone reads.
		name, condition := space[m[2]]+m[3], strings.Fields(m[1] + " #+sbcl")[0]
		for _, before := range seen[name] {
			// Of two behind #+ and #- only one is read.
			if before[1] == condition[1] || before[2:] != condition[2:] {
				t.Errorf("%s is defined twice, behind %s and %s", name, before, condition)
			}
		}
		seen[name] = append(seen[name], condition)
	}
	if len(seen) < 500 {
		t.Errorf("only %d definitions were found", len(seen))
	}
}
