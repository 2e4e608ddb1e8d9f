package emacs

import (
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// batchEmacs runs Emacs without a terminal, with SLIME and emacs/swank-mcp.el in its load path.
// Env are more variables of its environment.
func batchEmacs(t *testing.T, env []string, args ...string) string {
	t.Helper()
	slime, err := filepath.Glob(*harness.SlimeFlag)
	if err != nil || len(slime) == 0 {
		t.Fatalf("no SLIME at %s: install it with scripts/install-deps --test, or name its directory with -slime", *harness.SlimeFlag)
	}
	cmd := await.Command(t, "emacs", append([]string{"-Q", "--batch",
		"--eval", "(setq native-comp-deferred-compilation nil native-comp-jit-compilation nil)",
		"-L", slime[0], "-L", slime[0] + "/contrib", "-L", harness.InTree("emacs")}, args...)...)
	cmd.Env = append(harness.Environ(harness.ShortDir(t)), append([]string{"LC_ALL=C.UTF-8"}, env...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("emacs %q: %v\n%s", args, err, harness.Tail(string(out), 8000))
	}
	return string(out)
}

// The tests of emacs/swank-mcp.el, in a real Emacs with SLIME, a Lisp and a server.
func TestEmacsERT(t *testing.T) {
	tier.More(t)
	t.Parallel()
	harness.CompileSwank(t)
	out := batchEmacs(t, []string{"SWANK_MCP=" + harness.Run.Binary, "SWANK_MCP_LISP=" + *harness.AttachedSBCL + " --noinform --no-sysinit --no-userinit"},
		"-l", harness.InTree("emacs/swank-mcp-tests.el"), "-f", "ert-run-tests-batch-and-exit")
	if !strings.Contains(out, ", 0 unexpected") || strings.Contains(out, "Ran 0 tests") || strings.Contains(out, "skipped") {
		t.Errorf("the tests did not all run:\n%s", harness.Tail(out, 3000))
	}
}

// Emacs compiles swank-mcp.el and its tests without a warning, and finds its documentation in
// the form that packages have.
func TestEmacsCompiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	batchEmacs(t, nil, "--eval", `(setq byte-compile-error-on-warn t
 byte-compile-dest-file-function (lambda (file) (expand-file-name (concat (file-name-nondirectory file) "c") "`+dir+`")))`,
		"-f", "batch-byte-compile", harness.InTree("emacs/swank-mcp.el"), harness.InTree("emacs/swank-mcp-tests.el"))
	said := batchEmacs(t, nil, "--eval", `(progn (require 'checkdoc) (checkdoc-file "`+harness.InTree("emacs", "swank-mcp.el")+`"))`)
	if strings.Contains(said, "swank-mcp.el:") {
		t.Errorf("checkdoc says:\n%s", said)
	}
}

// Emacs' archives of packages would take swank-mcp.el, but for the address of its home, which it
// does not have yet.
func TestPackageLint(t *testing.T) {
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	said := batchEmacs(t, nil, "--eval", `(progn
 (dolist (dir (directory-files "/usr/share/emacs/site-lisp/elpa" t "package-lint-\\|compat-"))
   (add-to-list 'load-path dir))
 (require 'package-lint)
 (with-temp-buffer
   (insert-file-contents "`+harness.InTree("emacs", "swank-mcp.el")+`" t)
   (emacs-lisp-mode)
   (message "found %S" (mapcar (lambda (finding) (nth 3 finding)) (package-lint-buffer)))))`)
	if !strings.Contains(said, `found ("Package should have a Homepage or URL header.")`) {
		t.Errorf("package-lint:\n%s", said)
	}
}
